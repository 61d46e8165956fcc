/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping IP addresses and GIDs to ports. */
#include "daemon/cm/cm_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/cm/cm_port.h"
#include "daemon/core/daemon_core.h"

enum { IPV4_BYTES = 4 };

#define MACHINE_READ_INTERVAL SECONDS(2)

static const uint8_t mapped_ipv4[12] = {[10] = 0xff, [11] = 0xff};

bool cm_address_is_any(const struct cm_address *address)
{
	static const uint8_t zero[16];

	return memcmp(address->bytes, zero, sizeof(zero)) == 0;
}

bool cm_address_equal(const struct cm_address *a, const struct cm_address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static const struct ip_network *network_of(const struct endpoint *endpoint, uint8_t ip_version)
{
	return ip_version == 4 ? &endpoint->ipv4 : &endpoint->ipv6;
}

void cm_address_of(const struct endpoint *endpoint, enum cm_address_family family,
		   struct cm_address *ret_address)
{
	const struct ip_network *network = network_of(endpoint, family == CM_ADDRESS_IPV4 ? 4 : 6);

	cm_address_from_ip(network->ip_version, &network->address, 0, ret_address);
}

bool cm_address_is_of(const struct endpoint *endpoint, uint8_t ip_version,
		      const struct ip_address *address)
{
	return ip_address_equal(&network_of(endpoint, ip_version)->address, address);
}

/* Whether the address is in the network of one of the host's ports, or is the address of any port
 * of the fabric. */
static bool is_on_fabric(const struct cm_host *host, uint8_t ip_version,
			 const struct ip_address *address)
{
	const struct host_table *table = &host->fabric->core->hosts;

	for (uint32_t index = 0; index < host->port_count; index++) {
		if (ip_network_contains(network_of(host->ports[index].endpoint, ip_version),
					ip_version, address))
			return true;
	}
	for (uint32_t index = 0; index < table->adapter_count; index++) {
		const struct adapter_entry *adapter = table->adapters[index];

		for (unsigned number = 1; number <= adapter->node->port_count; number++) {
			if (cm_address_is_of(&adapter->endpoints[number], ip_version, address))
				return true;
		}
	}
	return false;
}

static const struct ifaddrs *machine_addresses(struct cm_fabric *fabric)
{
	time_ns now = fabric->core->loop.now;

	if (fabric->machine && now < fabric->machine_read_at + MACHINE_READ_INTERVAL)
		return fabric->machine;
	if (fabric->machine)
		freeifaddrs(fabric->machine);
	fabric->machine_read_at = now;
	if (getifaddrs(&fabric->machine) != 0)
		fabric->machine = NULL;
	return fabric->machine;
}

static bool is_of_machine(struct cm_fabric *fabric, uint8_t ip_version,
			  const uint8_t bytes[static 16])
{
	for (const struct ifaddrs *entry = machine_addresses(fabric); entry;
	     entry = entry->ifa_next) {
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;

		if (!entry->ifa_addr)
			continue;
		if (ip_version == 4 && entry->ifa_addr->sa_family == AF_INET) {
			memcpy(&ipv4, entry->ifa_addr, sizeof(ipv4));
			if (memcmp(&ipv4.sin_addr, bytes + IPV4_OFFSET, IPV4_BYTES) == 0)
				return true;
		}
		if (ip_version == 6 && entry->ifa_addr->sa_family == AF_INET6) {
			memcpy(&ipv6, entry->ifa_addr, sizeof(ipv6));
			if (memcmp(&ipv6.sin6_addr, bytes, 16) == 0)
				return true;
		}
	}
	return false;
}

static bool is_loopback(uint8_t ip_version, const uint8_t bytes[static 16])
{
	static const uint8_t loopback[16] = {[15] = 1};

	return ip_version == 4 ? bytes[IPV4_OFFSET] == 127 : memcmp(bytes, loopback, 16) == 0;
}

static bool is_multicast(uint8_t ip_version, const uint8_t bytes[static 16])
{
	return ip_version == 4 ? bytes[IPV4_OFFSET] >> 4 == 0xe : bytes[0] == 0xff;
}

static enum cm_scope scope_of_gid(struct cm_host *host, const struct cm_address *address,
				  struct cm_port **ret_port)
{
	struct gid gid;

	memcpy(gid.bytes, address->bytes, sizeof(gid.bytes));

	struct cm_port *port = cm_host_find_gid(host, &gid);

	if (!port)
		return CM_SCOPE_REMOTE;
	*ret_port = port;
	return CM_SCOPE_LOCAL;
}

enum cm_scope cm_address_scope(struct cm_host *host, const struct cm_address *address,
			       struct cm_port **ret_port)
{
	uint8_t version = cm_address_ip_version(address);
	struct cm_fabric *fabric = host->fabric;

	if (address->family == CM_ADDRESS_NONE)
		return CM_SCOPE_UNREACHABLE;
	if (cm_address_is_any(address))
		return CM_SCOPE_ANY;
	if (address->family == CM_ADDRESS_IB)
		return scope_of_gid(host, address, ret_port);

	struct ip_address ip = cm_address_ip(address);

	if (is_multicast(version, ip.bytes))
		return CM_SCOPE_MULTICAST;
	for (uint32_t index = 0; index < host->port_count; index++) {
		if (!cm_address_is_of(host->ports[index].endpoint, version, &ip))
			continue;
		*ret_port = &host->ports[index];
		return CM_SCOPE_LOCAL;
	}
	if (is_on_fabric(host, version, &ip))
		return CM_SCOPE_REMOTE;
	if (!is_loopback(version, ip.bytes) && !is_of_machine(fabric, version, ip.bytes))
		return CM_SCOPE_UNREACHABLE;
	*ret_port = cm_host_first_port(host);
	return CM_SCOPE_LOCAL;
}

/* IPv4-mapped IPv6 addresses count as IPv4. */
static bool is_mapped(const struct cm_address *address)
{
	return address->family == CM_ADDRESS_IPV6 &&
	       memcmp(address->bytes, mapped_ipv4, sizeof(mapped_ipv4)) == 0;
}

uint8_t cm_address_ip_version(const struct cm_address *address)
{
	return address->family == CM_ADDRESS_IPV4 || is_mapped(address) ? 4 : 6;
}

struct ip_address cm_address_ip(const struct cm_address *address)
{
	struct ip_address ip = {{0}};

	memcpy(ip.bytes, address->bytes, sizeof(ip.bytes));
	if (is_mapped(address))
		memset(ip.bytes, 0, IPV4_OFFSET);
	return ip;
}

void cm_address_from_ip(uint8_t ip_version, const struct ip_address *ip, uint16_t port,
			struct cm_address *ret_address)
{
	*ret_address = (struct cm_address){
		.family = ip_version == 4 ? CM_ADDRESS_IPV4 : CM_ADDRESS_IPV6, .port = port};
	memcpy(ret_address->bytes, ip->bytes, sizeof(ip->bytes));
}

uint64_t cm_address_service_id(const struct cm_address *address, uint32_t port_space)
{
	if (address->family == CM_ADDRESS_IB)
		return address->service_id;
	return cm_ip_service_id((enum cm_port_space)port_space, address->port);
}
