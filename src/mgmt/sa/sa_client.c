/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of subnet administration (management 4). */
#include "mgmt/sa/sa_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/sa/redirect_path.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/smp.h"
#include "wire/subnet_attributes.h"

enum { CLIENT_REQUESTS_DEFAULT = 256, TABLES_MAX = 16 };

/* Covers the time in a busy SA, not only the round trip. */
#define CLIENT_TIMEOUT_DEFAULT SECONDS(1)

/* A request, until its result is taken. */
struct exchange {
	struct list link;
	struct mad_message request;
	struct sa_client_result result;
	bool is_cancelled;
	bool has_place; /* the request was redirected by GID and has its new address */
	unsigned redirects_left;
	struct class_port_info redirect;
	/* Of a query for the path to a redirection target. The query has no result of its own. */
	struct exchange *redirected;
};

static struct exchange *exchange_of(struct list *link)
{
	return container_of(link, struct exchange, link);
}

static void exchange_free(struct exchange *exchange)
{
	free(exchange->result.table);
	free(exchange);
}

int sa_client_init(struct sa_client *client, const struct sa_client_options *options)
{
	const struct mad_transactions_options transactions = {
		.requests_max =
			options->requests_max ? options->requests_max : CLIENT_REQUESTS_DEFAULT,
		.timeout = options->timeout ? options->timeout : CLIENT_TIMEOUT_DEFAULT,
		.tries = options->tries,
		.agent_number = options->agent_number,
	};

	*client = (struct sa_client){0};
	list_init(&client->waiting);
	list_init(&client->on_wire);
	list_init(&client->redirected);
	list_init(&client->results);
	return mad_transactions_init(&client->transactions, &transactions);
}

static void free_all(struct list *exchanges)
{
	for (struct list *link; (link = list_pop(exchanges));)
		exchange_free(exchange_of(link));
}

void sa_client_release(struct sa_client *client)
{
	free_all(&client->waiting);
	free_all(&client->on_wire);
	free_all(&client->redirected);
	free_all(&client->results);
	mad_transactions_release(&client->transactions);
	if (client->tables)
		rmpp_release(client->tables);
	free(client->tables);
}

void sa_client_set_sa(struct sa_client *client, uint16_t master_sm_lid, uint8_t master_sm_sl,
		      uint16_t pkey)
{
	client->sa = (struct mad_address){.lid = master_sm_lid,
					  .sl = master_sm_sl,
					  .qpn = QPN_GSI,
					  .qkey = QKEY_GSI,
					  .pkey = pkey};
}

void sa_client_set_own_gid(struct sa_client *client, const struct gid *gid)
{
	client->own_gid = *gid;
}

int sa_client_ask(struct sa_client *client, enum mad_method method, uint16_t attribute_id,
		  uint64_t component_mask, const uint8_t *data, size_t byte_count,
		  struct mad_purpose purpose)
{
	const struct mad_header header = {.base_version = MAD_BASE_VERSION,
					  .management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
					  .class_version = SA_CLASS_VERSION,
					  .method = (uint8_t)method,
					  .attribute_id = attribute_id};
	const struct sa_header sa_header = {.component_mask = component_mask};
	struct exchange *exchange;

	assert(byte_count <= SA_DATA_BYTES);
	if (client->waiting_count >= SA_CLIENT_WAITING_MAX)
		return -ENOBUFS;
	exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return -ENOMEM;
	mad_header_encode(&header, exchange->request.bytes);
	sa_header_encode(&sa_header, exchange->request.bytes + SA_HEADER_OFFSET);
	memcpy(exchange->request.bytes + SA_DATA_OFFSET, data, byte_count);
	exchange->result = (struct sa_client_result){.purpose = purpose,
						     .outcome = SA_CLIENT_TIMED_OUT,
						     .method = (uint8_t)method,
						     .attribute_id = attribute_id};
	exchange->redirects_left = MAD_REDIRECTS_MAX;
	list_append(&client->waiting, &exchange->link);
	client->waiting_count++;
	return 0;
}

int sa_client_get_ports(struct sa_client *client, uint32_t capability_mask,
			struct mad_purpose purpose)
{
	const struct port_info wanted = {.capability_mask = capability_mask};
	uint8_t data[PORT_INFO_RECORD_BYTES] = {0};
	int error;

	port_info_encode(&wanted, data + PORT_INFO_RECORD_INFO_OFFSET);
	error = sa_client_get_table(client, SA_PORT_INFO_RECORD, SA_COMPONENT(PIR_CAPABILITY_MASK),
				    data, sizeof(data), purpose);
	if (!error)
		put_be32(exchange_of(client->waiting.previous)->request.bytes +
				 MAD_ATTRIBUTE_MODIFIER_OFFSET,
			 PORT_INFO_SUBSET_MATCH);
	return error;
}

int sa_client_query_path(struct sa_client *client, const struct path_record *wanted,
			 uint64_t components, struct mad_purpose purpose)
{
	uint8_t data[PATH_RECORD_BYTES];

	path_record_encode(wanted, data);
	return sa_client_ask(client, MAD_GET, SA_PATH_RECORD, components, data, sizeof(data),
			     purpose);
}

int sa_client_join(struct sa_client *client, const struct mc_member_record *wanted,
		   uint64_t components, struct mad_purpose purpose)
{
	uint8_t data[MC_MEMBER_RECORD_BYTES];

	mc_member_record_encode(wanted, data);
	return sa_client_ask(client, MAD_SET, SA_MC_MEMBER_RECORD, components, data, sizeof(data),
			     purpose);
}

int sa_client_leave(struct sa_client *client, const struct mc_member_record *membership,
		    struct mad_purpose purpose)
{
	uint8_t data[MC_MEMBER_RECORD_BYTES];

	mc_member_record_encode(membership, data);
	return sa_client_ask(client, MAD_DELETE, SA_MC_MEMBER_RECORD,
			     SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				     SA_COMPONENT(MCR_JOIN_STATE),
			     data, sizeof(data), purpose);
}

int sa_client_find_service(struct sa_client *client, uint64_t service_id, uint16_t pkey,
			   struct mad_purpose purpose)
{
	const struct service_record wanted = {.id = {.id = service_id, .pkey = pkey}};
	uint8_t data[SERVICE_RECORD_BYTES];

	service_record_encode(&wanted, data);
	return sa_client_ask(client, MAD_GET, SA_SERVICE_RECORD,
			     SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_PKEY), data, sizeof(data),
			     purpose);
}

int sa_client_get_table(struct sa_client *client, uint16_t attribute_id, uint64_t component_mask,
			const uint8_t *data, size_t byte_count, struct mad_purpose purpose)
{
	const struct rmpp_options options = {.transfers_max = TABLES_MAX};
	int error = 0;

	if (!client->tables) {
		client->tables = calloc(1, sizeof(*client->tables));
		error = client->tables ? rmpp_init(client->tables, &options) : -ENOMEM;
	}
	if (error) {
		free(client->tables);
		client->tables = NULL;
		return error;
	}
	return sa_client_ask(client, MAD_GET_TABLE, attribute_id, component_mask, data, byte_count,
			     purpose);
}

static void forget(struct list *exchanges, const void *subject, unsigned *count)
{
	list_for_each_safe (link, exchanges) {
		if (exchange_of(link)->result.purpose.subject != subject)
			continue;
		list_remove(link);
		exchange_free(exchange_of(link));
		if (count)
			(*count)--;
	}
}

void sa_client_cancel(struct sa_client *client, const void *subject)
{
	forget(&client->waiting, subject, &client->waiting_count);
	forget(&client->results, subject, NULL);
	/* The transaction ends by itself, and no result follows. */
	list_for_each (link, &client->on_wire) {
		if (exchange_of(link)->result.purpose.subject == subject)
			exchange_of(link)->is_cancelled = true;
	}
	list_for_each (link, &client->redirected) {
		if (exchange_of(link)->result.purpose.subject == subject)
			exchange_of(link)->is_cancelled = true;
	}
}

/* Sends the redirected request along the path. Without a path, the redirection is the result. */
static void path_is_known(struct sa_client *client, struct exchange *question)
{
	struct exchange *exchange = question->redirected;
	struct mad_path path;
	bool is_known =
		redirect_path_read(&question->result, &path) &&
		mad_redirect_apply_path(&exchange->redirect, &path, &exchange->request.address);

	list_remove(&question->link);
	exchange_free(question);
	list_remove(&exchange->link);
	if (exchange->is_cancelled) {
		exchange_free(exchange);
	} else if (is_known) {
		exchange->has_place = true;
		list_append(&client->waiting, &exchange->link);
		client->waiting_count++;
	} else {
		list_append(&client->results, &exchange->link);
	}
}

/* The request was redirected to a GID without a LID. false: the client does not follow. */
static bool ask_for_place(struct sa_client *client, struct exchange *exchange,
			  const struct mad_message *message)
{
	struct gid gid;

	mad_redirect_read(message, &exchange->redirect);
	gid = gid_from(exchange->redirect.redirect_gid_prefix,
		       exchange->redirect.redirect_gid_guid);
	if (exchange->redirected || !exchange->redirects_left ||
	    !mad_redirect_needs_path(&exchange->redirect) ||
	    !redirect_path_ask(client, &gid, (struct mad_purpose){.subject = exchange}))
		return false;
	exchange_of(client->waiting.previous)->redirected = exchange;
	exchange->redirects_left--;
	list_remove(&exchange->link);
	list_append(&client->redirected, &exchange->link);
	return true;
}

static void end(struct sa_client *client, struct exchange *exchange)
{
	if (exchange->redirected) {
		path_is_known(client, exchange);
		return;
	}
	list_remove(&exchange->link);
	if (exchange->is_cancelled)
		exchange_free(exchange);
	else
		list_append(&client->results, &exchange->link);
}

/* The exchange that this response ends. NULL: none. */
static struct exchange *answered(struct sa_client *client, const struct mad_message *message)
{
	struct mad_purpose purpose;
	struct mad_header header;

	if (!mad_transactions_receive(&client->transactions, message, &purpose) ||
	    !mad_header_decode(message->bytes, sizeof(message->bytes), &header))
		return NULL;

	struct exchange *exchange = purpose.subject;

	exchange->result.status = header.status;
	exchange->result.outcome =
		header.status == MAD_STATUS_OK ? SA_CLIENT_ANSWERED : SA_CLIENT_REFUSED;
	memcpy(exchange->result.data, message->bytes + SA_DATA_OFFSET, SA_DATA_BYTES);
	if (mad_is_redirected(message) && ask_for_place(client, exchange, message))
		return NULL;
	return exchange;
}

/* A complete table: its bytes are moved so that the records begin at the start. */
static void receive_table(struct sa_client *client, const struct rmpp_message *whole)
{
	struct mad_message first = {.address = whole->address};
	size_t in_first = whole->byte_count < MAD_BYTES ? whole->byte_count : MAD_BYTES;
	struct sa_header header;

	memcpy(first.bytes, whole->bytes, in_first);

	struct exchange *exchange = answered(client, &first);

	if (!exchange || whole->byte_count < SA_DATA_OFFSET ||
	    !sa_header_decode(first.bytes + SA_HEADER_OFFSET, SA_HEADER_BYTES, &header)) {
		free(whole->bytes);
	} else {
		size_t byte_count = whole->byte_count - SA_DATA_OFFSET;

		memmove(whole->bytes, whole->bytes + SA_DATA_OFFSET, byte_count);
		exchange->result.table = whole->bytes;
		exchange->result.record_bytes = (size_t)header.attribute_offset * SA_RECORD_UNIT;
		exchange->result.record_count =
			header.attribute_offset ? byte_count / exchange->result.record_bytes : 0;
	}
	if (exchange)
		end(client, exchange);
}

void sa_client_receive(struct sa_client *client, time_ns now, const struct mad_message *message)
{
	struct rmpp_message whole;

	if (client->tables && rmpp_mad_is_active(message->bytes)) {
		/* A response that has begun to arrive does not time out. */
		mad_transactions_hold(&client->transactions, message,
				      now + client->transactions.options.timeout);
		if (rmpp_receive(client->tables, now, message, &whole))
			receive_table(client, &whole);
		return;
	}

	struct exchange *exchange = answered(client, message);

	if (exchange)
		end(client, exchange);
}

static void send_next(struct sa_client *client)
{
	struct list *link;

	while ((!client->sa.lid || mad_transactions_has_room(&client->transactions)) &&
	       (link = list_pop(&client->waiting))) {
		struct exchange *exchange = exchange_of(link);

		client->waiting_count--;
		if (!client->sa.lid) {
			end(client, exchange);
			continue;
		}
		if (!exchange->has_place)
			exchange->request.address = client->sa;
		list_append(&client->on_wire, link);
		mad_transactions_send(&client->transactions, &exchange->request,
				      (struct mad_purpose){.subject = exchange});
	}
}

unsigned sa_client_transmit(struct sa_client *client, time_ns now, unsigned messages_max,
			    struct mad_message ret_messages[])
{
	struct mad_message request;
	struct mad_purpose purpose;
	unsigned count;

	mad_transactions_transmit(&client->transactions, now, 0, NULL);
	while (mad_transactions_take_failed(&client->transactions, &purpose, &request))
		end(client, purpose.subject);
	send_next(client);
	count = mad_transactions_transmit(&client->transactions, now, messages_max, ret_messages);
	if (client->tables)
		count += rmpp_transmit(client->tables, now, messages_max - count,
				       ret_messages + count);
	return count;
}

time_ns sa_client_deadline(const struct sa_client *client)
{
	bool can_send = !list_is_empty(&client->waiting) &&
			(!client->sa.lid || mad_transactions_has_room(&client->transactions));
	time_ns deadline = mad_transactions_deadline(&client->transactions);

	if (can_send || !list_is_empty(&client->results))
		return 0;
	return client->tables ? time_earlier(deadline, rmpp_deadline(client->tables)) : deadline;
}

bool sa_client_take_result(struct sa_client *client, struct sa_client_result *ret_result)
{
	struct list *link = list_pop(&client->results);

	if (!link)
		return false;
	*ret_result = exchange_of(link)->result;
	free(exchange_of(link));
	return true;
}
