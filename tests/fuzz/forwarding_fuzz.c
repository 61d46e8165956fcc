/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any packet at a switch's and at a router's port. Each frame is delivered or counted
 * as a drop, credits come back, and a router changes only the fields that it may. The router has a
 * gateway, and the same bytes come from its LAN.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "fabric/fabric.h"
#include "fabric/gateways.h"
#include "fabric/movement.h"
#include "fabric/routers.h"
#include "fabric/topology/subnets.h"
#include "fabric/topology/topology.h"
#include "net/link/lane_credits.h"
#include "net/router/gateway.h"
#include "wire/crc.h"
#include "wire/lrh.h"

enum { STEPS_MAX = 64, FRAMES = 100 };

struct rig {
	struct fabric fabric;
	unsigned delivered;
};

static bool deliver(void *context, struct port *port, struct frame *frame)
{
	struct rig *rig = context;
	struct lrh lrh;

	MUST_HOLD(node_is_adapter(port->node));
	MUST_HOLD(lrh_decode(frame->bytes, frame->byte_count, &lrh));
	MUST_HOLD(frame->byte_count <= PACKET_BYTES_MAX);
	rig->delivered++;
	frame_give_back(&rig->fabric.frames, frame);
	return true;
}

static struct rig *make(void)
{
	static struct rig rig;
	const struct fabric_owner owner = {.deliver = deliver, .context = &rig};
	struct topology_error error;
	unsigned subnet = 0;

	if (fabric_init(&rig.fabric, &owner) != 0 ||
	    topology_generate(&rig.fabric, "routed:2x2", &error) != 0)
		abort();
	for (uint32_t index = 0; index < rig.fabric.node_count; index++) {
		struct node *node = rig.fabric.by_index[index];

		if (!node_is_switch(node))
			continue;
		node->switch_info.linear_fdb_top = LFT_ENTRIES - 1;
		for (unsigned lid = 1; lid < LFT_ENTRIES; lid++)
			node->lft[lid] = (uint8_t)(lid % 5); /* port 4 does not exist */
		for (unsigned group = 0; group < MFT_ENTRIES; group++)
			node->mft[group][0] = (uint16_t)(group * 40503u);
		for (unsigned number = 1; number <= node->port_count; number++) {
			struct port *peer = node->ports[number].peer;

			node->ports[number].info.port_state = PORT_ACTIVE;
			peer->info.port_state = PORT_ACTIVE;
			peer->info.lid = (uint16_t)number;
			peer->info.gid_prefix = SUBNET_PREFIX(subnet);
		}
		subnet++;
	}
	routers_note_change(&rig.fabric);
	if (gateway_create(&rig.fabric.routers.nodes[0]->router->gateway) != 0)
		abort();
	return &rig;
}

static void settle(struct rig *rig)
{
	unsigned steps = 0;

	while (fabric_step(&rig->fabric, 0, FRAMES))
		MUST_HOLD(++steps < STEPS_MAX);
	MUST_HOLD(fabric_is_idle(&rig->fabric));
	for (uint32_t index = 0; index < rig->fabric.node_count; index++) {
		const struct node *node = rig->fabric.by_index[index];

		for (unsigned number = 1; number <= node->port_count; number++)
			for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++)
				MUST_HOLD(node->ports[number].queues->vls[vl].peer_buffer_blocks ==
					  0);
	}
}

static struct frame *frame_of(struct rig *rig, const uint8_t *bytes, size_t byte_count)
{
	struct frame *frame = frame_take_for(&rig->fabric.frames, (uint32_t)byte_count);

	if (!frame)
		abort();
	memcpy(frame->bytes, bytes, byte_count);
	frame->byte_count = (uint32_t)byte_count;
	return frame;
}

/* Puts the frame at a port as if it had come over its cable. */
static void arrive(struct rig *rig, struct port *input, const uint8_t *bytes, size_t byte_count)
{
	struct frame *frame = frame_of(rig, bytes, byte_count);

	frame->vl = byte_count ? frame->bytes[0] >> 4 : 0;
	frame->input_port = input->peer->number;
	rig->fabric.frames_inside++;
	fabric_receive(&rig->fabric, input, frame, 0);
	/* The sender never spent credits for it. */
	if (frame->vl != VL_MANAGEMENT)
		port_credits_init(input->peer);
	settle(rig);
}

/* As a frame from the LAN, and as the payload of a frame that a host may get. */
static void arrive_from_lan(struct rig *rig, const uint8_t *bytes, size_t byte_count)
{
	static const uint16_t types[] = {ETHERTYPE_IPV6, 0x88b5};
	struct node *router = rig->fabric.routers.nodes[0];
	struct gateway *gateway = router->router->gateway;
	static uint8_t frame[ETHERNET_HEADER_BYTES + PACKET_BYTES_MAX];
	struct ethernet_header header = {.destination = gateway_mac(2, 1)};
	const struct gateway_frame *left;

	gateways_receive(&rig->fabric, router, bytes, byte_count, 0);
	settle(rig);
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		header.ethertype = types[i];
		ethernet_header_encode(&header, frame);
		memcpy(frame + ETHERNET_HEADER_BYTES, bytes, byte_count);
		gateways_receive(&rig->fabric, router, frame, ETHERNET_HEADER_BYTES + byte_count,
				 0);
		settle(rig);
	}
	while ((left = gateway_next(gateway))) {
		MUST_HOLD(left->byte_count <= GATEWAY_FRAME_BYTES_MAX);
		MUST_HOLD(ethernet_header_decode(left->bytes, left->byte_count, &header));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct rig *rig;
	struct node *router;
	struct port *input;

	if (!rig)
		rig = make();
	if (byte_count < 1 || byte_count - 1 > PACKET_BYTES_MAX)
		return 0;
	router = rig->fabric.routers.nodes[0];
	input = &router->ports[1 + bytes[0] % 2];
	arrive(rig, input, bytes + 1, byte_count - 1);
	arrive(rig, input->peer, bytes + 1, byte_count - 1);
	arrive_from_lan(rig, bytes + 1, byte_count - 1);

	/* From an adapter, as a program would send it. */
	struct node *host = fabric_find_adapter(&rig->fabric, "h1", 0);
	struct frame *frame = frame_of(rig, bytes + 1, byte_count - 1);

	if (!fabric_inject(&rig->fabric, &host->ports[1], frame, 0))
		frame_give_back(&rig->fabric.frames, frame);
	settle(rig);
	return 0;
}
