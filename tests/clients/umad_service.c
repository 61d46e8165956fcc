/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers a service at the SA through libibumad: "umad_service NAME [SECONDS]" prints
 * "registered", stays until its input ends, and takes it back unless it has a lease of that many
 * seconds, which is left to run out.
 */
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	CLASS_SA = 3,
	METHOD_SET = 0x02,
	METHOD_DELETE = 0x15,
	ATTRIBUTE_SERVICE_RECORD = 0x31,
	COMPONENT_MASK = 48,
	SA_DATA = 56,
	RECORD_GID = 8,
	RECORD_PKEY = 24,
	RECORD_LEASE = 28,
	RECORD_NAME = 48,
	NAME_BYTES = 64,
	QKEY_GSI = 0x80010000,
	TIMEOUT_MS = 20000,
};

struct agent {
	int port, id;
	umad_port_t own;
	void *umad;
	uint8_t *mad;
};

static bool open_agent(struct agent *agent)
{
	if (umad_init() < 0 || umad_get_port(NULL, 0, &agent->own) < 0)
		return false;
	agent->port = umad_open_port(NULL, 0);
	agent->id = agent->port < 0 ? -1 : umad_register(agent->port, CLASS_SA, 2, 1, NULL);
	agent->umad = umad_alloc(1, umad_size() + MAD_BYTES);
	agent->mad = agent->umad ? umad_get_mad(agent->umad) : NULL;
	return agent->id >= 0 && agent->mad;
}

static void put_be64(uint8_t *bytes, uint64_t value)
{
	value = htobe64(value);
	memcpy(bytes, &value, sizeof(value));
}

/* Service 0x1234 of the own port, in the default partition. */
static bool ask(struct agent *agent, uint8_t method, const char *name, uint32_t lease_s)
{
	uint8_t *mad = agent->mad;
	uint8_t *record = mad + SA_DATA;
	uint32_t lease = htobe32(lease_s);
	int length = MAD_BYTES;

	memset(agent->umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = 2;
	mad[3] = method;
	mad[15] = method;
	mad[17] = ATTRIBUTE_SERVICE_RECORD;
	/* ServiceID, GID, P_Key, lease, name. */
	put_be64(mad + COMPONENT_MASK, method == METHOD_SET ? 0x57 : 0x43);
	put_be64(record, 0x1234);
	put_be64(record + RECORD_GID, be64toh(agent->own.gid_prefix));
	put_be64(record + RECORD_GID + 8, be64toh(agent->own.port_guid));
	record[RECORD_PKEY] = record[RECORD_PKEY + 1] = 0xff;
	memcpy(record + RECORD_LEASE, &lease, sizeof(lease));
	snprintf((char *)record + RECORD_NAME, NAME_BYTES, "%s", name);
	umad_set_addr(agent->umad, (int)agent->own.sm_lid, 1, (int)agent->own.sm_sl, QKEY_GSI);
	if (umad_send(agent->port, agent->id, agent->umad, MAD_BYTES, TIMEOUT_MS, 3) != 0 ||
	    umad_recv(agent->port, agent->umad, &length, 4 * TIMEOUT_MS) != agent->id)
		return false;
	return umad_status(agent->umad) == 0 && agent->mad[4] == 0 && agent->mad[5] == 0;
}

int main(int argument_count, char **arguments)
{
	uint32_t lease_s = argument_count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 0;
	struct agent agent;

	if (argument_count < 2 || !open_agent(&agent) ||
	    !ask(&agent, METHOD_SET, arguments[1], lease_s ? lease_s : UINT32_MAX)) {
		printf("not registered\n");
		return 1;
	}
	printf("registered\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return lease_s || ask(&agent, METHOD_DELETE, arguments[1], 0) ? 0 : 2;
}
