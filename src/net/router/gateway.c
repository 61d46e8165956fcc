/* SPDX-License-Identifier: Apache-2.0 */
/* A router's gateway to a LAN (vol 1, chapters 3 and 19). */
#include "net/router/gateway.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "net/node/node.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/pkey.h"

enum { WORD_BYTES = 4, RWH_ETHERTYPE_OFFSET = 2, IPV6_LENGTH_OFFSET = 4, MAC_PREFIX_BYTES = 3 };

/* 0x02: locally administered. */
static const uint8_t mac_prefix[MAC_PREFIX_BYTES] = {0x02, 0x5f, 0x1b};
/* A raw packet has no address on the LAN. */
static const struct mac broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

int gateway_create(struct gateway **ret_gateway)
{
	struct gateway *gateway = calloc(1, sizeof(*gateway));

	if (!gateway)
		return -ENOMEM;
	gateway->queue = calloc(GATEWAY_QUEUE_FRAMES, sizeof(*gateway->queue));
	if (!gateway->queue) {
		free(gateway);
		return -ENOMEM;
	}
	*ret_gateway = gateway;
	return 0;
}

void gateway_destroy(struct gateway *gateway)
{
	if (!gateway)
		return;
	free(gateway->queue);
	free(gateway);
}

struct mac gateway_mac(unsigned port_number, uint16_t lid)
{
	struct mac mac;

	memcpy(mac.bytes, mac_prefix, MAC_PREFIX_BYTES);
	mac.bytes[MAC_PREFIX_BYTES] = (uint8_t)port_number;
	put_be16(mac.bytes + MAC_PREFIX_BYTES + 1, lid);
	return mac;
}

bool gateway_wants(const struct node *node, const struct routing_header *header)
{
	uint64_t prefix = gid_prefix(&header->dgid);

	return node->router->gateway && header->is_raw && gid_prefix_is_routable(prefix) &&
	       gid_prefix_is_routable(gid_prefix(&header->sgid)) &&
	       !router_table_find(node->router, prefix);
}

/* The part of a raw packet that an Ethernet frame carries: type, and the bytes after the LRH or
 * RWH. */
struct content {
	uint16_t ethertype;
	const uint8_t *bytes;
	uint32_t byte_count;
};

static enum drop_reason content_of(const struct frame *frame, const struct lrh *lrh,
				   struct content *ret_content)
{
	uint32_t offset = LRH_BYTES + (lrh->lnh == LNH_RAW_IPV6 ? 0 : RWH_BYTES);
	struct content content = {.bytes = frame->bytes + offset};

	if (frame->byte_count < offset || frame->byte_count > PACKET_BYTES_MAX)
		return DROP_MALFORMED;
	content.byte_count = frame->byte_count - offset;
	if (lrh->lnh == LNH_RAW_IPV6) {
		if (content.byte_count < IPV6_HEADER_BYTES ||
		    raw_check_ipv6(content.bytes, content.byte_count) != PACKET_OK)
			return DROP_MALFORMED;
		content.ethertype = ETHERTYPE_IPV6;
		content.byte_count =
			(uint32_t)IPV6_HEADER_BYTES + get_be16(content.bytes + IPV6_LENGTH_OFFSET);
	} else {
		content.ethertype = get_be16(frame->bytes + LRH_BYTES + RWH_ETHERTYPE_OFFSET);
	}
	if (content.byte_count > GATEWAY_FRAME_BYTES_MAX - ETHERNET_HEADER_BYTES)
		return DROP_MTU;
	*ret_content = content;
	return content.ethertype >= ETHERTYPE_MIN ? DROP_NONE : DROP_NO_ROUTE;
}

enum drop_reason gateway_leave(struct gateway *gateway, const struct frame *frame,
			       const struct lrh *lrh)
{
	struct content content;
	enum drop_reason reason = content_of(frame, lrh, &content);

	if (reason != DROP_NONE)
		return reason;
	if (gateway->count == GATEWAY_QUEUE_FRAMES)
		return DROP_NO_FRAME;

	struct gateway_frame *slot =
		&gateway->queue[(gateway->head + gateway->count++) % GATEWAY_QUEUE_FRAMES];
	const struct ethernet_header header = {
		.destination = broadcast,
		.source = gateway_mac(frame->input_port, lrh->slid),
		.ethertype = content.ethertype,
	};

	ethernet_header_encode(&header, slot->bytes);
	memcpy(slot->bytes + ETHERNET_HEADER_BYTES, content.bytes, content.byte_count);
	if (lrh->lnh == LNH_RAW_IPV6)
		slot->bytes[ETHERNET_HEADER_BYTES + GRH_HOP_LIMIT_OFFSET]--;
	slot->byte_count = ETHERNET_HEADER_BYTES + content.byte_count;
	return DROP_NONE;
}

const struct gateway_frame *gateway_next(struct gateway *gateway)
{
	const struct gateway_frame *frame = &gateway->queue[gateway->head];

	if (gateway->count == 0)
		return NULL;
	gateway->head = (gateway->head + 1) % GATEWAY_QUEUE_FRAMES;
	gateway->count--;
	gateway->sent++;
	return frame;
}

/* Addresses that a packet from a LAN may have: no link-local ones (RFC 4291), and no source in a
 * subnet of the fabric (RFC 2827). */
static bool may_enter(const struct node *node, const struct grh *grh)
{
	uint64_t source = gid_prefix(&grh->sgid);

	return !gid_is_multicast(&grh->sgid) && !gid_is_multicast(&grh->dgid) &&
	       gid_prefix_is_routable(source) && !router_table_find(node->router, source) &&
	       gid_prefix_is_routable(gid_prefix(&grh->dgid)) && !router_owns_gid(node, &grh->dgid);
}

static uint32_t padded(uint32_t byte_count)
{
	return (byte_count + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

/* The frame may be longer than the packet: Ethernet has a minimum length. */
static enum drop_reason read_ipv6(const struct node *node, const uint8_t *bytes, size_t byte_count,
				  struct gateway_packet *ret_packet)
{
	struct grh grh;

	if (!grh_decode(bytes, byte_count, &grh) || bytes[0] >> 4 != 6 ||
	    byte_count < (size_t)IPV6_HEADER_BYTES + grh.payload_bytes ||
	    grh.payload_bytes > MTU_BYTES_MAX)
		return DROP_MALFORMED;
	if (!may_enter(node, &grh))
		return DROP_NO_ROUTE;
	if (grh.hop_limit <= 1)
		return DROP_HOP_LIMIT;

	uint32_t payload_bytes = padded(grh.payload_bytes);

	ret_packet->is_ipv6 = true;
	ret_packet->header = (struct routing_header){
		.sgid = grh.sgid,
		.dgid = grh.dgid,
		.hop_limit = grh.hop_limit,
		.is_raw = true,
		.payload_bytes = payload_bytes,
	};
	ret_packet->byte_count = IPV6_HEADER_BYTES + payload_bytes;
	memset(ret_packet->bytes + ret_packet->byte_count - WORD_BYTES, 0, WORD_BYTES);
	memcpy(ret_packet->bytes, bytes, (size_t)IPV6_HEADER_BYTES + grh.payload_bytes);
	ret_packet->bytes[GRH_HOP_LIMIT_OFFSET]--;
	return DROP_NONE;
}

static enum drop_reason read_ethertype(const struct node *node,
				       const struct ethernet_header *header, const uint8_t *bytes,
				       size_t byte_count, struct gateway_packet *ret_packet)
{
	unsigned port_number = header->destination.bytes[MAC_PREFIX_BYTES];
	uint16_t dlid = get_be16(header->destination.bytes + MAC_PREFIX_BYTES + 1);

	if (byte_count > MTU_BYTES_MAX)
		return DROP_MALFORMED;
	if (memcmp(header->destination.bytes, mac_prefix, MAC_PREFIX_BYTES) != 0 ||
	    port_number == 0 || port_number > node->port_count || !lid_is_unicast(dlid) ||
	    port_owns_lid(&node->ports[port_number], dlid))
		return DROP_NO_ROUTE;

	uint32_t total = padded((uint32_t)byte_count);

	if (total < RAW_ETHERTYPE_BYTES_MIN)
		total = RAW_ETHERTYPE_BYTES_MIN;
	ret_packet->is_ipv6 = false;
	ret_packet->header = (struct routing_header){.is_raw = true, .payload_bytes = total};
	ret_packet->ethertype = header->ethertype;
	ret_packet->output_port = (uint8_t)port_number;
	ret_packet->dlid = dlid;
	ret_packet->byte_count = total;
	memcpy(ret_packet->bytes, bytes, byte_count);
	memset(ret_packet->bytes + byte_count, 0, total - byte_count);
	return DROP_NONE;
}

enum drop_reason gateway_read(const struct node *node, const uint8_t *bytes, size_t byte_count,
			      struct gateway_packet *ret_packet)
{
	struct ethernet_header header;

	if (byte_count > GATEWAY_FRAME_BYTES_MAX ||
	    !ethernet_header_decode(bytes, byte_count, &header))
		return DROP_MALFORMED;
	bytes += ETHERNET_HEADER_BYTES;
	byte_count -= ETHERNET_HEADER_BYTES;
	return header.ethertype == ETHERTYPE_IPV6
		       ? read_ipv6(node, bytes, byte_count, ret_packet)
		       : read_ethertype(node, &header, bytes, byte_count, ret_packet);
}
