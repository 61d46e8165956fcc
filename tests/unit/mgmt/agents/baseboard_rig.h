/* SPDX-License-Identifier: Apache-2.0 */
/* A baseboard manager for the nodes of the agent fixture. */
#ifndef SOFTIB_TESTS_UNIT_MGMT_AGENTS_BASEBOARD_RIG_H
#define SOFTIB_TESTS_UNIT_MGMT_AGENTS_BASEBOARD_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "wire/baseboard.h"
#include "wire/class_port_info.h"
#include "wire/notice.h"

enum { MANAGER_LID = 4, MANAGER_QPN = 1, NO_ANSWER = -1 };

static inline struct mad_message board_request(uint64_t key, uint8_t method, uint16_t attribute,
					       uint32_t modifier)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_BASEBOARD,
		.class_version = BASEBOARD_CLASS_VERSION,
		.method = method,
		.transaction_id = 0x77,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
	};
	struct mad_message request = {.address = {.lid = MANAGER_LID, .qpn = MANAGER_QPN}};

	mad_header_encode(&header, request.bytes);
	put_be64(request.bytes + CLASS_KEY_OFFSET, key);
	return request;
}

static inline bool board_deliver(struct node *node, const struct mad_message *request)
{
	fixture.verdict =
		gsa_receive(&fixture.environment, node, node_is_switch(node) ? 0 : fixture.arrival,
			    fixture.now, request, &fixture.answer);
	return fixture.verdict == AGENT_ANSWERED;
}

/* Get or Set. Returns the status of the response. */
static inline int board_ask(struct node *node, uint64_t key, uint8_t method, uint16_t attribute,
			    const uint8_t *data, size_t byte_count)
{
	struct mad_message request = board_request(key, method, attribute, 0);

	if (data)
		memcpy(request.bytes + BASEBOARD_DATA_OFFSET, data, byte_count);
	return board_deliver(node, &request) ? get_be16(fixture.answer.bytes + MAD_STATUS_OFFSET)
					     : NO_ANSWER;
}

/* A command. Returns the status byte of its answer, which is in fixture.answer. */
static inline int board_command(struct node *node, uint64_t key, uint16_t command,
				const uint8_t *parameters, uint8_t parameter_count)
{
	struct baseboard_message message = {.sequence = 0x1234,
					    .source_device = SOURCE_DEVICE_BM,
					    .parameter_count = parameter_count};
	struct mad_message request = board_request(key, MAD_SEND, command, 0);

	memcpy(message.parameters, parameters, parameter_count);
	baseboard_message_encode(&message, request.bytes + BASEBOARD_DATA_OFFSET);
	if (!board_deliver(node, &request))
		return NO_ANSWER;
	assert_true(mad_is_baseboard_answer(fixture.answer.bytes));
	assert_int_equal(get_be64(fixture.answer.bytes + MAD_TRANSACTION_ID_OFFSET), 0x77);
	assert_int_equal(get_be16(fixture.answer.bytes + BASEBOARD_DATA_OFFSET), 0x1234);
	assert_int_equal(fixture.answer.bytes[BASEBOARD_DATA_OFFSET + 2], SOURCE_DEVICE_BM);
	return fixture.answer.bytes[BASEBOARD_DATA_OFFSET + 4];
}

/* What follows the status in the last answer, and its length. */
static inline const uint8_t *board_answer(void)
{
	return fixture.answer.bytes + BASEBOARD_DATA_OFFSET + 5;
}

static inline int board_answer_bytes(void)
{
	return fixture.answer.bytes[BASEBOARD_DATA_OFFSET + 3] - 1;
}

/* The port is active and sends its traps to the manager. */
static inline void board_listen(struct port *port, uint64_t key)
{
	const struct class_port_info place = {
		.trap_lid = 6, .trap_qpn = 1, .trap_qkey = 0x80010000, .trap_sl = 3};
	uint8_t data[CLASS_PORT_INFO_BYTES];

	port->info.port_state = PORT_ACTIVE;
	port->info.lid = 2;
	class_port_info_encode(&place, data);
	assert_int_equal(
		board_ask(port->node, key, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, data, sizeof(data)),
		MAD_STATUS_OK);
}

static inline struct notice board_notice(const struct agent_trap *trap)
{
	struct notice notice;

	notice_decode(trap->message.bytes + BASEBOARD_DATA_OFFSET, &notice);
	return notice;
}

#endif
