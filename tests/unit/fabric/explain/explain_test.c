/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explanations of a packet's path: every drop reason that tables can cause, and a multicast tree,
 * compared with a golden file. With SOFTIB_WRITE_GOLDEN set, the file is written anew.
 * Covers: fabric/explain/explain_reason.c
 */
#include "unit/fabric/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "fabric/explain/explain.h"
#include "fabric/routers.h"
#include "fabric/topology/subnets.h"

enum { TEXT_BYTES = 16384 };

static struct rig rig;
static char text[TEXT_BYTES];
static size_t length;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	length += (size_t)vsnprintf(text + length, sizeof(text) - length, format, arguments);
	va_end(arguments);
	assert_true(length < sizeof(text));
}

static void write_step(void *context, const struct explain_step *step)
{
	(void)context;
	add("%*s%s:%u  ", 2 + 2 * (int)step->depth, "", step->port->node->name, step->port->number);
	if (step->reason != DROP_NONE)
		add("dropped, %s: ", drop_reason_name(step->reason));
	add("%s%s\n", step->text, step->is_end ? "." : "");
}

static void tell(const char *title, struct port *source, struct explain_packet packet)
{
	const struct explain_listener listener = {.step = write_step};

	add("%s: LID %u, SL %u, P_Key 0x%04x\n", title, packet.dlid, packet.sl, packet.pkey);
	add("  delivered %u times\n\n", explain(&rig.fabric, source, &packet, &listener));
}

/* Two switches: hosts 1 and 2 at the first, 3 and 4 at the second. */
static struct node *switches[2];
static struct port *hosts[5];

static void set_up_switch(struct node *node, uint16_t lid)
{
	node->ports[0].info.lid = lid;
	node->switch_info.linear_fdb_top = 20;
	node->switch_info.multicast_fdb_cap = MFT_ENTRIES;
	node->lft[lid] = 0;
}

static void set_active(struct port *port)
{
	/* As a manager sets them. */
	for (unsigned row = 0; row < port->sl_to_vl_row_count; row++)
		for (uint8_t sl = 0; sl < SL_COUNT; sl++)
			port->sl_to_vl[row][sl] = sl % 8;
	port->info.port_state = PORT_ACTIVE;
}

static void build(void)
{
	struct node *node;

	rig_init(&rig);
	for (unsigned index = 0; index < 2; index++) {
		char name[8];

		snprintf(name, sizeof(name), "s%u", index + 1);
		assert_int_equal(fabric_add_node(&rig.fabric, NODE_SWITCH, 4, 100 + index, name,
						 name, &switches[index]),
				 0);
		set_up_switch(switches[index], (uint16_t)(10 + index));
	}
	for (unsigned number = 1; number <= 4; number++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", number);
		assert_int_equal(
			fabric_add_node(&rig.fabric, NODE_CA, 1, number, name, name, &node), 0);
		hosts[number] = &node->ports[1];
		assert_int_equal(fabric_connect(&rig.fabric, hosts[number],
						&switches[(number - 1) / 2]->ports[2 - number % 2]),
				 0);
		hosts[number]->info.lid = (uint16_t)number;
		set_active(hosts[number]);
		set_active(hosts[number]->peer);
		for (unsigned index = 0; index < 2; index++)
			switches[index]->lft[number] =
				(number - 1) / 2 == index ? (uint8_t)(2 - number % 2) : 3;
	}
	assert_int_equal(
		fabric_connect(&rig.fabric, &switches[0]->ports[3], &switches[1]->ports[3]), 0);
	set_active(&switches[0]->ports[3]);
	set_active(&switches[1]->ports[3]);
	switches[0]->lft[11] = 3;
	switches[1]->lft[10] = 3;
	/* A group with h1, h2 and h4 in it. */
	switches[0]->mft[1][0] = 1 << 1 | 1 << 2 | 1 << 3;
	switches[1]->mft[1][0] = 1 << 2 | 1 << 3;
}

static void tell_unicast(void)
{
	tell("to a host beside it", hosts[1], (struct explain_packet){2, 0, PKEY_DEFAULT_FULL});
	tell("to a host behind two switches", hosts[1],
	     (struct explain_packet){4, 3, PKEY_DEFAULT_FULL});
	tell("to itself", hosts[1], (struct explain_packet){1, 0, PKEY_DEFAULT_FULL});
	tell("to a switch", hosts[1], (struct explain_packet){11, 0, PKEY_DEFAULT_FULL});
	tell("to a LID above the top", hosts[1], (struct explain_packet){50, 0, PKEY_DEFAULT_FULL});
	tell("to a LID without an entry", hosts[1],
	     (struct explain_packet){15, 0, PKEY_DEFAULT_FULL});
	tell("in a partition that it is not in", hosts[1], (struct explain_packet){2, 0, 0x8001});
}

static void tell_drops(void)
{
	switches[0]->lft[16] = 3;
	switches[1]->lft[16] = 3;
	tell("where two switches disagree", hosts[1],
	     (struct explain_packet){16, 0, PKEY_DEFAULT_FULL});
	switches[1]->lft[17] = 1;
	switches[0]->lft[17] = 3;
	tell("to a port with another LID", hosts[1],
	     (struct explain_packet){17, 0, PKEY_DEFAULT_FULL});
	switches[1]->ports[2].info.port_state = PORT_INIT;
	tell("to a port that is not active", hosts[1],
	     (struct explain_packet){4, 0, PKEY_DEFAULT_FULL});
	set_active(&switches[1]->ports[2]);
	switches[1]->ports[2].info.neighbor_mtu = MTU_1024;
	tell("with more than a link takes", hosts[1],
	     (struct explain_packet){.dlid = 4, .pkey = PKEY_DEFAULT_FULL, .payload_bytes = 1025});
	tell("to a group with more than a link takes", hosts[1],
	     (struct explain_packet){
		     .dlid = 0xc001, .pkey = PKEY_DEFAULT_FULL, .payload_bytes = 1025});
	switches[1]->ports[2].info.neighbor_mtu = MTU_4096;
	hosts[1]->sl_to_vl[0][7] = VL_MANAGEMENT;
	tell("at an SL without a lane", hosts[1], (struct explain_packet){2, 7, PKEY_DEFAULT_FULL});
	switches[1]->ports[2].sl_to_vl[3][5] = VL_MANAGEMENT;
	tell("at an SL without a lane further on", hosts[1],
	     (struct explain_packet){4, 5, PKEY_DEFAULT_FULL});
	hosts[1]->pkeys[0] = 0x8001;
	switches[0]->ports[1].info.partition_enforcement_inbound = 1;
	tell("by a port that enforces partitions", hosts[1], (struct explain_packet){2, 0, 0x8001});
	switches[0]->ports[1].info.partition_enforcement_inbound = 0;
	tell("to a host in another partition", hosts[1], (struct explain_packet){2, 0, 0x8001});
	hosts[1]->pkeys[0] = PKEY_DEFAULT_FULL;
	hosts[1]->info.port_state = PORT_DOWN;
	tell("from a port that is down", hosts[1],
	     (struct explain_packet){2, 0, PKEY_DEFAULT_FULL});
	set_active(hosts[1]);
}

static void tell_multicast(void)
{
	tell("to a group", hosts[1], (struct explain_packet){0xc001, 0, PKEY_DEFAULT_FULL});
	tell("to a group from a host that is not in it", hosts[3],
	     (struct explain_packet){0xc001, 0, PKEY_DEFAULT_FULL});
	tell("to a group without members", hosts[1],
	     (struct explain_packet){0xc002, 0, PKEY_DEFAULT_FULL});
	hosts[4]->pkeys[0] = 0x8001;
	tell("to a group with a member in another partition", hosts[1],
	     (struct explain_packet){0xc001, 0, PKEY_DEFAULT_FULL});
}

/* Two subnets of two hosts and a router, tables by hand. */
static void build_routed(void)
{
	struct topology_error error;
	unsigned subnet = 0;

	rig_init(&rig);
	assert_int_equal(topology_generate(&rig.fabric, "routed:2x2", &error), 0);
	for (uint32_t index = 0; index < rig.fabric.node_count; index++) {
		struct node *node = rig.fabric.by_index[index];

		if (!node_is_switch(node))
			continue;
		set_up_switch(node, 10);
		for (unsigned number = 1; number <= 3; number++) {
			struct port *port = node->ports[number].peer;

			node->lft[number] = (uint8_t)number;
			set_active(&node->ports[number]);
			set_active(port);
			port->info.lid = (uint16_t)number;
			port->info.gid_prefix = SUBNET_PREFIX(subnet);
			if (node_is_adapter(port->node))
				hosts[2 * subnet + number] = port;
		}
		/* A group with both hosts and the router in it. */
		node->mft[subnet][0] = 1 << 1 | 1 << 2 | 1 << 3;
		subnet++;
	}
	routers_note_change(&rig.fabric);
}

static void tell_routed(void)
{
	struct gid mgid = {.bytes = {0xff, 0x1e, 0xa0, 0x1b, [15] = 7}};
	struct node *router = rig.fabric.routers.nodes[0];
	struct explain_packet packet = {
		.pkey = PKEY_DEFAULT_FULL, .has_grh = true, .hop_limit = 64};

	packet.dgid = gid_from(SUBNET_PREFIX(1), hosts[4]->guid);
	tell("to a host of another subnet", hosts[1], packet);
	packet.hop_limit = 1;
	tell("with no hop left", hosts[1], packet);
	packet.hop_limit = 64;
	packet.dgid = gid_from(SUBNET_PREFIX(1), 0x999);
	tell("to a GUID that nobody has", hosts[1], packet);
	packet.dgid = gid_from(SUBNET_PREFIX(7), hosts[4]->guid);
	tell("to a prefix that nobody has", hosts[1], packet);
	packet.dgid = gid_from(SUBNET_PREFIX(1), hosts[4]->guid);
	router->ports[2].sl_to_vl[0][0] = VL_MANAGEMENT;
	tell("at an SL without a lane behind the router", hosts[1], packet);
	router->ports[2].sl_to_vl[0][0] = 0;

	packet.payload_bytes = 4096;
	router->ports[2].info.neighbor_mtu = MTU_2048;
	tell("with more than the link behind the router takes", hosts[1], packet);
	packet.payload_bytes = 0;

	packet.dgid = mgid;
	packet.dlid = 0xc000;
	tell("to a group that the router has not joined", hosts[1], packet);
	assert_int_equal(routers_set_group(&rig.fabric, &router->ports[1], &mgid, 0xc000), 0);
	assert_int_equal(routers_set_group(&rig.fabric, &router->ports[2], &mgid, 0xc001), 0);
	tell("to a group in two subnets", hosts[1], packet);
	packet.hop_limit = 1;
	tell("to it with no hop left", hosts[1], packet);
}

static void test_the_story_is_the_golden_one(void **state)
{
	static char golden[TEXT_BYTES];
	const char *path = GOLDEN "/explain.txt";

	(void)state;
	build();
	tell_unicast();
	tell_drops();
	tell_multicast();
	rig_release(&rig);
	build_routed();
	tell_routed();
	if (getenv("SOFTIB_WRITE_GOLDEN")) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		assert_int_equal(fwrite(text, 1, length, file), length);
		assert_int_equal(fclose(file), 0);
	}

	FILE *file = fopen(path, "r");

	assert_non_null(file);
	golden[fread(golden, 1, sizeof(golden) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, golden);
	rig_release(&rig);
}

static void count_step(void *context, const struct explain_step *step)
{
	(void)step;
	++*(unsigned *)context;
}

/* Multicast tables that form a loop of full switches must not take forever. */
static void test_a_circle_of_groups_ends(void **state)
{
	unsigned steps = 0;
	const struct explain_listener listener = {.step = count_step, .context = &steps};
	struct topology_error error;

	(void)state;
	rig_init(&rig);
	assert_int_equal(topology_generate(&rig.fabric, "mesh:3x3", &error), 0);

	struct port *source = NULL;

	for (uint32_t index = 0; index < rig.fabric.node_count; index++) {
		struct node *node = rig.fabric.by_index[index];

		for (unsigned number = 1; number <= node->port_count; number++)
			if (node->ports[number].peer)
				set_active(&node->ports[number]);
		if (node_is_switch(node)) {
			node->switch_info.multicast_fdb_cap = MFT_ENTRIES;
			memset(node->mft[1], 0xff, sizeof(node->mft[1]));
		} else if (!source) {
			source = &node->ports[1];
		}
	}
	assert_non_null(source);
	explain(&rig.fabric, source, &(struct explain_packet){0xc001, 0, PKEY_DEFAULT_FULL},
		&listener);
	assert_in_range(steps, 100, EXPLAIN_STEPS_MAX);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_story_is_the_golden_one),
		cmocka_unit_test(test_a_circle_of_groups_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
