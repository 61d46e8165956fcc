/* SPDX-License-Identifier: Apache-2.0 */
/* The performance manager's requests to agents, and what their answers change (management 6.1). */
#include "mgmt/perf/perf_requests.h"

#include <string.h>
#include "mgmt/perf/perf_manager.h"
#include "wire/class_port_info.h"
#include "wire/performance.h"
#include "wire/pkey.h"
#include "wire/smp.h"

/* mad_purpose.detail; the subject is the port. */
enum perf_request {
	REQUEST_CLASS_PORT_INFO,
	REQUEST_TICK,
	REQUEST_EXTENDED,
	REQUEST_BASIC,
	REQUEST_CLEAR_EXTENDED,
	REQUEST_CLEAR_BASIC,
	REQUEST_SAMPLE,
	REQUEST_DETAIL_FIRST, /* and one per attribute of port_details.h */
};

/* One tick in units of PortSamplesControl.Tick: the byte time of a 2.5 Gb/s lane. */
#define TICK_UNIT ((time_ns)4)

static struct perf_port *first_port(const struct perf_manager *manager,
				    const struct perf_node *node)
{
	return &manager->nodes.ports[node->first_port];
}

static struct mad_address address_of(const struct perf_manager *manager,
				     const struct perf_port *port)
{
	if (port->node->is_redirected)
		return port->node->place;
	return (struct mad_address){.lid = port->lid,
				    .sl = manager->port.sm_sl,
				    .qpn = QPN_GSI,
				    .qkey = QKEY_GSI,
				    .pkey = manager->port.pkey};
}

static void send(struct perf_manager *manager, struct perf_port *port, unsigned kind,
		 enum mad_method method, uint16_t attribute_id,
		 const uint8_t data[PERFORMANCE_DATA_BYTES])
{
	struct mad_message message = {.address = address_of(manager, port)};

	mad_header_encode(&(struct mad_header){.base_version = MAD_BASE_VERSION,
					       .management_class = MAD_CLASS_PERFORMANCE,
					       .class_version = PERFORMANCE_CLASS_VERSION,
					       .method = (uint8_t)method,
					       .attribute_id = attribute_id},
			  message.bytes);
	if (data)
		memcpy(message.bytes + PERFORMANCE_DATA_OFFSET, data, PERFORMANCE_DATA_BYTES);
	mad_transactions_send(&manager->transactions, &message,
			      (struct mad_purpose){.subject = port, .detail = kind});
}

void perf_request_agent(struct perf_manager *manager, struct perf_node *node)
{
	send(manager, first_port(manager, node), REQUEST_CLASS_PORT_INFO, MAD_GET,
	     ATTRIBUTE_CLASS_PORT_INFO, NULL);
}

static void request_tick(struct perf_manager *manager, struct perf_port *port)
{
	const struct port_samples_control control = {.port_select = port->number};
	uint8_t data[PERFORMANCE_DATA_BYTES] = {0};

	port_samples_control_encode(&control, data);
	send(manager, port, REQUEST_TICK, MAD_GET, ATTRIBUTE_PORT_SAMPLES_CONTROL, data);
}

/* The first fields of PortCounters and PortCountersExtended are the same, and a Get needs no
 * others.
 */
void perf_request_counters(struct perf_manager *manager, struct perf_port *port)
{
	const struct perf_sources *sources = &port->node->sources;
	const struct port_counters asked = {.port_select = port->number};
	uint8_t data[PERFORMANCE_DATA_BYTES] = {0};

	port->reading = (struct perf_reading){.known = 0};
	port->is_owed = false;
	port->is_failed = false;
	port->asked_count = 0;
	port_counters_encode(&asked, data);
	if (sources->extended) {
		send(manager, port, REQUEST_EXTENDED, MAD_GET, ATTRIBUTE_PORT_COUNTERS_EXTENDED,
		     data);
		port->asked_count++;
	}
	if (sources->basic) {
		send(manager, port, REQUEST_BASIC, MAD_GET, ATTRIBUTE_PORT_COUNTERS, data);
		port->asked_count++;
	}
}

void perf_request_clear(struct perf_manager *manager, struct perf_port *port,
			enum perf_selection selection)
{
	uint8_t select = selection == PERF_SELECT_ALL ? PORT_SELECT_ALL : port->number;
	uint8_t data[PERFORMANCE_DATA_BYTES] = {0};
	const struct perf_sources *sources = &port->node->sources;

	if (perf_clear_extended(select, port->clear_mask & sources->extended, data))
		send(manager, port, REQUEST_CLEAR_EXTENDED, MAD_SET,
		     ATTRIBUTE_PORT_COUNTERS_EXTENDED, data);
	memset(data, 0, sizeof(data));
	if (perf_clear_basic(select, port->clear_mask & sources->basic, data))
		send(manager, port, REQUEST_CLEAR_BASIC, MAD_SET, ATTRIBUTE_PORT_COUNTERS, data);
}

void perf_request_detail(struct perf_manager *manager, struct perf_port *port, unsigned index)
{
	const struct port_counters asked = {.port_select = port->number};
	uint8_t data[PERFORMANCE_DATA_BYTES] = {0};

	port_counters_encode(&asked, data);
	send(manager, port, REQUEST_DETAIL_FIRST + index, MAD_GET, port_details_attribute(index),
	     data);
}

void perf_request_sample(struct perf_manager *manager, struct perf_port *port)
{
	struct port_sampling_request request;

	port_sampling_ask(&manager->details.sampling, port->number, &request);
	send(manager, port, REQUEST_SAMPLE, request.method, request.attribute_id, request.data);
}

bool perf_requests_find_path(void *context, const struct gid *gid, struct mad_path *ret_path)
{
	const struct perf_manager *manager = context;

	return mad_path_within_subnet(gid, &manager->port.gid,
				      perf_nodes_lid_of(&manager->nodes, gid_guid(gid)),
				      manager->port.sm_sl, ret_path);
}

/* The agent has moved, or there is none here any more: its place and capabilities are asked for
 * again in the next sweep. */
static void forget_agent(struct perf_manager *manager, struct perf_node *node)
{
	node->agent = PERF_AGENT_UNKNOWN;
	node->is_redirected = false;
	manager->tables_are_due = true;
}

static void fall_silent(struct perf_manager *manager, time_ns now, struct perf_port *port)
{
	struct perf_node *node = port->node;

	if (!node->is_silent && !node->was_silent)
		perf_events_add(&manager->events, now, PERF_EVENT_SILENT, port, 0);
	node->is_silent = true;
	forget_agent(manager, node);
}

static void refuse(struct perf_manager *manager, time_ns now, struct perf_port *port,
		   uint16_t status)
{
	perf_events_add(&manager->events, now, PERF_EVENT_BAD_ANSWER, port, status);
	port->is_failed = true;
}

/* Where the agent answered: at the node's own GSI, or at a place that it redirects to. */
static void take_place(struct perf_manager *manager, const struct perf_port *port)
{
	const struct mad_address *place = &manager->transactions.place;
	struct perf_node *node = port->node;

	node->is_redirected = place->lid != port->lid || place->qpn != QPN_GSI ||
			      place->qkey != QKEY_GSI || place->pkey != manager->port.pkey;
	node->place = *place;
}

static void take_agent(struct perf_manager *manager, time_ns now, struct perf_port *port,
		       const struct mad_message *message)
{
	struct perf_node *node = port->node;
	struct class_port_info info;

	class_port_info_decode(message->bytes + PERFORMANCE_DATA_OFFSET, &info);
	if (mad_is_redirected(message)) {
		node->agent = PERF_AGENT_ABSENT;
		refuse(manager, now, port, MAD_STATUS_REDIRECT);
		return;
	}
	take_place(manager, port);
	node->agent = PERF_AGENT_KNOWN;
	node->capability_mask = info.capability_mask;
	node->capability_mask2 = info.capability_mask2;
	node->sources = perf_sources_choose(info.capability_mask, info.capability_mask2);
	request_tick(manager, port);
}

static void take_tick(struct perf_port *port, const struct mad_message *message)
{
	struct port_samples_control control;

	port_samples_control_decode(message->bytes + PERFORMANCE_DATA_OFFSET, &control);
	port->node->wait_tick = (control.tick + 1) * TICK_UNIT;
}

/* The attributes of this sweep are complete. */
static void finish_reading(struct perf_manager *manager, time_ns now, struct perf_port *port)
{
	struct port_step step;

	if (port->asked_count || port->is_failed || port->is_owed)
		return;
	port_history_add(&port->history, now, &port->reading, &step);
	perf_events_judge(&manager->events, &manager->options.thresholds, now, port, &step);
	if (port->node->sources.basic)
		port->clear_mask =
			perf_counters_nearly_stuck(&port->reading) & port->node->sources.basic;
	manager->current.read_count++;
}

static void take_counters(struct perf_manager *manager, time_ns now, struct perf_port *port,
			  enum perf_request kind, const struct mad_message *message)
{
	const uint8_t *data = message->bytes + PERFORMANCE_DATA_OFFSET;
	const struct perf_sources *sources = &port->node->sources;
	bool is_right = kind == REQUEST_EXTENDED
				? perf_reading_add_extended(&port->reading, port->number, data,
							    sources->extended)
				: perf_reading_add_basic(&port->reading, port->number, data,
							 sources->basic);

	if (!is_right)
		refuse(manager, now, port, MAD_STATUS_BAD_FIELD);
}

static void take_clear(struct perf_manager *manager, struct perf_port *port, uint32_t mask,
		       const struct mad_message *message)
{
	struct port_counters head;

	port_counters_decode(message->bytes + PERFORMANCE_DATA_OFFSET, &head);
	for (uint32_t i = 0; i < port->node->port_count; i++) {
		struct perf_port *other = &manager->nodes.ports[port->node->first_port + i];

		if (head.port_select == PORT_SELECT_ALL || other->number == head.port_select)
			port_history_cleared(&other->history, mask & port->clear_mask);
	}
}

/* Whether the response has data. A busy agent is asked again later (management 1.4). */
static bool check_status(struct perf_manager *manager, time_ns now, struct perf_port *port,
			 enum perf_request kind, uint16_t status)
{
	if (status == MAD_STATUS_OK)
		return true;
	manager->has_owed |= (status & MAD_STATUS_BUSY) != 0;
	switch (kind) {
	case REQUEST_CLASS_PORT_INFO:
		if (!(status & MAD_STATUS_BUSY)) {
			port->node->agent = PERF_AGENT_ABSENT;
			refuse(manager, now, port, status);
		}
		break;
	case REQUEST_EXTENDED:
	case REQUEST_BASIC:
		if (status & MAD_STATUS_BUSY) {
			port->is_owed = true;
		} else {
			forget_agent(manager, port->node);
			refuse(manager, now, port, status);
		}
		break;
	case REQUEST_CLEAR_EXTENDED:
	case REQUEST_CLEAR_BASIC:
		refuse(manager, now, port, status);
		break;
	case REQUEST_TICK: /* Sampling is optional. */
		port->node->wait_tick = 0;
		break;
	case REQUEST_SAMPLE:
	case REQUEST_DETAIL_FIRST:
		break;
	}
	return false;
}

void perf_requests_receive(struct perf_manager *manager, time_ns now,
			   const struct mad_message *message)
{
	struct mad_purpose purpose;
	struct mad_header header;

	if (!mad_transactions_receive_timed(&manager->transactions, now, message, &purpose) ||
	    !mad_header_decode(message->bytes, sizeof(message->bytes), &header))
		return;

	struct perf_port *port = purpose.subject;

	if (purpose.detail == REQUEST_SAMPLE) {
		port_sampling_take(&manager->details.sampling, now, header.status,
				   message->bytes + PERFORMANCE_DATA_OFFSET);
		return;
	}
	if (purpose.detail >= REQUEST_DETAIL_FIRST) {
		port_details_take(&manager->details, purpose.detail - REQUEST_DETAIL_FIRST,
				  port->number, header.status,
				  message->bytes + PERFORMANCE_DATA_OFFSET);
		return;
	}

	enum perf_request kind = (enum perf_request)purpose.detail;
	bool has_data = check_status(manager, now, port, kind, header.status);

	switch (kind) {
	case REQUEST_CLASS_PORT_INFO:
		if (has_data)
			take_agent(manager, now, port, message);
		break;
	case REQUEST_TICK:
		if (has_data)
			take_tick(port, message);
		break;
	case REQUEST_EXTENDED:
	case REQUEST_BASIC:
		port->asked_count--;
		if (has_data)
			take_counters(manager, now, port, kind, message);
		finish_reading(manager, now, port);
		break;
	case REQUEST_CLEAR_EXTENDED:
		if (has_data)
			take_clear(manager, port, port->node->sources.extended, message);
		break;
	case REQUEST_CLEAR_BASIC:
		if (has_data)
			take_clear(manager, port, port->node->sources.basic, message);
		break;
	case REQUEST_SAMPLE:
	case REQUEST_DETAIL_FIRST:
		break;
	}
}

void perf_requests_take_failed(struct perf_manager *manager, time_ns now)
{
	struct mad_message request;
	struct mad_purpose purpose;

	while (mad_transactions_take_failed(&manager->transactions, &purpose, &request)) {
		struct perf_port *port = purpose.subject;

		if (purpose.detail == REQUEST_SAMPLE) {
			port_sampling_fail(&manager->details.sampling);
			continue;
		}
		/* An agent may leave optional attributes unanswered. */
		if (purpose.detail >= REQUEST_DETAIL_FIRST) {
			manager->details.answers[purpose.detail - REQUEST_DETAIL_FIRST].state =
				PORT_DETAIL_SILENT;
			continue;
		}
		port->is_failed = true;
		if (purpose.detail == REQUEST_EXTENDED || purpose.detail == REQUEST_BASIC)
			port->asked_count--;
		/* Sampling is optional, so its silence says nothing. */
		if (purpose.detail != REQUEST_TICK)
			fall_silent(manager, now, port);
	}
}
