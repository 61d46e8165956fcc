/* SPDX-License-Identifier: Apache-2.0 */
/* What sharing an XRC domain costs, and whom.
 * Covers: daemon/xrc/xrc_domains.c daemon/xrc/xrc_targets.c daemon/xrc/xrc_leases.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static struct program a, b, neighbour; /* on h1, h2, h1 */

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start_pair("star:2", &a, &b);
	program_start(&neighbour, "h1");
	return 0;
}

static uint32_t number_of(const struct program *program, const char *name, const char *text)
{
	json_t *answer = fixture_ask(program->socket, "%s", text);
	uint32_t number = (uint32_t)json_integer_value(json_object_get(answer, name));

	json_decref(answer);
	assert_true(number > 0);
	return number;
}

static uint32_t open_domain(const struct program *program)
{
	return number_of(program, "id",
			 "{\"command\":\"domain\",\"adapter\":0,\"device\":\"0x1\","
			 "\"inode\":\"0x2\",\"opening\":1}");
}

static uint32_t make_target(const struct program *program, uint32_t domain)
{
	char text[96];

	snprintf(text, sizeof(text), "{\"command\":\"target\",\"adapter\":0,\"domain\":%u}",
		 domain);
	return number_of(program, "qpn", text);
}

static struct account *account_without_time(void)
{
	struct host *host = host_table_find(&softibd->core.hosts, "h1");
	struct client *client = container_of(list_first(&host->programs), struct client, host_link);

	client->account->time_spent = 0;
	client->account->paid_at = event_loop_clock() + SECONDS(1000);
	return client->account;
}

/* Any two connections took all direct flows from all programs, as often as they liked. */
static void test_sharing_a_domain_without_targets_revokes_no_flows(void **state)
{
	uint32_t generation = a.page->generation;

	(void)state;
	open_domain(&a);
	open_domain(&neighbour);
	assert_int_equal(a.page->generation, generation);
}

static void test_who_revokes_flows_pays_for_it(void **state)
{
	uint32_t generation = a.page->generation;
	const struct account *account = account_without_time();

	(void)state;
	make_target(&a, open_domain(&a));
	open_domain(&neighbour);
	assert_true(a.page->generation != generation);
	assert_true(account->time_spent >= MILLISECONDS(10));
}

static void test_packets_for_targets_count_for_the_process_that_they_wait_for(void **state)
{
	struct accounts *accounts = &softibd->core.accounts;
	uint64_t *drops = fixture_port("h1")->counters.drops;
	const uint32_t max = accounts->process_max[LIMIT_XRC_PACKET_BYTES];
	uint32_t qpn;

	(void)state;
	qpn = make_target(&a, open_domain(&a));
	open_domain(&neighbour);
	accounts->process_max[LIMIT_XRC_PACKET_BYTES] = 0;
	program_send(&b, a.lid, qpn, "x");
	fixture_settle();
	assert_int_equal(drops[DROP_RECEIVER_FULL], 1);
	assert_null(program_next_of(&a, RECORD_TARGET_PACKET));
	accounts->process_max[LIMIT_XRC_PACKET_BYTES] = max;
	program_send(&b, a.lid, qpn, "x");
	assert_non_null(program_next_of(&a, RECORD_TARGET_PACKET));
	assert_int_equal(accounts->used[LIMIT_XRC_PACKET_BYTES], 0);
	program_end(&a);
	program_end(&b);
	program_end(&neighbour);
	assert_int_equal(accounts->by_process.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_sharing_a_domain_without_targets_revokes_no_flows, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_who_revokes_flows_pays_for_it, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_packets_for_targets_count_for_the_process_that_they_wait_for, set_up,
			fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
