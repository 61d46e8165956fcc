/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O resource manager of a host (management 6.3). */
#include "mgmt/device/io_manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/sa/redirect_path.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum {
	REQUESTS_DEFAULT = 256,
	REQUESTS_PER_UNIT_MAX = 32, /* so that one unit's agent does not have to queue them all */
};

/* The detail of a request to the SA. */
enum question { QUESTION_PORTS, QUESTION_NODE, QUESTION_PATH };

/* For a redirected request. The subject tells the result from those about units. */
static bool ask_path(void *context, const struct gid *gid, uint32_t number)
{
	struct io_manager *manager = context;

	return redirect_path_ask(
		&manager->sa, gid,
		(struct mad_purpose){.subject = &manager->transactions, .detail = number});
}

int io_manager_init(struct io_manager *manager, const struct io_manager_options *options)
{
	const struct mad_transactions_options transactions = {
		.requests_max = options->requests_max ? options->requests_max : REQUESTS_DEFAULT,
		.tries = options->tries,
		.timeout = options->timeout,
		.agent_number = options->agent_number,
		.ask_path = ask_path,
		.context = manager,
	};
	int error;

	*manager = (struct io_manager){.options = *options};
	list_init(&manager->ready);
	error = sa_client_init(&manager->sa, &options->sa);
	if (error)
		return error;
	error = mad_transactions_init(&manager->transactions, &transactions);
	if (error) {
		sa_client_release(&manager->sa);
		return error;
	}
	sa_client_set_sa(&manager->sa, options->sm_lid, options->sm_sl, options->sa_pkey);
	sa_client_set_own_gid(&manager->sa, &options->own_gid);
	return 0;
}

static void forget_units(struct io_manager *manager)
{
	for (unsigned i = 0; i < manager->unit_count; i++) {
		unit_reader_release(&manager->units[i]->reader);
		free(manager->units[i]);
	}
	free(manager->units);
	manager->units = NULL;
	manager->unit_count = 0;
	manager->units_left = 0;
	list_init(&manager->ready);
}

void io_manager_release(struct io_manager *manager)
{
	forget_units(manager);
	sa_client_release(&manager->sa);
	mad_transactions_release(&manager->transactions);
}

int io_manager_scan(struct io_manager *manager)
{
	mad_transactions_cancel_all(&manager->transactions);
	for (unsigned i = 0; i < manager->unit_count; i++)
		sa_client_cancel(&manager->sa, manager->units[i]);
	sa_client_cancel(&manager->sa, manager);
	sa_client_cancel(&manager->sa, &manager->transactions);
	forget_units(manager);
	manager->is_truncated = false;
	manager->services_left = IO_SERVICES_FOUND_MAX;
	manager->began_at = TIME_NEVER;
	manager->state = IO_SCAN_RUNNING;
	return sa_client_get_ports(&manager->sa, CAPABILITY_DEVICE_MANAGEMENT,
				   (struct mad_purpose){manager, QUESTION_PORTS});
}

bool io_manager_is_done(const struct io_manager *manager)
{
	return manager->state != IO_SCAN_RUNNING;
}

static void unit_ends(struct io_manager *manager, time_ns now)
{
	assert(manager->units_left > 0);
	if (--manager->units_left)
		return;
	manager->state = IO_SCAN_DONE;
	manager->ended_at = now;
}

static void unit_is_unreachable(struct io_manager *manager, struct io_found_unit *unit, time_ns now)
{
	unit->state = IO_UNIT_UNREACHABLE;
	unit_ends(manager, now);
}

static bool is_known_lid(const struct io_manager *manager, uint16_t lid)
{
	for (unsigned i = 0; i < manager->unit_count; i++) {
		if (manager->units[i]->lid == lid)
			return true;
	}
	return false;
}

/* Asks for the node behind a port with device management. */
static void add_port(struct io_manager *manager, uint16_t lid)
{
	struct io_found_unit *unit;
	uint8_t data[NODE_RECORD_BYTES] = {0};

	if (!lid_is_unicast(lid) || is_known_lid(manager, lid))
		return;
	unit = manager->unit_count < IO_UNITS_MAX ? calloc(1, sizeof(*unit)) : NULL;
	if (!unit) {
		manager->is_truncated = true;
		return;
	}
	unit->lid = lid;
	unit->state = IO_UNIT_FINDING_NODE;
	list_init(&unit->ready_link);
	unit_reader_init(&unit->reader, &manager->services_left);
	record_lid_encode(&(struct record_lid){.lid = lid}, data);
	if (sa_client_ask(&manager->sa, MAD_GET, SA_NODE_RECORD, SA_COMPONENT(NR_LID), data,
			  sizeof(data), (struct mad_purpose){unit, QUESTION_NODE}) != 0) {
		manager->is_truncated = true;
		free(unit);
		return;
	}
	manager->units[manager->unit_count++] = unit;
	manager->units_left++;
}

static void take_ports(struct io_manager *manager, const struct sa_client_result *result,
		       time_ns now)
{
	bool is_answered =
		result->outcome == SA_CLIENT_ANSWERED ||
		(result->outcome == SA_CLIENT_REFUSED && result->status == SA_STATUS_NO_RECORDS);

	manager->units = calloc(IO_UNITS_MAX, sizeof(struct io_found_unit *));
	for (size_t i = 0; manager->units && i < result->record_count &&
			   result->record_bytes >= PORT_INFO_RECORD_BYTES;
	     i++) {
		const uint8_t *record = result->table + i * result->record_bytes;
		struct port_record_id id;
		struct port_info info;

		port_record_id_decode(record, &id);
		port_info_decode(record + PORT_INFO_RECORD_INFO_OFFSET, &info);
		/* An SA that does not know subset matching returns every port. */
		if (info.capability_mask & CAPABILITY_DEVICE_MANAGEMENT)
			add_port(manager, id.lid);
	}
	if (manager->units_left)
		return;
	manager->state = is_answered && manager->units ? IO_SCAN_DONE : IO_SCAN_NO_SA;
	manager->ended_at = now;
}

/* A second port of a node leads to the same unit. */
static bool is_known_node(const struct io_manager *manager, const struct io_found_unit *unit)
{
	for (unsigned i = 0; i < manager->unit_count; i++) {
		if (manager->units[i] != unit && manager->units[i]->node_guid == unit->node_guid)
			return true;
	}
	return false;
}

static void forget_unit(struct io_manager *manager, struct io_found_unit *unit)
{
	for (unsigned i = 0; i < manager->unit_count; i++) {
		if (manager->units[i] != unit)
			continue;
		manager->units[i] = manager->units[--manager->unit_count];
		break;
	}
	unit_reader_release(&unit->reader);
	free(unit);
}

static void take_node(struct io_manager *manager, struct io_found_unit *unit,
		      const struct sa_client_result *result, time_ns now)
{
	const struct gid *own = &manager->options.own_gid;
	struct path_record wanted = {.sgid_prefix = gid_prefix(own),
				     .sgid_guid = gid_guid(own),
				     .dgid_prefix = gid_prefix(own),
				     .reversible = 1,
				     .path_count = 1};
	struct node_info info;

	if (result->outcome != SA_CLIENT_ANSWERED) {
		unit_is_unreachable(manager, unit, now);
		return;
	}
	node_info_decode(result->data + NODE_RECORD_INFO_OFFSET, &info);
	unit->node_guid = info.node_guid;
	if (is_known_node(manager, unit)) {
		forget_unit(manager, unit);
		unit_ends(manager, now);
		return;
	}
	io_text_decode(result->data + NODE_RECORD_DESCRIPTION_OFFSET, NODE_DESCRIPTION_BYTES,
		       unit->description);
	unit->gid = gid_from(gid_prefix(own), info.port_guid);
	wanted.dgid_guid = info.port_guid;
	unit->state = IO_UNIT_FINDING_PATH;
	if (sa_client_query_path(&manager->sa, &wanted,
				 SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID) |
					 SA_COMPONENT(PR_REVERSIBLE) | SA_COMPONENT(PR_PATH_COUNT),
				 (struct mad_purpose){unit, QUESTION_PATH}) != 0)
		unit_is_unreachable(manager, unit, now);
}

static void take_path(struct io_manager *manager, struct io_found_unit *unit,
		      const struct sa_client_result *result, time_ns now)
{
	struct path_record path;

	if (result->outcome != SA_CLIENT_ANSWERED) {
		unit_is_unreachable(manager, unit, now);
		return;
	}
	path_record_decode(result->data, &path);
	if (!lid_is_unicast(path.dlid)) {
		unit_is_unreachable(manager, unit, now);
		return;
	}
	unit->lid = path.dlid;
	unit->sl = path.sl;
	unit->pkey = path.pkey;
	unit->state = IO_UNIT_READING;
	list_append(&manager->ready, &unit->ready_link);
}

/* The request has ended; answer NULL: without a response. */
static void take_answer(struct io_manager *manager, struct mad_purpose purpose,
			const struct mad_message *answer, time_ns now)
{
	struct io_found_unit *unit = purpose.subject;

	unit_reader_receive(&unit->reader, purpose.detail, answer);
	if (unit_reader_has_next(&unit->reader) && !list_is_linked(&unit->ready_link))
		list_append(&manager->ready, &unit->ready_link);
	if (unit_reader_is_done(&unit->reader))
		unit_ends(manager, now);
}

static void take_result(struct io_manager *manager, const struct sa_client_result *result,
			time_ns now)
{
	switch ((enum question)result->purpose.detail) {
	case QUESTION_PORTS:
		take_ports(manager, result, now);
		break;
	case QUESTION_NODE:
		take_node(manager, result->purpose.subject, result, now);
		break;
	case QUESTION_PATH:
		take_path(manager, result->purpose.subject, result, now);
		break;
	}
	free(result->table);
}

/* The path to a GID that a unit redirects to. */
static void take_redirect_path(struct io_manager *manager, const struct sa_client_result *result,
			       time_ns now)
{
	struct mad_message redirection;
	struct mad_purpose purpose;

	if (redirect_path_take(&manager->transactions, result, &purpose, &redirection))
		take_answer(manager, purpose, &redirection, now);
}

static void take_results(struct io_manager *manager, time_ns now)
{
	struct sa_client_result result;

	while (sa_client_take_result(&manager->sa, &result)) {
		if (result.purpose.subject == &manager->transactions)
			take_redirect_path(manager, &result, now);
		else
			take_result(manager, &result, now);
	}
}

void io_manager_receive(struct io_manager *manager, time_ns now, const struct mad_message *message)
{
	struct mad_purpose purpose;

	if (message->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION) {
		sa_client_receive(&manager->sa, now, message);
		take_results(manager, now);
	} else if (mad_transactions_receive_timed(&manager->transactions, now, message, &purpose)) {
		take_answer(manager, purpose, message, now);
	}
}

static void send_request(struct io_manager *manager, struct io_found_unit *unit,
			 const struct unit_request *request)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_DEVICE,
		.class_version = DEVICE_CLASS_VERSION,
		.method = MAD_GET,
		.attribute_id = request->attribute_id,
		.attribute_modifier = request->attribute_modifier,
	};
	struct mad_message message = {.address = {.lid = unit->lid,
						  .sl = unit->sl,
						  .qpn = QPN_GSI,
						  .qkey = QKEY_GSI,
						  .pkey = unit->pkey}};

	mad_header_encode(&header, message.bytes);
	mad_transactions_send(&manager->transactions, &message,
			      (struct mad_purpose){unit, request->detail});
}

/* Each unit in its turn sends one request. */
static void make_requests(struct io_manager *manager)
{
	struct list *link;

	while (mad_transactions_has_room(&manager->transactions) &&
	       (link = list_pop(&manager->ready))) {
		struct io_found_unit *unit = container_of(link, struct io_found_unit, ready_link);
		struct unit_request request;

		/* The next response brings it back to the list. */
		if (unit->reader.under_way >= REQUESTS_PER_UNIT_MAX ||
		    !unit_reader_next(&unit->reader, &request))
			continue;
		send_request(manager, unit, &request);
		if (unit_reader_has_next(&unit->reader))
			list_append(&manager->ready, &unit->ready_link);
	}
}

static void take_failed(struct io_manager *manager, time_ns now)
{
	struct mad_purpose purpose;
	struct mad_message request;

	while (mad_transactions_take_failed(&manager->transactions, &purpose, &request))
		take_answer(manager, purpose, NULL, now);
}

unsigned io_manager_transmit(struct io_manager *manager, time_ns now, unsigned messages_max,
			     struct mad_message ret_messages[])
{
	unsigned count;

	if (manager->began_at == TIME_NEVER)
		manager->began_at = now;
	count = sa_client_transmit(&manager->sa, now, messages_max, ret_messages);
	take_results(manager, now);
	make_requests(manager);
	count += mad_transactions_transmit(&manager->transactions, now, messages_max - count,
					   ret_messages + count);
	take_failed(manager, now);
	return count;
}

time_ns io_manager_deadline(const struct io_manager *manager)
{
	if (manager->state != IO_SCAN_RUNNING)
		return TIME_NEVER;
	if (!list_is_empty(&manager->ready) && mad_transactions_has_room(&manager->transactions))
		return 0;
	return time_earlier(sa_client_deadline(&manager->sa),
			    mad_transactions_deadline(&manager->transactions));
}
