/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes its port the trap address of a class at a node, through libibumad, and tells of the traps
 * that come.
 *
 *	umad_traps LID CLASS COUNT        a node of its own subnet
 *	umad_traps LID CLASS COUNT GID    a node beyond the router whose port has this LID
 *
 * Prints "told" when the node has the address, then "trap NUMBER" for each generic trap and
 * "notice NUMBER" for each vendor's, represses it, and ends after COUNT of them.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	METHOD_SET = 0x02,
	METHOD_TRAP = 0x05,
	METHOD_TRAP_REPRESS = 0x07,
	METHOD_GET_RESPONSE = 0x81,
	ATTRIBUTE_CLASS_PORT_INFO = 1,
	CLASS_DATA = 64,
	/* In ClassPortInfo. */
	TRAP_GID = 40,
	TRAP_LID = 60,
	TRAP_PKEY = 62,
	TRAP_HOP_LIMIT = 64,
	TRAP_QP = 65,
	TRAP_QKEY = 68,
	HOPS = 64,
	QKEY_GSI = 0x80010000,
	TIMEOUT_MS = 5000,
	TRAP_TIMEOUT_MS = 60000,
};

struct agent {
	int port, id;
	umad_port_t own;
	void *umad;
	uint8_t *mad;
};

static void put(uint8_t *bytes, uint32_t value, unsigned byte_count)
{
	for (unsigned i = 0; i < byte_count; i++)
		bytes[i] = (uint8_t)(value >> 8 * (byte_count - 1 - i));
}

static bool open_agent(struct agent *agent, unsigned class)
{
	long methods[16 / sizeof(long)] = {0};

	if (umad_init() < 0 || umad_get_port(NULL, 0, &agent->own) < 0)
		return false;
	methods[0] = 1l << METHOD_TRAP;
	agent->port = umad_open_port(NULL, 0);
	agent->id = agent->port < 0 ? -1 : umad_register(agent->port, (int)class, 1, 0, methods);
	agent->umad = umad_alloc(1, umad_size() + MAD_BYTES);
	agent->mad = agent->umad ? umad_get_mad(agent->umad) : NULL;
	return agent->id >= 0 && agent->mad;
}

/* gid NULL: our LID is the address. Else our GID alone, as our LID is none in the node's subnet. */
static bool tell_address(struct agent *agent, unsigned lid, unsigned class, const char *gid)
{
	uint8_t *mad = agent->mad;
	uint8_t *info = mad + CLASS_DATA;
	ib_mad_addr_t *address = umad_get_mad_addr(agent->umad);
	int length = MAD_BYTES;

	memset(agent->umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = (uint8_t) class;
	mad[2] = 1;
	mad[3] = METHOD_SET;
	mad[17] = ATTRIBUTE_CLASS_PORT_INFO;
	put(info + TRAP_LID, gid ? 0 : agent->own.base_lid, 2);
	put(info + TRAP_PKEY, 0xffff, 2);
	put(info + TRAP_QP, 1, 3);
	put(info + TRAP_QKEY, QKEY_GSI, 4);
	umad_set_addr(agent->umad, (int)lid, 1, 0, QKEY_GSI);
	if (gid) {
		memcpy(info + TRAP_GID, &agent->own.gid_prefix, 8);
		memcpy(info + TRAP_GID + 8, &agent->own.port_guid, 8);
		info[TRAP_HOP_LIMIT] = HOPS;
		address->grh_present = 1;
		address->hop_limit = HOPS;
		if (inet_pton(AF_INET6, gid, address->gid) != 1)
			return false;
	}
	return umad_send(agent->port, agent->id, agent->umad, MAD_BYTES, TIMEOUT_MS, 3) == 0 &&
	       umad_recv(agent->port, agent->umad, &length, TRAP_TIMEOUT_MS) == agent->id &&
	       umad_status(agent->umad) == 0 && mad[3] == METHOD_GET_RESPONSE && mad[4] == 0 &&
	       mad[5] == 0;
}

static bool take_trap(struct agent *agent)
{
	const uint8_t *notice = agent->mad + CLASS_DATA;
	int length = MAD_BYTES;

	if (umad_recv(agent->port, agent->umad, &length, TRAP_TIMEOUT_MS) != agent->id ||
	    agent->mad[3] != METHOD_TRAP)
		return false;
	printf("%s %u\n", notice[0] & 0x80 ? "trap" : "notice",
	       (unsigned)notice[4] << 8 | notice[5]);
	fflush(stdout);
	/* To where it came from. */
	agent->mad[3] = METHOD_TRAP_REPRESS;
	return umad_send(agent->port, agent->id, agent->umad, MAD_BYTES, 0, 0) == 0;
}

int main(int argument_count, char **arguments)
{
	struct agent agent;
	unsigned class, count;

	if (argument_count < 4)
		return 2;
	class = (unsigned)strtoul(arguments[2], NULL, 0);
	count = (unsigned)strtoul(arguments[3], NULL, 0);
	if (!open_agent(&agent, class) ||
	    !tell_address(&agent, (unsigned)strtoul(arguments[1], NULL, 0), class,
			  argument_count > 4 ? arguments[4] : NULL)) {
		printf("the node does not take the address\n");
		return 1;
	}
	printf("told\n");
	fflush(stdout);
	for (unsigned i = 0; i < count; i++)
		if (!take_trap(&agent))
			return 1;
	return 0;
}
