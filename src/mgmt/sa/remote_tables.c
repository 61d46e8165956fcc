/* SPDX-License-Identifier: Apache-2.0 */
/* Records that the SA reads from other nodes (management 2.4, 4.3). */
#include "mgmt/sa/remote_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/sa/answers.h"
#include "mgmt/sa/sa_query.h"
#include "mgmt/sa/remote_request.h"
#include "wire/smp.h"

enum { SM_INFO_KEY_OFFSET = 8 };

static struct remote_request *remote_of(struct list *link)
{
	return container_of(link, struct remote_request, link);
}

int remote_tables_init(struct remote_tables *tables, const struct mad_transactions_options *options)
{
	*tables = (struct remote_tables){0};
	list_init(&tables->requests);
	return mad_transactions_init(&tables->transactions, options);
}

static void destroy_request(struct remote_request *remote)
{
	free(remote->blocks);
	free(remote);
}

void remote_tables_release(struct remote_tables *tables)
{
	for (struct list *link; tables->requests.next && (link = list_pop(&tables->requests));)
		destroy_request(remote_of(link));
	mad_transactions_release(&tables->transactions);
}

bool remote_tables_has(uint16_t attribute_id)
{
	const struct remote_kind *kind = remote_kind_find(attribute_id);

	return kind && kind->add_blocks;
}

/* Adds the requested ports among those that the requester sees. */
static void add_ports(struct sa *sa, const struct remote_kind *kind, struct remote_request *remote)
{
	const struct subnet *subnet = sa->subnet;
	uint16_t wanted_lid = get_be16(remote->data);
	const struct subnet_port *wanted = sa_request_has(&remote->request, RECORD_LID)
						   ? subnet_port_by_lid(subnet, wanted_lid)
						   : NULL;

	for (unsigned lid = LID_UNICAST_FIRST; lid <= subnet->lid_max && !remote->is_too_large;
	     lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];

		if (!port || port->lid != lid ||
		    (sa_request_has(&remote->request, RECORD_LID) && port != wanted) ||
		    !sa_request_sees(sa, &remote->request, port))
			continue;
		kind->add_blocks(sa, remote, port);
	}
}

/* The port did not accept its new GUIDs. Restoring the old ones needs no memory. */
static void take_back(struct sa *sa, const struct remote_request *remote)
{
	int error = alias_guids_set_block(&sa->alias_guids, remote->port_guid,
					  remote->blocks[0].modifier, remote->before);

	(void)error;
}

/* All blocks have arrived or failed. Those that arrived become records. */
static void finish(struct sa *sa, struct remote_request *remote)
{
	const struct sa_request *request = &remote->request;
	const struct remote_kind *kind = remote_kind_find(request->header.attribute_id);
	bool is_table = request->header.method == MAD_GET_TABLE;
	struct sa_query query;

	sa_records_begin(&sa->records, kind->record_bytes, is_table ? SIZE_MAX : 2);
	/* The written block is the requested one, so the mask is ignored. */
	sa_query_begin(&query, sa, request, kind->components,
		       remote->is_write ? UINT64_MAX : SA_COMPONENT(RECORD_LID));
	for (uint32_t i = 0; i < remote->block_count && !remote->is_too_large; i++) {
		const struct remote_block *block = &remote->blocks[i];
		uint8_t *place = block->has_answer ? sa_query_place(&query) : NULL;

		if (!place)
			continue;
		memcpy(place, block->id, kind->id_bytes);
		memcpy(place + kind->id_bytes, block->bytes, kind->block_bytes);
		/* Only a trusted request sees the SM_Key (management 4.5). */
		if (kind->attribute_id == SA_SM_INFO_RECORD && !request->is_trusted)
			memset(place + kind->id_bytes + SM_INFO_KEY_OFFSET, 0, sizeof(uint64_t));
		sa_query_keep_if_wanted(&query, place);
	}
	if (remote->is_write && !sa->records.count)
		take_back(sa, remote);
	answers_complete(sa, request,
			 remote->is_too_large || (remote->is_write && !sa->records.count)
				 ? SA_STATUS_NO_RESOURCES
				 : MAD_STATUS_OK);
	if (list_is_linked(&remote->link)) {
		list_remove(&remote->link);
		sa->remote_tables.request_count--;
	}
	destroy_request(remote);
}

/* Skips blocks that are already known. Returns whether any block must be read. */
static bool has_to_ask(struct remote_request *remote)
{
	while (remote->asked_count < remote->block_count &&
	       remote->blocks[remote->asked_count].has_answer) {
		remote->asked_count++;
		remote->ended_count++;
	}
	return remote->asked_count < remote->block_count;
}

static struct remote_request *start_request(struct sa *sa, const struct sa_request *request)
{
	const struct remote_kind *kind = remote_kind_find(request->header.attribute_id);
	struct remote_request *remote = sa->remote_tables.request_count < REMOTE_TABLES_REQUESTS_MAX
						? calloc(1, sizeof(*remote))
						: NULL;

	if (!remote)
		return NULL;
	list_init(&remote->link);
	remote->request = *request;
	memcpy(remote->data, request->data, sizeof(remote->data));
	remote->request.data = remote->data;
	remote->smp_attribute_id = kind->smp_attribute_id;
	remote->block_bytes = kind->block_bytes;
	return remote;
}

void remote_tables_ask(struct sa *sa, const struct sa_request *request)
{
	struct remote_tables *tables = &sa->remote_tables;
	const struct remote_kind *kind = remote_kind_find(request->header.attribute_id);
	struct remote_request *remote = start_request(sa, request);

	if (!remote) {
		sa->dropped_count++;
		return;
	}
	add_ports(sa, kind, remote);
	/* The subnet may have been replaced when the responses come. */
	remote->request.requester = NULL;
	if (remote->is_too_large ||
	    (!has_to_ask(remote) && remote->ended_count == remote->block_count)) {
		finish(sa, remote);
		return;
	}
	list_append(&tables->requests, &remote->link);
	tables->request_count++;
}

uint16_t remote_tables_write_guids(struct sa *sa, const struct sa_request *request,
				   const struct subnet_port *port, unsigned block,
				   const uint64_t guids[static GUIDS_PER_BLOCK],
				   const uint64_t before[static GUIDS_PER_BLOCK])
{
	const struct guid_info_record_id id = {.lid = port->lid, .block = (uint8_t)block};
	struct remote_request *remote = start_request(sa, request);
	struct remote_block *added = remote ? remote_request_add(remote, port, block) : NULL;

	if (!added) {
		if (remote)
			destroy_request(remote);
		return SA_STATUS_NO_RESOURCES;
	}
	remote->is_write = true;
	remote->port_guid = port->guid;
	memcpy(remote->before, before, sizeof(remote->before));
	guid_info_record_id_encode(&id, added->id);
	guid_block_encode(guids, added->bytes);
	remote->request.requester = NULL;
	list_append(&sa->remote_tables.requests, &remote->link);
	sa->remote_tables.request_count++;
	return MAD_STATUS_OK;
}

static void end_block(struct sa *sa, struct mad_purpose purpose, const uint8_t *bytes)
{
	struct remote_request *remote = purpose.subject;
	struct remote_block *block = &remote->blocks[purpose.detail];

	if (bytes) {
		memcpy(block->bytes, bytes, sizeof(block->bytes));
		block->has_answer = true;
	}
	remote->ended_count++;
	if (remote->ended_count == remote->block_count)
		finish(sa, remote);
}

void remote_tables_receive(struct sa *sa, const struct mad_message *message)
{
	struct mad_header header;
	struct mad_purpose purpose;

	if (!mad_header_decode(message->bytes, sizeof(message->bytes), &header) ||
	    !mad_transactions_receive(&sa->remote_tables.transactions, message, &purpose))
		return;
	end_block(sa, purpose,
		  header.status == MAD_STATUS_OK ? message->bytes + SMP_DATA_OFFSET : NULL);
}

static void make_smp(const struct remote_request *remote, const struct remote_block *block,
		     struct mad_message *ret_message)
{
	const struct mad_header header = {.base_version = MAD_BASE_VERSION,
					  .management_class = MAD_CLASS_SUBNET_LID,
					  .class_version = SMP_CLASS_VERSION,
					  .method = remote->is_write ? MAD_SET : MAD_GET,
					  .attribute_id = remote->smp_attribute_id,
					  .attribute_modifier = block->modifier};

	memset(ret_message, 0, sizeof(*ret_message));
	ret_message->address =
		(struct mad_address){.lid = block->lid, .qpn = QPN_SMI, .pkey = PKEY_DEFAULT_FULL};
	smp_start(&header, ret_message->bytes);
	smp_set_mkey(block->mkey, ret_message->bytes);
	if (remote->is_write)
		memcpy(smp_data(ret_message->bytes), block->bytes, sizeof(block->bytes));
}

/* One block of each request in turn. */
static void send_next(struct remote_tables *tables)
{
	bool has_more = true;

	while (has_more) {
		has_more = false;
		list_for_each (link, &tables->requests) {
			struct remote_request *remote = remote_of(link);
			struct mad_message smp;

			if (!has_to_ask(remote))
				continue;
			if (!mad_transactions_has_room(&tables->transactions))
				return;
			make_smp(remote, &remote->blocks[remote->asked_count], &smp);
			mad_transactions_send(&tables->transactions, &smp,
					      (struct mad_purpose){.subject = remote,
								   .detail = remote->asked_count});
			remote->asked_count++;
			has_more = true;
		}
	}
}

unsigned remote_tables_transmit(struct sa *sa, time_ns now, unsigned messages_max,
				struct mad_message ret_messages[])
{
	struct remote_tables *tables = &sa->remote_tables;
	struct mad_message request;
	struct mad_purpose purpose;

	mad_transactions_transmit(&tables->transactions, now, 0, NULL);
	while (mad_transactions_take_failed(&tables->transactions, &purpose, &request))
		end_block(sa, purpose, NULL);
	send_next(tables);
	return mad_transactions_transmit(&tables->transactions, now, messages_max, ret_messages);
}

time_ns remote_tables_deadline(const struct remote_tables *tables)
{
	if (mad_transactions_has_room(&tables->transactions)) {
		list_for_each (link, &tables->requests) {
			if (remote_of(link)->asked_count < remote_of(link)->block_count)
				return 0;
		}
	}
	return mad_transactions_deadline(&tables->transactions);
}
