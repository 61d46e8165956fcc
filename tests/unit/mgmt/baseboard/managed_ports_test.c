/* SPDX-License-Identifier: Apache-2.0 */
/* The ports of a baseboard manager: tables of NodeRecords, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/baseboard/managed_ports.h"
#include "wire/sa_records.h"

enum { STRIDE = 112 };

static struct managed_ports ports;
static uint8_t table[8 * STRIDE];
static size_t record_count;
static uint64_t left[8];
static unsigned left_count;

static int setup(void **state)
{
	(void)state;
	managed_ports_init(&ports);
	record_count = 0;
	left_count = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	managed_ports_release(&ports);
	return 0;
}

static void add(uint16_t lid, uint64_t guid, const char *description)
{
	uint8_t *record = table + record_count++ * STRIDE;
	const struct node_info info = {.port_guid = guid};

	memset(record, 0, STRIDE);
	put_be16(record, lid);
	node_info_encode(&info, record + NODE_RECORD_INFO_OFFSET);
	memcpy(record + NODE_RECORD_DESCRIPTION_OFFSET, description,
	       strnlen(description, NODE_DESCRIPTION_BYTES));
}

static void leave(void *context, struct managed_port *port)
{
	assert_ptr_equal(context, &ports);
	left[left_count++] = port->guid;
}

static void update(void)
{
	managed_ports_update(&ports, table, record_count, STRIDE, leave, &ports);
	record_count = 0;
}

static void test_ports_come_change_lids_and_go(void **state)
{
	(void)state;
	add(1, 0x10, "one");
	add(2, 0x20, "two");
	update();
	assert_int_equal(ports.count, 2);
	assert_string_equal(managed_ports_by_lid(&ports, 2)->description, "two");
	/* They swap their LIDs. */
	add(2, 0x10, "one");
	add(1, 0x20, "two");
	update();
	assert_int_equal(managed_ports_by_lid(&ports, 2)->guid, 0x10);
	assert_int_equal(managed_ports_by_lid(&ports, 1)->guid, 0x20);
	add(1, 0x20, "two");
	update();
	assert_int_equal(left_count, 1);
	assert_int_equal(left[0], 0x10);
	assert_null(managed_ports_by_lid(&ports, 2));
}

static void test_port_with_a_request_under_way_stays(void **state)
{
	(void)state;
	add(1, 0x10, "one");
	update();
	managed_ports_by_lid(&ports, 1)->is_asked = true;
	update();
	assert_int_equal(ports.count, 1);
	managed_ports_by_lid(&ports, 1)->is_asked = false;
	update();
	assert_int_equal(ports.count, 0);
	assert_int_equal(left_count, 1);
}

static void test_bad_records_are_skipped(void **state)
{
	char description[NODE_DESCRIPTION_BYTES + 1];

	(void)state;
	memset(description, 'x', NODE_DESCRIPTION_BYTES);
	description[NODE_DESCRIPTION_BYTES] = '\0';
	add(0, 0x10, "no LID");
	add(0xc000, 0x10, "a multicast LID");
	add(1, 0, "no GUID");
	add(3, 0x30, description);
	update();
	assert_int_equal(ports.count, 1);
	assert_string_equal(managed_ports_by_lid(&ports, 3)->description, description);
	/* Records that are too short. */
	add(4, 0x40, "four");
	managed_ports_update(&ports, table, 1, NODE_RECORD_BYTES - 8, leave, &ports);
	assert_null(managed_ports_by_lid(&ports, 4));
	managed_ports_update(&ports, NULL, 0, 0, leave, &ports);
	assert_int_equal(ports.count, 0);
}

static void test_traps_are_known_by_their_ids(void **state)
{
	struct managed_port port = {0};

	(void)state;
	for (uint64_t id = 1; id <= 40; id++) {
		assert_false(managed_port_knows_trap(&port, id));
		assert_true(managed_port_knows_trap(&port, id));
	}
	assert_true(managed_port_knows_trap(&port, 40 - TRAPS_REMEMBERED + 1));
	assert_false(managed_port_knows_trap(&port, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_ports_come_change_lids_and_go),
		TEST(test_port_with_a_request_under_way_stays),
		TEST(test_bad_records_are_skipped),
		TEST(test_traps_are_known_by_their_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
