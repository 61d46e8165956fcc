/* SPDX-License-Identifier: Apache-2.0 */
/* A congestion control manager for the nodes of the agent fixture. */
#ifndef SOFTIB_TESTS_UNIT_MGMT_AGENTS_CONGESTION_RIG_H
#define SOFTIB_TESTS_UNIT_MGMT_AGENTS_CONGESTION_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "wire/class_port_info.h"
#include "wire/congestion.h"

enum { MANAGER_LID = 4, MANAGER_QPN = 7, DATA_BYTES = 192 };

/* Returns the status of the response; -1: no response. data may be NULL. A switch gets the request
 * by its port 0. */
static inline int congestion_ask(struct node *node, uint64_t key, uint8_t method,
				 uint16_t attribute, uint32_t modifier, const uint8_t *data)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_CONGESTION_CONTROL,
		.class_version = CONGESTION_CLASS_VERSION,
		.method = method,
		.transaction_id = 0x55,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
	};
	struct mad_message request = {.address = {.lid = MANAGER_LID, .qpn = MANAGER_QPN}};

	mad_header_encode(&header, request.bytes);
	put_be64(request.bytes + CLASS_KEY_OFFSET, key);
	if (data)
		memcpy(request.bytes + SMP_DATA_OFFSET, data, DATA_BYTES);
	fixture.verdict = gsa_receive(&fixture.environment, node, node_is_switch(node) ? 0 : 1,
				      fixture.now, &request, &fixture.answer);
	return fixture.verdict == AGENT_ANSWERED ? get_be16(fixture.answer.bytes + 4) : -1;
}

static inline const uint8_t *congestion_data(void)
{
	return fixture.answer.bytes + SMP_DATA_OFFSET;
}

#endif
