/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the RD domains and EE contexts of softib/verbs.h. */
#ifndef SOFTIB_API_LIBIBVERBS_RD_VERBS_EEC_H
#define SOFTIB_API_LIBIBVERBS_RD_VERBS_EEC_H

#include <softib/verbs.h>
#include "api/libibverbs/objects/objects.h"

struct rdd;

struct verbs_rdd {
	struct softib_rdd rdd; /* first */
	struct rdd *domain;
};

struct verbs_eec {
	struct softib_eec eec;	  /* first */
	struct qp_object *object; /* NULL once its context was closed */
	struct adapter *adapter;
	struct list context_link;
	uint32_t async_events_handed_out;
	/* Under the adapter's lock: */
	uint32_t id_count;   /* ids that name it (eec_ids.h) */
	bool has_connection; /* one of them connects it */
};

static inline struct rdd *rdd_of(struct softib_rdd *rdd)
{
	return ((struct verbs_rdd *)rdd)->domain;
}

static inline struct verbs_eec *eec_of(struct softib_eec *eec)
{
	return (struct verbs_eec *)eec;
}

/* What a program did not destroy before it closed its device. The adapter's lock is held. */
void eecs_detach_leftover(struct context_object *context);

/* A queue pair's event as a context's. */
enum softib_event_type eec_event_type(enum hca_event_type type);

#endif
