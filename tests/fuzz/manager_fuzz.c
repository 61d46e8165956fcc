/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as the answers that a subnet manager gets, and as unsolicited MADs. The
 * input decides for each request whether the answer is lost, refused, late, duplicated, nonsense,
 * or plausible: nodes of a few GUIDs that contradict each other and themselves.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "mgmt/mad/smp_request.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/multicast_groups.h"
#include "wire/smp.h"
#include "wire/subnet_attributes.h"

enum { OWN_GUID = 0x11, STEPS_MAX = 4000, GUIDS = 7 };

struct input {
	const uint8_t *next, *end;
};

static uint8_t take(struct input *input)
{
	return input->next < input->end ? *input->next++ : 0;
}

static void take_data(struct input *input, uint8_t *ret_data)
{
	for (unsigned i = 0; i < SMP_DATA_BYTES; i++)
		ret_data[i] = take(input);
}

static void make_node_info(struct input *input, uint8_t *ret_data)
{
	uint8_t kind = take(input);
	struct node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_guid = 0x10u + (take(input) % GUIDS) * 0x10u,
		.node_type = kind % 8 == 7 ? kind : (kind & 1) + 1u,
		.port_count = kind % 16 == 15 ? 255 : 1u + (kind >> 4),
		.partition_cap = take(input) & 63,
	};

	info.local_port_number = (uint8_t)(1 + take(input) % (info.port_count + (kind % 32 == 31)));
	info.port_guid = info.node_guid + info.local_port_number;
	node_info_encode(&info, ret_data);
}

static void make_port_info(struct input *input, uint8_t *ret_data)
{
	uint8_t bits = take(input);
	struct port_info info = {
		.port_state = bits & 7,
		.physical_state = PHYSICAL_LINK_UP,
		.lid = (uint16_t)(bits & 0x40 ? take(input) << 8 | take(input) : take(input)),
		.master_sm_lid = take(input),
		.capability_mask =
			bits & 0x20 ? CAPABILITY_IS_SM | CAPABILITY_CLIENT_REREGISTRATION : 0,
		.mtu_cap = 5,
		.vl_cap = take(input) & 7,
		.mkey = bits & 0x80,
	};

	port_info_encode(&info, ret_data);
}

static void make_switch_info(struct input *input, uint8_t *ret_data)
{
	struct switch_info info = {
		.linear_fdb_cap = 0xc000,
		.multicast_fdb_cap = (uint16_t)(take(input) << 4),
		.linear_fdb_top = take(input),
		.port_state_change = take(input) & 1,
		.partition_enforcement_cap = take(input),
	};

	switch_info_encode(&info, ret_data);
}

static void make_sm_info(struct input *input, uint8_t *ret_data)
{
	uint8_t bits = take(input);
	struct sm_info info = {.guid = 0x10u + (bits & 7) * 0x10u + 1,
			       .priority = bits >> 4,
			       .sm_state = take(input) & 7,
			       .sm_key = take(input) & 1};

	sm_info_encode(&info, ret_data);
}

static void make_plausible(struct input *input, uint16_t attribute_id, uint8_t *data)
{
	switch (attribute_id) {
	case ATTRIBUTE_NODE_INFO:
		make_node_info(input, data);
		break;
	case ATTRIBUTE_PORT_INFO:
		make_port_info(input, data);
		break;
	case ATTRIBUTE_SWITCH_INFO:
		make_switch_info(input, data);
		break;
	case ATTRIBUTE_SM_INFO:
		make_sm_info(input, data);
		break;
	case ATTRIBUTE_NODE_DESCRIPTION:
		take_data(input, data);
		break;
	default: /* a successful Set: the answer shows the written value */
		break;
	}
}

static void answer(struct sm *sm, struct input *input, const struct mad_message *request,
		   time_ns now)
{
	uint8_t choice = take(input);
	struct mad_message message;

	if (choice % 16 == 0)
		return;
	smp_answer_make(request, choice % 16 == 1 ? MAD_STATUS_BAD_FIELD : 0, &message);
	if (choice % 16 == 2)
		take_data(input, smp_data(message.bytes));
	else
		make_plausible(input, get_be16(request->bytes + 16), smp_data(message.bytes));
	if (choice % 16 == 3)
		message.bytes[10] ^= choice; /* of another transaction */
	sm_receive(sm, now, &message);
	if (choice % 16 == 4)
		sm_receive(sm, now, &message);
}

/* Traps, SMInfo and anything else. */
static void disturb(struct sm *sm, struct input *input, time_ns now)
{
	static const uint8_t methods[] = {MAD_GET, MAD_SET, MAD_TRAP, MAD_TRAP_REPRESS};
	uint8_t choice = take(input);
	struct mad_message message = {.address = {.lid = take(input)}};

	message.bytes[0] = 1;
	message.bytes[1] = choice & 1 ? MAD_CLASS_SUBNET_LID : MAD_CLASS_SUBNET_DIRECTED;
	message.bytes[2] = 1;
	message.bytes[3] = methods[choice >> 1 & 3];
	put_be16(message.bytes + 16, choice & 8 ? ATTRIBUTE_NOTICE : ATTRIBUTE_SM_INFO);
	message.bytes[7] = take(input);
	message.bytes[23] = take(input) & 7;
	if (choice & 16)
		make_sm_info(input, smp_data(message.bytes));
	else
		take_data(input, smp_data(message.bytes));
	sm_receive(sm, now, &message);
	sm_multicast_changed(sm, (uint16_t)(0xc000 + (choice >> 5)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct input input = {.next = bytes, .end = bytes + byte_count};
	const struct sm_options options = {.port_guid = OWN_GUID,
					   .port_number = 1,
					   .priority = take(&input) & 15,
					   .lmc = take(&input) & 3,
					   .sm_key = 1,
					   .sweep_interval = SECONDS(1),
					   .smps_max = 8};
	time_ns now = 0;
	struct sm *sm;

	if (sm_create(&options, &sm) != 0)
		return 0;
	for (unsigned step = 0; step < STEPS_MAX && input.next < input.end; step++) {
		struct mad_message request;
		struct sm_status status;

		if (sm_transmit(sm, now, 1, &request) != 0) {
			answer(sm, &input, &request, now);
			continue;
		}
		disturb(sm, &input, now);
		sm_status(sm, &status);
		MUST_HOLD(status.state <= SM_MASTER);
		MUST_HOLD(status.switch_count <= status.node_count);

		time_ns next = sm_deadline(sm);

		if (next != TIME_NEVER && next > now)
			now = next;
		else
			now += MILLISECONDS(1);
	}
	sm_destroy(sm);
	return 0;
}
