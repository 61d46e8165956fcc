/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins a multicast group by a MAD of its own through libibumad, and ends without leaving.
 *
 * "umad_join MGID [MTU]" prints "joined MLID" or "refused STATUS". MTU is a code (4: 2048), of the
 * group if it has to be created.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	CLASS_SA = 3,
	METHOD_SET = 0x02,
	ATTRIBUTE_MC_MEMBER_RECORD = 0x38,
	SA_COMPONENT_MASK = 48,
	SA_DATA = 56,
	QKEY_GSI = 0x80010000,
	TIMEOUT_MS = 20000,
	SELECT_EXACTLY = 2,
};

/* Components of MCMemberRecord. */
enum {
	MGID = 1 << 0,
	PORT_GID = 1 << 1,
	QKEY = 1 << 2,
	MTU_SELECTOR = 1 << 4,
	MTU = 1 << 5,
	TCLASS = 1 << 6,
	PKEY = 1 << 7,
	RATE_SELECTOR = 1 << 8,
	RATE = 1 << 9,
	SL = 1 << 12,
	FLOW_LABEL = 1 << 13,
	JOIN_STATE = 1 << 16,
};

static void fill(uint8_t *mad, const umad_port_t *port, const struct in6_addr *mgid, unsigned mtu)
{
	uint8_t *record = mad + SA_DATA;
	uint32_t mask = htonl(MGID | PORT_GID | QKEY | MTU_SELECTOR | MTU | TCLASS | PKEY |
			      RATE_SELECTOR | RATE | SL | FLOW_LABEL | JOIN_STATE);

	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = 2;
	mad[3] = METHOD_SET;
	mad[15] = 1;
	mad[17] = ATTRIBUTE_MC_MEMBER_RECORD;
	memcpy(mad + SA_COMPONENT_MASK + 4, &mask, sizeof(mask));
	memcpy(record, mgid, 16);
	memcpy(record + 16, &port->gid_prefix, 8);
	memcpy(record + 24, &port->port_guid, 8);
	record[35] = 0x1b;
	record[38] = (uint8_t)(SELECT_EXACTLY << 6 | mtu);
	record[40] = record[41] = 0xff;
	record[42] = SELECT_EXACTLY << 6 | 3; /* 10 Gb/s */
	record[48] = 1;			      /* full member */
}

int main(int argument_count, char **arguments)
{
	unsigned mtu = argument_count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : 4;
	int length = MAD_BYTES;
	struct in6_addr mgid;
	umad_port_t port;

	if (argument_count < 2 || inet_pton(AF_INET6, arguments[1], &mgid) != 1 ||
	    umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return 2;

	int opened = umad_open_port(NULL, 0);
	int agent = opened < 0 ? -1 : umad_register(opened, CLASS_SA, 2, 1, NULL);
	void *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uint8_t *mad = umad ? umad_get_mad(umad) : NULL;

	if (agent < 0 || !mad)
		return 2;
	fill(mad, &port, &mgid, mtu);
	umad_set_addr(umad, (int)port.sm_lid, 1, (int)port.sm_sl, QKEY_GSI);
	if (umad_send(opened, agent, umad, MAD_BYTES, TIMEOUT_MS, 3) != 0 ||
	    umad_recv(opened, umad, &length, -1) != agent || umad_status(umad) != 0)
		return 3;

	unsigned status = (unsigned)mad[4] << 8 | mad[5];

	if (status)
		printf("refused 0x%04x\n", status);
	else
		printf("joined 0x%02x%02x\n", mad[SA_DATA + 36], mad[SA_DATA + 37]);
	return status != 0;
}
