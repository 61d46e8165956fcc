/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that programs announced to subnet administration: ServiceRecords with their leases (vol
 * 1, chapter 15). A service is known by its id, GID and P_Key.
 */
#ifndef SOFTIB_MGMT_SUBNET_SERVICE_REGISTRY_H
#define SOFTIB_MGMT_SUBNET_SERVICE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "wire/sa_records.h"

enum { SERVICES_MAX = 16384, SERVICES_PER_PORT_MAX = 4096 };

struct service {
	struct list link;
	struct service *same_hash; /* the next one whose identity has the same hash */
	struct service_record record;
	struct timer lease; /* not armed: endless */
};

struct services {
	struct list services; /* in the order in which they were announced */
	uint32_t count;
	struct hash_table by_identity;
	struct timer_queue leases;
};

void services_init(struct services *services);
void services_release(struct services *services);

/* The one with this id, GID and P_Key, or NULL. */
struct service *services_find(const struct services *services, const struct service_record_id *id);

/* Adds it, or replaces the one of the same identity; its lease begins now. -ENOSPC, -ENOMEM. */
MUST_USE int services_announce(struct services *services, time_ns now,
			       const struct service_record *record, struct service **ret_service);
void services_remove(struct services *services, struct service *service);

/* Removes those whose lease is over. */
void services_expire(struct services *services, time_ns now);
time_ns services_deadline(const struct services *services);

/* Whole seconds, rounded up, so that a lease that is not over is never 0. */
uint32_t service_lease_left_s(const struct service *service, time_ns now);

static inline struct service *service_of(struct list *link)
{
	return container_of(link, struct service, link);
}

#endif
