/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O unit of a node: slots, and the controllers in them (management 6.3). */
#include "mgmt/agents/io_unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/class_traps.h"
#include "net/node/node.h"

struct io_unit *io_unit_find(const struct agent_memory *memory, const struct node *node)
{
	return memory ? hash_table_get(&memory->io_units, node->index) : NULL;
}

uint8_t io_unit_slot_count(const struct agent_memory *memory, const struct node *node)
{
	const struct io_unit *unit = io_unit_find(memory, node);

	if (unit)
		return unit->slot_count;
	return node->is_target ? IO_SLOTS_DEFAULT : 0;
}

struct io_controller *io_unit_controller(const struct io_unit *unit, unsigned slot)
{
	return unit && slot >= 1 && slot <= unit->slot_count ? unit->controllers[slot] : NULL;
}

struct io_controller *io_unit_powered(const struct io_unit *unit, unsigned slot)
{
	struct io_controller *controller = io_unit_controller(unit, slot);

	return controller && controller->power != POWER_OFF ? controller : NULL;
}

static struct io_unit *find_or_make(struct agent_memory *memory, struct node *node)
{
	struct io_unit *unit = io_unit_find(memory, node);

	if (unit || !memory)
		return unit;
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return NULL;
	unit->node = node;
	unit->slot_count = IO_SLOTS_DEFAULT;
	if (hash_table_put(&memory->io_units, node->index, unit) != 0) {
		free(unit);
		return NULL;
	}
	return unit;
}

/* Sends the notice from every port whose manager gave an address for traps of the class. */
static void send_notice(struct agent_memory *memory, struct node *node, time_ns now,
			const struct notice *notice)
{
	struct trap_class class = {.management_class = MAD_CLASS_DEVICE,
				   .class_version = DEVICE_CLASS_VERSION};

	for (unsigned number = 1; number <= node->port_count; number++) {
		struct port *port = &node->ports[number];

		if (class_trap_address(memory, port, MAD_CLASS_DEVICE, &class.address))
			class_trap_queue(memory, port, now, &class, notice);
	}
}

static void tell_ready(struct agent_memory *memory, const struct io_unit *unit, time_ns now,
		       const struct io_controller *controller)
{
	const struct ready_to_test_details details = {.controller_guid = controller->profile.guid};
	struct notice notice = {
		.header = {.type = NOTICE_INFORMATIONAL, .trap_number = TRAP_READY_TO_TEST}};

	ready_to_test_details_encode(&details, notice.details);
	send_notice(memory, unit->node, now, &notice);
}

static void tell_change(struct agent_memory *memory, struct io_unit *unit, time_ns now,
			const struct io_unit_change_details *details)
{
	struct notice notice = {.header = {.type = NOTICE_INFORMATIONAL,
					   .producer_type = NODE_VENDOR_ID,
					   .trap_number = NOTICE_IO_UNIT_CHANGED}};

	io_unit_change_details_encode(details, notice.details);
	send_notice(memory, unit->node, now, &notice);
	unit->notice_due_at = now + time_from_code(unit->node->ports[1].info.subnet_timeout);
	unit->has_untold_change = false;
}

static void changed(struct agent_memory *memory, struct io_unit *unit, time_ns now, unsigned slot,
		    uint64_t guid)
{
	const struct io_unit_change_details details = {
		.change_id = ++unit->change_id,
		.slot = (uint8_t)slot,
		.slot_state = io_unit_powered(unit, slot) ? IO_SLOT_HAS_CONTROLLER : IO_SLOT_EMPTY,
		.controller_guid = guid,
	};

	if (unit->notice_due_at <= now) {
		tell_change(memory, unit, now, &details);
		return;
	}
	unit->has_untold_change = true;
	memory->io_units_due_at = time_earlier(memory->io_units_due_at, unit->notice_due_at);
}

/* The ports of an adapter have device management while it has a controller, those of a target
 * channel adapter always. A change raises trap 144. */
static void show_capability(const struct agent_environment *environment, const struct io_unit *unit,
			    time_ns now)
{
	struct node *node = unit->node;
	uint32_t bit = node->is_target || unit->controller_count ? CAPABILITY_DEVICE_MANAGEMENT : 0;

	for (unsigned number = 1; number <= node->port_count; number++) {
		struct port *port = &node->ports[number];

		if ((port->info.capability_mask & CAPABILITY_DEVICE_MANAGEMENT) == bit)
			continue;
		port->info.capability_mask ^= CAPABILITY_DEVICE_MANAGEMENT;
		agent_capability_changed(environment->memory, port, now);
		if (environment->port_changed)
			environment->port_changed(environment->context, port);
	}
}

int io_unit_set_slots(const struct agent_environment *environment, struct node *node, time_ns now,
		      unsigned slot_count)
{
	struct io_unit *unit;

	if (!node_is_adapter(node) || slot_count < 1 || slot_count > IO_SLOTS_MAX)
		return -EINVAL;
	unit = find_or_make(environment->memory, node);
	if (!unit)
		return -ENOMEM;
	for (unsigned slot = slot_count + 1; slot <= unit->slot_count; slot++) {
		if (unit->controllers[slot])
			return -EBUSY;
	}
	unit->slot_count = (uint8_t)slot_count;
	changed(environment->memory, unit, now, 0, 0);
	return 0;
}

static bool is_text(const char *text, size_t room)
{
	size_t length = strnlen(text, room);

	if (length == room)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return true;
}

static int check_services(const struct io_controller *controller)
{
	for (unsigned i = 0; i < controller->profile.service_entries; i++) {
		const struct io_service_entry *entry = &controller->services[i];

		if (!entry->name[0] || !is_text(entry->name, sizeof(entry->name)))
			return -EINVAL;
		for (unsigned other = 0; other < i; other++) {
			if (strcmp(controller->services[other].name, entry->name) == 0)
				return -EINVAL;
			if (controller->services[other].id == entry->id)
				return -EADDRINUSE;
		}
	}
	return 0;
}

static bool has_service(const struct io_controller *controller, uint64_t id)
{
	for (unsigned i = 0; i < controller->profile.service_entries; i++) {
		if (controller->services[i].id == id)
			return true;
	}
	return false;
}

static int check_against(const struct io_unit *unit, const struct io_controller *controller)
{
	for (unsigned slot = 1; slot <= unit->slot_count; slot++) {
		const struct io_controller *other = unit->controllers[slot];

		if (!other)
			continue;
		if (other->profile.guid == controller->profile.guid)
			return -EEXIST;
		for (unsigned i = 0; i < controller->profile.service_entries; i++) {
			if (has_service(other, controller->services[i].id))
				return -EADDRINUSE;
		}
	}
	return 0;
}

static int choose_slot(const struct io_unit *unit, unsigned wanted, unsigned *ret_slot)
{
	if (wanted > unit->slot_count)
		return -EINVAL;
	if (wanted) {
		*ret_slot = wanted;
		return unit->controllers[wanted] ? -EBUSY : 0;
	}
	for (unsigned slot = 1; slot <= unit->slot_count; slot++) {
		if (unit->controllers[slot])
			continue;
		*ret_slot = slot;
		return 0;
	}
	return -ENOSPC;
}

static void controller_destroy(struct io_controller *controller)
{
	free(controller->services);
	free(controller);
}

static struct io_controller *controller_copy(const struct io_controller *controller)
{
	size_t count = controller->profile.service_entries;
	struct io_controller *copy = calloc(1, sizeof(*copy));
	struct io_service_entry *services = calloc(count + 1, sizeof(*services));

	if (!copy || !services) {
		free(copy);
		free(services);
		return NULL;
	}
	*copy = *controller;
	if (count)
		memcpy(services, controller->services, count * sizeof(*services));
	copy->services = services;
	io_diagnostics_init(&copy->test);
	return copy;
}

/* Distinct from the GUIDs of nodes and ports, which generated topologies make of a kind (bits 32 to
 * 39), an index, an adapter and a port. */
static uint64_t guid_of_slot(const struct node *node, unsigned slot)
{
	return node->info.node_guid ^ UINT64_C(0x10) << 32 ^ (uint64_t)slot << 8;
}

int io_unit_plug(const struct agent_environment *environment, struct node *node, time_ns now,
		 const struct io_controller *controller, unsigned slot, unsigned *ret_slot)
{
	struct io_controller *copy;
	struct io_unit *unit;
	int error;

	if (!node_is_adapter(node) ||
	    !is_text(controller->id_string, sizeof(controller->id_string)))
		return -EINVAL;
	error = check_services(controller);
	if (error)
		return error;
	unit = find_or_make(environment->memory, node);
	copy = unit ? controller_copy(controller) : NULL;
	if (!copy)
		return -ENOMEM;
	error = choose_slot(unit, slot, &slot);
	if (!error && !copy->profile.guid)
		copy->profile.guid = guid_of_slot(node, slot);
	if (!error)
		error = check_against(unit, copy);
	if (error) {
		controller_destroy(copy);
		return error;
	}
	unit->controllers[slot] = copy;
	unit->controller_count++;
	changed(environment->memory, unit, now, slot, copy->profile.guid);
	show_capability(environment, unit, now);
	*ret_slot = slot;
	return 0;
}

static void pull(const struct agent_environment *environment, struct io_unit *unit, time_ns now,
		 unsigned slot)
{
	struct io_controller *controller = unit->controllers[slot];

	unit->controllers[slot] = NULL;
	unit->controller_count--;
	changed(environment->memory, unit, now, slot, controller->profile.guid);
	controller_destroy(controller);
	show_capability(environment, unit, now);
}

int io_unit_pull(const struct agent_environment *environment, struct node *node, time_ns now,
		 unsigned slot)
{
	struct io_unit *unit = io_unit_find(environment->memory, node);

	if (!io_unit_controller(unit, slot))
		return -ENOENT;
	pull(environment, unit, now, slot);
	return 0;
}

int io_unit_set_power(struct agent_memory *memory, const struct node *node, time_ns now,
		      unsigned slot, enum baseboard_power power)
{
	struct io_unit *unit = io_unit_find(memory, node);
	struct io_controller *controller = io_unit_controller(unit, slot);
	bool had_power = io_unit_powered(unit, slot);
	uint16_t outcome;

	if (!controller)
		return -ENOENT;
	controller->power = (uint8_t)power;
	if (had_power == (power != POWER_OFF))
		return 0;
	outcome = controller->test.next_outcome;
	io_diagnostics_init(&controller->test);
	controller->test.next_outcome = outcome;
	changed(memory, unit, now, slot, controller->profile.guid);
	return 0;
}

bool io_unit_lacks_power_for(const struct agent_memory *memory, const struct node *node,
			     uint64_t service_id)
{
	const struct io_unit *unit = io_unit_find(memory, node);

	for (unsigned slot = 1; unit && slot <= unit->slot_count; slot++) {
		const struct io_controller *controller = unit->controllers[slot];

		if (controller && controller->power == POWER_OFF &&
		    has_service(controller, service_id))
			return true;
	}
	return false;
}

void io_units_pull_owned(const struct agent_environment *environment, time_ns now,
			 const void *owner)
{
	const struct hash_table *table = &environment->memory->io_units;

	for (uint32_t i = 0; i < table->capacity; i++) {
		struct io_unit *unit = table->entries[i].value;

		for (unsigned slot = 1; unit && slot <= unit->slot_count; slot++) {
			if (unit->controllers[slot] && unit->controllers[slot]->owner == owner)
				pull(environment, unit, now, slot);
		}
	}
}

static void run_unit(struct agent_memory *memory, struct io_unit *unit, time_ns now)
{
	for (unsigned slot = 1; slot <= unit->slot_count; slot++) {
		struct io_controller *controller = unit->controllers[slot];

		if (!controller)
			continue;
		if (io_diagnostics_run(&controller->test, now))
			tell_ready(memory, unit, now, controller);
		memory->io_units_due_at =
			time_earlier(memory->io_units_due_at, controller->test.due_at);
	}
	if (unit->has_untold_change && unit->notice_due_at <= now)
		tell_change(memory, unit, now,
			    &(struct io_unit_change_details){.change_id = unit->change_id});
	if (unit->has_untold_change)
		memory->io_units_due_at =
			time_earlier(memory->io_units_due_at, unit->notice_due_at);
}

void io_units_run(struct agent_memory *memory, time_ns now)
{
	if (memory->io_units_due_at > now)
		return;
	memory->io_units_due_at = TIME_NEVER;
	for (uint32_t i = 0; i < memory->io_units.capacity; i++) {
		if (memory->io_units.entries[i].value)
			run_unit(memory, memory->io_units.entries[i].value, now);
	}
}

static void unit_destroy(struct io_unit *unit)
{
	for (unsigned slot = 1; slot <= IO_SLOTS_MAX; slot++) {
		if (unit->controllers[slot])
			controller_destroy(unit->controllers[slot]);
	}
	free(unit);
}

void io_units_forget(struct agent_memory *memory, const struct node *node)
{
	struct hash_table *table = &memory->io_units;
	struct io_unit *unit = node ? io_unit_find(memory, node) : NULL;

	if (unit) {
		hash_table_remove(table, node->index);
		unit_destroy(unit);
	}
	if (node)
		return;
	for (uint32_t i = 0; i < table->capacity; i++) {
		if (table->entries[i].value)
			unit_destroy(table->entries[i].value);
	}
	hash_table_release(table);
}
