/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SNMP tunnelling as no honest proxy does it, through libibumad.
 *
 *	umad_segments LID broken     a segment without payload, and a message of which one is
 *missing umad_segments LID flood N    the first segments of N messages
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	CLASS_SNMP = 8,
	METHOD_SEND = 0x03,
	COMMUNITY_INFO = 0x10,
	PDU_INFO = 0x11,
	PAYLOAD_LENGTH = 60,
	SEGMENT_NUMBER = 61,
	DATA = 64,
	QKEY_GSI = 0x80010000,
};

static int port, agent;
static unsigned lid;

static void send_segment(uint16_t attribute, uint32_t transaction, uint8_t payload_bytes,
			 uint8_t segment)
{
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);
	uint32_t number = htobe32(transaction);

	memset(umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = CLASS_SNMP;
	mad[2] = 1;
	mad[3] = METHOD_SEND;
	memcpy(mad + 12, &number, sizeof(number));
	mad[17] = (uint8_t)attribute;
	mad[PAYLOAD_LENGTH] = payload_bytes;
	mad[SEGMENT_NUMBER] = segment;
	memset(mad + DATA, 'c', payload_bytes);
	umad_set_addr(umad, (int)lid, 1, 0, QKEY_GSI);
	if (umad_send(port, agent, umad, MAD_BYTES, 0, 0) != 0)
		exit(1);
	umad_free(umad);
}

int main(int argument_count, char **arguments)
{
	if (argument_count < 3 || umad_init() < 0)
		return 2;
	port = umad_open_port(NULL, 0);
	agent = port < 0 ? -1 : umad_register(port, CLASS_SNMP, 1, 0, NULL);
	if (agent < 0)
		return 1;
	lid = (unsigned)strtoul(arguments[1], NULL, 0);
	if (strcmp(arguments[2], "broken") == 0) {
		send_segment(PDU_INFO, 1, 0, 1);
		send_segment(COMMUNITY_INFO, 2, 6, 0);
	} else {
		unsigned long count = argument_count > 3 ? strtoul(arguments[3], NULL, 0) : 0;

		for (uint32_t i = 0; i < count; i++)
			send_segment(COMMUNITY_INFO, i + 3, 6, 0);
	}
	return 0;
}
