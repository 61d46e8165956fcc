/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softib-address-resolution: from a GUID to a channel with an I/O controller, step by step. Subnet
 * administration resolves the GUID to a path, device management names the controller and its
 * service ID, subnet administration gives the path for that service, and the target resolves the
 * service ID to a queue pair.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "channels.h"
#include "queries.h"

enum { PROTOCOL_SRP = 0x0108, PROTOCOL_CONSOLE = 0xfe01 };

static void print_path(const char *step, const struct ibv_path_record *path)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &path->dgid, gid, sizeof(gid));
	printf("%s: GID %s, LID %u, SL %u, MTU %u, P_Key 0x%04x\n", step, gid, be16toh(path->dlid),
	       be16toh(path->qosclass_sl) & 0xf, 128u << (path->mtu & 0x3f), be16toh(path->pkey));
}

/* The wanted slot, or the first one with a controller; 0 after printing the error. */
static unsigned choose_slot(const struct io_unit *unit, unsigned wanted)
{
	printf("3. IOUnitInfo: change ID %u, %u slots, controllers in", unit->change_id,
	       unit->slot_count);
	for (unsigned slot = 1; slot <= unit->slot_count; slot++)
		if (unit->has_controller[slot])
			printf(" %u", slot);
	printf("\n");
	for (unsigned slot = 1; slot <= unit->slot_count; slot++)
		if (unit->has_controller[slot] && (!wanted || slot == wanted))
			return slot;
	fprintf(stderr, "softib-address-resolution: there is no controller in this slot\n");
	return 0;
}

static bool resolve(uint64_t guid, unsigned wanted_slot)
{
	struct ibv_path_record path, service_path;
	struct io_profile profile;
	struct io_service service;
	struct query_port port;
	struct io_unit unit;
	unsigned slot;

	printf("1. GUID: 0x%016llx\n", (unsigned long long)guid);
	if (!query_port_open(&port) || !query_path(&port, guid, 0, &path))
		return false;
	print_path("2. PathRecord", &path);
	if (!query_unit(&port, &path, &unit))
		return false;
	slot = choose_slot(&unit, wanted_slot);
	if (!slot || !query_profile(&port, &path, slot, &profile))
		return false;
	printf("4. IOControllerProfile: slot %u, GUID 0x%016llx, class 0x%04x, protocol 0x%04x, "
	       "\"%s\"\n",
	       slot, (unsigned long long)profile.guid, profile.io_class, profile.protocol,
	       profile.id_string);
	if (!query_service(&port, &path, slot, &service))
		return false;
	printf("5. ServiceEntries: %s is service ID 0x%016llx\n", service.name,
	       (unsigned long long)service.id);
	if (!query_path(&port, guid, service.id, &service_path))
		return false;
	print_path("6. PathRecord for the service", &service_path);
	if (profile.protocol == PROTOCOL_SRP)
		return exchange_by_connection(&service_path, &service, &profile);
	if (profile.protocol == PROTOCOL_CONSOLE)
		return exchange_by_datagrams(&service_path, &service);
	fprintf(stderr, "softib-address-resolution: no driver for this protocol\n");
	return false;
}

int main(int argument_count, char **arguments)
{
	uint64_t guid;
	unsigned long slot;
	char *end = NULL, *slot_end = NULL;

	errno = 0;
	guid = argument_count > 1 ? strtoull(arguments[1], &end, 16) : 0;
	slot = argument_count > 2 ? strtoul(arguments[2], &slot_end, 10) : 0;
	if (!guid || *end || errno || argument_count > 3 || (slot_end && *slot_end) ||
	    slot > SLOTS_MAX) {
		fprintf(stderr,
			"Usage: softib-address-resolution PORT-GUID [SLOT]\n"
			"From the GUID of a port with an I/O unit to a channel with one of its "
			"controllers,\nstep by step. Without SLOT: the first one.\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	return resolve(guid, (unsigned)slot) ? EXIT_SUCCESS : EXIT_FAILURE;
}
