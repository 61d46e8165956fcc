/* SPDX-License-Identifier: Apache-2.0 */
/* Key violations at programs' queue pairs, in PortInfo and traps. */
#include "daemon/packets/key_violation_traps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/agents/traps.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start_pair("star:2", &a, &b);
	return 0;
}

static const struct key_violation usual = {
	.count = 3,
	.key = 0x11111112,
	.source_qpn = 0x123456,
	.destination_qpn = 0x654321,
	.slid = 9,
	.dlid = 8,
	.sl = 5,
	.is_qkey = 1,
	.has_source_qpn = 1,
	.has_grh = 1,
	.sgid = {{0xfe, 0x80, [15] = 1}},
	.dgid = {{0xfe, 0x80, [15] = 2}},
};

static void tell(uint16_t port, const struct key_violation *violation, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(&a.up, sizeof(*violation));

	assert_non_null(record);
	record->kind = RECORD_KEY_VIOLATION;
	record->port = port;
	record->packet_count = 0;
	record->word = 0;
	memcpy(record->body, violation, sizeof(*violation));
	record->byte_count = byte_count;
	program_show(&a, record);
}

static struct client *client_of_h1(void)
{
	list_for_each (link, &softibd->core.clients.all) {
		struct client *client = container_of(link, struct client, link);

		if (client->is_attached && strcmp(client->host->name, "h1") == 0)
			return client;
	}
	return NULL;
}

/* Checked before softibd's next turn, when its manager would repress the trap. */
static void test_qkey_violations_count_in_port_info_and_make_trap_258(void **state)
{
	struct key_violation told = usual;
	const struct ring_record record = {
		.port = 1, .byte_count = sizeof(told), .body = (uint8_t *)&told};
	struct bad_key_details details;
	struct notice notice;

	(void)state;
	assert_true(key_violation_take_record(client_of_h1(), &record));
	assert_int_equal(fixture_port("h1")->info.qkey_violations, 3);
	assert_int_equal(fixture_port("h1")->info.pkey_violations, 0);
	trap_peek(&softibd->core.fabric.agent_memory, fixture_port("h1"), &notice);
	assert_int_equal(notice.header.trap_number, TRAP_BAD_QKEY);
	bad_key_details_decode(notice.details, &details);
	assert_int_equal(details.lid1, 9);
	assert_int_equal(details.lid2, 8);
	assert_int_equal(details.key, 0x11111112);
	assert_int_equal(details.sl, 5);
	assert_int_equal(details.qp1, 0x123456);
	assert_int_equal(details.qp2, 0x654321);
	assert_int_equal(details.gid1_guid, 1);
	assert_int_equal(details.gid2_guid, 2);
}

static void test_pkey_violations_have_their_own_counter(void **state)
{
	struct key_violation violation = usual;

	(void)state;
	violation.is_qkey = 0;
	violation.count = 70000;
	tell(1, &violation, sizeof(violation));
	while (fixture_port("h1")->info.pkey_violations == 0)
		fixture_settle();
	/* The counter stays at its maximum. */
	assert_int_equal(fixture_port("h1")->info.pkey_violations, 0xffff);
	assert_int_equal(fixture_port("h1")->info.qkey_violations, 0);
}

static void test_record_of_no_port_is_the_last(void **state)
{
	(void)state;
	tell(9, &usual, sizeof(usual));
	assert_true(fixture_is_cut_off(a.socket));
}

static void test_record_of_another_length_is_the_last(void **state)
{
	(void)state;
	tell(1, &usual, sizeof(usual) - 8);
	assert_true(fixture_is_cut_off(a.socket));
}

static void test_record_of_nothing_is_the_last(void **state)
{
	struct key_violation violation = usual;

	(void)state;
	violation.count = 0;
	tell(1, &violation, sizeof(violation));
	assert_true(fixture_is_cut_off(a.socket));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_qkey_violations_count_in_port_info_and_make_trap_258),
		TEST(test_pkey_violations_have_their_own_counter),
		TEST(test_record_of_no_port_is_the_last),
		TEST(test_record_of_another_length_is_the_last),
		TEST(test_record_of_nothing_is_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
