/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and links: makes and finds them, pulls cables and plugs them in. */
#include "fabric/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/cables.h"
#include "fabric/known_paths.h"
#include "fabric/link_faults.h"
#include "fabric/movement.h"
#include "fabric/rate_gates.h"
#include "fabric/routers.h"
#include "mgmt/agents/node_log.h"
#include "net/link/lane_tables.h"
#include "net/link/link.h"
#include "net/link/port_queues.h"

static int reserve_index(struct fabric *fabric)
{
	if (fabric->node_count < fabric->node_capacity)
		return 0;

	uint32_t capacity = fabric->node_capacity ? fabric->node_capacity * 2 : 64;
	struct node **by_index = realloc(fabric->by_index, capacity * sizeof(struct node *));

	if (!by_index)
		return -ENOMEM;
	fabric->by_index = by_index;
	fabric->node_capacity = capacity;
	return 0;
}

/* The ring has room for every port at once. Nothing moves while nodes are added. */
static int reserve_work(struct fabric *fabric, uint32_t port_total)
{
	uint32_t capacity = fabric->work.ports ? fabric->work.mask + 1 : 64;

	if (fabric->work.ports && port_total < capacity)
		return 0;
	while (capacity <= port_total)
		capacity *= 2;

	struct port **work = malloc(capacity * sizeof(struct port *));

	if (!work)
		return -ENOMEM;
	for (uint32_t index = 0; fabric->work.head + index != fabric->work.tail; index++)
		work[index] = fabric->work.ports[(fabric->work.head + index) & fabric->work.mask];
	free(fabric->work.ports);
	fabric->work.ports = work;
	fabric->work.mask = capacity - 1;
	fabric->work.tail -= fabric->work.head;
	fabric->work.head = 0;
	return 0;
}

static int reserve_timers(struct fabric *fabric, uint32_t port_total)
{
	int error = timer_queue_reserve(&fabric->lifetimes, port_total);

	if (!error)
		error = event_wheel_reserve(&fabric->pacing.cables, 2 * port_total);
	if (!error)
		error = reserve_work(fabric, port_total);
	return error;
}

int fabric_add_node(struct fabric *fabric, enum node_type type, unsigned port_count,
		    uint64_t node_guid, const char *name, const char *description,
		    struct node **ret_node)
{
	int error = reserve_index(fabric);

	if (!error)
		error = reserve_timers(fabric, fabric->port_total + port_count + 1);
	if (error)
		return error;

	struct node *node = malloc(sizeof(*node));

	if (!node)
		return -ENOMEM;
	error = node_init(node, type, port_count, node_guid, description);
	if (error) {
		free(node);
		return error;
	}
	if (type == NODE_ROUTER) {
		error = routers_add(fabric, node);
		if (error) {
			node_release(node);
			free(node);
			return error;
		}
	}
	for (unsigned number = 1; fabric->vl_cap && number <= port_count; number++)
		port_set_vl_cap(&node->ports[number], fabric->vl_cap);
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->index = fabric->node_count;
	fabric->by_index[fabric->node_count++] = node;
	fabric->port_total += port_count + 1;
	list_append(&fabric->nodes, &node->link);
	*ret_node = node;
	return 0;
}

void fabric_note_state_change(struct fabric *fabric, struct port *port)
{
	routers_note_change(fabric);
	node_log_port_state(&fabric->agent_memory, port, fabric->now);
	if (node_is_switch(port->node))
		agent_link_changed(&fabric->agent_memory, port->node, fabric->now);
	else if ((node_is_adapter(port->node) || port->endpoint) && fabric->owner.port_changed)
		fabric->owner.port_changed(fabric->owner.context, port);
}

static void train(struct fabric *fabric, struct port *port)
{
	if (!link_train(port))
		return;
	fabric_note_state_change(fabric, port);
	fabric_note_state_change(fabric, port->peer);
}

static void flush(struct fabric *fabric, struct port *port)
{
	struct frame *frame;

	timer_queue_cancel(&fabric->lifetimes, &port->queues->lifetime);
	port->queues->watched_lives = 0;
	while ((frame = port_flush_next(port)))
		fabric_drop(fabric, port, frame, DROP_PORT_INACTIVE);
	while ((frame = cable_lose_next(fabric, port)))
		fabric_drop(fabric, port, frame, DROP_PORT_INACTIVE);
	while ((frame = rate_gates_lose_next(fabric, port)))
		fabric_drop(fabric, port, frame, DROP_PORT_INACTIVE);
	if (port->faults)
		faults_flush(fabric, port);
}

static void fall(struct fabric *fabric, struct port *port, enum physical_state physical)
{
	if (!link_fall(port, physical))
		return;
	flush(fabric, port);
	fabric_note_state_change(fabric, port);
	if (port->peer) {
		flush(fabric, port->peer);
		fabric_note_state_change(fabric, port->peer);
	}
	fabric_note_paths_changed(fabric);
}

void fabric_link_error(struct fabric *fabric, struct port *port, enum link_error_action action)
{
	switch (action) {
	case LINK_ERROR_NONE:
		break;
	case LINK_ERROR_RECOVER:
		/* Link error recovery takes no time here; packets that were lost stay lost. */
		agent_link_integrity(&fabric->agent_memory, port, fabric->now);
		break;
	case LINK_ERROR_FALL:
		agent_link_integrity(&fabric->agent_memory, port, fabric->now);
		fall(fabric, port, (enum physical_state)port->info.link_down_default_state);
		train(fabric, port);
		break;
	case LINK_ERROR_OVERRUN:
		agent_buffer_overrun(&fabric->agent_memory, port, fabric->now);
		break;
	case LINK_ERROR_WATCHDOG:
		agent_flow_control_watchdog(&fabric->agent_memory, port, fabric->now);
		break;
	case LINK_ERROR_WATCHDOG_FALL:
		agent_flow_control_watchdog(&fabric->agent_memory, port, fabric->now);
		fall(fabric, port, (enum physical_state)port->info.link_down_default_state);
		train(fabric, port);
		break;
	}
}

int fabric_connect(struct fabric *fabric, struct port *a, struct port *b)
{
	int error = link_connect(a, b);

	if (error)
		return error;
	train(fabric, a);
	return 0;
}

void fabric_set_cable(struct fabric *fabric, struct port *port, bool is_up, time_ns now)
{
	fabric->now = now;
	if (!port->peer)
		return;
	port->cable_is_down = !is_up;
	port->peer->cable_is_down = !is_up;
	if (is_up)
		train(fabric, port);
	else
		fall(fabric, port, (enum physical_state)port->info.link_down_default_state);
}

static void agent_port_changed(void *context, struct port *port)
{
	struct fabric *fabric = context;

	port->state_changes++;
	routers_note_change(fabric);
	if ((node_is_adapter(port->node) || port->endpoint) && fabric->owner.port_changed)
		fabric->owner.port_changed(fabric->owner.context, port);
	if (port->congestion && port->queues->pacer.gates)
		rate_gates_restart(fabric, port, fabric->now);
	/* A new VL or arbitration table may let a waiting frame leave. */
	fabric_wake(fabric, port);
}

static void agent_paths_changed(void *context)
{
	fabric_note_paths_changed(context);
}

/* A manager wrote PortPhysicalState or PortState Down: the link falls, and trains again if both
 * sides poll. */
static void agent_set_link(void *context, struct port *port, enum physical_state physical)
{
	struct fabric *fabric = context;

	if (physical == PHYSICAL_NO_CHANGE)
		physical = (enum physical_state)port->info.link_down_default_state;
	fall(fabric, port, physical);
	port->info.physical_state = (uint8_t)physical;
	train(fabric, port);
}

static void agent_refresh_counters(void *context, struct node *node)
{
	struct fabric *fabric = context;

	if (fabric->owner.refresh_counters)
		fabric->owner.refresh_counters(fabric->owner.context, node);
}

static void agent_set_power(void *context, struct node *node, enum node_power power)
{
	struct fabric *fabric = context;

	for (unsigned number = 1; number <= node->port_count; number++) {
		struct port *port = &node->ports[number];

		port->has_no_power = power == NODE_POWER_OFF;
		if (power == NODE_POWER_ON)
			train(fabric, port);
		else if (port->peer)
			fall(fabric, port, (enum physical_state)port->info.link_down_default_state);
	}
}

static void agent_snmp_received(void *context, struct port *port, const struct mad_message *message)
{
	struct fabric *fabric = context;

	if (fabric->owner.snmp_received)
		fabric->owner.snmp_received(fabric->owner.context, port, message);
}

static void set_agent_environment(struct fabric *fabric)
{
	fabric->agents = (struct agent_environment){
		.port_changed = agent_port_changed,
		.paths_changed = agent_paths_changed,
		.set_link = agent_set_link,
		.refresh_counters = agent_refresh_counters,
		.set_power = agent_set_power,
		.snmp_received = agent_snmp_received,
		.context = fabric,
		.memory = &fabric->agent_memory,
	};
	agent_memory_init(&fabric->agent_memory);
}

int fabric_init(struct fabric *fabric, const struct fabric_owner *owner)
{
	*fabric = (struct fabric){.owner = *owner};
	list_init(&fabric->nodes);
	list_init(&fabric->faults.links);
	timer_queue_init(&fabric->faults.arrivals);
	timer_queue_init(&fabric->faults.flaps);
	timer_queue_init(&fabric->faults.watchdogs);
	frame_pool_init(&fabric->frames, FABRIC_FRAMES_MAX);
	timer_queue_init(&fabric->lifetimes);
	hash_table_init(&fabric->routers.guid_index);
	timer_queue_init(&fabric->pacing.gates);
	set_agent_environment(fabric);
	return event_wheel_init(&fabric->pacing.cables);
}

void fabric_release(struct fabric *fabric)
{
	faults_release(fabric);
	routers_release(fabric);
	agent_memory_release(&fabric->agent_memory);
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = 0; number <= node->port_count; number++)
			rate_gates_release(&node->ports[number]);
		node_release(node);
		free(fabric->by_index[index]);
	}
	free(fabric->by_index);
	frame_pool_release(&fabric->frames);
	timer_queue_release(&fabric->lifetimes);
	event_wheel_release(&fabric->pacing.cables);
	free(fabric->work.ports);
	timer_queue_release(&fabric->pacing.gates);
	known_paths_destroy(fabric->known_paths);
	*fabric = (struct fabric){0};
}

struct node *fabric_find_guid(const struct fabric *fabric, uint64_t node_guid)
{
	for (uint32_t index = 0; index < fabric->node_count; index++)
		if (fabric->by_index[index]->info.node_guid == node_guid)
			return fabric->by_index[index];
	return NULL;
}

struct node *fabric_find_name(const struct fabric *fabric, const char *name)
{
	for (uint32_t index = 0; index < fabric->node_count; index++)
		if (strcmp(fabric->by_index[index]->name, name) == 0)
			return fabric->by_index[index];
	return NULL;
}

struct node *fabric_find_adapter(const struct fabric *fabric, const char *host,
				 uint32_t adapter_index)
{
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		if (node_is_adapter(node) && node->adapter_index == adapter_index &&
		    strcmp(node->host, host) == 0)
			return node;
	}
	return NULL;
}
