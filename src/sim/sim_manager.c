/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet managers of a simulated fabric, each on a port of one of its adapters. */
#include "sim/sim_manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/topology/subnets.h"
#include "mgmt/subnet/subnet.h"
#include "net/link/port_queues.h"
#include "sim/sim.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { MESSAGES_PER_TURN = 32 };

static struct sim_manager *manager_at(const struct sim *sim, const struct port *port)
{
	for (uint32_t index = 0; index < sim->manager_count; index++)
		if (sim->managers[index].port == port)
			return &sim->managers[index];
	return NULL;
}

void sim_manager_receive(struct sim *sim, struct port *port, const struct frame *frame)
{
	struct mad_message message = {.address = {.qpn = QPN_SMI, .pkey = PKEY_DEFAULT_FULL}};
	struct sim_manager *manager = manager_at(sim, port);
	struct lrh lrh;

	if (!manager || frame->byte_count != MAD_OFFSET_IN_PACKET + MAD_BYTES ||
	    !lrh_decode(frame->bytes, frame->byte_count, &lrh))
		return;
	message.address.lid = lrh.slid;
	memcpy(message.bytes, frame->bytes + MAD_OFFSET_IN_PACKET, MAD_BYTES);
	sm_receive(manager->sm, sim->now, &message);
	manager->has_received = true;
}

static int start_on(struct sim *sim, struct port *port, const struct sm_options *options)
{
	struct sim_manager *managers =
		realloc(sim->managers, (sim->manager_count + 1) * sizeof(*managers));
	struct sm_options all = *options;

	if (!managers)
		return -ENOMEM;
	sim->managers = managers;
	managers[sim->manager_count] = (struct sim_manager){.port = port};
	all.port_guid = port->guid;
	all.port_number = port->number;

	int error = sm_create(&all, &managers[sim->manager_count].sm);

	if (error)
		return error;
	sim->manager_count++;
	port->info.capability_mask |= CAPABILITY_IS_SM;
	return 0;
}

int sim_start_sm_with(struct sim *sim, struct sim_host *host, const struct sm_options *options)
{
	return start_on(sim, &host->node->ports[1], options);
}

int sim_start_sms(struct sim *sim, const struct sm_options *options)
{
	struct sm_options own = *options;
	struct subnet_map map;
	int error = subnet_map_make(&sim->fabric, &map);

	if (error)
		return error;
	for (uint32_t subnet = 0; !error && subnet < map.subnet_count; subnet++) {
		if (sim->fabric.routers.count)
			own.gid_prefix = SUBNET_PREFIX(subnet);
		if (map.first_ports[subnet])
			error = start_on(sim, map.first_ports[subnet], &own);
	}
	subnet_map_release(&map);
	return error;
}

struct sm *sim_manager_of(const struct sim *sim, const struct port *port)
{
	for (uint32_t index = 0; index < sim->manager_count; index++) {
		struct sm *sm = sim->managers[index].sm;
		const struct subnet_port *known = port->info.lid <= LID_UNICAST_LAST
							  ? sm_subnet(sm)->by_lid[port->info.lid]
							  : NULL;

		if (known && known->guid == port->guid)
			return sm;
	}
	return NULL;
}

int sim_start_sm(struct sim *sim, struct sim_host *host, uint8_t priority, time_ns sweep_interval)
{
	const struct sm_options options = {.priority = priority, .sweep_interval = sweep_interval};

	return sim_start_sm_with(sim, host, &options);
}

static void send_message(struct sim *sim, struct port *port, struct mad_message *message)
{
	struct frame *frame = frame_take_for(&sim->fabric.frames, MAD_OFFSET_IN_PACKET + MAD_BYTES);
	struct packet packet = {
		.lrh = {.dlid = message->address.lid,
			.slid = message->address.lid == LID_PERMISSIVE ? LID_PERMISSIVE
								       : port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = PKEY_DEFAULT_FULL},
		.packet_count = 1,
	};

	/* The manager repeats the packet after a timeout. */
	if (!frame)
		return;
	packet_set_payload(&packet, message->bytes, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->bytes[0] = VL_MANAGEMENT << 4;
	if (!fabric_inject(&sim->fabric, port, frame, sim->now))
		frame_give_back(&sim->fabric.frames, frame);
}

static bool run(struct sim *sim, struct sim_manager *manager)
{
	struct mad_message messages[MESSAGES_PER_TURN];

	manager->has_received = false;
	sm_see_own_port(manager->sm, sim->now, manager->port->info.port_state);
	if (sm_deadline(manager->sm) > sim->now)
		return false;

	unsigned count = sm_transmit(manager->sm, sim->now, MESSAGES_PER_TURN, messages);

	for (unsigned i = 0; i < count; i++)
		send_message(sim, manager->port, &messages[i]);
	return count != 0;
}

bool sim_managers_run(struct sim *sim)
{
	bool is_busy = false;

	for (uint32_t index = 0; index < sim->manager_count; index++)
		is_busy |= run(sim, &sim->managers[index]);
	return is_busy;
}

bool sim_managers_have_received(const struct sim *sim)
{
	for (uint32_t index = 0; index < sim->manager_count; index++)
		if (sim->managers[index].has_received)
			return true;
	return false;
}
