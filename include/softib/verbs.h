/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What InfiniBand has and <infiniband/verbs.h> lacks: Reliable Datagram and raw datagrams (vol 1,
 * chapters 9 to 11).
 *
 * The calls are in softib's libibverbs.so.1, at the version node SOFTIB_1.0; "pkg-config softib" says how
 * to link. They have the habits of verbs.h: handles or NULL with errno, or 0 or an errno value. See
 * softib_verbs(7).
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

/* In struct ibv_qp_init_attr, ibv_qp and ibv_query_qp, where they have an enum ibv_qp_type. */
#define SOFTIB_QPT_RD ((enum ibv_qp_type)11)

/* A reliable datagram domain: queue pairs use the EE contexts of their own domain. */
struct softib_rdd {
	struct ibv_context *context;
	uint32_t handle;
};

/* One end of the reliable channel between two ports, which many RD queue pairs share. */
struct softib_eec {
	struct ibv_context *context;
	struct softib_rdd *rdd;
	void *eec_context;
	uint32_t handle;
	uint32_t eec_num;
	enum ibv_qp_state state; /* as the last modify or query left it; there is no SQE */

	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
};

struct softib_rdd *softib_alloc_rdd(struct ibv_context *context);
int softib_dealloc_rdd(struct softib_rdd *rdd); /* EBUSY while it has queue pairs or contexts */

struct softib_eec *softib_create_eec(struct softib_rdd *rdd, void *eec_context);
int softib_destroy_eec(struct softib_eec *eec); /* EBUSY while a softib_cm_id has it */

/*
 * Attributes and mask are those of a reliable connection; dest_qp_num is the number of the remote
 * context. Of a queue pair and not of a context are qp_access_flags, min_rnr_timer and qkey.
 *   RESET to INIT  IBV_QP_PKEY_INDEX, IBV_QP_PORT
 *   INIT to RTR    IBV_QP_AV, _PATH_MTU, _DEST_QPN, _RQ_PSN, _MAX_DEST_RD_ATOMIC
 *   RTR to RTS     IBV_QP_SQ_PSN, _TIMEOUT, _RETRY_CNT, _RNR_RETRY, _MAX_QP_RD_ATOMIC
 */
int softib_modify_eec(struct softib_eec *eec, struct ibv_qp_attr *attr, int attr_mask);
int softib_query_eec(struct softib_eec *eec, struct ibv_qp_attr *attr, int attr_mask);

/*
 * attr->qp_type must be SOFTIB_QPT_RD. All other calls on it are those of verbs.h (ibv_modify_qp,
 * ibv_post_recv, ibv_destroy_qp …), but for sending.
 *   RESET to INIT  IBV_QP_ACCESS_FLAGS, IBV_QP_QKEY
 *   INIT to RTR    IBV_QP_MIN_RNR_TIMER
 *   RTR to RTS     nothing
 */
struct ibv_qp *softib_create_rd_qp(struct ibv_pd *pd, struct softib_rdd *rdd,
				   struct ibv_qp_init_attr *attr);

struct softib_rd_send_wr {
	struct ibv_send_wr wr; /* as for a reliable connection; wr.next is not looked at */
	struct softib_rd_send_wr *next;
	uint32_t eec_num; /* of a local context */
	uint32_t remote_qpn;
	uint32_t remote_qkey; /* with the highest bit set: the queue pair's own */
};

/* SEND, SEND_WITH_IMM, RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ, both atomics, BIND_MW. */
int softib_post_rd_send(struct ibv_qp *qp, struct softib_rd_send_wr *wr,
			struct softib_rd_send_wr **bad_wr);

/* A completion with what struct ibv_wc has no room for. wc.src_qp and wc.slid name the sender of a
 * datagram as they do for UD. */
struct softib_wc {
	struct ibv_wc wc;
	uint32_t eec_num; /* of the local context by which a reliable datagram came; 0: by none */
	uint32_t reserved[3];
};

/* As ibv_poll_cq, of any CQ. */
int softib_poll_cq(struct ibv_cq *cq, int num_entries, struct softib_wc *wc);

/* Asynchronous events of contexts, in ibv_async_event.event_type; they are read and acknowledged as
 * all others. */
enum softib_event_type {
	SOFTIB_EVENT_EEC_FATAL = 0x1001, /* the two ends can't agree any more; it is in Error */
	SOFTIB_EVENT_EEC_COMM_EST = 0x1004,
	SOFTIB_EVENT_EEC_SQ_DRAINED = 0x1005,
	SOFTIB_EVENT_EEC_PATH_MIG = 0x1006,
	SOFTIB_EVENT_EEC_PATH_MIG_ERR = 0x1007,
};

/* The context that such an event is about; a null pointer for any other event. */
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
 * Instead of exchanging numbers by hand: one side listens for a service id at a port, the other
 * calls it there. A request and its answer each carry a context, which the library takes to RTS,
 * the queue pair that the service is reached by, with its Q_Key, and some bytes of the program's.
 * All calls return at once; what becomes of them is told by events.
 */

/* Where events come from. */
struct softib_cm_channel {
	struct ibv_context *context;
	int fd; /* readable while an event may wait; a program may make it non-blocking */
};

/* A listener, or one side of a connection. */
struct softib_cm_id {
	struct softib_cm_channel *channel;
	void *id_context;
	struct softib_eec *eec; /* NULL: of a listener, or of a request that was not accepted */
	uint64_t service_id;
	uint8_t port_num;

	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
};

struct softib_cm_channel *softib_create_cm_channel(struct ibv_context *context);
int softib_destroy_cm_channel(struct softib_cm_channel *channel); /* EBUSY while it has ids */

/* EADDRINUSE: a program of the host listens there for that service. */
struct softib_cm_id *softib_listen_eec(struct softib_cm_channel *channel, uint8_t port_num,
				       uint64_t service_id, int backlog, void *id_context);

/* Whom to call. */
struct softib_eec_call {
	union ibv_gid dgid;
	uint64_t service_id;
	uint8_t port_num;	  /* of ours */
	uint8_t response_timeout; /* for one answer, 4.096 us * 2^n; 0: 4.3 s, 16 tries */
	uint8_t tries;		  /* with a response_timeout: 1 to 16 */
	uint8_t ack_timeout;	  /* of the contexts, IBV_QP_TIMEOUT; 0: by the path's lifetime */
	uint16_t pkey;		  /* 0: that of the default partition */
};

/* What one side tells the other. */
struct softib_eec_offer {
	uint32_t qp_num; /* 0: none */
	uint32_t qkey;
	const void *private_data;
	uint8_t private_data_len;    /* with a request 92 at most, with an answer 196 */
	uint8_t responder_resources; /* 0: the other side may not read, nor use atomics */
	uint8_t initiator_depth;     /* 0: this side won't */
	uint8_t retry_count;	     /* of a caller */
	uint8_t rnr_retry_count;
};

/*
 * Calls. A context in RESET or INIT is to be connected; it is the id's until that is destroyed.
 * With one in RTS, which was connected so, a service of its other end is asked for: queue pairs are
 * exchanged, and nothing happens to the context.
 */
struct softib_cm_id *softib_connect_eec(struct softib_cm_channel *channel, struct softib_eec *eec,
					const struct softib_eec_call *call,
					const struct softib_eec_offer *offer, void *id_context);
/* Of the id of a SOFTIB_CM_REQUEST; with the event's context where that has one. */
int softib_accept_eec(struct softib_cm_id *id, struct softib_eec *eec,
		      const struct softib_eec_offer *offer);
/* Also of such an id. reason: 0 stands for SOFTIB_REJECT_CONSUMER. */
int softib_reject_eec(struct softib_cm_id *id, int reason, const void *private_data,
		      uint8_t private_data_len);
/* The context is in Error then, unless it only lent its way. */
int softib_disconnect_eec(struct softib_cm_id *id);
/* Of an accepted id whose context had SOFTIB_EVENT_EEC_COMM_EST before SOFTIB_CM_ESTABLISHED. */
int softib_notify_eec(struct softib_cm_id *id);
/* Another path, for the day when that of the context fails: from this port of ours to that of the
 * peer's adapter, as the subnet manager knows it. Of the established id that connected the context;
 * the peer agrees by itself, and SOFTIB_CM_ALTERNATE_PATH tells. EINVAL also while one is under way;
 * EADDRNOTAVAIL: the port is of another adapter. */
int softib_load_alternate_eec(struct softib_cm_id *id, uint8_t port_num, const union ibv_gid *dgid);
/* Ends what is under way, as softib_disconnect_eec or softib_reject_eec do, and waits until its
 * events are acknowledged. */
int softib_destroy_cm_id(struct softib_cm_id *id);

enum softib_cm_event_type {
	SOFTIB_CM_REQUEST = 1, /* a peer calls: id is new, to be accepted, refused or destroyed */
	SOFTIB_CM_ESTABLISHED, /* the context, if it was to be connected, is in RTS */
	SOFTIB_CM_REJECTED,    /* status: the reason */
	SOFTIB_CM_UNREACHABLE, /* no way there, or no answer; status: an errno value */
	SOFTIB_CM_ERROR,       /* it did not work out at this side; status: an errno value */
	SOFTIB_CM_DISCONNECTED,
	SOFTIB_CM_TIMEWAIT_EXIT, /* no packet of it is under way any more */
	/* Both contexts have the path and arm it by their next packets; else status is
	 * EHOSTUNREACH: there is none, ECONNREFUSED or ETIMEDOUT: what the peer said to it, EINVAL:
	 * this context did not take it */
	SOFTIB_CM_ALTERNATE_PATH,
};

/* Those of chapter 12 that are likely here; any other may come. */
enum softib_reject_reason {
	SOFTIB_REJECT_NO_QP = 1,
	SOFTIB_REJECT_NO_EEC = 2,
	SOFTIB_REJECT_NO_RESOURCES = 3,
	SOFTIB_REJECT_TIMEOUT = 4,
	SOFTIB_REJECT_UNSUPPORTED = 5,
	SOFTIB_REJECT_INVALID_SERVICE_ID = 8,
	SOFTIB_REJECT_INVALID_TRANSPORT_TYPE = 9,
	SOFTIB_REJECT_STALE_CONNECTION = 10,
	SOFTIB_REJECT_NO_CHANNEL = 11, /* the context that was named is not connected (RDC) */
	SOFTIB_REJECT_CONSUMER = 28,
};

struct softib_cm_event {
	enum softib_cm_event_type type;
	int status;
	struct softib_cm_id *id;
	struct softib_cm_id *listener; /* of a request */
	/* Of a request, and of a caller's SOFTIB_CM_ESTABLISHED: what the other side offers. */
	struct softib_eec *eec; /* the context that a service is asked for over; NULL: a new one */
	uint32_t remote_eec_num;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	union ibv_gid remote_gid;
	uint8_t responder_resources; /* as seen from here: what this side is asked to grant */
	uint8_t initiator_depth;     /* and what it is granted */
	uint8_t private_data_len;    /* all of the message's room */
	uint8_t private_data[224];
};

/* Waits for the next one. It is also how calls proceed, so whoever called must read the channel.
 * EAGAIN: the descriptor was made non-blocking; EINTR; ENODEV: softibd is gone. */
int softib_get_cm_event(struct softib_cm_channel *channel, struct softib_cm_event *event);
/* Each must be acknowledged; that of a request counts for the listener. */
void softib_ack_cm_event(struct softib_cm_event *event);
const char *softib_cm_event_str(enum softib_cm_event_type type);

/* --- raw datagrams --- */

/* As SOFTIB_QPT_RD. ibv_create_qp has another meaning for 5, and refuses 6. */
#define SOFTIB_QPT_RAW_IPV6	 ((enum ibv_qp_type)5)
#define SOFTIB_QPT_RAW_ETHERTYPE ((enum ibv_qp_type)6)

/*
 * The raw queue pair of a port: all raw packets of its kind that the port receives are its own, so
 * there is one, whatever the process: EBUSY. attr->qp_type says which kind; attr->srq must be a null
 * pointer. It is destroyed, modified and queried as any other; no transition needs an attribute. It
 * may be attached to multicast groups.
 *
 * It sends by ibv_post_send, SEND only, one packet each: wr.ud.ah says where to (DLID and SL; there is
 * no GRH), and of a raw EtherType packet wr.ud.remote_qpn is the EtherType. What is sent and received
 * is a multiple of 4 bytes: at least 8 of a raw EtherType packet and at most the MTU; of a raw IPv6
 * packet the 40 bytes of its header, which must be right, and at most the MTU behind it. Completions
 * of received EtherType packets have the EtherType in src_qp.
 */
struct ibv_qp *softib_create_raw_qp(struct ibv_pd *pd, uint8_t port_num,
				    struct ibv_qp_init_attr *attr);

#ifdef __cplusplus
}
#endif

#endif
