/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a queue pair: what its requester and responder keep, and what they need from the
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
struct memory;
struct packet_source;
struct rma_progress;
struct port_view;
struct protection_domain;
struct qp;
struct rd_hooks;
struct rd_queue;

/* Values of the verbs; the last two types have none there. */
enum qp_type {
	QP_RC = 2,
	QP_UC = 3,
	QP_UD = 4,
	QP_RAW_IPV6 = 5, /* one of each kind per port: net/transport/raw.h */
	QP_RAW_ETHERTYPE = 6,
	QP_XRC_INI = 9,	 /* initiator: sends requests, has no responder */
	QP_XRC_TGT = 10, /* target: answers requests, has neither queues nor protection domain */
	QP_RD = 11,	 /* queues without a connection: rd/rd_queue.h */
	QP_EEC = 12,	 /* a connection without queues, for RD queue pairs: rd/ee_context.h */
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

/* A queue pair that is not in MIGRATED has an alternate path (transport 4.9). */
enum path_migration { PATH_MIGRATED, PATH_REARM, PATH_ARMED };

enum queue_side { SIDE_SEND, SIDE_RECEIVE };

enum violated_key { VIOLATED_PKEY, VIOLATED_QKEY };

/* The functions and data that an adapter gives to its queue pairs; one per adapter. */
struct qp_environment {
	uint64_t epoch;		/* from 1 on; invalidate() ends it (fast/templates.h) */
	unsigned adapter_index; /* the owner's, in the ports of packet grants (packet_source.h) */
	struct memory *memory;
	struct timer_queue *timers; /* qp->timer is armed here by the queue pair */
	/* Adds a completion to the CQ of that side. false: the CQ overflowed. */
	bool (*complete)(struct qp *qp, enum queue_side side, const struct completion *completion);
	void (*event)(struct qp *qp, enum qp_event event);
	/* Optional: whether packets of this queue pair are still on their way to a receiver that is
	 * taking packets. Then a missing response says nothing yet, and a timeout does not count as
	 * a retry. */
	bool (*is_underway)(const struct qp *qp, time_ns now);
	/* For a queue pair with RMA requests (net/transport/rma/rma_bypass.h): waits for those in
	 * progress, lets no new ones begin, counts all as received and frees owner_rma. */
	void (*end_rma)(struct qp *qp);
	/* For a queue pair with zcopy messages (net/transport/fast/fast_send.h): the peer can't
	 * copy their payload any more, and zcopy datagrams are no longer referenced. */
	void (*take_back)(struct qp *qp);
	/* A request was taken from a shared receive queue: qp->receive_queue. */
	void (*shared_receive_taken)(struct qp *qp);
	/* For a queue that matches tags: puts the receive request for a message that begins with
	 * this packet into responder.taken; false: there is none. The header bytes of the payload
	 * are not written to the consumer's memory. */
	bool (*choose_receive)(struct qp *qp, const struct packet *packet,
			       uint32_t *ret_header_bytes);
	/* A request marked SEND_BY_ADAPTER has ended. false: the CQ overflowed. */
	bool (*own_send_done)(struct qp *qp, time_ns now, uint64_t wr_id,
			      enum completion_status status);
	/* The XRC SRQ of this number in the target's XRC domain; NULL: none. While a message holds
	 * one of its requests, the queue pair's receive_queue points to it and completions go to
	 * its CQ. */
	struct receive_queue *(*find_xrc_queue)(const struct qp *qp, uint32_t srqn);
	uint32_t xrc_sges_max; /* upper bound for such queues and for those of RD queue pairs */
	/* What the engine calls for Reliable Datagram, which is built on it (rd/rd_hooks.h). */
	const struct rd_hooks *rd;
	/* The queue pair or EE context of this number in the same adapter; NULL: none. */
	struct qp *(*find_qp)(const struct qp *qp, uint32_t qpn);
	/* Optional: a packet had a wrong key; it is already counted at the port. */
	void (*key_violation)(const struct qp *qp, const struct packet *packet,
			      enum violated_key key);
	/* A change to another queue pair has given this one something to transmit. */
	void (*ready)(struct qp *qp);
};

struct qp_capabilities {
	uint32_t send_requests_max;
	uint32_t receive_requests_max;
	uint32_t send_sges_max;
	uint32_t receive_sges_max;
	uint32_t inline_bytes_max;
};

/* Which attributes a modify names: the verbs' bits (transport 6). */
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
	uint32_t burst_bytes; /* this and the next; 0: the adapter's choice */
	uint16_t typical_packet_bytes;
};

/* The adapter's ports, by number from 1. A queue pair looks up its port when it is modified. */
struct qp_ports {
	struct port_view *const *views; /* views[number - 1] */
	unsigned count;
	uint8_t initiator_depth_max;
	uint8_t responder_resources_max;
};

/* Whether the owner keeps requests that have not started from becoming packets. */
enum hold { HOLD_NONE, HOLD_UNTIL_ACKNOWLEDGED, HOLD_ALL };

/* What is known of the peer's receive requests. While nothing is known the peer is not limited,
 * since most peers send no credits. */
enum credits { CREDITS_UNKNOWN, CREDITS_COUNTED, CREDITS_UNLIMITED };

/* The half that sends requests and completes them. Positions in the queue are free-running. */
struct requester {
	struct send_queue queue;
	uint32_t cursor;	     /* position of the next request to transmit */
	uint32_t cursor_packet;	     /* the next packet of that request, from 0 */
	struct psn next_psn;	     /* the first that was never used */
	struct psn oldest_psn;	     /* the first that is not acknowledged */
	struct psn awaited_psn;	     /* after an implied NAK: only this response counts */
	struct psn asked_psn;	     /* behind the last packet with AckReq */
	struct psn messages_started; /* the SSN of the newest message (transport 3.5) */
	struct psn message_limit;    /* LSN: CREDITS_COUNTED only (transport 3.6) */
	uint16_t reads_outstanding;
	uint8_t credits; /* enum credits */
	uint8_t hold;	 /* enum hold; set by the owner */
	uint8_t retries_left;
	uint8_t rnr_retries_left;
	bool is_awaiting;
	bool has_zcopy;		 /* zcopy messages were sent (report_revoke_zcopy) */
	time_ns retry_deadline;	 /* TIME_NEVER when nothing is outstanding */
	time_ns rnr_deadline;	 /* TIME_NEVER unless an RNR NAK is in effect */
	time_ns pacing_deadline; /* TIME_NEVER unless the rate limit or the owner holds it back */
	time_ns paced_until;	 /* when the packets sent so far have used up the rate limit */
};

/* A READ, atomic, FLUSH or ATOMIC WRITE that the responder has executed: to be answered, and kept
 * for duplicates (transport 5.3). */
struct saved_request {
	uint64_t address;
	uint64_t result; /* of an atomic */
	uint32_t byte_count;
	uint32_t rkey;
	uint32_t xrc_srqn;	/* of a target: the XRC SRQ in whose protection domain the key is */
	uint32_t rd_source_qpn; /* of an EE context: the destination of the response */
	uint32_t rd_qpn; /* of an EE context: the queue pair that has the protection domain */
	struct psn first_psn;
	uint32_t packet_count; /* PSNs it uses */
	uint32_t start_packet; /* where the response now due begins */
	uint32_t next_packet;  /* the next packet to send; packet_count when all are sent */
	bool is_atomic;
	bool is_placement; /* FLUSH or ATOMIC WRITE */
	bool was_answered; /* so the response now due is a repetition */
};

enum inbound_message { INBOUND_IDLE, INBOUND_SEND, INBOUND_WRITE };

/* The half that executes the peer's requests and answers them. */
struct responder {
	struct psn expected_psn;
	struct psn ack_psn; /* the PSN of the ACK that is due */
	struct psn nak_psn;
	uint32_t msn;		     /* 24 bits */
	struct saved_request *saved; /* ring of the last saved_count requests */
	uint32_t write_bytes;	     /* DMALen of the WRITE in progress */
	uint32_t write_rkey;
	uint64_t write_address;
	uint64_t inbound_bytes;	    /* bytes of the message in progress that are already written */
	struct receive_slot *taken; /* a copy of a shared queue's request; NULL with an own queue */
	struct rma_progress *placed; /* RMA progress of the peer; NULL: packets only */
	uint8_t saved_count;
	uint8_t saved_tail; /* index of the next one to fill */
	uint8_t nak_syndrome;
	bool has_choice; /* choose_receive has filled taken, but the message does not hold it yet */
	/* Two adjacent pairs: the fast path reads each pair at once. */
	uint8_t inbound;       /* enum inbound_message */
	bool has_receive;      /* the message in progress holds a receive request */
	uint8_t saved_pending; /* up to so many of the newest may be unanswered */
	bool nak_is_due;
	bool nak_was_sent; /* for the expected PSN: a NAK is sent once (transport 5.2) */
	bool ack_is_due;
};

/* The region whose key the last message used. */
struct template_region {
	uint64_t iova, byte_count; /* byte_count 0: none */
	uint8_t *bytes;
	uint32_t key;
};

/* What the SENDs of a queue pair have in common, while epoch is the environment's
 * (fast/templates.h). Of a datagram queue pair: SENDs to the destination of the last one. */
struct send_template {
	uint64_t epoch;	   /* 0: there is no template */
	uint64_t lrh, bth; /* header words without length, pad count, solicited event, immediate */
	void *route;	   /* the owner's route to the destination; NULL: not looked up yet */
	uint32_t mtu;	   /* the largest payload of a packet */
	bool may_send;	   /* false: the template serves for ACKs only */
	struct template_region region;
	/* The last short SEND without immediate data; a SEND with these flags, except for
	 * SEND_SIGNALED, and this length has the same headers but for the PSN. */
	uint32_t flags;
	uint32_t byte_count; /* 0: none */
	uint8_t headers[LRH_BYTES + BTH_PSN_OFFSET];
};

/* What the SENDs that a queue pair has received last have in common. */
struct receive_template {
	uint64_t epoch;
	uint64_t lrh, bth;		    /* header words; only the common fields count */
	const struct packet_source *source; /* by which they came, and which admits these headers */
	uint32_t mtu;
	uint8_t port_number;
	struct template_region region;
	/* A SEND of one packet without immediate data: its length and its completion. */
	uint32_t byte_count; /* 0: none */
	uint32_t payload_bytes;
	struct completion completion;
	uint32_t last_byte_count; /* of the last packet */
};

/* The owner's: the SENDs that the queue pair has posted in a row (runtime/fast/burst.h). */
struct send_burst {
	uint64_t end;		/* of its last record in the ring; 0: none */
	uint64_t turn;		/* the owner's count at that time */
	uint32_t room;		/* payload records that may follow in a row */
	uint32_t payload_bytes; /* of its messages; 0: no payload record may follow */
	uint32_t flags;
	uint32_t qkey; /* of datagrams */
	struct psn next_psn;
	uint32_t streak; /* posts in a row */
};

/* Made for the first message, so that idle queue pairs stay small. */
struct qp_templates {
	struct send_template send;
	struct receive_template receive;
	struct send_burst burst;
};

/* The templates of queue pairs that have no messages yet: none is valid, and nobody writes to them.
 */
extern struct qp_templates qp_templates_none;

/* At most 640 bytes without its queues and templates. The owner may use: type, state, qpn, pd,
 * port, capabilities, receive_queue, timer, ready_link (in no list after qp_init), owner_route. */
struct qp {
	struct qp_environment *environment;
	struct protection_domain *pd;
	struct port_view *port;		  /* NULL until a modify names one */
	struct port_view *alternate_port; /* NULL unless an alternate path is loaded and unused */
	/* own_receives, or a shared queue. Of a target: the queue of the last message, or NULL. */
	struct receive_queue *receive_queue;
	union {
		struct eec *eec;	   /* QP_EEC */
		struct rd_queue *rd_queue; /* QP_RD */
	};
	/* By side: the ring that takes completions without a call to the environment; NULL: none.
	 * Set once by the owner. */
	struct completion_ring *completions[2];
	void *owner_route;
	void *owner_rma;	 /* the owner's: state of RMA requests */
	const void *owner_zcopy; /* the owner's: where its datagrams by reference went */
	uint64_t owner_position; /* the owner's: position of its last packet in the route's ring */
	struct list ready_link;
	struct list undated_link; /* the owner's list of queue pairs with RETRY_UNDATED */
	struct timer timer;
	enum qp_type type;
	enum qp_state state;
	uint32_t qpn;
	uint32_t path_mtu; /* bytes; a datagram QP has its port's instead */
	bool signal_all;
	bool has_failed_to_report;  /* its CQ overflowed: to Error when the call in progress ends */
	bool answers_last_nak;	    /* in Error, but the NAK that says why is not yet sent */
	bool requests_go_first;	    /* in the next qp_transmit, requests go before responses */
	bool is_established;	    /* the event COMM_EST was raised */
	bool promises_receives;	    /* its ACKs carry credits; the owner's choice, off by default */
	bool has_refused_migration; /* the event PATH_MIG_ERR was raised since it was armed */
	bool asks_always;	    /* every message asks for an ACK; the owner's choice */
	struct qp_templates *templates; /* never NULL (fast/templates.h) */
	struct qp_capabilities capabilities;
	struct qp_attributes attributes;
	struct receive_queue own_receives;
	struct requester requester;
	struct responder responder;
};

static_assert(sizeof(struct qp) <= 640, "100,000 queue pairs must be cheap");

/* A controlled Q_Key in the request stands for the queue pair's own (transport 10.4). */
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

/* Whether each request names its destination. */
static inline bool qp_is_datagram(const struct qp *qp)
{
	return qp->type >= QP_UD && qp->type <= QP_RAW_ETHERTYPE;
}

/* Whether requests are acknowledged. */
static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->type < QP_UC || qp->type > QP_RAW_ETHERTYPE;
}

/* BTH.OpCode bits 7:5 of its packets. Raw packets have no BTH: a value that no packet has. */
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

/* The route of a queue pair's next packet. */
struct qp_route {
	uint8_t port_number;
	uint8_t sl;
	uint8_t static_rate; /* code; 0: as fast as the port */
	bool leaves_subnet;  /* through a router: the DLID is the router's */
	uint16_t dlid;
	uint16_t pkey;
	uint32_t destination_qpn;
};

/* Something that a template rests on changes: ends the epoch, and so all templates of the adapter
 * (fast/templates.h). */
static inline void invalidate(struct qp_environment *environment)
{
	environment->epoch++;
}

/* The responder's rights or its state are about to change. After this call no peer accesses this
 * queue pair's memory by RMA (net/transport/rma/rma_bypass.h). */
static inline void qp_end_rma(struct qp *qp)
{
	if (likely(!qp->responder.placed && !qp->owner_rma))
		return;
	qp->environment->end_rma(qp);
	assert(!qp->responder.placed && !qp->owner_rma);
}

#endif
