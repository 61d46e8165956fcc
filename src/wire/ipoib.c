/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand: the part that resolves addresses (RFC 4391, RFC 4861; management 8.1). */
#include "wire/ipoib.h"

#include <string.h>
#include "base/bytes.h"
#include "wire/raw_packet.h"

enum {
	TYPE_IPV4 = 0x0800,
	TYPE_ARP = 0x0806,
	TYPE_IPV6 = 0x86dd,
	ARP_HARDWARE_INFINIBAND = 32,
	ARP_REQUEST = 1,
	ARP_REPLY = 2,
	IPV6_NEXT_ICMP = 58,
	IPV6_HOP_LIMIT = 255, /* any other value has crossed a router */
	ND_BYTES = 48,	      /* message and its one option */
	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_SOLICITED_OVERRIDE = 0x60,
	OPTION_SOURCE_ADDRESS = 1,
	OPTION_TARGET_ADDRESS = 2,
	OPTION_OCTETS = 3, /* of eight bytes */
	IPV4_BYTES = 4,
};

static void hardware_encode(const struct ipoib_hardware *hardware,
			    uint8_t ret_bytes[static IPOIB_HARDWARE_BYTES])
{
	put_be32(ret_bytes, hardware->qpn & 0xffffff);
	memcpy(ret_bytes + 4, hardware->gid.bytes, sizeof(hardware->gid.bytes));
}

static struct ipoib_hardware hardware_decode(const uint8_t bytes[static IPOIB_HARDWARE_BYTES])
{
	struct ipoib_hardware hardware = {.qpn = get_be32(bytes) & 0xffffff};

	memcpy(hardware.gid.bytes, bytes + 4, sizeof(hardware.gid.bytes));
	return hardware;
}

static struct ip_address ipv4(const uint8_t *bytes)
{
	struct ip_address address = {{0}};

	memcpy(address.bytes + IPV4_OFFSET, bytes, IPV4_BYTES);
	return address;
}

static size_t arp_encode(const struct ipoib_neighbour *neighbour, uint8_t *ret_bytes)
{
	uint8_t *arp = ret_bytes + IPOIB_HEADER_BYTES;

	put_be16(ret_bytes, TYPE_ARP);
	put_be16(ret_bytes + 2, 0);
	put_be16(arp, ARP_HARDWARE_INFINIBAND);
	put_be16(arp + 2, TYPE_IPV4);
	arp[4] = IPOIB_HARDWARE_BYTES;
	arp[5] = IPV4_BYTES;
	put_be16(arp + 6, neighbour->is_answer ? ARP_REPLY : ARP_REQUEST);
	hardware_encode(&neighbour->sender, arp + 8);
	memcpy(arp + 28, neighbour->sender_ip.bytes + IPV4_OFFSET, IPV4_BYTES);
	hardware_encode(&neighbour->target, arp + 32);
	memcpy(arp + 52, neighbour->target_ip.bytes + IPV4_OFFSET, IPV4_BYTES);
	return IPOIB_ARP_BYTES;
}

static bool arp_decode(const uint8_t *bytes, size_t byte_count,
		       struct ipoib_neighbour *ret_neighbour)
{
	const uint8_t *arp = bytes + IPOIB_HEADER_BYTES;

	if (byte_count < IPOIB_ARP_BYTES)
		return false;

	uint16_t operation = get_be16(arp + 6);

	if (get_be16(arp) != ARP_HARDWARE_INFINIBAND || get_be16(arp + 2) != TYPE_IPV4 ||
	    arp[4] != IPOIB_HARDWARE_BYTES || arp[5] != IPV4_BYTES ||
	    (operation != ARP_REQUEST && operation != ARP_REPLY))
		return false;
	*ret_neighbour = (struct ipoib_neighbour){.ip_version = 4,
						  .is_answer = operation == ARP_REPLY,
						  .sender = hardware_decode(arp + 8),
						  .sender_ip = ipv4(arp + 28),
						  .target = hardware_decode(arp + 32),
						  .target_ip = ipv4(arp + 52)};
	return true;
}

/* The Internet checksum over the IPv6 pseudo header and an ICMP message of even length. */
static uint16_t icmp_checksum(const uint8_t *ipv6, const uint8_t *icmp, size_t byte_count)
{
	uint32_t sum = (uint32_t)byte_count + IPV6_NEXT_ICMP;

	for (size_t place = 8; place < IPV6_HEADER_BYTES; place += 2)
		sum += get_be16(ipv6 + place);
	for (size_t place = 0; place < byte_count; place += 2)
		sum += get_be16(icmp + place);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* The link-local multicast group that a solicitation for an address goes to. */
static void solicited_node(const struct ip_address *address, uint8_t ret_bytes[static 16])
{
	static const uint8_t prefix[13] = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

	memcpy(ret_bytes, prefix, sizeof(prefix));
	memcpy(ret_bytes + 13, address->bytes + 13, 3);
}

static size_t nd_encode(const struct ipoib_neighbour *neighbour, uint8_t *ret_bytes)
{
	uint8_t *ipv6 = ret_bytes + IPOIB_HEADER_BYTES;
	uint8_t *icmp = ipv6 + IPV6_HEADER_BYTES;

	memset(ret_bytes, 0, IPOIB_ND_BYTES);
	put_be16(ret_bytes, TYPE_IPV6);
	ipv6[0] = 0x60;
	put_be16(ipv6 + 4, ND_BYTES);
	ipv6[6] = IPV6_NEXT_ICMP;
	ipv6[7] = IPV6_HOP_LIMIT;
	memcpy(ipv6 + 8, neighbour->sender_ip.bytes, 16);
	if (neighbour->is_answer)
		memcpy(ipv6 + 24, neighbour->target_ip.bytes, 16);
	else
		solicited_node(&neighbour->target_ip, ipv6 + 24);
	icmp[0] = neighbour->is_answer ? ND_ADVERTISEMENT : ND_SOLICITATION;
	icmp[4] = neighbour->is_answer ? ND_SOLICITED_OVERRIDE : 0;
	memcpy(icmp + 8,
	       neighbour->is_answer ? neighbour->sender_ip.bytes : neighbour->target_ip.bytes, 16);
	icmp[24] = neighbour->is_answer ? OPTION_TARGET_ADDRESS : OPTION_SOURCE_ADDRESS;
	icmp[25] = OPTION_OCTETS;
	hardware_encode(&neighbour->sender, icmp + 28);
	put_be16(icmp + 2, icmp_checksum(ipv6, icmp, ND_BYTES));
	return IPOIB_ND_BYTES;
}

static bool nd_decode(const uint8_t *bytes, size_t byte_count,
		      struct ipoib_neighbour *ret_neighbour)
{
	const uint8_t *ipv6 = bytes + IPOIB_HEADER_BYTES;
	const uint8_t *icmp = ipv6 + IPV6_HEADER_BYTES;

	if (byte_count < IPOIB_ND_BYTES || ipv6[0] >> 4 != 6 || get_be16(ipv6 + 4) != ND_BYTES ||
	    ipv6[6] != IPV6_NEXT_ICMP || ipv6[7] != IPV6_HOP_LIMIT ||
	    icmp_checksum(ipv6, icmp, ND_BYTES) != 0)
		return false;

	bool is_answer = icmp[0] == ND_ADVERTISEMENT;
	uint8_t option = is_answer ? OPTION_TARGET_ADDRESS : OPTION_SOURCE_ADDRESS;

	if ((icmp[0] != ND_SOLICITATION && !is_answer) || icmp[1] != 0 || icmp[24] != option ||
	    icmp[25] != OPTION_OCTETS)
		return false;
	*ret_neighbour = (struct ipoib_neighbour){
		.ip_version = 6, .is_answer = is_answer, .sender = hardware_decode(icmp + 28)};
	memcpy(ret_neighbour->sender_ip.bytes, is_answer ? icmp + 8 : ipv6 + 8, 16);
	memcpy(ret_neighbour->target_ip.bytes, is_answer ? ipv6 + 24 : icmp + 8, 16);
	return true;
}

size_t ipoib_neighbour_encode(const struct ipoib_neighbour *neighbour,
			      uint8_t ret_bytes[static IPOIB_QUESTION_BYTES_MAX])
{
	return neighbour->ip_version == 4 ? arp_encode(neighbour, ret_bytes)
					  : nd_encode(neighbour, ret_bytes);
}

bool ipoib_neighbour_decode(const uint8_t *bytes, size_t byte_count,
			    struct ipoib_neighbour *ret_neighbour)
{
	if (byte_count < IPOIB_HEADER_BYTES)
		return false;
	switch (get_be16(bytes)) {
	case TYPE_ARP:
		return arp_decode(bytes, byte_count, ret_neighbour);
	case TYPE_IPV6:
		return nd_decode(bytes, byte_count, ret_neighbour);
	}
	return false;
}

/* FF1s:<signature>:<P_Key>, scope link-local. */
static struct gid group(uint16_t signature, uint16_t pkey)
{
	struct gid gid = {{0xff, 0x12}};

	put_be16(gid.bytes + 2, signature);
	put_be16(gid.bytes + 4, pkey | 0x8000);
	return gid;
}

struct gid ipoib_broadcast_gid(uint16_t pkey)
{
	struct gid gid = group(MGID_SIGNATURE_IPV4, pkey);

	put_be32(gid.bytes + 12, 0xffffffff);
	return gid;
}

struct gid ipoib_multicast_gid(uint8_t ip_version, const struct ip_address *address, uint16_t pkey,
			       enum ipoib_signature signature)
{
	bool is_ip = signature == IPOIB_SIGNATURE_IP;
	struct gid gid;

	if (ip_version == 4) {
		gid = group(is_ip ? MGID_SIGNATURE_IPV4 : 0x4001, pkey);
		put_be32(gid.bytes + 12, get_be32(address->bytes + IPV4_OFFSET) & 0x0fffffff);
	} else {
		gid = group(is_ip ? MGID_SIGNATURE_IPV6 : 0x6001, pkey);
		memcpy(gid.bytes + 6, address->bytes + 6, 10);
	}
	return gid;
}
