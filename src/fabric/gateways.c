/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways of routers to a LAN (vol 1, chapters 3 and 19). */
#include "fabric/gateways.h"

#include "fabric/inject.h"
#include "fabric/movement.h"
#include "fabric/routers.h"
#include "net/router/gateway.h"

void gateways_send(struct fabric *fabric, struct port *input, struct frame *frame,
		   const struct lrh *lrh)
{
	enum drop_reason reason = gateway_leave(input->node->router->gateway, frame, lrh);

	if (reason != DROP_NONE)
		fabric_drop(fabric, input, frame, reason);
	else
		fabric_consume(fabric, input->node, frame);
}

bool gateways_take(struct fabric *fabric, struct port *input, struct frame *frame,
		   const struct lrh *lrh)
{
	if (lrh->lnh != LNH_RAW_ETHERTYPE || !input->node->router->gateway ||
	    !port_owns_lid(input, lrh->dlid))
		return false;
	if (input->info.filter_raw_inbound)
		fabric_drop(fabric, input, frame, DROP_PKEY_INBOUND);
	else
		gateways_send(fabric, input, frame, lrh);
	return true;
}

/* Chooses the port and the LID of a frame from the LAN, with the checks of that output. */
static enum drop_reason decide(struct fabric *fabric, struct node *router,
			       const struct gateway_packet *packet, struct port **ret_port,
			       uint16_t *ret_dlid)
{
	uint8_t vl;

	if (packet->is_ipv6)
		return routers_decide_from_gateway(fabric, router, &packet->header, ret_port,
						   ret_dlid);
	*ret_port = &router->ports[packet->output_port];
	*ret_dlid = packet->dlid;
	return routing_output(router, packet->output_port, &packet->header, &vl);
}

static enum drop_reason inject(struct fabric *fabric, struct port *port, uint16_t dlid,
			       struct gateway_packet *entering, time_ns now)
{
	struct packet packet = {
		.kind = entering->is_ipv6 ? PACKET_RAW_IPV6 : PACKET_RAW_ETHERTYPE,
		.lrh = {.dlid = dlid, .slid = port->info.lid},
		.ethertype = entering->ethertype,
		.packet_count = 1,
	};
	struct frame *frame;

	packet_set_payload(&packet, entering->bytes, entering->byte_count);
	frame = frame_take_for(&fabric->frames, (uint32_t)raw_packet_bytes(&packet));
	if (!frame)
		return DROP_NO_FRAME;
	frame->byte_count = (uint32_t)raw_packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	if (fabric_inject(fabric, port, frame, now))
		return DROP_NONE;
	/* The LAN does not wait, so the frame is dropped when there is no room. */
	frame_give_back(&fabric->frames, frame);
	return DROP_NO_FRAME;
}

void gateways_receive(struct fabric *fabric, struct node *router, const uint8_t *bytes,
		      size_t byte_count, time_ns now)
{
	struct gateway *gateway = router->router->gateway;
	struct gateway_packet packet;
	struct port *port;
	uint16_t dlid;
	enum drop_reason reason;

	routers_refresh(fabric);
	reason = gateway_read(router, bytes, byte_count, &packet);
	if (reason == DROP_NONE)
		reason = decide(fabric, router, &packet, &port, &dlid);
	if (reason == DROP_NONE)
		reason = inject(fabric, port, dlid, &packet, now);
	if (reason == DROP_NONE)
		gateway->received++;
	else
		gateway->drops[reason]++;
}
