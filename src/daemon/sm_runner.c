/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet manager at work: its MADs as packets of QP0 on the port it runs on. */
#include "daemon/sm_runner.h"

#include <errno.h>
#include <string.h>
#include "fabric/fabric.h"
#include "mgmt/sm/sm.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { MADS_PER_TURN = 64, SM_PRIORITY = 0 };

/* Traps tell of the first change at once; the sweep finds those that follow within SubnetTimeOut,
 * when no trap may be sent. The larger the fabric, the rarer, so that an idle one costs next to
 * nothing. */
static time_ns sweep_interval(const struct fabric *fabric)
{
	return MILLISECONDS(200) + MILLISECONDS(1) * fabric->node_count;
}

static struct port *first_adapter_port(const struct fabric *fabric)
{
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = 1;
		     node->info.node_type == NODE_CA && number <= node->port_count; number++) {
			if (node->ports[number].peer)
				return &node->ports[number];
		}
	}
	return NULL;
}

int sm_runner_start(struct sm_runner *runner, struct fabric *fabric)
{
	*runner = (struct sm_runner){.fabric = fabric, .port = first_adapter_port(fabric)};
	if (!runner->port)
		return -ENODEV;

	struct sm_options options = {.port_guid = runner->port->guid,
				     .port_number = runner->port->number,
				     .priority = SM_PRIORITY,
				     .sweep_interval = sweep_interval(fabric)};
	int error = sm_create(&options, &runner->sm);

	if (!error)
		runner->port->info.capability_mask |= CAPABILITY_IS_SM;
	return error;
}

void sm_runner_stop(struct sm_runner *runner)
{
	if (runner->sm)
		sm_destroy(runner->sm);
	runner->sm = NULL;
}

static void encode(struct sm_runner *runner, struct mad_message *message, struct frame *ret_frame)
{
	const struct mad_address *address = &message->address;
	uint16_t own_lid = runner->port->info.lid;
	struct packet packet = {
		.lrh = {.vl = VL_MANAGEMENT,
			.sl = address->sl,
			.dlid = address->lid,
			.slid = address->lid == LID_PERMISSIVE || !own_lid ? LID_PERMISSIVE
									   : own_lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = QPN_SMI,
			.psn = {runner->psn++ & 0xffffff}},
		.packet_count = 1,
	};

	packet_set_payload(&packet, message->bytes, MAD_BYTES);
	ret_frame->byte_count = (uint32_t)packet_encode(&packet, ret_frame->bytes);
	ret_frame->source = NULL;
}

static bool send(struct sm_runner *runner, struct mad_message *message, time_ns now)
{
	struct frame *frame = frame_take(&runner->fabric->frames);

	if (!frame)
		return false;
	encode(runner, message, frame);
	if (fabric_inject(runner->fabric, runner->port, frame, now))
		return true;
	frame_give_back(&runner->fabric->frames, frame);
	return false;
}

bool sm_runner_run(struct sm_runner *runner, time_ns now)
{
	if (!runner->sm)
		return false;
	for (unsigned count = 0; count < MADS_PER_TURN; count++) {
		if (!runner->has_unsent && sm_transmit(runner->sm, now, 1, &runner->unsent) == 0)
			return count > 0;
		runner->has_unsent = !send(runner, &runner->unsent, now);
		if (runner->has_unsent)
			return count > 0;
	}
	return true;
}

void sm_runner_receive(struct sm_runner *runner, const struct port *port, const struct frame *frame,
		       time_ns now)
{
	struct mad_message message = {0};
	struct packet packet;
	uint8_t bytes[PACKET_BYTES_MAX];

	if (!runner->sm || port != runner->port)
		return;
	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK ||
	    packet.bth.opcode != (TRANSPORT_UD | OPCODE_SEND_ONLY) ||
	    packet.payload.byte_count != MAD_BYTES)
		return;
	message.address = (struct mad_address){.lid = packet.lrh.slid,
					       .sl = packet.lrh.sl,
					       .qpn = packet.deth.source_qpn,
					       .qkey = packet.deth.qkey,
					       .pkey = packet.bth.pkey,
					       .has_grh = packet.has_grh};
	payload_copy(&packet.payload, 0, MAD_BYTES, message.bytes);
	sm_receive(runner->sm, now, &message);
}

time_ns sm_runner_deadline(const struct sm_runner *runner)
{
	return runner->sm ? sm_deadline(runner->sm) : TIME_NEVER;
}
