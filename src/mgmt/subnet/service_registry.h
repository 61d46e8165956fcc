/* SPDX-License-Identifier: Apache-2.0 */
/* Services registered with subnet administration: ServiceRecords with their leases (management
 * 4.8). Service id, GID and P_Key identify a service. */
#ifndef SOFTIB_MGMT_SUBNET_SERVICE_REGISTRY_H
#define SOFTIB_MGMT_SUBNET_SERVICE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_chain.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "wire/sa_records.h"

enum { SERVICES_MAX = 16384, SERVICES_PER_PORT_MAX = 4096 };

struct service {
	struct list link;
	struct hash_link identity_link; /* in service_registry.by_identity */
	struct service_record record;
	struct timer lease; /* not armed: the lease never ends */
};

struct service_registry {
	struct list services; /* in the order of registration */
	uint32_t count;
	struct hash_table by_identity;
	struct timer_queue leases;
};

void service_registry_init(struct service_registry *registry);
void service_registry_release(struct service_registry *registry);

/* The service with this id, GID and P_Key. NULL: none. */
struct service *service_registry_find(const struct service_registry *registry,
				      const struct service_record_id *id);

/* Adds the service or replaces the one with the same identity. Its lease begins now. -ENOSPC,
 * -ENOMEM. */
MUST_USE int service_registry_announce(struct service_registry *registry, time_ns now,
				       const struct service_record *record,
				       struct service **ret_service);
void service_registry_remove(struct service_registry *registry, struct service *service);

/* Removes services whose lease is over. */
void service_registry_expire(struct service_registry *registry, time_ns now);
time_ns service_registry_deadline(const struct service_registry *registry);

/* Whole seconds, rounded up, so that a running lease is never 0. */
uint32_t service_lease_left_s(const struct service *service, time_ns now);

static inline struct service *service_of(struct list *link)
{
	return container_of(link, struct service, link);
}

#endif
