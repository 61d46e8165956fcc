/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual baseboard of a node (management 6.2). */
#include "mgmt/agents/baseboard.h"

#include <stdlib.h>
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/class_traps.h"
#include "wire/notice.h"

struct baseboard *baseboard_find(const struct agent_memory *memory, const struct node *node)
{
	return memory ? hash_table_get(&memory->baseboards, node->index) : NULL;
}

static size_t key_count(const struct node *node)
{
	return node_is_switch(node) ? 1 : (size_t)node->port_count + 1;
}

struct baseboard *baseboard_of(struct agent_memory *memory, struct node *node)
{
	struct baseboard *baseboard = baseboard_find(memory, node);

	if (baseboard || !memory)
		return baseboard;
	baseboard = calloc(1, sizeof(*baseboard) + key_count(node) * sizeof(baseboard->keys[0]));
	if (!baseboard)
		return NULL;
	baseboard->node = node;
	baseboard->power = NODE_POWER_ON;
	baseboard->power_due_at = TIME_NEVER;
	baseboard->wake_at = TIME_NEVER;
	vpd_init_module(&baseboard->vpds[0], node);
	vpd_init_chassis(&baseboard->vpds[1], node);
	sensors_init(baseboard->sensors);
	for (size_t i = 0; i < key_count(node); i++)
		class_key_init(&baseboard->keys[i]);
	if (hash_table_put(&memory->baseboards, node->index, baseboard)) {
		free(baseboard);
		return NULL;
	}
	return baseboard;
}

struct class_key *baseboard_key(struct baseboard *baseboard, const struct port *port)
{
	return &baseboard->keys[node_is_switch(baseboard->node) ? 0 : port->number];
}

struct vpd *baseboard_vpd(struct baseboard *baseboard, uint8_t selector)
{
	if (selector == VPD_MODULE)
		return &baseboard->vpds[0];
	return selector == VPD_CHASSIS ? &baseboard->vpds[1] : NULL;
}

struct module_status baseboard_status_of(const struct baseboard *baseboard)
{
	return (struct module_status){
		.module_power = baseboard->module_power,
		.unit_power = baseboard->unit_power,
		.attention = baseboard->attention,
		.health = (uint8_t)sensors_health(baseboard->sensors),
		.bus_is_hung = baseboard->bus_is_hung,
		.module_vpd_is_protected = baseboard->vpds[0].is_protected,
		.chassis_vpd_is_protected = baseboard->vpds[1].is_protected,
		.power_is_changing = baseboard->power_due_at != TIME_NEVER,
		.sensor_count = SENSOR_COUNT,
	};
}

/* The power that the commands ask for: off if the module or the unit is off. */
static enum node_power wanted_power(const struct baseboard *baseboard)
{
	return baseboard->module_power == POWER_OFF || baseboard->unit_power == POWER_OFF
		       ? NODE_POWER_OFF
		       : NODE_POWER_ON;
}

static void switch_power(struct baseboard *baseboard, time_ns now, time_ns wake_after)
{
	bool is_changing = wanted_power(baseboard) != baseboard->power;

	baseboard->power_due_at = is_changing ? now + POWER_DELAY : TIME_NEVER;
	baseboard->wake_at = wanted_power(baseboard) == NODE_POWER_OFF && wake_after != TIME_NEVER
				     ? now + POWER_DELAY + wake_after
				     : TIME_NEVER;
}

void baseboard_set_module_power(struct baseboard *baseboard, time_ns now,
				enum baseboard_power power, time_ns wake_after)
{
	baseboard->module_power = (uint8_t)power;
	switch_power(baseboard, now, wake_after);
}

void baseboard_set_unit_power(struct baseboard *baseboard, time_ns now, enum baseboard_power power,
			      time_ns wake_after)
{
	baseboard->unit_power = (uint8_t)power;
	switch_power(baseboard, now, wake_after);
}

static time_ns due_at(const struct baseboard *baseboard)
{
	return time_earlier(baseboard->power_due_at, baseboard->wake_at);
}

/* The first end port that has a trap address and can send. */
static struct port *telling_port(const struct agent_memory *memory, struct node *node,
				 struct mad_address *ret_address)
{
	unsigned first = node_is_switch(node) ? 0 : 1;
	unsigned last = node_is_switch(node) ? 0 : node->port_count;

	for (unsigned number = first; number <= last; number++) {
		struct port *port = &node->ports[number];

		if (port_is_active(port) &&
		    class_trap_address(memory, port, MAD_CLASS_BASEBOARD, ret_address))
			return port;
	}
	return NULL;
}

static void tell_sensor(const struct agent_environment *environment,
			const struct baseboard *baseboard, time_ns now, unsigned index)
{
	const struct sensor_report report = sensor_report_of(baseboard->sensors, index);
	const struct baseboard_trap_details details = {
		.data_length = SENSOR_REPORT_BYTES,
		.type = BASEBOARD_TRAP_OEM_MME,
		.modifier = SOFTIB_VENDOR_ID,
	};
	struct notice notice = {.header = {.type = report.level == SENSOR_NORMAL
							   ? NOTICE_INFORMATIONAL
							   : NOTICE_URGENT,
					   .trap_number = TRAP_BASEBOARD}};
	struct trap_class class = {.management_class = MAD_CLASS_BASEBOARD,
				   .class_version = BASEBOARD_CLASS_VERSION};
	struct port *port = telling_port(environment->memory, baseboard->node, &class.address);

	if (!port)
		return;
	baseboard_trap_details_encode(&details, notice.details);
	sensor_report_encode(&report, notice.details + BASEBOARD_TRAP_DATA_OFFSET);
	class_trap_queue(environment->memory, port, now, &class, &notice);
}

void baseboard_changed(const struct agent_environment *environment, struct baseboard *baseboard,
		       time_ns now)
{
	struct agent_memory *memory = environment->memory;

	for (unsigned i = 0; i < SENSOR_COUNT; i++) {
		struct sensor *sensor = &baseboard->sensors[i];

		if (sensor->level == sensor->told_level)
			continue;
		/* If nobody is to be told, a manager that comes later reads the sensors. */
		sensor->told_level = sensor->level;
		tell_sensor(environment, baseboard, now, i);
	}
	memory->baseboards_due_at = time_earlier(memory->baseboards_due_at, due_at(baseboard));
}

static void run(const struct agent_environment *environment, struct baseboard *baseboard,
		time_ns now)
{
	if (baseboard->wake_at <= now) {
		baseboard->module_power = POWER_ON;
		baseboard->unit_power = POWER_ON;
		baseboard->wake_at = TIME_NEVER;
		baseboard->power_due_at = now;
	}
	if (baseboard->power_due_at > now)
		return;
	baseboard->power_due_at = TIME_NEVER;
	if (wanted_power(baseboard) == baseboard->power)
		return;
	baseboard->power = wanted_power(baseboard);
	if (environment->set_power)
		environment->set_power(environment->context, baseboard->node, baseboard->power);
}

void baseboards_run(const struct agent_environment *environment, time_ns now)
{
	struct agent_memory *memory = environment->memory;

	if (memory->baseboards_due_at > now)
		return;
	memory->baseboards_due_at = TIME_NEVER;
	for (uint32_t slot = 0; slot < memory->baseboards.capacity; slot++) {
		struct baseboard *baseboard = memory->baseboards.entries[slot].value;

		if (!baseboard)
			continue;
		run(environment, baseboard, now);
		memory->baseboards_due_at =
			time_earlier(memory->baseboards_due_at, due_at(baseboard));
	}
}

void baseboards_forget(struct agent_memory *memory, const struct node *node)
{
	struct hash_table *table = &memory->baseboards;

	/* Removing an entry moves others, so a slot is looked at again until it stays. */
	for (uint32_t slot = 0; slot < table->capacity;) {
		struct baseboard *baseboard = table->entries[slot].value;

		if (!baseboard || (node && baseboard->node != node)) {
			slot++;
			continue;
		}
		hash_table_remove(table, table->entries[slot].key);
		free(baseboard);
	}
	if (!node)
		hash_table_release(table);
}
