/* SPDX-License-Identifier: Apache-2.0 */
/* The congestion control agent of a node: its capabilities, log and time stamp (management 6.5). */
#include "mgmt/agents/congestion_agent.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "mgmt/agents/class_port_infos.h"
#include "net/link/congestion_state.h"
#include "wire/smp.h"

enum { TABLE_BLOCKS = CONGESTION_TABLE_ENTRIES / CCT_BLOCK_ENTRIES };

struct congestion_agent *congestion_agent_of(struct port *port)
{
	size_t port_count = node_is_switch(port->node) ? port->node->port_count + 1 : 0;

	if (port->congestion_agent)
		return port->congestion_agent;
	port->congestion_agent =
		calloc(1, sizeof(*port->congestion_agent) +
				  port_count * sizeof(port->congestion_agent->ports[0]));
	if (port->congestion_agent)
		class_key_init(&port->congestion_agent->key);
	return port->congestion_agent;
}

enum mad_status congestion_agent_begin_set(const struct gs_request *request,
					   struct congestion_agent **ret_agent)
{
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;

	struct congestion_agent *agent = congestion_agent_of(request->arrival);

	if (!agent)
		return MAD_STATUS_BUSY;
	*ret_agent = agent;
	return MAD_STATUS_OK;
}

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, 0, ret_data);
}

static enum mad_status class_port_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_change(request, 0, ret_data);
}

static enum mad_status congestion_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct congestion_info info = {
		.control_table_cap = node_is_adapter(request->node) ? TABLE_BLOCKS : 0,
	};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	congestion_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status time_stamp_get(const struct gs_request *request, uint8_t *ret_data)
{
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	put_be32(ret_data, congestion_time_stamp(request->now));
	return MAD_STATUS_OK;
}

static bool controls(const struct node *node)
{
	for (unsigned number = 0; number <= node->port_count; number++)
		if (port_controls_congestion(&node->ports[number]))
			return true;
	return false;
}

static void encode_switch_log(const struct gs_request *request, const struct congestion_log *log,
			      uint8_t *ret_data)
{
	const struct switch_congestion_log header = {
		.log_type = CONGESTION_LOG_OF_SWITCH,
		.congestion_flags = controls(request->node) ? CONGESTION_FLAG_ENABLED : 0,
		.log_events_counter = log->event_count,
		.current_time_stamp = congestion_time_stamp(request->now),
		.port_map_0 = log->port_map[0],
		.port_map_1 = log->port_map[1],
		.port_map_2 = log->port_map[2],
		.port_map_3 = log->port_map[3],
	};

	switch_congestion_log_encode(&header, ret_data);
	ret_data += SWITCH_CONGESTION_LOG_BYTES;
	for (unsigned i = 0; i < log->kept && i < SWITCH_CONGESTION_EVENTS; i++) {
		const struct switch_congestion_event event = {
			.slid = log->events[i].slid,
			.dlid = log->events[i].dlid,
			.sl = log->events[i].sl,
			.time_stamp = log->events[i].time_stamp,
		};

		switch_congestion_event_encode(&event,
					       ret_data + i * SWITCH_CONGESTION_EVENT_BYTES);
	}
}

static void encode_adapter_log(const struct gs_request *request, const struct congestion_log *log,
			       uint8_t *ret_data)
{
	const struct ca_congestion_log header = {
		.log_type = CONGESTION_LOG_OF_CA,
		.congestion_flags =
			port_controls_congestion(request->arrival) ? CONGESTION_FLAG_ENABLED : 0,
		.threshold_event_counter = log->event_count,
		.threshold_congestion_event_map = log->sls,
		.current_time_stamp = congestion_time_stamp(request->now),
	};

	ca_congestion_log_encode(&header, ret_data);
	ret_data += CA_CONGESTION_LOG_BYTES;
	for (unsigned i = 0; i < log->kept && i < CA_CONGESTION_EVENTS; i++) {
		const struct ca_congestion_event event = {
			.local_qpn = log->events[i].local_qpn,
			.sl = log->events[i].sl,
			.service_type = log->events[i].service_type,
			.remote_qpn = log->events[i].remote_qpn,
			.local_lid = log->events[i].dlid,
			.remote_lid = log->events[i].slid,
			.time_stamp = log->events[i].time_stamp,
		};

		ca_congestion_event_encode(&event, ret_data + i * CA_CONGESTION_EVENT_BYTES);
	}
}

/* Counters and maps cover the time since the log was last read. The newest events stay in the log.
 */
static enum mad_status congestion_log_get(const struct gs_request *request, uint8_t *ret_data)
{
	static const struct congestion_log empty;
	struct congestion_log *log =
		request->arrival->congestion ? request->arrival->congestion->log : NULL;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (node_is_switch(request->node))
		encode_switch_log(request, log ? log : &empty, ret_data);
	else if (node_is_adapter(request->node))
		encode_adapter_log(request, log ? log : &empty, ret_data);
	else
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (log) {
		log->event_count = 0;
		log->sls = 0;
		for (unsigned word = 0; word < ARRAY_COUNT(log->port_map); word++)
			log->port_map[word] = 0;
	}
	return MAD_STATUS_OK;
}

static const struct gs_attribute rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
	{ATTRIBUTE_CONGESTION_INFO, congestion_info_get, NULL},
	{ATTRIBUTE_CONGESTION_KEY_INFO, congestion_key_info_get, congestion_key_info_set},
	{ATTRIBUTE_CONGESTION_LOG, congestion_log_get, NULL},
	{ATTRIBUTE_SWITCH_CONGESTION_SETTING, congestion_switch_setting_get,
	 congestion_switch_setting_set},
	{ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING, congestion_switch_ports_get,
	 congestion_switch_ports_set},
	{ATTRIBUTE_CA_CONGESTION_SETTING, congestion_adapter_setting_get,
	 congestion_adapter_setting_set},
	{ATTRIBUTE_CONGESTION_CONTROL_TABLE, congestion_table_get, congestion_table_set},
	{ATTRIBUTE_CONGESTION_TIME_STAMP, time_stamp_get, NULL},
};
const struct gs_attributes congestion_attributes = {rows, ARRAY_COUNT(rows)};
