/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: baseboard management from all sides. Commands of any content go to a node's
 * baseboard, and MADs of any content go to a manager and to a client.
 *
 * The input is a sequence of messages: a byte that chooses the receiver, a method, an attribute, a
 * modifier, a length and as many bytes of data.
 */
#include "fuzz/fuzz.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/baseboard.h"
#include "mgmt/baseboard/baseboard_client.h"
#include "mgmt/baseboard/baseboard_manager.h"
#include "net/node/node.h"
#include "wire/smp.h"

enum { HEAD_BYTES = 5, PORTS = 2, AGENT = 7, BATCH = 8 };

static struct node node;
static struct agent_memory memory;
static struct baseboard_manager manager;
static struct baseboard_client client;
static time_ns now;
static enum node_power power;
static uint64_t last_id; /* of what the manager or the client sent */

static void set_power(void *context, struct node *changed, enum node_power to)
{
	(void)context;
	MUST_HOLD(changed == &node);
	MUST_HOLD(to != power);
	power = to;
}

static const struct agent_environment environment = {.set_power = set_power, .memory = &memory};

static bool start(void)
{
	const struct baseboard_manager_options options = {.agent_number = AGENT,
							  .sa_agent_number = AGENT + 1,
							  .keys = {.key = 5},
							  .takes_over = true};
	const struct baseboard_manager_port place = {.lid = 1, .sm_lid = 1};
	const struct class_client_options requests = {.agent_number = AGENT,
						      .sa_agent_number = AGENT + 1};
	const struct mad_address to = {.lid = 2};

	now = 1;
	power = NODE_POWER_ON;
	agent_memory_init(&memory);
	if (node_init(&node, NODE_CA, PORTS, 0x1000, "fuzz") ||
	    baseboard_manager_init(&manager, &options) ||
	    baseboard_client_init(&client, &requests, &to, 5))
		return false;
	node.ports[1].info.port_state = PORT_ACTIVE;
	node.ports[1].info.lid = 2;
	baseboard_manager_set_port(&manager, &place);
	for (unsigned i = 0; i < BASEBOARD_REQUESTS_MAX; i++)
		baseboard_client_add_command(&client, COMMAND_READ_VPD, (uint8_t *)"\xa0\0\1\0\0",
					     VPD_HEADER_BYTES);
	return true;
}

static void stop(void)
{
	baseboard_client_release(&client);
	baseboard_manager_release(&manager);
	agent_memory_release(&memory);
	node_release(&node);
}

/* Returns how many bytes of the input were used. */
static size_t make(const uint8_t *bytes, size_t byte_count, struct mad_message *ret_message)
{
	size_t data_bytes = bytes[4];
	const struct mad_header header = {
		.base_version = 1,
		.management_class =
			bytes[0] & 0x10 ? MAD_CLASS_SUBNET_ADMINISTRATION : MAD_CLASS_BASEBOARD,
		.class_version = bytes[0] & 0x10 ? 2 : 1,
		.method = bytes[1] & 0x40 ? MAD_SEND : bytes[1],
		.transaction_id = bytes[0] & 0x20 ? last_id : bytes[2],
		.attribute_id = bytes[2] & 0x3f,
		.attribute_modifier = bytes[3] & 3,
	};

	if (data_bytes > byte_count - HEAD_BYTES)
		data_bytes = byte_count - HEAD_BYTES;
	if (data_bytes > MAD_BYTES - BASEBOARD_DATA_OFFSET)
		data_bytes = MAD_BYTES - BASEBOARD_DATA_OFFSET;
	*ret_message =
		(struct mad_message){.address = {.lid = (uint16_t)(bytes[3] >> 5), .qpn = 1}};
	mad_header_encode(&header, ret_message->bytes);
	put_be64(ret_message->bytes + CLASS_KEY_OFFSET, bytes[3] >> 2 & 7);
	memcpy(ret_message->bytes + BASEBOARD_DATA_OFFSET, bytes + HEAD_BYTES, data_bytes);
	return HEAD_BYTES + data_bytes;
}

static void ask_node(const struct mad_message *request)
{
	struct baseboard_message answered;
	struct mad_message answer;

	if (gsa_receive(&environment, &node, 1, now, request, &answer) != AGENT_ANSWERED)
		return;
	MUST_HOLD(memcmp(answer.bytes + 8, request->bytes + 8, 10) == 0);
	if (answer.bytes[MAD_METHOD_OFFSET] != MAD_SEND)
		return;
	MUST_HOLD(mad_is_baseboard_answer(answer.bytes));
	MUST_HOLD(baseboard_message_decode(answer.bytes + BASEBOARD_DATA_OFFSET, &answered));
	MUST_HOLD(answered.parameter_count >= 1);
	MUST_HOLD(baseboard_status_text(answered.parameters[0]));
	MUST_HOLD(answered.parameters[0] == BASEBOARD_OK || answered.parameter_count == 1);
}

static void run(void)
{
	struct mad_message messages[BATCH];
	struct agent_trap traps[BATCH];
	unsigned count = baseboard_manager_transmit(&manager, now, BATCH, messages);

	if (count)
		last_id = get_be64(messages[0].bytes + MAD_TRANSACTION_ID_OFFSET);
	if (baseboard_client_transmit(&client, now, BATCH, messages))
		last_id = get_be64(messages[0].bytes + MAD_TRANSACTION_ID_OFFSET);
	agent_run(&environment, now);
	(void)agent_take_traps(&memory, now, BATCH, traps);
	MUST_HOLD(manager.outbox_count <= BASEBOARD_OUTBOX_MAX);
	MUST_HOLD(client.current <= client.request_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct mad_message message;

	if (!start())
		return 0;
	while (byte_count >= HEAD_BYTES) {
		size_t used = make(bytes, byte_count, &message);

		if ((bytes[0] & 3) < 2)
			ask_node(&message);
		else if ((bytes[0] & 3) == 2)
			baseboard_manager_receive(&manager, now, &message);
		else
			baseboard_client_receive(&client, now, &message);
		now += MILLISECONDS(bytes[0]) * bytes[1];
		run();
		bytes += used;
		byte_count -= used;
	}
	stop();
	return 0;
}
