/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getifaddrs with the host's InfiniBand interfaces: ib0, ib1 ... with the addresses of its ports.
 * libfabric and others choose an adapter's address from the interface list.
 *
 * softibd writes the port addresses to <tree>/interfaces, one line per port.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { PORTS_MAX = 64, NAME_BYTES = 16, PATH_BYTES = 512 };

/* One address family of a port; each port has two. */
struct interface {
	struct ifaddrs entry;
	char name[NAME_BYTES];
	struct sockaddr_storage address;
	struct sockaddr_storage mask;
};

/* The list that a program gets: ours first, then libc's. freeifaddrs reads the count. */
struct interface_list {
	uint64_t mark;
	unsigned count;
	struct ifaddrs *libc;
	struct interface interfaces[];
};

static const uint64_t mark_of_ours = 0x736f66746962u;

/* One line of the file. */
struct port_line {
	char ipv4[INET6_ADDRSTRLEN];
	unsigned ipv4_prefix_bits;
	char ipv6[INET6_ADDRSTRLEN];
	unsigned ipv6_prefix_bits;
};

static unsigned read_ports(struct port_line ret_ports[static PORTS_MAX])
{
	const char *tree = secure_getenv("SOFTIB_TREE");
	char path[PATH_BYTES];
	unsigned count = 0;

	if (!tree || snprintf(path, sizeof(path), "%s/interfaces", tree) >= (int)sizeof(path))
		return 0;

	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	for (; count < PORTS_MAX; count++) {
		struct port_line *port = &ret_ports[count];

		if (fscanf(file, "%45s %u %45s %u", port->ipv4, &port->ipv4_prefix_bits, port->ipv6,
			   &port->ipv6_prefix_bits) != 4)
			break;
	}
	fclose(file);
	return count;
}

static void fill_mask(uint8_t *ret_bytes, unsigned byte_count, unsigned prefix_bits)
{
	for (unsigned bit = 0; bit < prefix_bits && bit < 8 * byte_count; bit++)
		ret_bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

static void fill_ipv4(struct interface *interface, const struct port_line *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct sockaddr_in mask = {.sin_family = AF_INET};

	inet_pton(AF_INET, port->ipv4, &address.sin_addr);
	fill_mask((uint8_t *)&mask.sin_addr, sizeof(mask.sin_addr), port->ipv4_prefix_bits);
	memcpy(&interface->address, &address, sizeof(address));
	memcpy(&interface->mask, &mask, sizeof(mask));
}

static void fill_ipv6(struct interface *interface, const struct port_line *port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6};
	struct sockaddr_in6 mask = {.sin6_family = AF_INET6};

	inet_pton(AF_INET6, port->ipv6, &address.sin6_addr);
	fill_mask(mask.sin6_addr.s6_addr, sizeof(mask.sin6_addr), port->ipv6_prefix_bits);
	memcpy(&interface->address, &address, sizeof(address));
	memcpy(&interface->mask, &mask, sizeof(mask));
}

static struct interface_list *make_list(struct ifaddrs *libc)
{
	struct port_line ports[PORTS_MAX];
	unsigned port_count = read_ports(ports);
	struct interface_list *list =
		port_count ? calloc(1, sizeof(*list) + 2 * port_count * sizeof(list->interfaces[0]))
			   : NULL;

	if (!list)
		return NULL;
	list->mark = mark_of_ours;
	list->count = 2 * port_count;
	list->libc = libc;
	for (unsigned index = 0; index < list->count; index++) {
		struct interface *interface = &list->interfaces[index];
		bool is_last = index + 1 == list->count;

		snprintf(interface->name, sizeof(interface->name), "ib%u", index / 2);
		if (index % 2 == 0)
			fill_ipv4(interface, &ports[index / 2]);
		else
			fill_ipv6(interface, &ports[index / 2]);
		interface->entry = (struct ifaddrs){
			.ifa_next = is_last ? libc : &list->interfaces[index + 1].entry,
			.ifa_name = interface->name,
			.ifa_flags = IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST,
			.ifa_addr = (struct sockaddr *)&interface->address,
			.ifa_netmask = (struct sockaddr *)&interface->mask,
		};
	}
	return list;
}

EXPORT int getifaddrs(struct ifaddrs **ret_list)
{
	__typeof__(&getifaddrs) next = (__typeof__(&getifaddrs))dlsym(RTLD_NEXT, "getifaddrs");
	struct ifaddrs *libc = NULL;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (next(&libc) != 0)
		return -1;

	struct interface_list *list = make_list(libc);

	*ret_list = list ? &list->interfaces[0].entry : libc;
	return 0;
}

EXPORT void freeifaddrs(struct ifaddrs *entries)
{
	__typeof__(&freeifaddrs) next = (__typeof__(&freeifaddrs))dlsym(RTLD_NEXT, "freeifaddrs");
	bool is_ours = entries && entries->ifa_name &&
		       entries->ifa_name == ((struct interface *)entries)->name;

	if (!is_ours) {
		if (next)
			next(entries);
		return;
	}

	struct interface_list *list =
		(struct interface_list *)((char *)entries -
					  offsetof(struct interface_list, interfaces));

	if (list->mark != mark_of_ours)
		return;
	if (next && list->libc)
		next(list->libc);
	free(list);
}
