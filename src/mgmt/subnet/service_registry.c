/* SPDX-License-Identifier: Apache-2.0 */
/* Services registered with subnet administration, and their leases (management 4.8). */
#include "mgmt/subnet/service_registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void service_registry_init(struct service_registry *registry)
{
	memset(registry, 0, sizeof(*registry));
	list_init(&registry->services);
	hash_table_init(&registry->by_identity);
	timer_queue_init(&registry->leases);
}

void service_registry_release(struct service_registry *registry)
{
	while (!list_is_empty(&registry->services))
		service_registry_remove(registry, service_of(list_first(&registry->services)));
	hash_table_release(&registry->by_identity);
	timer_queue_release(&registry->leases);
}

static uint64_t identity_hash(const struct service_record_id *id)
{
	uint64_t hash = id->id;

	hash = hash * 0x9e3779b97f4a7c15u ^ id->gid_prefix;
	hash = hash * 0x9e3779b97f4a7c15u ^ id->gid_guid;
	return hash * 0x9e3779b97f4a7c15u ^ id->pkey;
}

static bool is_same(const struct service_record_id *a, const struct service_record_id *b)
{
	return a->id == b->id && a->gid_prefix == b->gid_prefix && a->gid_guid == b->gid_guid &&
	       a->pkey == b->pkey;
}

struct service *service_registry_find(const struct service_registry *registry,
				      const struct service_record_id *id)
{
	struct hash_link *link = hash_chain_first(&registry->by_identity, identity_hash(id));

	for (; link; link = link->next) {
		struct service *service = container_of(link, struct service, identity_link);

		if (is_same(&service->record.id, id))
			return service;
	}
	return NULL;
}

static uint32_t count_of_port(const struct service_registry *registry, uint64_t guid)
{
	uint32_t count = 0;

	list_for_each (link, &registry->services)
		count += service_of(link)->record.id.gid_guid == guid;
	return count;
}

static int add(struct service_registry *registry, const struct service_record *record,
	       struct service **ret_service)
{
	struct service *service;
	int error;

	if (registry->count >= SERVICES_MAX ||
	    count_of_port(registry, record->id.gid_guid) >= SERVICES_PER_PORT_MAX)
		return -ENOSPC;
	service = calloc(1, sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->record = *record;
	error = timer_queue_reserve(&registry->leases, registry->count + 1);
	if (!error)
		error = hash_chain_put(&registry->by_identity, identity_hash(&service->record.id),
				       &service->identity_link);
	if (error) {
		free(service);
		return error;
	}
	list_append(&registry->services, &service->link);
	registry->count++;
	*ret_service = service;
	return 0;
}

int service_registry_announce(struct service_registry *registry, time_ns now,
			      const struct service_record *record, struct service **ret_service)
{
	struct service *service = service_registry_find(registry, &record->id);

	if (!service) {
		int error = add(registry, record, &service);

		if (error)
			return error;
	}
	service->record = *record;
	timer_queue_cancel(&registry->leases, &service->lease);
	if (record->id.lease_s != SERVICE_LEASE_ENDLESS)
		timer_queue_arm(&registry->leases, &service->lease,
				now + SECONDS(record->id.lease_s));
	*ret_service = service;
	return 0;
}

void service_registry_remove(struct service_registry *registry, struct service *service)
{
	timer_queue_cancel(&registry->leases, &service->lease);
	hash_chain_remove(&registry->by_identity, identity_hash(&service->record.id),
			  &service->identity_link);
	list_remove(&service->link);
	registry->count--;
	free(service);
}

void service_registry_expire(struct service_registry *registry, time_ns now)
{
	for (struct timer *timer; (timer = timer_queue_pop(&registry->leases, now));)
		service_registry_remove(registry, container_of(timer, struct service, lease));
}

time_ns service_registry_deadline(const struct service_registry *registry)
{
	return timer_queue_deadline(&registry->leases);
}

uint32_t service_lease_left_s(const struct service *service, time_ns now)
{
	if (!timer_is_armed(&service->lease))
		return SERVICE_LEASE_ENDLESS;
	if (service->lease.deadline <= now)
		return 0;
	return (uint32_t)((service->lease.deadline - now + SECONDS(1) - 1) / SECONDS(1));
}
