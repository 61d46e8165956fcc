/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a node's tables by name and index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/node_fields.h"

static enum node_set_result set(struct port *port, const char *name, const char *value)
{
	uint64_t maximum;

	return node_field_set(&fixture.environment, port, 0, name, value, &maximum);
}

static uint64_t entry(const struct port *port, const char *table_name, uint32_t index)
{
	const struct node_table *table = node_table_find(table_name);

	assert_non_null(table);
	assert_true(index < table->entry_count(port));
	return table->get(port, index);
}

static void test_every_table_takes_and_shows_its_entries(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[2];

	assert_int_equal(set(port, "pkeys[1]", "0x8001"), NODE_SET_OK);
	assert_int_equal(port->pkeys[1], 0x8001);
	assert_int_equal(entry(port, "pkeys", 1), 0x8001);
	assert_int_equal(set(port, "sl_to_vl[35]", "5"), NODE_SET_OK);
	assert_int_equal(port->sl_to_vl[2][3], 5);
	assert_int_equal(entry(port, "sl_to_vl", 35), 5);
	assert_int_equal(set(port, "vl_high[7]", "0x320"), NODE_SET_OK);
	assert_int_equal(port->vl_arbitration[1][7][0], 3);
	assert_int_equal(port->vl_arbitration[1][7][1], 0x20);
	assert_int_equal(entry(port, "vl_high", 7), 0x320);
	assert_int_equal(set(port, "vl_low[0]", "0x101"), NODE_SET_OK);
	assert_int_equal(entry(port, "vl_low", 0), 0x101);
	assert_int_equal(set(port, "lft[7]", "3"), NODE_SET_OK);
	assert_int_equal(fixture.hub.lft[7], 3);
	assert_int_equal(entry(port, "lft", 7), 3);
	assert_int_equal(set(port, "mft[2]", "0x30006"), NODE_SET_OK);
	assert_int_equal(fixture.hub.mft[2][0], 6);
	assert_int_equal(fixture.hub.mft[2][1], 3);
	assert_int_equal(entry(port, "mft", 2), 0x30006);
	assert_int_equal(set(&fixture.adapter.ports[1], "guids[3]", "0xabcd"), NODE_SET_OK);
	assert_int_equal(entry(&fixture.adapter.ports[1], "guids", 3), 0xabcd);
}

static void test_entries_that_do_not_exist_are_refused(void **state)
{
	(void)state;
	struct port *port = &fixture.adapter.ports[1];

	assert_int_equal(set(port, "lft[1]", "1"), NODE_SET_NO_SUCH_FIELD);
	assert_int_equal(set(port, "mft[1]", "1"), NODE_SET_NO_SUCH_FIELD);
	assert_int_equal(set(port, "sl_to_vl[16]", "1"), NODE_SET_NO_SUCH_FIELD);
	assert_int_equal(set(port, "vl_low[8]", "1"), NODE_SET_NO_SUCH_FIELD);
	assert_int_equal(set(port, "guids[8]", "1"), NODE_SET_NO_SUCH_FIELD);
	assert_int_equal(set(&fixture.hub.ports[1], "guids[1]", "1"), NODE_SET_NO_SUCH_FIELD);
	assert_int_equal(set(port, "guids[0]", "1"), NODE_SET_FIXED);
	assert_int_equal(set(port, "pkeys[0]", "0x10000"), NODE_SET_OUT_OF_RANGE);
	assert_int_equal(set(port, "sl_to_vl[0]", "16"), NODE_SET_OUT_OF_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_every_table_takes_and_shows_its_entries),
		TEST(test_entries_that_do_not_exist_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
