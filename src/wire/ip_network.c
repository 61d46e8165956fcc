/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses of ports for IP over InfiniBand: their text form (RFC 4291 for IPv6), and softib's
 * default addresses. */
#include "wire/ip_network.h"

#include <string.h>
#include "base/bytes.h"

enum {
	IPV4_PREFIX_USUAL = 24,
	IPV6_PREFIX_USUAL = 64,
	GROUPS = 8, /* of 16 bits */
	RULE_PREFIX_IPV4 = 16,
};

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/* At most three digits, enough for every decimal number here. */
static bool read_decimal(const char **at, unsigned number_max, uint8_t *ret_number)
{
	unsigned number = 0, digits = 0;

	for (; is_digit(**at) && digits < 3; digits++)
		number = number * 10 + (unsigned)(*(*at)++ - '0');
	if (!digits || is_digit(**at) || number > number_max)
		return false;
	*ret_number = (uint8_t)number;
	return true;
}

static bool read_ipv4(const char **at, struct ip_address *ret_address)
{
	for (unsigned index = 0; index < 4; index++) {
		if (index && *(*at)++ != '.')
			return false;
		if (!read_decimal(at, 255, &ret_address->bytes[IPV4_OFFSET + index]))
			return false;
	}
	return true;
}

static int hex_value(char character)
{
	if (is_digit(character))
		return character - '0';
	character |= 0x20;
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

static bool read_group(const char **at, uint16_t *ret_group)
{
	unsigned value = 0, digits = 0;

	for (; digits < 4 && hex_value(**at) >= 0; digits++)
		value = value << 4 | (unsigned)hex_value(*(*at)++);
	if (!digits || hex_value(**at) >= 0)
		return false;
	*ret_group = (uint16_t)value;
	return true;
}

/* Groups separated by colons; "::" once, for as many zero groups as are missing. */
static bool read_ipv6(const char **at, struct ip_address *ret_address)
{
	uint16_t groups[GROUPS];
	unsigned count = 0, gap = GROUPS + 1;

	if ((*at)[0] == ':' && (*at)[1] == ':') {
		gap = 0;
		*at += 2;
	}
	while (count < GROUPS && hex_value(**at) >= 0) {
		if (!read_group(at, &groups[count++]))
			return false;
		if (**at != ':')
			break;
		if ((*at)[1] == ':') {
			if (gap <= GROUPS)
				return false;
			gap = count;
			(*at)++;
		} else if (hex_value((*at)[1]) < 0) {
			return false;
		}
		(*at)++;
	}
	if (gap > GROUPS ? count != GROUPS : count == GROUPS)
		return false;

	unsigned before = gap > GROUPS ? count : gap;

	memset(ret_address->bytes, 0, sizeof(ret_address->bytes));
	for (unsigned index = 0; index < count; index++) {
		unsigned place = index < before ? index : GROUPS - count + index;

		put_be16(ret_address->bytes + 2 * place, groups[index]);
	}
	return true;
}

bool ip_network_parse(const char *text, struct ip_network *ret_network)
{
	struct ip_network network = {.ip_version = strchr(text, ':') ? 6 : 4};
	bool is_ipv4 = network.ip_version == 4;

	network.prefix_bits = is_ipv4 ? IPV4_PREFIX_USUAL : IPV6_PREFIX_USUAL;
	if (is_ipv4 ? !read_ipv4(&text, &network.address) : !read_ipv6(&text, &network.address))
		return false;
	if (*text == '/') {
		text++;
		if (!read_decimal(&text, is_ipv4 ? IPV4_BITS : IPV6_BITS, &network.prefix_bits))
			return false;
	}
	if (*text)
		return false;
	*ret_network = network;
	return true;
}

struct ip_network ip_network_of_port(uint8_t ip_version, uint32_t ordinal)
{
	struct ip_network network = {.ip_version = ip_version};
	uint8_t *bytes = network.address.bytes;

	if (ip_version == 4) {
		network.prefix_bits = RULE_PREFIX_IPV4;
		put_be16(bytes + IPV4_OFFSET, 127 << 8 | 100);
		put_be16(bytes + IPV4_OFFSET + 2, (uint16_t)ordinal);
	} else {
		network.prefix_bits = IPV6_PREFIX_USUAL;
		put_be32(bytes, 0xfd5f1b00);
		put_be32(bytes + 12, ordinal);
	}
	return network;
}

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool ip_network_contains(const struct ip_network *network, uint8_t ip_version,
			 const struct ip_address *address)
{
	unsigned first_byte = ip_version == 4 ? IPV4_OFFSET : 0;
	unsigned whole = network->prefix_bits / 8, rest = network->prefix_bits % 8;

	if (network->ip_version != ip_version ||
	    memcmp(network->address.bytes + first_byte, address->bytes + first_byte, whole) != 0)
		return false;
	if (!rest)
		return true;

	unsigned place = first_byte + whole;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return ((network->address.bytes[place] ^ address->bytes[place]) & mask) == 0;
}

bool ip_address_is_for_ports(uint8_t ip_version, const struct ip_address *address)
{
	static const struct ip_address unspecified;
	static const struct ip_address loopback_ipv6 = {{[15] = 1}};
	static const struct ip_address loopback_ipv4 = {{[12] = 127, 0, 0, 1}};

	if (ip_address_equal(address, &unspecified))
		return false;
	if (ip_version == 6)
		return address->bytes[0] != 0xff && !ip_address_equal(address, &loopback_ipv6);
	/* 224.0.0.0 and above: multicast, and reserved. */
	return address->bytes[IPV4_OFFSET] < 224 && !ip_address_equal(address, &loopback_ipv4);
}
