/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter with two ports, a switch with four, a router with two, and a sender of MADs to them.
 */
#include "agent_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct agent_fixture fixture;

static void port_changed(void *context, struct port *port)
{
	(void)context;
	fixture.port_changed_count++;
	fixture.reregister_count += port->info.client_reregister;
	port->info.client_reregister = 0;
}

static void paths_changed(void *context)
{
	(void)context;
	fixture.paths_changed_count++;
}

static void set_link(void *context, struct port *port, enum physical_state physical)
{
	(void)context;
	fixture.link_set = port;
	fixture.link_set_to = physical;
}

static void refresh_counters(void *context, struct node *node)
{
	(void)context;
	(void)node;
	fixture.refresh_count++;
}

int fixture_setup(void **state)
{
	(void)state;
	fixture = (struct agent_fixture){.arrival = 1};
	agent_memory_init(&fixture.memory);
	fixture.environment = (struct agent_environment){
		.port_changed = port_changed,
		.paths_changed = paths_changed,
		.set_link = set_link,
		.refresh_counters = refresh_counters,
		.memory = &fixture.memory,
	};
	assert_int_equal(node_init(&fixture.adapter, NODE_CA, 2, 0x100, "adapter"), 0);
	assert_int_equal(node_init(&fixture.router, NODE_ROUTER, 2, 0x300, "router"), 0);
	return node_init(&fixture.hub, NODE_SWITCH, 4, 0x200, "hub");
}

int fixture_teardown(void **state)
{
	(void)state;
	agent_memory_release(&fixture.memory);
	node_release(&fixture.adapter);
	node_release(&fixture.hub);
	node_release(&fixture.router);
	return 0;
}

int fixture_ask(struct node *node, enum mad_method method, uint16_t attribute_id, uint32_t modifier,
		const uint8_t *data)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SUBNET_LID,
		.class_version = SMP_CLASS_VERSION,
		.method = (uint8_t)method,
		.transaction_id = 0x1234,
		.attribute_id = attribute_id,
		.attribute_modifier = modifier,
	};
	struct mad_message request = {.address = {.lid = 9}};

	smp_start(&header, request.bytes);
	smp_set_mkey(fixture.mkey, request.bytes);
	if (data)
		memcpy(smp_data(request.bytes), data, SMP_DATA_BYTES);
	fixture.verdict = sma_receive(&fixture.environment, node, fixture.arrival, fixture.now,
				      &request, &fixture.answer);
	if (fixture.verdict != AGENT_ANSWERED)
		return -1;
	assert_int_equal(fixture.answer.bytes[3] & MAD_RESPONSE, MAD_RESPONSE);
	assert_int_equal(get_be64(fixture.answer.bytes + 8), 0x1234);
	assert_int_equal(fixture.answer.address.lid, 9);
	return get_be16(fixture.answer.bytes + 4);
}

uint8_t *fixture_data(void)
{
	return smp_data(fixture.answer.bytes);
}

struct port_info fixture_port_info(struct node *node, uint32_t modifier)
{
	struct port_info info;

	assert_int_equal(fixture_ask(node, MAD_GET, ATTRIBUTE_PORT_INFO, modifier, NULL),
			 MAD_STATUS_OK);
	port_info_decode(fixture_data(), &info);
	return info;
}

int fixture_set_port_info(struct node *node, uint32_t modifier, const struct port_info *info)
{
	uint8_t data[SMP_DATA_BYTES];

	port_info_encode(info, data);
	return fixture_ask(node, MAD_SET, ATTRIBUTE_PORT_INFO, modifier, data);
}

struct port_info fixture_unchanged_port_info(struct node *node, uint32_t modifier)
{
	struct port_info info = fixture_port_info(node, modifier);

	info.port_state = 0;
	info.physical_state = 0;
	info.link_down_default_state = 0;
	info.link_width_enabled = 0;
	info.link_speed_enabled = 0;
	info.link_speed_ext_enabled = 0;
	return info;
}
