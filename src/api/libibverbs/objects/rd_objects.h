/* SPDX-License-Identifier: Apache-2.0 */
/* The structs behind the RD domains and EE contexts of softib/verbs.h. The functions are in
 * rd/verbs_eec.c; the layers below rd/ call them for a context that is closed or raises an event.
 */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_RD_OBJECTS_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_RD_OBJECTS_H

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

/* Destroys the EE contexts that the program left when it closed its device. The adapter's lock is
 * held. */
void eecs_detach_leftover(struct context_object *context);

/* The EE context's event for an event of the QP inside it. */
enum softib_event_type eec_event_type(enum hca_event_type type);

#endif
