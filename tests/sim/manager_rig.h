/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet managers on ports of a fabric, in virtual time; and the conditions that every part must
 * meet when they are done. */
#ifndef SOFTIB_TESTS_SIM_MANAGER_RIG_H
#define SOFTIB_TESTS_SIM_MANAGER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "fabric/fabric.h"
#include "fabric/link_faults.h"
#include "fabric/topology/topology.h"
#include "mgmt/sm/sm.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	RIG_MANAGERS_MAX = 8,
	RIG_NODES_MAX = 256,
	RIG_SMP_OFFSET = LRH_BYTES + BTH_BYTES + DETH_BYTES,
	RIG_FRAMES_PER_STEP = 4096,
	RIG_DATA_QPN = 0x4d4d, /* of packets that are not MADs */
};

struct rig_manager {
	struct sm *sm; /* NULL: dead */
	struct port *port;
};

struct rig {
	struct fabric fabric;
	time_ns now;
	struct random random;
	uint64_t seed;
	struct rig_manager managers[RIG_MANAGERS_MAX];
	unsigned manager_count;
	uint32_t host_count;
	uint64_t smp_count;
	unsigned arrived[RIG_NODES_MAX]; /* packets that are not MADs, by node */
};

static bool rig_deliver(void *context, struct port *port, struct frame *frame)
{
	struct rig *rig = context;
	struct mad_message message = {.address = {.qpn = QPN_SMI, .pkey = PKEY_DEFAULT_FULL}};
	struct lrh lrh;
	bool is_smp = frame->vl == VL_MANAGEMENT &&
		      frame->byte_count == RIG_SMP_OFFSET + MAD_BYTES &&
		      lrh_decode(frame->bytes, frame->byte_count, &lrh);

	rig->arrived[port->node->index] += frame->vl != VL_MANAGEMENT;
	for (unsigned i = 0; is_smp && i < rig->manager_count; i++) {
		if (rig->managers[i].port != port || !rig->managers[i].sm)
			continue;
		message.address.lid = lrh.slid;
		memcpy(message.bytes, frame->bytes + RIG_SMP_OFFSET, MAD_BYTES);
		sm_receive(rig->managers[i].sm, rig->now, &message);
	}
	frame_give_back(&rig->fabric.frames, frame);
	return true;
}

static inline void rig_init(struct rig *rig, uint64_t seed)
{
	const struct fabric_owner owner = {.deliver = rig_deliver, .context = rig};

	memset(rig, 0, sizeof(*rig));
	rig->seed = seed;
	rig->random = random_seeded(seed);
	assert_int_equal(fabric_init(&rig->fabric, &owner), 0);
}

static inline void rig_release(struct rig *rig)
{
	for (unsigned i = 0; i < rig->manager_count; i++)
		sm_destroy(rig->managers[i].sm);
	fabric_release(&rig->fabric);
}

static inline struct rig_manager *rig_start(struct rig *rig, struct node *host,
					    const struct sm_options *options)
{
	struct rig_manager *manager = &rig->managers[rig->manager_count++];
	struct sm_options own = *options;

	/* On port 0 of a switch. */
	manager->port = &host->ports[node_is_switch(host) ? 0 : 1];
	manager->port->endpoint = manager;
	own.port_guid = manager->port->guid;
	own.port_number = manager->port->number;
	own.agent_number = rig->manager_count;
	assert_int_equal(sm_create(&own, &manager->sm), 0);
	manager->port->info.capability_mask |= CAPABILITY_IS_SM;
	return manager;
}

static inline void rig_kill(struct rig_manager *manager)
{
	sm_destroy(manager->sm);
	manager->sm = NULL;
	manager->port->info.capability_mask &= ~(uint32_t)CAPABILITY_IS_SM;
}

static inline void rig_send(struct rig *rig, const struct port *port, struct mad_message *message)
{
	struct frame *frame = frame_take(&rig->fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = message->address.lid,
			.slid = message->address.lid == LID_PERMISSIVE ? LID_PERMISSIVE
								       : port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = PKEY_DEFAULT_FULL},
		.packet_count = 1,
	};

	if (!frame)
		return;
	rig->smp_count++;
	packet_set_payload(&packet, message->bytes, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->bytes[0] = VL_MANAGEMENT << 4;
	if (!fabric_inject(&rig->fabric, (struct port *)port, frame, rig->now))
		frame_give_back(&rig->fabric.frames, frame);
}

static inline bool rig_turn(struct rig *rig)
{
	struct mad_message messages[32];
	bool is_busy = false;

	for (unsigned i = 0; i < rig->manager_count; i++) {
		struct rig_manager *manager = &rig->managers[i];
		unsigned count;

		if (!manager->sm || sm_deadline(manager->sm) > rig->now)
			continue;
		count = sm_transmit(manager->sm, rig->now, 32, messages);
		for (unsigned k = 0; k < count; k++)
			rig_send(rig, manager->port, &messages[k]);
		is_busy |= count != 0;
	}
	is_busy |= fabric_has_work(&rig->fabric);
	(void)fabric_step(&rig->fabric, rig->now, RIG_FRAMES_PER_STEP);
	return is_busy;
}

static inline void rig_run(struct rig *rig, time_ns until)
{
	while (rig->now < until) {
		time_ns next;

		while (rig_turn(rig))
			continue;
		next = fabric_deadline(&rig->fabric);
		for (unsigned i = 0; i < rig->manager_count; i++) {
			if (rig->managers[i].sm)
				next = time_earlier(next, sm_deadline(rig->managers[i].sm));
		}
		/* A timer that is overdue but does nothing must not stop the clock. */
		next = next > rig->now ? next : rig->now + 1;
		rig->now = time_earlier(next, until);
	}
	while (rig_turn(rig))
		continue;
}

/* Random fabrics. */

static inline struct port *rig_free_port(struct node *node)
{
	for (unsigned i = 1; i <= node->port_count; i++) {
		if (!node->ports[i].peer)
			return &node->ports[i];
	}
	return NULL;
}

static inline void rig_link(struct rig *rig, struct node *a, struct node *b)
{
	struct port *a_port = rig_free_port(a);
	struct port *b_port = rig_free_port(b);

	if (a_port && b_port && a != b)
		assert_int_equal(fabric_connect(&rig->fabric, a_port, b_port), 0);
}

/* Switches in a tree with additional links, and hosts on them. */
static inline void rig_build_random(struct rig *rig, unsigned switch_count, unsigned host_count)
{
	struct node *nodes[RIG_NODES_MAX];
	char name[16];

	for (unsigned i = 0; i < switch_count + host_count; i++) {
		bool is_switch = i < switch_count;

		snprintf(name, sizeof(name), "%c%u", is_switch ? 's' : 'h', i);
		assert_int_equal(fabric_add_node(&rig->fabric, is_switch ? NODE_SWITCH : NODE_CA,
						 is_switch ? 20 : 1, 0x1000 + i * 16, name, name,
						 &nodes[i]),
				 0);
	}
	for (unsigned i = 1; i < switch_count; i++)
		rig_link(rig, nodes[i], nodes[random_below(&rig->random, i)]);
	for (unsigned i = 0; i < switch_count; i++)
		rig_link(rig, nodes[random_below(&rig->random, switch_count)],
			 nodes[random_below(&rig->random, switch_count)]);
	for (unsigned i = 0; i < host_count; i++)
		rig_link(rig, nodes[switch_count + i],
			 nodes[random_below(&rig->random, switch_count)]);
	rig->host_count = host_count;
}

/* Checks. */

/* Nodes that links connect are in the same part. Adapters are not passed through. */
static inline void rig_find_parts(const struct rig *rig, unsigned ret_parts[RIG_NODES_MAX])
{
	bool is_changed = true;

	for (uint32_t i = 0; i < rig->fabric.node_count; i++)
		ret_parts[i] = i;
	while (is_changed) {
		is_changed = false;
		for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
			const struct node *node = rig->fabric.by_index[i];

			for (unsigned k = 1; k <= node->port_count; k++) {
				const struct port *port = &node->ports[k];

				if (!port->peer || port->cable_is_down ||
				    ret_parts[port->peer->node->index] <= ret_parts[i])
					continue;
				ret_parts[port->peer->node->index] = ret_parts[i];
				is_changed = true;
			}
		}
	}
}

static inline const struct port *rig_end_port(const struct node *node)
{
	return &node->ports[node_is_switch(node) ? 0 : 1];
}

static inline void rig_check_pair(struct rig *rig, const struct node *from, const struct node *to)
{
	struct port *source = (struct port *)rig_end_port(from);
	uint16_t lid = rig_end_port(to)->info.lid;
	struct fabric_path path;

	if (node_is_switch(from))
		return;
	if (lid == 0 || (from != to && lid == source->info.lid))
		fail_msg("seed %llu: %s and %s have LIDs %u and %u", (unsigned long long)rig->seed,
			 from->description, to->description, source->info.lid, lid);
	fabric_walk(&rig->fabric, source, lid, 0, PKEY_DEFAULT_FULL, &path);
	if (path.verdict != DROP_NONE && !(node_is_switch(to) && path.destination->node == to))
		fail_msg("seed %llu: no way from %s to %s (LID %u): drop %d at %s[%u]",
			 (unsigned long long)rig->seed, from->description, to->description, lid,
			 (int)path.verdict, path.destination->node->description,
			 path.destination->number);
}

static inline void rig_check_links(const struct rig *rig, const struct node *node)
{
	for (unsigned k = 1; k <= node->port_count; k++) {
		const struct port *port = &node->ports[k];

		if (port->peer && !port->cable_is_down && port->info.port_state != PORT_ACTIVE)
			fail_msg("seed %llu: %s[%u] is in state %u", (unsigned long long)rig->seed,
				 node->description, k, port->info.port_state);
	}
}

/* In every part with a manager there is one master, and all that is connected is Active and
 * reachable. */
static inline void rig_check(struct rig *rig)
{
	unsigned parts[RIG_NODES_MAX];
	unsigned masters[RIG_NODES_MAX] = {0};
	bool has_manager[RIG_NODES_MAX] = {0};

	rig_find_parts(rig, parts);
	for (unsigned i = 0; i < rig->manager_count; i++) {
		const struct rig_manager *manager = &rig->managers[i];
		struct sm_status status;

		if (!manager->sm || manager->port->cable_is_down)
			continue;
		sm_status(manager->sm, &status);
		has_manager[parts[manager->port->node->index]] |= status.state != SM_NOT_ACTIVE;
		masters[parts[manager->port->node->index]] += status.state == SM_MASTER;
	}
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		if (!has_manager[parts[i]])
			continue;
		if (masters[parts[i]] != 1)
			fail_msg("seed %llu: %u masters in one subnet",
				 (unsigned long long)rig->seed, masters[parts[i]]);
		rig_check_links(rig, rig->fabric.by_index[i]);
		for (uint32_t k = 0; k < rig->fabric.node_count; k++) {
			if (parts[k] == parts[i])
				rig_check_pair(rig, rig->fabric.by_index[i],
					       rig->fabric.by_index[k]);
		}
	}
}

/* The n-th adapter, from 0. */
static inline struct node *rig_host(const struct rig *rig, unsigned index)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		if (rig->fabric.by_index[i]->info.node_type == NODE_CA && count++ == index)
			return rig->fabric.by_index[i];
	}
	fail();
	return NULL;
}

static inline enum sm_state rig_state_of(const struct rig_manager *manager)
{
	struct sm_status status;

	sm_status(manager->sm, &status);
	return status.state;
}

#endif
