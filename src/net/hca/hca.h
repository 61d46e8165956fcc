/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel adapter as one process sees it: its objects, the queue pairs that have something to do,
 * and its ports (vol 1, chapters 10, 11).
 *
 * No lock, no clock, no system call. Objects have "context" pointers for the caller's own data.
 */
#ifndef SOFTIB_NET_HCA_HCA_H
#define SOFTIB_NET_HCA_HCA_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/index_table.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "net/hca/multicast.h"
#include "net/hca/tag_matching.h"
#include "net/memory/memory.h"
#include "net/transport/completion_ring.h"
#include "net/transport/port_view.h"
#include "net/transport/qp.h"
#include "wire/raw_packet.h"

struct zcopy_source;
struct packet;
struct packet_source;
struct cq;
struct rdd;
struct srq;
struct xrcd;
struct verb_fault;

/* The limits that ibv_query_device reports; each of them can really be reached. */
struct hca_limits {
	uint32_t qp_count_max;
	uint32_t requests_max; /* per queue */
	uint32_t sges_max;
	uint32_t cq_count_max;
	uint32_t cqes_max;
	uint32_t region_count_max;
	uint32_t pd_count_max;
	uint32_t srq_count_max;
	uint32_t srq_requests_max;
	uint32_t srq_sges_max;
	uint32_t ah_count_max;
	uint32_t xrcd_count_max;
	uint32_t rdd_count_max;
	uint32_t eec_count_max;
	uint32_t multicast_groups_max;
	uint32_t multicast_members_max;	      /* of one group */
	uint32_t multicast_total_members_max; /* of all groups */
	uint32_t inline_bytes_max;
	uint8_t initiator_depth_max;
	uint8_t responder_resources_max;
	uint8_t ack_delay;
};

extern const struct hca_limits hca_limits_default;

/* Asynchronous events; numbers are the verbs'. */
enum hca_event_type {
	HCA_EVENT_CQ_ERROR = 0,
	HCA_EVENT_QP_FATAL = 1,
	HCA_EVENT_QP_REQUEST_ERROR = 2,
	HCA_EVENT_QP_ACCESS_ERROR = 3,
	HCA_EVENT_QP_ESTABLISHED = 4,
	HCA_EVENT_SQ_DRAINED = 5,
	HCA_EVENT_PATH_MIGRATED = 6,
	HCA_EVENT_PATH_MIGRATION_ERROR = 7,
	HCA_EVENT_DEVICE_FATAL = 8,
	HCA_EVENT_PORT_ACTIVE = 9,
	HCA_EVENT_PORT_ERROR = 10,
	HCA_EVENT_LID_CHANGE = 11,
	HCA_EVENT_PKEY_CHANGE = 12,
	HCA_EVENT_SM_CHANGE = 13,
	HCA_EVENT_SRQ_ERROR = 14,
	HCA_EVENT_SRQ_LIMIT = 15,
	HCA_EVENT_LAST_REQUEST_REACHED = 16,
	HCA_EVENT_CLIENT_REREGISTER = 17,
	HCA_EVENT_GID_CHANGE = 18,
};

struct hca_event {
	enum hca_event_type type;
	uint8_t port_number; /* port events */
	struct qp_object *qp;
	struct cq *cq;
	struct srq *srq;
};

/* The adapter calls its owner, with the owner's lock held. The owner must not call back into the
 * adapter. */
struct hca_owner {
	void (*event)(void *context, const struct hca_event *event);
	/* An armed CQ got a completion that counts for its arming; the arming is cleared. */
	void (*cq_notify)(void *context, struct cq *cq);
	/* Verbs are to fail on purpose (ipc/verb_faults.h); NULL: faults are ignored. */
	void (*fault)(void *context, const struct verb_fault *fault);
	void *context;
};

enum { HCA_PORTS_MAX = 8 };

/* Why a packet reached no queue pair. */
enum hca_drop {
	HCA_DROP_NO_SUCH_PORT,
	HCA_DROP_NO_SUCH_QP,
	HCA_DROP_MULTICAST_NOT_ATTACHED,
	HCA_DROP_WRONG_PORT,
	HCA_DROP_TARGET_AWAY, /* an XRC target that is leased to another process */
	HCA_DROP_NO_RAW_QP,
	HCA_DROP_COUNT
};

struct hca {
	struct hca_limits limits;
	struct hca_owner owner;
	uint64_t node_guid;
	uint64_t system_image_guid;
	unsigned port_count;
	struct port_view ports[HCA_PORTS_MAX];
	struct port_view *port_views[HCA_PORTS_MAX];
	struct memory memory;
	struct qp_environment environment;
	struct index_table qps;				     /* QPN to struct qp_object */
	struct qp_object *raw_qps[HCA_PORTS_MAX][RAW_KINDS]; /* by port index: net/hca/raw_qps.h */
	struct index_table xrc_srqs;			     /* SRQN to struct srq, XRC ones only */
	struct list xrcds;
	struct list borrowed; /* struct qp_object by borrowed_link: net/hca/shared_target.h */
	struct multicast_table multicast;
	struct list
		qpn_blocks;  /* filled by hca_add_qpns; blocks that have free numbers come first */
	struct list ready;   /* struct qp by ready_link: may have something to transmit */
	struct list undated; /* struct qp by undated_link: hca_date sets their timers */
	struct timer_queue timers;    /* of queue pairs */
	struct timer_queue cq_timers; /* of moderated events */
	uint32_t pd_count, cq_count, srq_count, ah_count, qp_count, xrcd_count, rdd_count,
		eec_count;
	uint32_t next_handle;
	bool is_fatal;
	bool is_unprivileged; /* its consumer may not give queue pairs controlled Q_Keys */
	uint64_t drops[HCA_DROP_COUNT];
};

MUST_USE int hca_init(struct hca *hca, const struct hca_limits *limits,
		      const struct hca_owner *owner, uint64_t node_guid, unsigned port_count);
void hca_release(struct hca *hca);

/* QPNs that this process may use on the adapter. */
MUST_USE int hca_add_qpns(struct hca *hca, uint32_t first, uint32_t count);

/* A port's new state from the fabric; raises the events for each change (transport 5.8). */
void hca_port_update(struct hca *hca, const struct port_view *view, bool client_reregister);
/* The fabric is gone: every queue pair goes to Error, DEVICE_FATAL is raised, and later calls
 * return -EIO. */
void hca_fail(struct hca *hca, time_ns now);

/* Calls visit for every queue pair; visit must not create or destroy any. */
struct qp_object;
void hca_for_each_qp(struct hca *hca, void (*visit)(struct qp_object *object, void *context),
		     void *context);

/* Receives a packet. A packet that no queue pair takes is dropped, and the reason is counted. */
void hca_receive(struct hca *hca, time_ns now, uint8_t port_number, const struct packet *packet);

/* Receives a packet on the fast path (net/transport/fast/fast_send.h), if its source may bring it.
 * Returns the queue pair that took it; NULL: nothing was done. The caller sends an ACK if one is
 * due. */
MUST_USE struct qp *hca_receive_fast(struct hca *hca, time_ns now, uint8_t port_number,
				     const struct packet_source *source, const uint8_t *bytes,
				     uint32_t byte_count);
/* The queue pair that a packet without a GRH is for; NULL: there is none, or it is a shared XRC
 * target. */
struct qp *hca_addressed_qp(const struct hca *hca, const uint8_t *headers);
/* hca_receive_fast for a zcopy message, whose payload the owner copies. */
MUST_USE struct qp *hca_receive_zcopy(struct hca *hca, time_ns now, uint8_t port_number,
				      const struct packet_source *packets, const uint8_t *headers,
				      const struct zcopy_source *source);
/* A zcopy message did not qualify for the fast path, and its payload is no longer there. */
void hca_zcopy_failed(struct hca *hca, uint8_t port_number, const struct packet_source *packets,
		      const uint8_t *headers);
/* An ACK of which only the PSN is known. false: nothing was done. */
MUST_USE bool hca_acknowledge_fast(struct hca *hca, time_ns now, struct qp *qp, struct psn psn);
/* A queue pair sent or acknowledged something at an unknown time: puts it on the list for hca_date,
 * which must be called with the time. */
void hca_remember_undated(struct hca *hca, struct qp *qp);
void hca_date(struct hca *hca, time_ns now);

/* The first queue pair that may transmit, or NULL. It stays in the list until the caller finds that
 * qp_next_route is false and calls hca_ready_remove, or moves it to another list by its ready_link
 * (the ring is full) and later returns it with hca_ready_add. */
struct qp *hca_ready_first(struct hca *hca);
void hca_ready_add(struct hca *hca, struct qp *qp);
void hca_ready_remove(struct hca *hca, struct qp *qp);

time_ns hca_deadline(const struct hca *hca);
void hca_expire(struct hca *hca, time_ns now);

/* Protection domains. Objects that use one keep it (transport 7.4). */
MUST_USE int hca_pd_alloc(struct hca *hca, struct protection_domain **ret_pd);
MUST_USE int hca_pd_dealloc(struct hca *hca, struct protection_domain *pd); /* -EBUSY */

/* Completion queues. */
struct cq {
	struct hca *hca;
	void *context; /* the caller's */
	uint32_t handle;
	bool is_external; /* the slots are in memory that the caller provided */
	/* Queue pairs add completions directly while the CQ is not armed (enum cq_arming). */
	struct completion_ring ring;
	/* An event waits for this many completions that count, or for this long after the first of
	 * them; 0: no wait. */
	uint16_t moderation_count;
	uint32_t unannounced_count;
	uint32_t announced; /* the ring's tail at the last event */
	time_ns moderation_period;
	struct timer moderation_timer;
	uint32_t users; /* queue pairs and shared receive queues that complete here */
};

enum cq_arming { CQ_NOT_ARMED, CQ_ARMED_SOLICITED, CQ_ARMED_NEXT };

MUST_USE int cq_create(struct hca *hca, uint32_t cqe_count, void *context, struct cq **ret_cq);
MUST_USE int cq_resize(struct cq *cq, uint32_t cqe_count);
MUST_USE int cq_destroy(struct cq *cq); /* -EBUSY */
/* The caller provides memory for slot_count completions, until the CQ is resized or destroyed. The
 * queue is empty. */
void cq_use_memory(struct cq *cq, void *memory);
void cq_arm(struct cq *cq, enum cq_arming arming);
/* Notifies the owner if a completion in the queue counts for the arming and came after the last
 * event. The owner knows of earlier ones. */
void cq_announce_new(struct cq *cq);
/* The same for any completion in the queue. */
void cq_announce_present(struct cq *cq);
void cq_moderate(struct cq *cq, uint16_t completion_count, time_ns period);
/* The moderation period is over. */
void cq_expire(struct cq *cq);
/* Adds a completion; notifies the owner at most once per arming. false: no room, the completion is
 * lost and the CQ unusable (transport 7.6). */
bool cq_push(struct cq *cq, const struct completion *completion);
/* Drops the unread completions of a queue pair that was destroyed or reset. */
void cq_forget(struct cq *cq, uint32_t qpn);
/* Oldest completion not yet polled, in place; NULL when empty. cq_advance takes it. */
static inline const struct completion *cq_first(const struct cq *cq)
{
	const struct completion_ring *ring = &cq->ring;

	return ring->head == ring->tail ? NULL : &ring->slots[ring->head & (ring->slot_count - 1)];
}
static inline void cq_advance(struct cq *cq)
{
	cq->ring.head++;
}

/* Shared receive queues. */
struct srq {
	struct receive_queue queue; /* first: a queue pair's shared queue is cast to this struct */
	struct hca *hca;
	void *context;
	uint32_t handle;
	uint32_t limit;
	uint32_t users;
	/* XRC: */
	struct xrcd *xrcd; /* NULL: not an XRC SRQ */
	struct cq *cq;	   /* where all its requests complete; with tags too */
	uint32_t srqn;
	struct tag_list *tags; /* NULL: it does not match tags */
};

MUST_USE int srq_create(struct hca *hca, struct protection_domain *pd, uint32_t requests_max,
			uint32_t sges_max, uint32_t limit, void *context, struct srq **ret_srq);
/* Makes a new queue an XRC SRQ of that domain, with a number that requests can name (transport
 * 5.7). The number is one of the process's QPNs, so that it identifies the process: -EAGAIN as with
 * queue pairs. */
MUST_USE int srq_join(struct srq *srq, struct xrcd *xrcd, struct cq *cq);
MUST_USE int srq_set_limit(struct srq *srq, uint32_t limit);
MUST_USE int srq_resize(struct srq *srq, uint32_t requests_max);
MUST_USE int srq_destroy(struct srq *srq); /* -EBUSY */
MUST_USE int srq_post(struct srq *srq, const struct receive_request *request);

/* XRC domains (vol 1, annex A14). */

/* The device and inode of a file: two opens of the same file get the same domain. */
struct xrcd_file {
	uint64_t device;
	uint64_t inode;
};

enum xrcd_opening {
	XRCD_EXISTING,	      /* -EAGAIN when there is none */
	XRCD_CREATE,	      /* or an existing one */
	XRCD_CREATE_EXCLUSIVE /* -EINVAL when there is one */
};

struct xrcd {
	struct hca *hca;
	struct list link;    /* in hca->xrcds */
	struct list targets; /* struct qp_object by xrcd_link */
	struct xrcd_file file;
	bool has_file; /* false: it can't be opened again */
	uint32_t handle;
	uint32_t id; /* identifies it among processes; 0: not shared */
	uint32_t open_count;
	uint32_t users; /* XRC SRQs and targets of this process's consumers */
};

/* Without a file, always a new domain. */
MUST_USE int xrcd_open(struct hca *hca, const struct xrcd_file *file, enum xrcd_opening opening,
		       struct xrcd **ret_xrcd);
MUST_USE int xrcd_close(struct xrcd *xrcd); /* -EBUSY: the last one, and it is in use */
/* The domain of this file if it is already open; NULL: it is not. */
struct xrcd *xrcd_find(const struct hca *hca, const struct xrcd_file *file);
struct xrcd *xrcd_by_id(const struct hca *hca, uint32_t id);
/* The target of that number in the domain; NULL: none. */
struct qp_object *xrcd_target(const struct xrcd *xrcd, uint32_t qpn);

/* Address handles. */
struct ah {
	struct address_vector vector;
	struct protection_domain *pd;
	struct hca *hca;
	uint32_t handle;
};

MUST_USE int ah_create(struct hca *hca, struct protection_domain *pd,
		       const struct address_vector *vector,
		       struct ah **ret_ah); /* -EINVAL: port, sgid index, dlid */
void ah_destroy(struct ah *ah);

/* Queue pairs. */
struct qp_object {
	struct qp qp; /* first */
	struct hca *hca;
	struct cq *send_cq;
	struct cq *receive_cq;
	struct srq *srq;
	struct xrcd *xrcd; /* of an XRC target */
	struct rdd *rdd;   /* of an RD queue pair or EE context (net/hca/ee_contexts.h) */
	/* The target's domain is shared between processes (net/hca/shared_target.h); read for each
	 * packet. */
	bool is_shared;
	bool is_away;		   /* another process may have the lease */
	bool is_recalled;	   /* softibd wants it back, even in the middle of a message */
	bool has_own_number;	   /* from this process's blocks */
	bool blocks_own_multicast; /* no copies of its own multicast packets */
	uint8_t raw_port;      /* of a raw queue pair: its port's number; 0: not a raw queue pair */
	struct list xrcd_link; /* in xrcd->targets */
	struct tag_choice tag_choice; /* with an SRQ that matches tags */
	struct list multicast_memberships;
	void *context;
	uint32_t handle;
	/* Of a shared target: */
	uint32_t pin_count;	/* greater than 0: the lease must stay here */
	uint32_t taken_count;	/* packets received in this lease */
	uint32_t untold_events; /* bits of enum qp_event, not yet reported to softibd */
	uint32_t told_events;	/* events that were reported with the last returned state */
	struct list borrowed_link;
};

/* An XRC initiator has no receive side: receive_cq and srq must be NULL. A target has only an xrcd,
 * an EE context only an rdd. */
struct qp_options {
	enum qp_type type;
	struct protection_domain *pd;
	struct cq *send_cq;
	struct cq *receive_cq;
	struct srq *srq;
	struct xrcd *xrcd;
	struct rdd *rdd;
	uint32_t qpn;	     /* given by softibd; 0: take one of this process's */
	uint8_t port_number; /* raw queue pairs only */
	bool signal_all;
	struct qp_capabilities
		capabilities; /* requested; ret_object->qp.capabilities has the granted ones */
	void *context;
};

/* -EAGAIN: no QPN left, call hca_add_qpns and try again; -EINVAL: beyond limits; -EBUSY: the port
 * already has a raw queue pair of that kind; -ENOMEM. */
MUST_USE int qp_object_create(struct hca *hca, const struct qp_options *options,
			      struct qp_object **ret_object);
/* Also removes its unread completions from its CQs. */
MUST_USE int qp_object_destroy(struct qp_object *object); /* -EBUSY: in a multicast group */
MUST_USE int qp_object_modify(struct qp_object *object, time_ns now,
			      const struct qp_attributes *attributes, uint32_t mask);
/* Posts, and adds the queue pair to the ready list. */
MUST_USE int qp_object_post_send(struct qp_object *object, time_ns now,
				 const struct send_request *request);
MUST_USE int qp_object_post_receive(struct qp_object *object, time_ns now,
				    const struct receive_request *request);

#endif
