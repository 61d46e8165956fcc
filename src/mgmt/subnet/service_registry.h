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

struct service_registry {
	struct list services; /* in the order in which they were announced */
	uint32_t count;
	struct hash_table by_identity;
	struct timer_queue leases;
};

void service_registry_init(struct service_registry *registry);
void service_registry_release(struct service_registry *registry);

/* The one with this id, GID and P_Key, or NULL. */
struct service *service_registry_find(const struct service_registry *registry,
				      const struct service_record_id *id);

/* Adds it, or replaces the one of the same identity; its lease begins now. -ENOSPC, -ENOMEM. */
MUST_USE int service_registry_announce(struct service_registry *registry, time_ns now,
				       const struct service_record *record,
				       struct service **ret_service);
void service_registry_remove(struct service_registry *registry, struct service *service);

/* Removes those whose lease is over. */
void service_registry_expire(struct service_registry *registry, time_ns now);
time_ns service_registry_deadline(const struct service_registry *registry);

/* Whole seconds, rounded up, so that a lease that is not over is never 0. */
uint32_t service_lease_left_s(const struct service *service, time_ns now);

static inline struct service *service_of(struct list *link)
{
	return container_of(link, struct service, link);
}

#endif
