/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: packets for QP0 and QP1 of every length and content, from a host of a small fabric
 * to its own node, the switch and another host. No frame stays inside the fabric, and none is lost.
 *
 * The input is a sequence of packets: eight bytes for the headers and the beginning of the MAD,
 * then a length and as many bytes.
 */
#include "fuzz/fuzz.h"

#include <string.h>
#include "base/bytes.h"
#include "fabric/fabric.h"
#include "fabric/topology/topology.h"
#include "wire/packet.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { HEAD_BYTES = 10, HOSTS = 3, SWITCH_LID = 100, HEADERS = LRH_BYTES + BTH_BYTES + DETH_BYTES };

static struct fabric fabric;
static unsigned delivered;

static bool deliver(void *context, struct port *port, struct frame *frame)
{
	(void)context;
	MUST_HOLD(port->kind == PORT_OF_ADAPTER);
	delivered++;
	frame_give_back(&fabric.frames, frame);
	return true;
}

static bool start(void)
{
	const struct fabric_owner owner = {.deliver = deliver};
	struct topology_error error;

	if (fabric_init(&fabric, &owner) != 0)
		return false;
	if (topology_generate(&fabric, "star:3", &error) != 0) {
		fabric_release(&fabric);
		return false;
	}

	struct node *hub = fabric.by_index[0];

	hub->ports[0].info.lid = SWITCH_LID;
	hub->ports[0].info.master_sm_lid = 1;
	hub->switch_info.linear_fdb_top = SWITCH_LID;
	hub->lft[SWITCH_LID] = 0;
	for (unsigned number = 1; number <= HOSTS; number++) {
		struct port *host = hub->ports[number].peer;

		hub->lft[number] = (uint8_t)number;
		hub->ports[number].info.port_state = PORT_ACTIVE;
		host->info.port_state = PORT_ACTIVE;
		host->info.lid = (uint16_t)number;
		host->info.master_sm_lid = 1;
	}
	return true;
}

static uint16_t lid_of(uint8_t choice)
{
	static const uint16_t lids[] = {1, 2, SWITCH_LID, LID_PERMISSIVE, 3, 0xc000, 77, 0};

	return lids[choice % ARRAY_COUNT(lids)];
}

/* A MAD with a plausible beginning and random bytes after it. */
static void make_mad(const uint8_t *bytes, const uint8_t *data, size_t data_bytes,
		     uint8_t ret_mad[static MAD_BYTES])
{
	static const uint8_t classes[] = {0x81, 0x01, 0x04, 0x05, 0x06, 0x08, 0x21, 0x03};

	memset(ret_mad, 0, MAD_BYTES);
	memcpy(ret_mad + MAD_HEADER_BYTES, data, data_bytes);
	ret_mad[0] = 1;
	ret_mad[1] = bytes[1] & 0x80 ? bytes[2] : classes[bytes[1] % ARRAY_COUNT(classes)];
	ret_mad[2] = 1;
	ret_mad[3] = bytes[3] & 0xf0 ? 1 + (bytes[3] & 1) : bytes[3];
	ret_mad[4] = bytes[2] & 0x80;
	ret_mad[6] = bytes[4] & 3;
	ret_mad[7] = bytes[4] >> 4 & 3;
	ret_mad[17] = bytes[5] & 0x3f;
	ret_mad[23] = bytes[6] & 7;
	if (ret_mad[1] != MAD_CLASS_SUBNET_DIRECTED)
		return;
	put_be16(ret_mad + SMP_DR_SLID_OFFSET, bytes[7] & 1 ? lid_of(bytes[7]) : LID_PERMISSIVE);
	put_be16(ret_mad + SMP_DR_DLID_OFFSET, bytes[7] & 2 ? lid_of(bytes[6]) : LID_PERMISSIVE);
	ret_mad[SMP_INITIAL_PATH_OFFSET + 1] = 1;
	ret_mad[SMP_INITIAL_PATH_OFFSET + 2] = 1 + bytes[8] % HOSTS;
}

static void send(const uint8_t *bytes, const uint8_t *data, size_t data_bytes, time_ns now)
{
	struct frame *frame = frame_take(&fabric.frames);
	struct port *source = fabric.by_index[0]->ports[1].peer;
	bool is_management = bytes[0] & 1;
	struct packet packet = {
		.lrh = {.vl = is_management ? 15 : 0,
			.dlid = lid_of(bytes[0] >> 1),
			.slid = bytes[0] & 0x80 ? LID_PERMISSIVE : 1},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = is_management ? 0 : 1},
		.deth = {.qkey = is_management ? 0 : QKEY_GSI, .source_qpn = is_management ? 0 : 1},
		.packet_count = 1,
	};
	uint8_t mad[MAD_BYTES];

	MUST_HOLD(frame);
	make_mad(bytes, data, data_bytes, mad);
	/* Most have the length of a MAD, the others any length. */
	packet_set_payload(&packet, mad, bytes[8] & 0xe0 ? MAD_BYTES : 4u * (bytes[9] % 64));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	if (!fabric_inject(&fabric, source, frame, now))
		frame_give_back(&fabric.frames, frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	time_ns now = 0;

	if (!start())
		return 0;
	delivered = 0;
	while (byte_count > HEAD_BYTES) {
		size_t data_bytes = bytes[9];

		if (data_bytes > byte_count - HEAD_BYTES)
			data_bytes = byte_count - HEAD_BYTES;
		if (data_bytes > MAD_BYTES - MAD_HEADER_BYTES)
			data_bytes = MAD_BYTES - MAD_HEADER_BYTES;
		send(bytes, bytes + HEAD_BYTES, data_bytes, now);
		for (unsigned step = 0; fabric_step(&fabric, now, 100); step++)
			MUST_HOLD(step < 1000);
		now += MILLISECONDS(bytes[1]);
		bytes += HEAD_BYTES + data_bytes;
		byte_count -= HEAD_BYTES + data_bytes;
	}
	/* A link that was taken down may hold frames until their lifetime is over. */
	for (unsigned i = 0; i < 100 && !fabric_is_idle(&fabric); i++) {
		now = fabric_deadline(&fabric);
		MUST_HOLD(now != TIME_NEVER);
		for (unsigned step = 0; fabric_step(&fabric, now, 100); step++)
			MUST_HOLD(step < 1000);
	}
	MUST_HOLD(fabric_is_idle(&fabric));
	fabric_release(&fabric);
	return 0;
}
