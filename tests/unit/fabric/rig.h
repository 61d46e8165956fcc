/* SPDX-License-Identifier: Apache-2.0 */
/* A star of hosts without a manager: LIDs, routes and states are written by hand, and arriving
 * frames are kept. */
#ifndef SOFTIB_TESTS_UNIT_FABRIC_RIG_H
#define SOFTIB_TESTS_UNIT_FABRIC_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "fabric/fabric.h"
#include "fabric/topology/topology.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	RIG_FRAMES_MAX = 4096,
	RIG_SWITCH_LID = 100,
};

struct rig {
	struct fabric fabric;
	struct node *switch_node;
	struct port *delivered_at[RIG_FRAMES_MAX];
	struct frame *delivered[RIG_FRAMES_MAX];
	unsigned delivered_count;
	unsigned room; /* frames that the endpoints still take */
	unsigned port_changes, path_changes, gone_count;
	enum drop_reason gone_reason;
};

static inline bool rig_deliver(void *context, struct port *port, struct frame *frame)
{
	struct rig *rig = context;

	if (rig->room == 0)
		return false;
	rig->room--;
	assert_true(rig->delivered_count < RIG_FRAMES_MAX);
	rig->delivered_at[rig->delivered_count] = port;
	rig->delivered[rig->delivered_count++] = frame;
	return true;
}

static inline void rig_port_changed(void *context, struct port *port)
{
	(void)port;
	((struct rig *)context)->port_changes++;
}

static inline void rig_paths_changed(void *context)
{
	((struct rig *)context)->path_changes++;
}

static inline void rig_gone(void *context, struct frame *frame, enum drop_reason reason)
{
	(void)frame;
	((struct rig *)context)->gone_count++;
	((struct rig *)context)->gone_reason = reason;
}

/* Host n (from 1) has LID n and is connected to port n of the switch. */
static inline struct port *rig_host(struct rig *rig, unsigned number)
{
	return rig->switch_node->ports[number].peer;
}

static inline void rig_init(struct rig *rig)
{
	const struct fabric_owner owner = {
		.deliver = rig_deliver,
		.port_changed = rig_port_changed,
		.paths_changed = rig_paths_changed,
		.gone = rig_gone,
		.context = rig,
	};

	memset(rig, 0, sizeof(*rig));
	rig->room = RIG_FRAMES_MAX;
	assert_int_equal(fabric_init(&rig->fabric, &owner), 0);
}

/* Links are up, and nothing is configured. */
static inline void rig_star_bare(struct rig *rig, const char *generator)
{
	struct topology_error error;

	rig_init(rig);
	assert_int_equal(topology_generate(&rig->fabric, generator, &error), 0);
	rig->switch_node = rig->fabric.by_index[0];
}

static inline void rig_star(struct rig *rig, const char *generator)
{
	rig_star_bare(rig, generator);

	struct node *node = rig->switch_node;

	node->ports[0].info.lid = RIG_SWITCH_LID;
	node->switch_info.linear_fdb_top = RIG_SWITCH_LID;
	node->lft[RIG_SWITCH_LID] = 0;
	for (unsigned number = 1; number <= node->port_count; number++) {
		node->lft[number] = (uint8_t)number;
		node->ports[number].info.port_state = PORT_ACTIVE;
		rig_host(rig, number)->info.port_state = PORT_ACTIVE;
		rig_host(rig, number)->info.lid = (uint16_t)number;
		rig_host(rig, number)->info.master_sm_lid = 1;
		node->ports[0].info.master_sm_lid = 1;
	}
}

static inline void rig_release(struct rig *rig)
{
	fabric_release(&rig->fabric);
}

/* Runs until nothing moves. */
static inline void rig_run(struct rig *rig, time_ns now)
{
	for (unsigned i = 0; fabric_step(&rig->fabric, now, 1000); i++)
		assert_true(i < 1000);
}

/* An RC packet with payload_bytes zeros, from LID to LID. */
static inline struct frame *rig_data_frame(struct rig *rig, uint16_t slid, uint16_t dlid,
					   uint32_t payload_bytes)
{
	static uint8_t payload[MTU_BYTES_MAX];
	struct frame *frame = frame_take(&rig->fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = dlid, .slid = slid},
		.bth = {.opcode = TRANSPORT_RC | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = 17},
		.packet_count = 1,
	};

	assert_non_null(frame);
	packet_set_payload(&packet, payload, payload_bytes);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source_qpn = 17; /* a connection of two queue pairs with one number */
	return frame;
}

/* A MAD of 256 bytes to the QP on the VL given. */
static inline struct frame *rig_mad_frame(struct rig *rig, uint8_t vl, uint16_t slid, uint16_t dlid,
					  uint32_t qpn, const uint8_t mad[static MAD_BYTES])
{
	struct frame *frame = frame_take(&rig->fabric.frames);
	uint8_t copy[MAD_BYTES];
	struct packet packet = {
		.lrh = {.dlid = dlid, .slid = slid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = qpn},
		.deth = {.qkey = qpn ? QKEY_GSI : 0, .source_qpn = qpn},
		.packet_count = 1,
	};

	assert_non_null(frame);
	memcpy(copy, mad, MAD_BYTES);
	packet_set_payload(&packet, copy, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->bytes[0] = (uint8_t)(vl << 4);
	return frame;
}

#endif
