/* SPDX-License-Identifier: Apache-2.0 */
/* Services: ServiceRecord and ServiceAssociationRecord (management 4.8). */
#include <errno.h>
#include <string.h>
#include "mgmt/sa/sa_query.h"

enum { SERVICE_KEY_OFFSET = 32, SERVICE_KEY_BYTES = 16 };

static bool may_see(const struct sa_request *request, const struct service *service)
{
	return request->is_trusted ||
	       (request->requester &&
		sa_port_holds_pkey(request->requester, service->record.id.pkey));
}

/* With the remaining lease. */
static void encode(const struct sa_request *request, const struct service *service,
		   uint8_t *ret_bytes)
{
	struct service_record record = service->record;

	record.id.lease_s = service_lease_left_s(service, request->now);
	service_record_encode(&record, ret_bytes);
}

/* Only a trusted request sees the ServiceKey (management 4.5). A client that has the key may use it
 * in a query. */
static void hide_key(const struct sa_request *request, uint8_t *record)
{
	if (!request->is_trusted)
		memset(record + SERVICE_KEY_OFFSET, 0, SERVICE_KEY_BYTES);
}

uint16_t sa_find_services(struct sa *sa, const struct sa_request *request)
{
	struct sa_query query;

	sa_query_begin(&query, sa, request, &service_record_components, 0);
	list_for_each (link, &sa->services.services) {
		const struct service *service = service_of(link);
		uint8_t *place;

		if (!may_see(request, service))
			continue;
		place = sa_query_place(&query);
		if (!place)
			break;
		encode(request, service, place);
		sa_query_keep_if_wanted(&query, place);
		hide_key(request, place);
	}
	return MAD_STATUS_OK;
}

/* Missing components have their default values. */
static struct service_record understand(const struct sa_request *request)
{
	struct service_record record;

	service_record_decode(request->data, &record);
	if (!sa_request_has(request, SR_PKEY))
		record.id.pkey = PKEY_DEFAULT_FULL;
	if (!sa_request_has(request, SR_LEASE))
		record.id.lease_s = SERVICE_LEASE_ENDLESS;
	if (!sa_request_has(request, SR_KEY)) {
		record.id.key_high = 0;
		record.id.key_low = 0;
	}
	return record;
}

/* C15-0.1.13: the requester and the port of the ServiceGID must be members of the service's
 * partition. */
static bool may_announce(const struct sa *sa, const struct sa_request *request,
			 const struct service_record_id *id)
{
	/* By the GUID alone: clients write various prefixes, and osmtest one in the wrong byte
	 * order. */
	const struct subnet_port *owner = sa_port_by_guid(sa, id->gid_guid);

	if (request->is_trusted)
		return true;
	return owner && request->requester && sa_port_holds_pkey(owner, id->pkey) &&
	       sa_port_holds_pkey(request->requester, id->pkey);
}

static bool has_key(const struct service_record_id *id)
{
	return id->key_high || id->key_low;
}

/* A service with a key can be changed by clients that know it, and by the port that offers it where
 * the request has no key: clients delete the record that they got, without its key. */
static bool may_change(const struct sa_request *request, const struct service *service,
		       const struct service_record_id *id)
{
	const struct service_record_id *own = &service->record.id;

	return !has_key(own) || (own->key_high == id->key_high && own->key_low == id->key_low) ||
	       request->is_trusted ||
	       (!has_key(id) && request->requester && request->requester->guid == own->gid_guid);
}

static void answer(struct sa *sa, const struct sa_request *request, const struct service *service)
{
	uint8_t *place = sa_records_place(&sa->records);

	if (!place)
		return;
	encode(request, service, place);
	hide_key(request, place);
	sa_records_keep(&sa->records);
}

uint16_t sa_set_service(struct sa *sa, const struct sa_request *request)
{
	struct service_record record = understand(request);
	struct service *service;

	if (!sa_request_has_all(request, SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_GID)) ||
	    !may_announce(sa, request, &record.id))
		return SA_STATUS_REQ_INVALID;
	service = service_registry_find(&sa->services, &record.id);
	if (service && !may_change(request, service, &record.id))
		return SA_STATUS_DENIED;
	/* An update without a key keeps it: only a Delete takes a key away. */
	if (service && !has_key(&record.id)) {
		record.id.key_high = service->record.id.key_high;
		record.id.key_low = service->record.id.key_low;
	}
	if (service_registry_announce(&sa->services, request->now, &record, &service) != 0)
		return SA_STATUS_NO_RESOURCES;
	answer(sa, request, service);
	return MAD_STATUS_OK;
}

uint16_t sa_delete_service(struct sa *sa, const struct sa_request *request)
{
	struct service_record record;
	struct service *service;

	/* The identity counts whatever the mask says: clients send back the record they got. */
	service_record_decode(request->data, &record);
	if (!record.id.pkey)
		record.id.pkey = PKEY_DEFAULT_FULL;
	service = service_registry_find(&sa->services, &record.id);
	if (!service || !may_see(request, service))
		return SA_STATUS_NO_RECORDS;
	if (!may_change(request, service, &record.id))
		return SA_STATUS_DENIED;
	answer(sa, request, service);
	service_registry_remove(&sa->services, service);
	return MAD_STATUS_OK;
}

/* C15-0.1.14: associations of ServiceKeys and names. Keys are secret, so only trusted requests get
 * them. */
uint16_t sa_find_service_associations(struct sa *sa, const struct sa_request *request)
{
	struct sa_query query;

	if (!request->is_trusted)
		return SA_STATUS_REQ_INVALID;
	sa_query_begin(&query, sa, request, &service_association_record_components, 0);
	list_for_each (link, &sa->services.services) {
		const struct service_record *record = &service_of(link)->record;
		uint8_t *place;

		if (!has_key(&record->id))
			continue;
		place = sa_query_place(&query);
		if (!place)
			break;
		put_be64(place, record->id.key_high);
		put_be64(place + 8, record->id.key_low);
		memcpy(place + SERVICE_KEY_BYTES, record->name, SERVICE_NAME_BYTES);
		sa_query_keep_if_wanted(&query, place);
	}
	return MAD_STATUS_OK;
}

void services_drop_port(struct sa *sa, uint64_t port_guid)
{
	list_for_each_safe (link, &sa->services.services) {
		struct service *service = service_of(link);
		uint64_t guid = service->record.id.gid_guid;

		if (guid == port_guid || alias_guids_owner(&sa->alias_guids, guid) == port_guid)
			service_registry_remove(&sa->services, service);
	}
}
