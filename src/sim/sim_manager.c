/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet manager of a simulated fabric, on a port of one of its adapters. */
#include "sim/sim_manager.h"

#include <string.h>
#include "net/link/port_queues.h"
#include "sim/sim.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { MESSAGES_PER_TURN = 32 };

void sim_manager_receive(struct sim *sim, struct port *port, const struct frame *frame)
{
	struct mad_message message = {.address = {.qpn = QPN_SMI, .pkey = PKEY_DEFAULT_FULL}};
	struct lrh lrh;

	if (port != sim->sm_port || frame->byte_count != MAD_OFFSET_IN_PACKET + MAD_BYTES ||
	    !lrh_decode(frame->bytes, frame->byte_count, &lrh))
		return;
	message.address.lid = lrh.slid;
	memcpy(message.bytes, frame->bytes + MAD_OFFSET_IN_PACKET, MAD_BYTES);
	sm_receive(sim->sm, sim->now, &message);
	sim->sm_has_mail = true;
}

int sim_start_sm_with(struct sim *sim, struct sim_host *host, const struct sm_options *options)
{
	struct port *port = &host->node->ports[1];
	struct sm_options all = *options;

	all.port_guid = port->guid;
	all.port_number = port->number;

	int error = sm_create(&all, &sim->sm);

	if (error)
		return error;
	sim->sm_port = port;
	port->info.capability_mask |= CAPABILITY_IS_SM;
	return 0;
}

int sim_start_sm(struct sim *sim, struct sim_host *host, uint8_t priority, time_ns sweep_interval)
{
	const struct sm_options options = {.priority = priority, .sweep_interval = sweep_interval};

	return sim_start_sm_with(sim, host, &options);
}

static void send_message(struct sim *sim, struct mad_message *message)
{
	struct frame *frame = frame_take_for(&sim->fabric.frames, MAD_OFFSET_IN_PACKET + MAD_BYTES);
	struct packet packet = {
		.lrh = {.dlid = message->address.lid,
			.slid = message->address.lid == LID_PERMISSIVE ? LID_PERMISSIVE
								       : sim->sm_port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = PKEY_DEFAULT_FULL},
		.packet_count = 1,
	};

	/* A manager repeats what is lost. */
	if (!frame)
		return;
	packet_set_payload(&packet, message->bytes, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->bytes[0] = VL_MANAGEMENT << 4;
	if (!fabric_inject(&sim->fabric, sim->sm_port, frame, sim->now))
		frame_give_back(&sim->fabric.frames, frame);
}

bool sim_manager_run(struct sim *sim)
{
	struct mad_message messages[MESSAGES_PER_TURN];

	sim->sm_has_mail = false;
	if (!sim->sm || sm_deadline(sim->sm) > sim->now)
		return false;

	unsigned count = sm_transmit(sim->sm, sim->now, MESSAGES_PER_TURN, messages);

	for (unsigned i = 0; i < count; i++)
		send_message(sim, &messages[i]);
	return count != 0;
}
