/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of InfiniBand that <infiniband/verbs.h> lacks: Reliable Datagram and raw datagrams (vol 1,
 * chapters 9 to 11).
 *
 * The calls are in softib's libibverbs.so.1, version node SOFTIB_1.0; "pkg-config softib" prints
 * the link flags. They report errors as verbs.h does: a handle or NULL with errno, or 0 or an errno
 * value. See softib_verbs(7).
 */
#ifndef SOFTIB_VERBS_H
#define SOFTIB_VERBS_H

#include <pthread.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Reliable Datagram --- */

/* A QP type beyond enum ibv_qp_type, in struct ibv_qp_init_attr, ibv_qp and ibv_query_qp. */
#define SOFTIB_QPT_RD ((enum ibv_qp_type)11)

/* A reliable datagram domain: QPs use the EE contexts of their own domain. */
struct softib_rdd {
	struct ibv_context *context;
	uint32_t handle;
};

/* An EE context: one end of the reliable channel between two ports, which many RD QPs share. */
struct softib_eec {
	struct ibv_context *context;
	struct softib_rdd *rdd;
	void *eec_context;
	uint32_t handle;
	uint32_t eec_num;
	enum ibv_qp_state state; /* after the last modify or query; there is no SQE */

	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
};

struct softib_rdd *softib_alloc_rdd(struct ibv_context *context);
int softib_dealloc_rdd(struct softib_rdd *rdd); /* EBUSY while it has QPs or EE contexts */

struct softib_eec *softib_create_eec(struct softib_rdd *rdd, void *eec_context);
int softib_destroy_eec(struct softib_eec *eec); /* EBUSY while a softib_cm_id uses it */

/*
 * Attributes and mask as for RC; dest_qp_num is the number of the remote EE context.
 * qp_access_flags, min_rnr_timer and qkey belong to QPs, not to EE contexts. RESET to INIT
 * IBV_QP_PKEY_INDEX, IBV_QP_PORT INIT to RTR    IBV_QP_AV, _PATH_MTU, _DEST_QPN, _RQ_PSN,
 * _MAX_DEST_RD_ATOMIC RTR to RTS     IBV_QP_SQ_PSN, _TIMEOUT, _RETRY_CNT, _RNR_RETRY,
 * _MAX_QP_RD_ATOMIC
 */
int softib_modify_eec(struct softib_eec *eec, struct ibv_qp_attr *attr, int attr_mask);
int softib_query_eec(struct softib_eec *eec, struct ibv_qp_attr *attr, int attr_mask);

/*
 * attr->qp_type must be SOFTIB_QPT_RD. For all but sending, use the calls of verbs.h
 * (ibv_modify_qp, ibv_post_recv, ibv_destroy_qp …). RESET to INIT  IBV_QP_ACCESS_FLAGS, IBV_QP_QKEY
 *   INIT to RTR    IBV_QP_MIN_RNR_TIMER
 *   RTR to RTS     nothing
 */
struct ibv_qp *softib_create_rd_qp(struct ibv_pd *pd, struct softib_rdd *rdd,
				   struct ibv_qp_init_attr *attr);

struct softib_rd_send_wr {
	struct ibv_send_wr wr; /* as for RC; wr.next is ignored */
	struct softib_rd_send_wr *next;
	uint32_t eec_num; /* the local EE context */
	uint32_t remote_qpn;
	uint32_t remote_qkey; /* with the highest bit set: the QP's own Q_Key is used */
};

/* SEND, SEND_WITH_IMM, RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ, both atomics, BIND_MW. */
int softib_post_rd_send(struct ibv_qp *qp, struct softib_rd_send_wr *wr,
			struct softib_rd_send_wr **bad_wr);

/* A completion with fields that struct ibv_wc lacks. wc.src_qp and wc.slid identify the sender of a
 * datagram, as for UD. */
struct softib_wc {
	struct ibv_wc wc;
	uint32_t eec_num; /* local EE context of a received reliable datagram; 0: none */
	uint32_t reserved[3];
};

/* Like ibv_poll_cq, for any CQ. */
int softib_poll_cq(struct ibv_cq *cq, int num_entries, struct softib_wc *wc);

/* Asynchronous events of EE contexts, in ibv_async_event.event_type. Programs read and acknowledge
 * them like all others. */
enum softib_event_type {
	SOFTIB_EVENT_EEC_FATAL = 0x1001, /* the two ends are out of step; the EE context is in
					  * Error */
	SOFTIB_EVENT_EEC_COMM_EST = 0x1004,
	SOFTIB_EVENT_EEC_SQ_DRAINED = 0x1005,
	SOFTIB_EVENT_EEC_PATH_MIG = 0x1006,
	SOFTIB_EVENT_EEC_PATH_MIG_ERR = 0x1007,
};

/* The EE context of such an event; NULL for any other event. */
static inline struct softib_eec *softib_event_eec(const struct ibv_async_event *event)
{
	unsigned int type = (unsigned int)event->event_type;

	if (type < SOFTIB_EVENT_EEC_FATAL || type > SOFTIB_EVENT_EEC_PATH_MIG_ERR)
		return 0;
	return (struct softib_eec *)(void *)event->element.qp;
}

/*
 * --- connecting EE contexts by communication management (vol 1, chapter 12) ---
 *
 * With these calls programs need not exchange numbers themselves. One side listens for a service ID
 * at a port, the other requests a connection to it. Request and reply each carry an EE context,
 * which the library moves to RTS, the QP of the service with its Q_Key, and private data. All calls
 * return at once; events report the results.
 */

/* The source of events. */
struct softib_cm_channel {
	struct ibv_context *context;
	int fd; /* readable while an event may wait; may be made non-blocking */
};

/* A listener, or one side of a connection. */
struct softib_cm_id {
	struct softib_cm_channel *channel;
	void *id_context;
	struct softib_eec *eec; /* NULL for a listener, and for a request that was not accepted */
	uint64_t service_id;
	uint8_t port_num;

	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
};

struct softib_cm_channel *softib_create_cm_channel(struct ibv_context *context);
int softib_destroy_cm_channel(struct softib_cm_channel *channel); /* EBUSY while it has ids */

/* EADDRINUSE: another program of the host listens there for that service. */
struct softib_cm_id *softib_listen_eec(struct softib_cm_channel *channel, uint8_t port_num,
				       uint64_t service_id, int backlog, void *id_context);

/* The destination of a connection request. */
struct softib_eec_call {
	union ibv_gid dgid;
	uint64_t service_id;
	uint8_t port_num;	  /* the local port */
	uint8_t response_timeout; /* of one try, 4.096 us * 2^n; 0: 4.3 s, 16 tries */
	uint8_t tries;		  /* with a response_timeout: 1 to 16 */
	uint8_t ack_timeout;	  /* of the EE contexts, IBV_QP_TIMEOUT; 0: from the path's packet
				   * lifetime */
	uint16_t pkey;		  /* 0: the default partition's */
};

/* The parameters that one side offers the other. */
struct softib_eec_offer {
	uint32_t qp_num; /* 0: none */
	uint32_t qkey;
	const void *private_data;
	uint8_t private_data_len;    /* at most 92 in a request, 196 in a reply */
	uint8_t responder_resources; /* 0: the peer may use neither RDMA READ nor atomics */
	uint8_t initiator_depth;     /* 0: this side uses neither */
	uint8_t retry_count;	     /* of the requesting side */
	uint8_t rnr_retry_count;
};

/*
 * Requests a connection. An EE context in RESET or INIT gets connected, and belongs to the id until
 * the id is destroyed. With an EE context in RTS, connected earlier by such a call, the request
 * asks for another service at its other end: the two sides exchange QP numbers, and the EE context
 * does not change.
 */
struct softib_cm_id *softib_connect_eec(struct softib_cm_channel *channel, struct softib_eec *eec,
					const struct softib_eec_call *call,
					const struct softib_eec_offer *offer, void *id_context);
/* For the id of a SOFTIB_CM_REQUEST. eec: the event's EE context, if the event has one. */
int softib_accept_eec(struct softib_cm_id *id, struct softib_eec *eec,
		      const struct softib_eec_offer *offer);
/* For the id of a SOFTIB_CM_REQUEST. reason 0: SOFTIB_REJECT_CONSUMER. */
int softib_reject_eec(struct softib_cm_id *id, int reason, const void *private_data,
		      uint8_t private_data_len);
/* Moves the EE context to Error, unless the id only used it to reach a service. */
int softib_disconnect_eec(struct softib_cm_id *id);
/* For an accepted id whose EE context had SOFTIB_EVENT_EEC_COMM_EST before
 * SOFTIB_CM_ESTABLISHED. */
int softib_notify_eec(struct softib_cm_id *id);
/* Loads an alternate path, from this local port to that port of the peer's adapter, as the subnet
 * manager knows it. For the established id that connected the EE context. The peer agrees by
 * itself; SOFTIB_CM_ALTERNATE_PATH reports the result. EINVAL: also while another load is in
 * progress. EADDRNOTAVAIL: the port belongs to another adapter. */
int softib_load_alternate_eec(struct softib_cm_id *id, uint8_t port_num, const union ibv_gid *dgid);
/* Ends the connection or request, as softib_disconnect_eec or softib_reject_eec do, and waits until
 * its events are acknowledged. */
int softib_destroy_cm_id(struct softib_cm_id *id);

enum softib_cm_event_type {
	SOFTIB_CM_REQUEST = 1, /* a peer requests a connection: id is new; accept, reject or
				* destroy it */
	SOFTIB_CM_ESTABLISHED, /* the EE context, if it was to be connected, is in RTS */
	SOFTIB_CM_REJECTED,    /* status: the reason */
	SOFTIB_CM_UNREACHABLE, /* no path, or no reply; status: an errno value */
	SOFTIB_CM_ERROR,       /* this side failed; status: an errno value */
	SOFTIB_CM_DISCONNECTED,
	SOFTIB_CM_TIMEWAIT_EXIT, /* no packet of the connection is in flight any more */
	/* status 0: both EE contexts have the path and arm it with their next packets.
	 * EHOSTUNREACH: there is no path. ECONNREFUSED or ETIMEDOUT: the peer's answer. EINVAL:
	 * this EE context did not take the path. */
	SOFTIB_CM_ALTERNATE_PATH,
};

/* The most likely reasons of chapter 12; others may occur. */
enum softib_reject_reason {
	SOFTIB_REJECT_NO_QP = 1,
	SOFTIB_REJECT_NO_EEC = 2,
	SOFTIB_REJECT_NO_RESOURCES = 3,
	SOFTIB_REJECT_TIMEOUT = 4,
	SOFTIB_REJECT_UNSUPPORTED = 5,
	SOFTIB_REJECT_INVALID_SERVICE_ID = 8,
	SOFTIB_REJECT_INVALID_TRANSPORT_TYPE = 9,
	SOFTIB_REJECT_STALE_CONNECTION = 10,
	SOFTIB_REJECT_NO_CHANNEL = 11, /* the named EE context is not connected (RDC) */
	SOFTIB_REJECT_CONSUMER = 28,
};

struct softib_cm_event {
	enum softib_cm_event_type type;
	int status;
	struct softib_cm_id *id;
	struct softib_cm_id *listener; /* only for a request */
	/* For a request, and for SOFTIB_CM_ESTABLISHED on the requesting side: the peer's offer. */
	struct softib_eec *eec; /* the connected EE context that the request uses; NULL: a new one
				 */
	uint32_t remote_eec_num;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	union ibv_gid remote_gid;
	uint8_t responder_resources; /* as seen from this side: what it is asked to grant */
	uint8_t initiator_depth;     /* what it is granted */
	uint8_t private_data_len;    /* the whole private data field of the message */
	uint8_t private_data[224];
};

/* Waits for the next event. Connections make progress only in this call, so a program must read the
 * channel. EAGAIN: the descriptor is non-blocking; EINTR; ENODEV: softibd is gone. */
int softib_get_cm_event(struct softib_cm_channel *channel, struct softib_cm_event *event);
/* Every event must be acknowledged. A request counts as an event of the listener. */
void softib_ack_cm_event(struct softib_cm_event *event);
const char *softib_cm_event_str(enum softib_cm_event_type type);

/* --- raw datagrams --- */

/* QP types like SOFTIB_QPT_RD. For ibv_create_qp, 5 has another meaning and 6 is invalid. */
#define SOFTIB_QPT_RAW_IPV6	 ((enum ibv_qp_type)5)
#define SOFTIB_QPT_RAW_ETHERTYPE ((enum ibv_qp_type)6)

/*
 * Creates the raw QP of a port. It receives all raw packets of its kind at the port, so there can
 * be only one on the host (EBUSY). attr->qp_type: the kind; attr->srq must be NULL. It is
 * destroyed, modified and queried like any QP; no transition needs an attribute. It may be attached
 * to multicast groups.
 *
 * ibv_post_send sends one packet per SEND request. wr.ud.ah gives DLID and SL (there is no GRH).
 * For a raw EtherType packet, wr.ud.remote_qpn is the EtherType. Sizes are multiples of 4 bytes: a
 * raw EtherType packet has 8 bytes to the MTU; a raw IPv6 packet has a valid IPv6 header of 40
 * bytes and up to the MTU behind it. Completions of received EtherType packets have the EtherType
 * in src_qp.
 */
struct ibv_qp *softib_create_raw_qp(struct ibv_pd *pd, uint8_t port_num,
				    struct ibv_qp_init_attr *attr);

#ifdef __cplusplus
}
#endif

#endif
