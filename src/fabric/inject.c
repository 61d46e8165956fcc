/* SPDX-License-Identifier: Apache-2.0 */
/* Packets from the endpoint of an adapter's port: the checks that an adapter's hardware makes. */
#include "fabric/inject.h"

#include "base/bytes.h"
#include "fabric/congestion_control.h"
#include "fabric/movement.h"
#include "fabric/rate_gates.h"
#include "fabric/routers.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "net/switch/directed_route.h"
#include "net/switch/forwarding.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	ARRIVALS_MAX = 512, /* packets from a port to itself that its endpoint has not taken */
};

/* Room in the port's own queue, or for packets to itself in the endpoint's. */
static bool has_room(const struct port *port, const struct lrh *lrh, const struct frame *frame)
{
	const struct port_queues *queues = port->queues;

	if (lrh->vl == VL_MANAGEMENT)
		return queues->vls[VL_MANAGEMENT].frame_count < VL15_FRAMES_MAX &&
		       queues->management_arrival_count < VL15_FRAMES_MAX;
	if (port->kind == PORT_OF_MANAGEMENT)
		return queues->arrival_count < ARRIVALS_MAX;
	if (port_owns_lid(port, lrh->dlid) || lid_is_multicast(lrh->dlid))
		if (queues->arrival_count >= ARRIVALS_MAX)
			return false;

	if ((frame->static_rate || port->congestion) && !rate_gate_has_room(port, frame))
		return false;

	uint8_t vl = port_output_vl(port, 0, lrh->sl);

	return queues->vls[vl].block_count + frame_credit_blocks(frame->byte_count) <=
	       ADAPTER_QUEUE_BLOCKS;
}

static enum drop_reason check_lengths(const struct frame *frame, const struct lrh *lrh)
{
	if (lrh->version != 0 || lrh->dlid == 0 || frame->byte_count > PACKET_BYTES_MAX)
		return DROP_MALFORMED;
	return frame->header.is_sound ? DROP_NONE : DROP_MALFORMED;
}

/* An adapter's hardware does not let a program send from another LID, or in a partition that the
 * port is not in. */
static enum drop_reason check_data(const struct port *port, const struct lrh *lrh,
				   const struct forwarding_header *header)
{
	if (!port_is_active(port))
		return DROP_PORT_INACTIVE;
	if (lrh->dlid == LID_PERMISSIVE || !port_owns_lid(port, lrh->slid))
		return DROP_MALFORMED;
	/* Base port 0 has no neighbour and so no NeighborMTU. */
	if (header->payload_bytes > mtu_bytes(port->kind == PORT_OF_MANAGEMENT
						      ? port->info.mtu_cap
						      : port->info.neighbor_mtu))
		return DROP_MTU;
	if (!header->is_raw && !port_pkey_is_own(port, header->pkey))
		return DROP_PKEY_OUTBOUND;
	return DROP_NONE;
}

/* By its LID: out of the port, or from port 0 into the switch. */
static void send(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	if (port->kind == PORT_OF_MANAGEMENT)
		fabric_send_from_port_0(fabric, port, frame, now);
	else
		fabric_send_from_adapter(fabric, port, frame, now);
}

static void send_by_port(struct fabric *fabric, struct port *output, struct frame *frame,
			 time_ns now)
{
	if (port_carries_management(output))
		fabric_enqueue(fabric, output, frame, VL_MANAGEMENT, now);
	else
		fabric_drop(fabric, output, frame, DROP_PORT_INACTIVE);
}

/* From a manager or an agent outside the fabric: takes the first hop of a directed route. */
static void inject_smp(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + MAD_OFFSET_IN_PACKET;

	if (frame->byte_count != MAD_OFFSET_IN_PACKET + MAD_BYTES) {
		fabric_drop(fabric, port, frame, DROP_MALFORMED);
		return;
	}
	if (smp[1] != MAD_CLASS_SUBNET_DIRECTED || get_be16(frame->bytes + 2) != LID_PERMISSIVE) {
		send(fabric, port, frame, now);
		return;
	}

	struct smp_step step = directed_route_advance(port->node, port->number, smp);

	switch (step.action) {
	case SMP_HERE:
		fabric_arrive(fabric, port, frame);
		break;
	case SMP_OUT:
		send_by_port(fabric, &port->node->ports[step.output_port], frame, now);
		break;
	case SMP_BY_LID:
	case SMP_DISCARD:
		fabric_drop(fabric, port, frame, DROP_MALFORMED);
		break;
	}
}

static void inject_data(struct fabric *fabric, struct port *port, struct frame *frame,
			const struct lrh *lrh, time_ns now)
{
	if (unlikely(fabric->routers.count && lrh->lnh == LNH_GLOBAL))
		routers_address(fabric, port, frame, lrh);
	if (unlikely(port->congestion))
		congestion_set_becn(port, frame);
	send(fabric, port, frame, now);
}

bool fabric_inject(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct lrh lrh = {0};
	bool is_readable =
		lrh_decode(frame->bytes, frame->byte_count, &lrh) && frame_read_header(frame);

	if (is_readable && !has_room(port, &lrh, frame)) {
		port->queues->has_waiter = true;
		return false;
	}
	fabric->now = now;
	frame->node_entered_at = now;
	frame->input_port = port->number;
	frame->vl = lrh.vl == VL_MANAGEMENT ? VL_MANAGEMENT : 0;
	frame->credit_blocks = 0;
	frame->has_crcs = false;
	fabric->frames_inside++;

	enum drop_reason reason = is_readable ? check_lengths(frame, &lrh) : DROP_MALFORMED;

	if (reason == DROP_NONE && lrh.vl != VL_MANAGEMENT)
		reason = check_data(port, &lrh, &frame->header);
	if (reason != DROP_NONE)
		fabric_drop(fabric, port, frame, reason);
	else if (lrh.vl == VL_MANAGEMENT)
		inject_smp(fabric, port, frame, now);
	else
		inject_data(fabric, port, frame, &lrh, now);
	return true;
}
