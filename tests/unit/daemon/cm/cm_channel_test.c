/* SPDX-License-Identifier: Apache-2.0 */
/* What the channels, ids and unread events of a process may cost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <cmocka.h>
#include "unit/daemon/cm_connector.h"
#include "wire/cm_ip_header.h"

static struct daemon *softibd;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	return 0;
}

/* It filled softibd's memory with events that it did not read: 520 MB in 9 s. */
static void test_a_program_that_reads_no_events_is_cut_off_and_costs_nothing_then(void **state)
{
	struct connector flooder = connector_open(softibd, "h1");
	struct cm_command command = {.kind = CM_WRITE_EVENT,
				     .is_posted = 1,
				     .id = flooder.id,
				     .option = CM_PROGRAM_USER};
	unsigned count = 0;

	(void)state;
	softibd->core.accounts.process_max[LIMIT_CM_EVENT_BYTES] = 100000;
	while (send(flooder.commands, &command, cm_command_bytes(&command), MSG_NOSIGNAL) > 0) {
		assert_true(++count < 100000);
		daemon_step(softibd, 0);
		assert_true(softibd->core.accounts.used[LIMIT_CM_EVENT_BYTES] <= 100000);
	}
	connector_close(&flooder);
	assert_int_equal(softibd->core.accounts.used[LIMIT_CM_EVENT_BYTES], 0);

	struct connector next = connector_open(softibd, "h1");

	connector_close(&next);
	assert_int_equal(softibd->core.accounts.by_process.count, 0);
}

/* Other processes filled what all may have. */
static void test_a_program_that_reads_its_events_goes_on_when_others_do_not(void **state)
{
	struct connector honest = connector_open(softibd, "h1");
	struct cm_command command = {
		.kind = CM_WRITE_EVENT, .is_posted = 1, .id = honest.id, .option = CM_PROGRAM_USER};
	const size_t byte_count = cm_command_bytes(&command);
	char event[4096];

	(void)state;
	softibd->core.accounts.all_max[LIMIT_CM_EVENT_BYTES] = 0;
	/* In one turn more events than a floor has room for. */
	for (unsigned count = 0; count < 100; count++)
		assert_int_equal(send(honest.commands, &command, byte_count, 0), byte_count);
	fixture_settle();
	for (unsigned count = 0; count < 100; count++)
		assert_true(recv(honest.events, event, sizeof(event), MSG_DONTWAIT) > 0);
	connector_close(&honest);
}

static void test_a_process_has_so_many_ids_and_channels(void **state)
{
	struct connector connector = connector_open(softibd, "h1");
	struct accounts *accounts = &softibd->core.accounts;
	struct cm_command command = {.kind = CM_QUERY,
				     .is_new = 1,
				     .id = CONNECTOR_ID + 1,
				     .channel = connector.channel,
				     .port_space = CM_PORT_SPACE_TCP};
	struct cm_answer answer;

	(void)state;
	accounts->process_max[LIMIT_CM_IDS] = accounts->used[LIMIT_CM_IDS];
	connector_ask(&connector, &command, &answer);
	assert_int_equal(answer.error, -EMFILE);
	accounts->process_max[LIMIT_DESCRIPTORS] = accounts->used[LIMIT_DESCRIPTORS];
	command = (struct cm_command){.kind = CM_OPEN_CHANNEL};
	assert_int_equal(connector_ask(&connector, &command, &answer), -1);
	assert_int_equal(answer.error, -EMFILE);
	assert_int_equal(connector_order(&connector, CM_QUERY), 0);
	connector_close(&connector);
	assert_int_equal(accounts->by_process.count, 0);
}

static void test_a_process_has_so_many_multicast_groups(void **state)
{
	struct connector connector = connector_open(softibd, "h1");
	struct accounts *accounts = &softibd->core.accounts;
	struct cm_command command = {
		.kind = CM_BIND,
		.id = connector.id,
		.source = {.family = CM_ADDRESS_IPV4, .bytes = {[12] = 127, 100, 0, 1}}};
	struct cm_answer answer;

	(void)state;
	connector_ask(&connector, &command, &answer);
	assert_int_equal(answer.error, 0);
	/* A group and its first member. */
	for (unsigned max = 0; max <= 2; max++) {
		accounts->process_max[LIMIT_MULTICAST] = max;
		command = (struct cm_command){
			.kind = CM_JOIN,
			.id = connector.id,
			.destination = {.family = CM_ADDRESS_IPV4, .bytes = {[12] = 239, 1, 1, 1}}};
		connector_ask(&connector, &command, &answer);
		assert_int_equal(answer.error, max < 2 ? -ENOMEM : 0);
	}
	connector_close(&connector);
	assert_int_equal(accounts->by_process.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_program_that_reads_no_events_is_cut_off_and_costs_nothing_then,
			set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_program_that_reads_its_events_goes_on_when_others_do_not, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_process_has_so_many_ids_and_channels, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_process_has_so_many_multicast_groups, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
