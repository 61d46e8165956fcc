/* SPDX-License-Identifier: Apache-2.0 */
/* The structs behind the public verbs objects. Each holds its public part and a pointer to the
 * adapter's object. The functions are in the files of the verbs (verbs_qp.c, mr.c, context.c). */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_OBJECTS_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_OBJECTS_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include "api/libibverbs/objects/completion_clock.h"
#include "api/libibverbs/objects/core_sharing.h"
#include "api/libibverbs/objects/event_queue.h"
#include "api/libibverbs/objects/export_table.h"
#include "api/libibverbs/objects/foreign_memory.h"
#include "api/libibverbs/objects/queue_memory.h"
#include "api/libibverbs/objects/verbs_layout.h"
#include "base/cache_line.h"
#include "base/list.h"
#include "runtime/adapter.h"

struct ibv_xrc_domain;
struct wr_builder;

/* Lives as long as the process, so that a program may use a device after it freed the list. */
struct verbs_device {
	struct ibv_device device; /* first */
	void *tail;		  /* DEVICE_TAIL_BYTES that provider libraries read */
	unsigned index;
	uint64_t node_guid;
	pthread_mutex_t mutex; /* covers opening and closing */
	/* Under the adapter's lock: */
	struct list contexts; /* struct context_object by link */
	struct list pds;      /* struct verbs_pd by link; parent domains are not listed */
	struct list dms;      /* struct verbs_dm by link; imported ones are not listed */
};

struct context_object {
	struct softib_context_block block; /* first */
	struct verbs_device *device;
	struct adapter *adapter;
	struct event_queue events; /* struct async_record by link */
	struct list link;
	uint64_t identity; /* contexts with the same identity share objects; 0: shares with none */
	pid_t exporter;	   /* the process that this context was imported from; 0: this one */
	/* Under the adapter's lock: */
	struct export_table exports;
	uint32_t object_count; /* PDs, XRC domains, CQs, QPs and SRQs not yet destroyed */
	struct list qps;       /* struct verbs_qp by context_link */
	struct list eecs;      /* struct verbs_eec by context_link */
	bool is_closed;
};

struct verbs_td {
	struct ibv_td td; /* first */
	uint32_t users;
};

struct verbs_pd {
	struct ibv_pd pd;		  /* first */
	struct protection_domain *domain; /* NULL: deallocated by another handle */
	struct list link;
	bool is_shared;	 /* importing made another handle */
	bool is_foreign; /* stands for a PD of another process */
	uint32_t export_slot;
	bool is_parent_domain; /* a second handle of another PD's domain */
	/* Of a parent domain: */
	struct verbs_td *td;
	void *(*allocate)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
			  uint64_t resource_type);
	void (*release)(struct ibv_pd *pd, void *pd_context, void *memory, uint64_t resource_type);
	void *allocator_context;
	uint32_t user_count; /* atomic: objects that were created with it */
};

struct verbs_dm {
	struct ibv_dm dm; /* first */
	uint8_t *bytes;
	size_t byte_count;
	uint32_t users;
	struct list link;
	struct verbs_dm *original; /* of an imported handle: the owner of the bytes */
	uint32_t handle_count;	   /* of the original: its handles, the original included */
	int file;		   /* backs the bytes, so that other processes can map them; -1:
				    * none */
	uint32_t export_slot;
	struct foreign_memory foreign; /* if the memory is another process's */
};

struct verbs_mr {
	struct ibv_mr mr; /* first */
	struct region *region;
	struct verbs_dm *dm; /* NULL: ordinary memory */
	void *zeros;	     /* of a null region: the zeros that it reads */
	uint32_t export_slot;
	struct foreign_memory foreign; /* if the memory is another process's */
	const uint32_t *watched;       /* of another process's region: the word of
					* export_file_watch() */
};

struct verbs_channel {
	struct ibv_comp_channel channel; /* first */
	struct event_queue events;	 /* struct verbs_cq by event_link */
	uint64_t look_ns;	  /* atomic: how long to poll before sleeping (event_wait.c) */
	bool finds_events_itself; /* atomic: the last wait found its event by polling */
	struct list cqs;	  /* struct verbs_cq by channel_link; under the adapter's lock */
};

struct verbs_cq {
	struct ibv_cq_ex cq; /* first; programs cast it to ibv_cq */
	struct cq *object;
	struct adapter *adapter;
	struct completion current; /* the completion that the ibv_wc_read_* functions show */
	struct completion_clock clock;
	uint32_t idle_polls; /* polls in a row that found no completion and moved no packet */
	bool is_single_threaded;
	struct core_sharing sharing;
	struct queue_memory queue_memory;
	pthread_mutex_t polling; /* from start_poll to end_poll */
	struct list channel_link;
	/* Under the channel's event queue. */
	struct list event_link;
	uint32_t events_waiting;
	uint32_t events_handed_out;
	/* Under the context's event queue. */
	uint32_t async_events_handed_out;
};

struct verbs_srq {
	struct ibv_srq srq; /* first */
	struct {	    /* second: with srq, the struct that ofa_verbs.h shows for an XRC SRQ */
		uint32_t number;
		struct ibv_xrc_domain *domain;
		struct ibv_cq *cq;
	} old;
	struct srq *object;
	struct adapter *adapter;
	struct queue_memory queue_memory;
	uint32_t async_events_handed_out;
};

/* One handle of an XRC domain. */
struct verbs_xrcd {
	struct ibv_xrcd xrcd; /* first */
	struct xrcd *domain;
};

struct verbs_ah {
	struct ibv_ah ah; /* first */
	struct ah *object;
};

/* The private part comes first, because the public part has two sizes. */
struct verbs_qp {
	struct qp_object *object; /* NULL once its context was closed */
	struct adapter *adapter;
	struct list context_link;
	struct list
		sharers; /* ring of the handles of an XRC target; object->context is any of them */
	struct wr_builder *builder; /* NULL for a plain queue pair */
	struct queue_memory queue_memory;
	uint32_t async_events_handed_out;
	bool has_ece;		 /* ibv_set_ece was called */
	bool is_named_by_number; /* the program knows only the QP number: old_xrc.c */
	struct ibv_qp qp;	 /* last; with a builder, the beginning of a struct softib_qp_ex */
};

static inline struct context_object *context_of(struct ibv_context *context)
{
	return container_of(context_block_of(context), struct context_object, block);
}

static inline struct verbs_pd *pd_of(struct ibv_pd *pd)
{
	return (struct verbs_pd *)pd;
}

static inline struct verbs_cq *cq_of(struct ibv_cq *cq)
{
	return (struct verbs_cq *)cq;
}

static inline struct verbs_srq *srq_of(struct ibv_srq *srq)
{
	return (struct verbs_srq *)srq;
}

static inline struct verbs_xrcd *xrcd_of(struct ibv_xrcd *xrcd)
{
	return (struct verbs_xrcd *)xrcd;
}

static inline struct verbs_ah *ah_of(struct ibv_ah *ah)
{
	return (struct verbs_ah *)ah;
}

static inline struct verbs_qp *qp_of(struct ibv_qp *qp)
{
	return container_of(qp, struct verbs_qp, qp);
}

/* Only for a QP that was allocated with a builder. */
static inline struct softib_qp_ex *qp_extended(struct verbs_qp *qp)
{
	return (struct softib_qp_ex *)&qp->qp;
}

/* Destroys the QP behind a handle, unless another handle shares it. The adapter's lock is held. */
MUST_USE int verbs_qp_detach(struct verbs_qp *qp);

/* Called when an object of the context was destroyed, as the object's last use of the context: the
 * last object of a closed context frees the context. The adapter's lock is not held. */
void context_object_gone(struct context_object *context);

/* The verbs' two ways to report an error: a positive errno value (errno is set too), or NULL with
 * errno. Both functions take 0 or -errno. */
static inline int verbs_result(int error)
{
	if (error)
		errno = -error;
	return -error;
}

static inline void *verbs_null(int error)
{
	errno = -error;
	return NULL;
}

#endif
