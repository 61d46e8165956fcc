/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of directed routes, one by one, and the reference's example from end to end (management
 * 2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "net/switch/directed_route.h"

static struct node adapter, switch_node;
static uint8_t smp[MAD_BYTES];

static int make_nodes(void **state)
{
	(void)state;
	assert_int_equal(node_init(&adapter, NODE_CA, 2, 1, "ca"), 0);
	assert_int_equal(node_init(&switch_node, NODE_SWITCH, 8, 2, "switch"), 0);
	switch_node.ports[0].info.lid = 20;
	adapter.ports[1].info.lid = 30;
	return 0;
}

static int free_nodes(void **state)
{
	(void)state;
	node_release(&adapter);
	node_release(&switch_node);
	return 0;
}

static void set(int is_returning, uint8_t hop_pointer, uint8_t hop_count)
{
	memset(smp, 0, sizeof(smp));
	smp[4] = is_returning ? 0x80 : 0;
	smp[6] = hop_pointer;
	smp[7] = hop_count;
	put_be16(smp + SMP_DR_SLID_OFFSET, 0xffff);
	put_be16(smp + SMP_DR_DLID_OFFSET, 0xffff);
}

static void expect(struct node *node, unsigned port, enum smp_action action, unsigned output,
		   unsigned hop_pointer)
{
	struct smp_step step = directed_route_advance(node, port, smp);

	assert_int_equal(step.action, action);
	if (action == SMP_OUT)
		assert_int_equal(step.output_port, output);
	if (action != SMP_DISCARD)
		assert_int_equal(smp[6], hop_pointer);
}

/* Requester's port 1, switch in by 4 and out by 7, target's port 2. */
static void test_example_there_and_back(void **state)
{
	(void)state;
	set(0, 0, 2);
	smp[SMP_INITIAL_PATH_OFFSET + 1] = 1;
	smp[SMP_INITIAL_PATH_OFFSET + 2] = 7;
	expect(&adapter, 1, SMP_OUT, 1, 1);
	expect(&switch_node, 4, SMP_OUT, 7, 2);
	assert_int_equal(smp[SMP_RETURN_PATH_OFFSET + 1], 4);
	expect(&adapter, 2, SMP_HERE, 0, 3);
	assert_int_equal(smp[SMP_RETURN_PATH_OFFSET + 2], 2);
	smp[4] = 0x80;
	expect(&adapter, 2, SMP_OUT, 2, 2);
	expect(&switch_node, 7, SMP_OUT, 4, 1);
	expect(&adapter, 1, SMP_HERE, 0, 0);
}

static void test_zero_hops_end_at_the_own_node_and_so_does_the_answer(void **state)
{
	(void)state;
	set(0, 0, 0);
	expect(&adapter, 1, SMP_HERE, 0, 1);
	smp[4] = 0x80;
	expect(&adapter, 1, SMP_HERE, 0, 0);
}

static void test_adapter_sends_by_its_own_port_only(void **state)
{
	(void)state;
	set(0, 0, 1);
	smp[SMP_INITIAL_PATH_OFFSET + 1] = 2;
	expect(&adapter, 1, SMP_DISCARD, 0, 0);
	set(0, 1, 2); /* rule O2 is for switches */
	smp[SMP_INITIAL_PATH_OFFSET + 2] = 1;
	expect(&adapter, 1, SMP_DISCARD, 0, 0);
	set(1, 2, 3); /* R2 too */
	smp[SMP_RETURN_PATH_OFFSET + 1] = 1;
	expect(&adapter, 1, SMP_DISCARD, 0, 0);
}

static void test_switch_discards_ports_that_it_does_not_have(void **state)
{
	static const uint8_t ports[] = {0, 9, 255};

	(void)state;
	for (unsigned i = 0; i < sizeof(ports); i++) {
		set(0, 1, 2);
		smp[SMP_INITIAL_PATH_OFFSET + 2] = ports[i];
		expect(&switch_node, 1, SMP_DISCARD, 0, 0);
		set(1, 2, 2);
		smp[SMP_RETURN_PATH_OFFSET + 1] = ports[i];
		expect(&switch_node, 1, SMP_DISCARD, 0, 0);
	}
}

static void test_last_part_by_lid_begins_at_a_switch(void **state)
{
	struct smp_step step;

	(void)state;
	set(0, 1, 1);
	put_be16(smp + SMP_DR_DLID_OFFSET, 77);
	assert_true(directed_route_ends_by_lid(smp));
	step = directed_route_advance(&switch_node, 4, smp);
	assert_int_equal(step.action, SMP_BY_LID);
	assert_int_equal(step.dlid, 77);
	assert_int_equal(smp[6], 2);
	/* It arrives with the hop pointer past the path: O4. */
	expect(&adapter, 1, SMP_HERE, 0, 2);
	set(0, 1, 1);
	put_be16(smp + SMP_DR_DLID_OFFSET, 77);
	expect(&adapter, 1, SMP_DISCARD, 0, 0);
	set(0, 1, 1);
	put_be16(smp + SMP_DR_DLID_OFFSET, 20);
	expect(&switch_node, 4, SMP_HERE, 0, 2);
}

static void test_first_part_by_lid_is_returned_by_lid(void **state)
{
	struct smp_step step;

	(void)state;
	set(1, 1, 3);
	put_be16(smp + SMP_DR_SLID_OFFSET, 30);
	step = directed_route_advance(&switch_node, 4, smp);
	assert_int_equal(step.action, SMP_BY_LID);
	assert_int_equal(step.dlid, 30);
	expect(&adapter, 1, SMP_HERE, 0, 0); /* R4 */
}

/* Every pair of hop pointer and count: nothing reads outside the paths, and pairs without a rule
 * are discarded. */
static void test_every_pointer_and_count_is_decided(void **state)
{
	(void)state;
	for (unsigned direction = 0; direction < 2; direction++) {
		for (unsigned count = 0; count < 256; count++) {
			for (unsigned pointer = 0; pointer < 256; pointer++) {
				set((int)direction, (uint8_t)pointer, (uint8_t)count);
				memset(smp + SMP_INITIAL_PATH_OFFSET, 3, 128);

				struct smp_step step = directed_route_advance(&switch_node, 5, smp);
				bool is_ruled = count <= MAD_HOPS_MAX && pointer <= count + 1;

				assert_int_equal(step.action != SMP_DISCARD, is_ruled);
			}
		}
	}
}

#define WITH_NODES(test) cmocka_unit_test_setup_teardown(test, make_nodes, free_nodes)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_NODES(test_example_there_and_back),
		WITH_NODES(test_zero_hops_end_at_the_own_node_and_so_does_the_answer),
		WITH_NODES(test_adapter_sends_by_its_own_port_only),
		WITH_NODES(test_switch_discards_ports_that_it_does_not_have),
		WITH_NODES(test_last_part_by_lid_begins_at_a_switch),
		WITH_NODES(test_first_part_by_lid_is_returned_by_lid),
		WITH_NODES(test_every_pointer_and_count_is_decided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
