/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of congestion control: what a switch marks and how an adapter reacts (management 6.5).
 * Off until a manager sets it.
 *
 * Credit starvation is not supported, as CongestionInfo says: its masks, threshold and delay read
 * as zero, and a port can't be set to it.
 */
#include "mgmt/agents/congestion_agent.h"

#include <errno.h>
#include "base/bytes.h"
#include "net/link/congestion_state.h"

enum {
	CONTROL_SUPPORTED = CONTROL_VICTIM_MASK | CONTROL_THRESHOLD | CONTROL_MARKING_RATE,
	TABLE_BLOCKS = CONGESTION_TABLE_ENTRIES / CCT_BLOCK_ENTRIES,
	PORTS_PER_WORD = 64,

	/* The settings of agent_control_congestion(). */
	USUAL_THRESHOLD = 12,
	USUAL_MARKING_RATE = 3,
	USUAL_INCREASE = 1,
	USUAL_TIMER = 20,
	USUAL_TRIGGER = 8,
};

/* Marking has changed, so offloaded flows return to the fabric path, where packets are marked. */
static void tell_fabric(const struct agent_environment *environment, struct port *port)
{
	if (environment->port_changed)
		environment->port_changed(environment->context, port);
	if (environment->paths_changed)
		environment->paths_changed(environment->context);
}

static bool is_victim(const struct switch_congestion_setting *setting, unsigned port_number)
{
	const uint64_t words[] = {setting->victim_mask_0, setting->victim_mask_1,
				  setting->victim_mask_2, setting->victim_mask_3};

	return words[port_number / PORTS_PER_WORD] >> port_number % PORTS_PER_WORD & 1;
}

static enum mad_status apply_to_switch(const struct agent_environment *environment,
				       struct node *node, const struct congestion_agent *agent)
{
	/* Port 0 keeps the log of a switch. */
	int error = port_obtain_congestion(&node->ports[0]);

	for (unsigned number = 1; number <= node->port_count && !error; number++) {
		const struct switch_port_congestion *own = &agent->ports[number];
		struct port *port = &node->ports[number];
		struct congestion_marking marking = {
			.threshold = own->valid ? own->threshold : agent->setting.threshold,
			.packet_blocks_min =
				own->valid ? own->packet_size : agent->setting.packet_size,
			.marking_rate =
				own->valid ? own->marking_rate : agent->setting.marking_rate,
			.marks_victims = is_victim(&agent->setting, number),
		};

		if (marking.threshold || port->congestion)
			error = port_set_marking(port, &marking);
	}
	tell_fabric(environment, &node->ports[0]);
	return error ? MAD_STATUS_BUSY : MAD_STATUS_OK;
}

enum mad_status congestion_switch_setting_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct congestion_agent *agent = request->arrival->congestion_agent;
	struct switch_congestion_setting setting =
		agent ? agent->setting : (struct switch_congestion_setting){0};

	if (!node_is_switch(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	setting.control_map = CONTROL_SUPPORTED;
	switch_congestion_setting_encode(&setting, ret_data);
	return MAD_STATUS_OK;
}

static void take_setting(const struct switch_congestion_setting *told,
			 struct switch_congestion_setting *ret_setting)
{
	if (told->control_map & CONTROL_VICTIM_MASK) {
		ret_setting->victim_mask_0 = told->victim_mask_0;
		ret_setting->victim_mask_1 = told->victim_mask_1;
		ret_setting->victim_mask_2 = told->victim_mask_2;
		ret_setting->victim_mask_3 = told->victim_mask_3;
	}
	if (told->control_map & CONTROL_THRESHOLD) {
		ret_setting->threshold = told->threshold;
		ret_setting->packet_size = told->packet_size;
	}
	if (told->control_map & CONTROL_MARKING_RATE)
		ret_setting->marking_rate = told->marking_rate;
}

enum mad_status congestion_switch_setting_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct switch_congestion_setting told;
	struct congestion_agent *agent;
	enum mad_status status;

	if (!node_is_switch(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	status = congestion_agent_begin_set(request, &agent);
	if (status != MAD_STATUS_OK)
		return status;
	switch_congestion_setting_decode(request->data, &told);
	take_setting(&told, &agent->setting);
	status = apply_to_switch(request->environment, request->node, agent);
	return status == MAD_STATUS_OK ? congestion_switch_setting_get(request, ret_data) : status;
}

/* The ports of the block that the attribute modifier names. false: there are none. */
static bool find_ports(const struct gs_request *request, unsigned *ret_first, unsigned *ret_count)
{
	uint32_t block = request->header.attribute_modifier;
	unsigned port_count = request->node->port_count + 1;

	if (block > (port_count - 1) / SWITCH_PORT_CONGESTION_BLOCK)
		return false;
	*ret_first = block * SWITCH_PORT_CONGESTION_BLOCK;
	*ret_count = port_count - *ret_first < SWITCH_PORT_CONGESTION_BLOCK
			     ? port_count - *ret_first
			     : SWITCH_PORT_CONGESTION_BLOCK;
	return true;
}

enum mad_status congestion_switch_ports_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct congestion_agent *agent = request->arrival->congestion_agent;
	unsigned first, count;

	if (!node_is_switch(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (!find_ports(request, &first, &count))
		return MAD_STATUS_BAD_FIELD;
	for (unsigned i = 0; agent && i < count; i++)
		switch_port_congestion_encode(&agent->ports[first + i],
					      ret_data + i * SWITCH_PORT_CONGESTION_BYTES);
	return MAD_STATUS_OK;
}

enum mad_status congestion_switch_ports_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct switch_port_congestion told[SWITCH_PORT_CONGESTION_BLOCK];
	struct congestion_agent *agent;
	enum mad_status status;
	unsigned first, count;

	if (!node_is_switch(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (!find_ports(request, &first, &count))
		return MAD_STATUS_BAD_FIELD;
	for (unsigned i = 0; i < count; i++) {
		switch_port_congestion_decode(request->data + i * SWITCH_PORT_CONGESTION_BYTES,
					      &told[i]);
		if (told[i].valid && told[i].control_type)
			return MAD_STATUS_BAD_FIELD;
	}
	agent = congestion_agent_of(request->arrival);
	if (!agent)
		return MAD_STATUS_BUSY;
	for (unsigned i = 0; i < count; i++)
		agent->ports[first + i] = told[i];
	status = apply_to_switch(request->environment, request->node, agent);
	return status == MAD_STATUS_OK ? congestion_switch_ports_get(request, ret_data) : status;
}

enum mad_status congestion_adapter_setting_get(const struct gs_request *request, uint8_t *ret_data)
{
	static const struct congestion_reaction nothing;
	const struct congestion_reaction *reaction =
		request->arrival->congestion ? &request->arrival->congestion->reaction : &nothing;
	struct ca_congestion_setting setting = {
		.port_control = reaction->is_per_sl ? CA_CONGESTION_PER_SL : 0};

	if (!node_is_adapter(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	for (unsigned sl = 0; sl < SL_COUNT; sl++) {
		const struct ca_congestion_entry entry = {
			.ccti_timer = reaction->by_sl[sl].timer,
			.ccti_increase = reaction->by_sl[sl].increase,
			.trigger_threshold = reaction->by_sl[sl].trigger,
			.ccti_min = reaction->by_sl[sl].index_min,
		};

		if (entry.ccti_increase)
			setting.control_map |= (uint16_t)(1u << sl);
		ca_congestion_entry_encode(&entry, ret_data + CA_CONGESTION_SETTING_BYTES +
							   sl * CA_CONGESTION_ENTRY_BYTES);
	}
	ca_congestion_setting_encode(&setting, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status congestion_adapter_setting_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct congestion_reaction *reaction;
	struct ca_congestion_setting setting;

	if (!node_is_adapter(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (port_obtain_congestion(request->arrival) != 0)
		return MAD_STATUS_BUSY;
	reaction = &request->arrival->congestion->reaction;
	ca_congestion_setting_decode(request->data, &setting);
	reaction->is_per_sl = setting.port_control & CA_CONGESTION_PER_SL;
	for (unsigned sl = 0; sl < SL_COUNT; sl++) {
		struct ca_congestion_entry entry;

		if (!(setting.control_map >> sl & 1))
			continue;
		ca_congestion_entry_decode(request->data + CA_CONGESTION_SETTING_BYTES +
						   sl * CA_CONGESTION_ENTRY_BYTES,
					   &entry);
		reaction->by_sl[sl].timer = entry.ccti_timer;
		reaction->by_sl[sl].increase = entry.ccti_increase;
		reaction->by_sl[sl].trigger = entry.trigger_threshold;
		reaction->by_sl[sl].index_min = entry.ccti_min;
	}
	tell_fabric(request->environment, request->arrival);
	return congestion_adapter_setting_get(request, ret_data);
}

enum mad_status congestion_table_get(const struct gs_request *request, uint8_t *ret_data)
{
	static const struct congestion_reaction nothing;
	const struct congestion_reaction *reaction =
		request->arrival->congestion ? &request->arrival->congestion->reaction : &nothing;
	uint32_t block = request->header.attribute_modifier;

	if (!node_is_adapter(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (block >= TABLE_BLOCKS)
		return MAD_STATUS_BAD_FIELD;
	put_be16(ret_data, reaction->ccti_limit);
	for (unsigned i = 0; i < CCT_BLOCK_ENTRIES; i++)
		put_be16(ret_data + CCT_ENTRIES_OFFSET + 2 * i,
			 reaction->table[block * CCT_BLOCK_ENTRIES + i]);
	return MAD_STATUS_OK;
}

enum mad_status congestion_table_set(const struct gs_request *request, uint8_t *ret_data)
{
	uint32_t block = request->header.attribute_modifier;
	uint16_t limit = get_be16(request->data);
	struct congestion_reaction *reaction;

	if (!node_is_adapter(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (block >= TABLE_BLOCKS || limit >= CONGESTION_TABLE_ENTRIES)
		return MAD_STATUS_BAD_FIELD;
	if (port_obtain_congestion(request->arrival) != 0)
		return MAD_STATUS_BUSY;
	reaction = &request->arrival->congestion->reaction;
	reaction->ccti_limit = limit;
	for (unsigned i = 0; i < CCT_BLOCK_ENTRIES; i++)
		reaction->table[block * CCT_BLOCK_ENTRIES + i] =
			get_be16(request->data + CCT_ENTRIES_OFFSET + 2 * i);
	return congestion_table_get(request, ret_data);
}

static int control_switch(const struct agent_environment *environment, struct node *node,
			  bool is_on)
{
	struct congestion_agent *agent = congestion_agent_of(&node->ports[0]);

	if (!agent)
		return -ENOMEM;
	agent->setting = (struct switch_congestion_setting){
		.threshold = is_on ? USUAL_THRESHOLD : 0,
		.marking_rate = is_on ? USUAL_MARKING_RATE : 0,
	};
	for (unsigned number = 0; number <= node->port_count; number++)
		agent->ports[number] = (struct switch_port_congestion){0};
	return apply_to_switch(environment, node, agent) == MAD_STATUS_OK ? 0 : -ENOMEM;
}

static int control_port(const struct agent_environment *environment, struct port *port, bool is_on)
{
	struct congestion_reaction reaction = {.ccti_limit = CONGESTION_TABLE_ENTRIES - 1};

	for (unsigned sl = 0; sl < SL_COUNT && is_on; sl++) {
		reaction.by_sl[sl].timer = USUAL_TIMER;
		reaction.by_sl[sl].increase = USUAL_INCREASE;
		reaction.by_sl[sl].trigger = USUAL_TRIGGER;
	}
	/* Delays in eighths of a packet time: small steps first, and at the end enough for an
	 * incast of a hundred senders. */
	for (unsigned index = 0; index < CONGESTION_TABLE_ENTRIES && is_on; index++)
		reaction.table[index] = (uint16_t)(3u << 14 | (index + index * index / 16));

	int error = port_set_reaction(port, &reaction);

	tell_fabric(environment, port);
	return error;
}

int agent_control_congestion(const struct agent_environment *environment, struct node *node,
			     enum congestion_switch to)
{
	bool is_on = to == CONGESTION_CONTROL_ON;
	int error = 0;

	if (node_is_switch(node))
		return control_switch(environment, node, is_on);
	for (unsigned number = 1; node_is_adapter(node) && number <= node->port_count && !error;
	     number++)
		error = control_port(environment, &node->ports[number], is_on);
	return error;
}
