/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a queue pair: what its requester and responder keep, and what they ask of the
 * adapter (vol 1, chapters 9 to 11). The engine's units include this header; owners include qp.h,
 * which has the calls. There is no qp_state.c: a predicate that reads one or two fields stands
 * here.
 */
#ifndef SOFTIB_NET_TRANSPORT_QP_STATE_H
#define SOFTIB_NET_TRANSPORT_QP_STATE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "net/transport/address.h"
#include "net/transport/completion.h"
#include "net/transport/receive_queue.h"
#include "net/transport/send_queue.h"
#include "net/transport/work_request.h"
#include "wire/packet.h"
#include "wire/pkey.h"
#include "wire/psn.h"

struct completion_ring;
struct eec;
struct header_caches;
struct memory;
struct rma_progress;
struct port_view;
struct protection_domain;
struct qp;
struct rd_hooks;
struct rd_queue;

/* The verbs' numbers; the last two have none. */
enum qp_type {
	QP_RC = 2,
	QP_UC = 3,
	QP_UD = 4,
	QP_RAW_IPV6 = 5, /* a port's only ones: net/transport/raw.h */
	QP_RAW_ETHERTYPE = 6,
	QP_XRC_INI = 9,	 /* initiator: sends requests, has no responder */
	QP_XRC_TGT = 10, /* target: answers requests, has neither queues nor protection domain */
	QP_RD = 11,	 /* queues without a connection: net/transport/rd_queue.h */
	QP_EEC = 12,	 /* a connection without queues, which those share: net/transport/eec.h */
};

enum qp_state { QP_RESET, QP_INIT, QP_RTR, QP_RTS, QP_SQD, QP_SQE, QP_ERROR };

enum qp_event {
	QP_EVENT_FATAL = 1,
	QP_EVENT_REQUEST_ERROR = 2,
	QP_EVENT_ACCESS_ERROR = 3,
	QP_EVENT_ESTABLISHED = 4,
	QP_EVENT_DRAINED = 5,
	QP_EVENT_MIGRATED = 6,
	QP_EVENT_MIGRATION_ERROR = 7,
	QP_EVENT_LAST_REQUEST_REACHED = 16,
};

/* A queue pair that is not migrated has an alternate path. */
enum path_migration { PATH_MIGRATED, PATH_REARM, PATH_ARMED };

enum queue_side { SIDE_SEND, SIDE_RECEIVE };

enum violated_key { VIOLATED_PKEY, VIOLATED_QKEY };

/* What a queue pair asks of its adapter; one per adapter. */
struct qp_environment {
	uint32_t
		port_changes; /* counted by the owner: what queue pairs have read of ports is old */
	struct memory *memory;
	struct timer_queue *timers;	     /* qp->timer is armed here by the queue pair */
	struct header_caches *header_caches; /* zero at first (header_cache.h) */
	/* A completion for the CQ of that side. false: the CQ overflowed. */
	bool (*complete)(struct qp *qp, enum queue_side side, const struct completion *completion);
	void (*event)(struct qp *qp, enum qp_event event);
	/* Optional: what this queue pair sent is still on its way to a receiver that is taking
	 * packets, so that silence says nothing yet and a timeout does not count as a retry. */
	bool (*is_underway)(const struct qp *qp, time_ns now);
	/* Of a queue pair with placed requests (net/transport/rma/rma_bypass.h): waits for those
	 * under way, lets no new ones begin, takes all for received and forgets owner_rma. */
	void (*end_rma)(struct qp *qp);
	/* Of a queue pair with messages that the peer pulls (net/transport/fast/fast_path.h): it
	 * can't from here on, and datagrams that were lent are nobody's any more. */
	void (*take_back)(struct qp *qp);
	/* A request was taken from a shared receive queue: qp->receive_queue. */
	void (*shared_receive_taken)(struct qp *qp);
	/* Of a queue that matches tags: puts the request that a message which begins with this
	 * packet will use into responder.taken; false: there is none. The header bytes of the
	 * payload are not placed. */
	bool (*choose_receive)(struct qp *qp, const struct packet *packet,
			       uint32_t *ret_header_bytes);
	/* A request marked SEND_BY_ADAPTER has ended. false: the CQ overflowed. */
	bool (*own_send_done)(struct qp *qp, time_ns now, uint64_t wr_id,
			      enum completion_status status);
	/* The XRC SRQ of this number in the target's XRC domain; NULL: none. While a message holds
	 * one of its requests, the queue pair's receive_queue leads to it and completions are for
	 * it. */
	struct receive_queue *(*find_xrc_queue)(const struct qp *qp, uint32_t srqn);
	uint32_t xrc_sges_max; /* no such queue, and none of an RD queue pair, has more */
	/* What the engine asks of Reliable Datagram, which is built on it (rd/rd_hooks.h). */
	const struct rd_hooks *rd;
	/* The queue pair or EE context of this number in the same adapter; NULL: none. */
	struct qp *(*find_qp)(const struct qp *qp, uint32_t qpn);
	/* Optional: a packet came under a wrong key; the port's counter has it. */
	void (*key_violation)(const struct qp *qp, const struct packet *packet,
			      enum violated_key key);
	/* What happened to another has given this one something to transmit. */
	void (*ready)(struct qp *qp);
	/* Optional: how a datagram is written into the program's memory (placement.h). Its sender
	 * waits for no answer, so that they come until the queue pair has gone, also into memory
	 * that the program gave back to the system before. */
	void (*copy_datagram)(const struct payload *payload, size_t from, size_t byte_count,
			      uint8_t *ret_bytes);
};

struct qp_capabilities {
	uint32_t send_requests_max;
	uint32_t receive_requests_max;
	uint32_t send_sges_max;
	uint32_t receive_sges_max;
	uint32_t inline_bytes_max;
};

/* Which attributes a modify names: the verbs' bits. */
enum qp_attribute {
	QP_HAS_STATE = 1 << 0,
	QP_HAS_CURRENT_STATE = 1 << 1,
	QP_HAS_DRAINED_NOTIFY = 1 << 2,
	QP_HAS_ACCESS = 1 << 3,
	QP_HAS_PKEY_INDEX = 1 << 4,
	QP_HAS_PORT = 1 << 5,
	QP_HAS_QKEY = 1 << 6,
	QP_HAS_ADDRESS = 1 << 7,
	QP_HAS_PATH_MTU = 1 << 8,
	QP_HAS_TIMEOUT = 1 << 9,
	QP_HAS_RETRY_COUNT = 1 << 10,
	QP_HAS_RNR_RETRY = 1 << 11,
	QP_HAS_RQ_PSN = 1 << 12,
	QP_HAS_INITIATOR_DEPTH = 1 << 13, /* max_rd_atomic */
	QP_HAS_ALTERNATE_PATH = 1 << 14,
	QP_HAS_MIN_RNR_TIMER = 1 << 15,
	QP_HAS_SQ_PSN = 1 << 16,
	QP_HAS_RESPONDER_RESOURCES = 1 << 17, /* max_dest_rd_atomic */
	QP_HAS_PATH_MIGRATION = 1 << 18,
	QP_HAS_CAPABILITIES = 1 << 19,
	QP_HAS_DESTINATION_QPN = 1 << 20,
	QP_HAS_RATE_LIMIT = 1 << 25,
};

struct qp_attributes {
	enum qp_state state;
	enum qp_state current_state;
	bool drained_notify;
	bool is_draining; /* query only */
	uint32_t access;
	uint16_t pkey_index;
	uint8_t port_number;
	uint32_t qkey;
	struct address_vector address;
	uint8_t path_mtu_code;
	uint8_t timeout;
	uint8_t retry_count;
	uint8_t rnr_retry;
	struct psn rq_psn;
	struct psn sq_psn;
	uint8_t initiator_depth;
	uint8_t responder_resources;
	uint8_t min_rnr_timer;
	uint8_t path_migration; /* enum path_migration; a modify can't arm */
	uint32_t destination_qpn;
	struct address_vector alternate_address;
	uint16_t alternate_pkey_index;
	uint8_t alternate_timeout;
	uint32_t rate_limit;  /* kbit/s; 0: none (net/transport/pacing.h) */
	uint32_t burst_bytes; /* 0, and of the next: the adapter's choice */
	uint16_t typical_packet_bytes;
};

/* The port views of the adapter, by number from 1; queue pairs look up the one they are bound to
 * when modified. */
struct qp_ports {
	struct port_view *const *views; /* views[number - 1] */
	unsigned count;
	uint8_t initiator_depth_max;
	uint8_t responder_resources_max;
};

/* Whether the owner keeps requests that have not begun from becoming packets. */
enum hold { HOLD_NONE, HOLD_UNTIL_ACKNOWLEDGED, HOLD_ALL };

/* What is known of the peer's receive requests. A peer of which nothing is known yet is not held
 * back: connections to one that counts none are the usual case. */
enum credits { CREDITS_UNKNOWN, CREDITS_COUNTED, CREDITS_UNLIMITED };

/* The half that sends requests and completes them. Positions in the queue are free-running. */
struct requester {
	struct send_queue queue;
	uint32_t cursor;	     /* position of the request to transmit from */
	uint32_t cursor_packet;	     /* its next packet, from 0 */
	struct psn next_psn;	     /* the first never used */
	struct psn oldest_psn;	     /* the first not acknowledged */
	struct psn awaited_psn;	     /* after an implied NAK: only this response counts */
	struct psn asked_psn;	     /* behind the last packet that asked for an ACK */
	struct psn messages_started; /* the SSN of the newest message */
	struct psn message_limit;    /* LSN: CREDITS_COUNTED only */
	uint16_t reads_outstanding;
	uint8_t credits; /* enum credits */
	uint8_t hold;	 /* enum hold: the owner's */
	uint8_t retries_left;
	uint8_t rnr_retries_left;
	bool is_awaiting;
	bool has_zcopy; /* messages were sent whose payload the peer pulls (report_revoke_zcopy) */
	time_ns retry_deadline;	 /* TIME_NEVER when nothing is outstanding */
	time_ns rnr_deadline;	 /* TIME_NEVER unless the responder asked to wait */
	time_ns pacing_deadline; /* TIME_NEVER unless the rate limit or the owner holds it back */
	time_ns paced_until;	 /* when what was sent will have taken its time at that rate */
};

/* A READ or atomic that the responder has executed: to be answered, and kept for duplicates. */
struct saved_request {
	uint64_t address;
	uint64_t result; /* of an atomic */
	uint32_t byte_count;
	uint32_t rkey;
	uint32_t xrc_srqn;	/* of a target: the queue in whose protection domain the key is */
	uint32_t rd_source_qpn; /* of an EE context: whom the answer goes to */
	uint32_t rd_qpn;	/* and the queue pair in whose protection domain the key is */
	struct psn first_psn;
	uint32_t packet_count; /* PSNs it uses */
	uint32_t start_packet; /* where the answer now due begins */
	uint32_t next_packet;  /* of it to send; packet_count when it is answered */
	bool is_atomic;
	bool is_placement; /* FLUSH or ATOMIC WRITE */
	bool was_answered; /* so what is due now is a repetition */
};

enum inbound_message { INBOUND_IDLE, INBOUND_SEND, INBOUND_WRITE };

/* The half that executes the peer's requests and answers them. */
struct responder {
	struct psn expected_psn;
	struct psn ack_psn; /* what the ACK that is due acknowledges */
	struct psn nak_psn;
	uint32_t msn;		     /* 24 bits */
	struct saved_request *saved; /* the last saved_count of them, a ring */
	uint32_t write_bytes;	     /* DMALen of the WRITE in progress */
	uint32_t write_rkey;
	uint64_t write_address;
	uint64_t inbound_bytes; /* of the message in progress, already placed */
	struct receive_slot
		*taken; /* a copy of what came from a shared queue; NULL with an own one */
	struct rma_progress *placed; /* NULL: the peer sends packets only */
	uint8_t saved_count;
	uint8_t saved_tail; /* index of the next to be filled */
	uint8_t nak_syndrome;
	bool has_choice; /* choose_receive has filled taken, which is not yet held */
	/* Two and two side by side, at which express.h looks together. */
	uint8_t inbound;       /* enum inbound_message */
	bool has_receive;      /* the message in progress holds a receive request */
	uint8_t saved_pending; /* the newest so many may be unanswered */
	bool nak_is_due;
	bool nak_was_sent; /* for the expected PSN: say it once */
	bool ack_is_due;
};

/* What net/transport/fast/fast_path.h has worked out from attributes and port, for a connection. */
struct header_cache {
	uint32_t changes;  /* one more than the environment's at that time; 0: nothing yet */
	uint32_t sends;	   /* the same, if besides nothing about its SENDs is unusual */
	uint64_t lrh, bth; /* what all SENDs to the peer have in common */
	const void
		*route; /* the owner's, where these headers lead; or by which datagrams are lent */
};

/* At most 640 bytes without its queues. The owner may use: type, state, qpn, pd, port,
 * capabilities, receive_queue, timer, ready_link (in no list after qp_init), owner_route. */
struct qp {
	const struct qp_environment *environment;
	struct protection_domain *pd;
	struct port_view *port;		  /* NULL until a modify names one */
	struct port_view *alternate_port; /* NULL unless an alternate path is loaded and unused */
	/* own_receives, or a shared one. A target's: the last message's, or NULL. */
	struct receive_queue *receive_queue;
	union {
		struct eec *eec;	   /* QP_EEC */
		struct rd_queue *rd_queue; /* QP_RD */
	};
	/* By side: where its completions may be put without asking the environment; NULL: nowhere.
	 * The owner's, set once. */
	struct completion_ring *completions[2];
	void *owner_route;
	void *owner_rma;	 /* the owner's: of requests that go past the packets */
	uint64_t owner_position; /* the owner's: how far into the route its last packet lies */
	struct list ready_link;
	struct list undated_link; /* the owner's: of those with RETRY_UNDATED */
	struct timer timer;
	enum qp_type type;
	enum qp_state state;
	uint32_t qpn;
	uint32_t path_mtu; /* bytes; of a datagram QP: the port's */
	bool signal_all;
	bool has_failed_to_report;  /* its CQ overflowed: to Error when the call in progress ends */
	bool answers_last_nak;	    /* in Error, but the NAK that says why is not yet sent */
	bool requests_go_first;	    /* in the next qp_transmit */
	bool is_established;	    /* the event was raised */
	bool promises_receives;	    /* its ACKs carry credits; the owner's choice, off by default */
	bool has_refused_migration; /* the event was raised since it was armed */
	bool asks_always;	    /* every message asks for an ACK; the owner's choice */
	struct header_cache header_cache;
	struct qp_capabilities capabilities;
	struct qp_attributes attributes;
	struct receive_queue own_receives;
	struct requester requester;
	struct responder responder;
};

static_assert(sizeof(struct qp) <= 640, "100,000 queue pairs must be cheap");

/* A controlled Q_Key in the request stands for the queue pair's own (vol 1, chapter 10). */
static inline uint32_t qp_sent_qkey(const struct qp *qp, uint32_t asked_qkey)
{
	return qkey_is_controlled(asked_qkey) ? qp->attributes.qkey : asked_qkey;
}

static inline bool qp_is_shared(const struct qp *qp)
{
	return qp->receive_queue != &qp->own_receives;
}

static inline bool qp_type_is_raw(enum qp_type type)
{
	return type == QP_RAW_IPV6 || type == QP_RAW_ETHERTYPE;
}

/* Whether each request says where it goes. */
static inline bool qp_is_datagram(const struct qp *qp)
{
	return qp->type >= QP_UD && qp->type <= QP_RAW_ETHERTYPE;
}

/* Whether requests are acknowledged. */
static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->type < QP_UC || qp->type > QP_RAW_ETHERTYPE;
}

/* BTH.OpCode bits 7:5 of its packets; of raw ones, which have no BTH, what no packet has. */
static inline uint8_t qp_transport(const struct qp *qp)
{
	static const uint8_t transports[] = {
		[QP_RC] = TRANSPORT_RC,	      [QP_UC] = TRANSPORT_UC,
		[QP_UD] = TRANSPORT_UD,	      [QP_XRC_INI] = TRANSPORT_XRC,
		[QP_XRC_TGT] = TRANSPORT_XRC, [QP_RD] = TRANSPORT_RD,
		[QP_EEC] = TRANSPORT_RD,      [QP_RAW_IPV6] = 0xff,
		[QP_RAW_ETHERTYPE] = 0xff,
	};

	return transports[qp->type];
}

/* Where the next packet of a queue pair goes. */
struct qp_route {
	uint8_t port_number;
	uint8_t sl;
	uint8_t static_rate; /* code; 0: as fast as the port */
	bool leaves_subnet;  /* by a router: the DLID is for that, and says little */
	uint16_t dlid;
	uint16_t pkey;
	uint32_t destination_qpn;
};

/* State, attributes or path change: what the fast path worked out from them is old. */
static inline void qp_invalidate(struct qp *qp)
{
	qp->header_cache.changes = 0;
	qp->header_cache.sends = 0;
}

/* The responder's rights or its state are about to change: nobody acts on this queue pair's memory
 * past the packets any more when it returns (net/transport/rma/rma_bypass.h). */
static inline void qp_end_rma(struct qp *qp)
{
	if (likely(!qp->responder.placed && !qp->owner_rma))
		return;
	qp->environment->end_rma(qp);
	assert(!qp->responder.placed && !qp->owner_rma);
}

#endif
