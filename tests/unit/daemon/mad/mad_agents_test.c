/* SPDX-License-Identifier: Apache-2.0 */
/* Agents of management programs: transactions, retries, timeouts, RMPP, as in Linux (management
 * 8.3; abi 8.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "unit/daemon/mad_program.h"
#include "wire/pkey.h"
#include "wire/rmpp.h"

enum { CLASS_TEST = 0x0a, TABLE_BYTES = 5000, LONG_TABLE_BYTES = 300000 };

static struct daemon *softibd;
static struct mad_program client, server;

static int set_up(void **state)
{
	(void)state;
	softibd = mad_programs_start("star:3");
	mad_program_open(&client, "h2");
	mad_program_open(&server, "h3");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mad_program_close(&client);
	mad_program_close(&server);
	mad_programs_stop();
	return 0;
}

static void test_an_answer_comes_back_to_its_request(void **state)
{
	uint32_t asking = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	uint32_t serving =
		mad_program_register(&server, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;

	(void)state;
	request.header.agent_id = asking;
	request.header.timeout_ms = 60000;
	put_be64(request.mad + 8, 0x1122334455667788);
	mad_program_send(&client, &request, MAD_BYTES);

	assert_true(mad_program_receive(&server, &got));
	assert_int_equal(got.header.agent_id, serving);
	assert_int_equal(got.header.status, 0);
	assert_int_equal(got.header.byte_count, MAD_PORT_SINGLE_BYTES);
	/* The upper half of the transaction id is the agent's, the lower half the program's. */
	assert_int_equal(get_be32(got.mad + 12), 0x55667788);
	assert_int_not_equal(get_be32(got.mad + 8), 0x11223344);

	mad_program_answer(&server, &got, MAD_BYTES);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.header.agent_id, asking);
	assert_int_equal(got.header.status, 0);
	assert_int_equal(get_be32(got.mad + 12), 0x55667788);

	/* The request has ended: a second answer is dropped. */
	mad_program_answer(&server, &got, MAD_BYTES);
	assert_false(mad_program_receive(&client, &got));
}

/* A program sends the response to the address that it got, which has no Q_Key. */
static void test_a_mad_without_a_qkey_has_that_of_qp1(void **state)
{
	uint32_t asking = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;

	(void)state;
	mad_program_register(&server, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	request.header.agent_id = asking;
	request.header.timeout_ms = 60000;
	request.header.address.qkey = 0;
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&server, &got));
	assert_int_equal(got.header.address.qkey, 0);
	request.header.address.qkey = 0x1234;
	put_be64(request.mad + 8, 2);
	mad_program_send(&client, &request, MAD_BYTES);
	assert_false(mad_program_receive(&server, &got));
}

/* A raw agent names its P_Key; the port sends with keys of its own table only. */
static void test_a_raw_agent_sends_in_its_own_partitions_only(void **state)
{
	static const struct {
		uint16_t pkey;
		bool arrives;
	} rows[] = {{0xffff, true}, {0x7fff, false}, {0x8001, false}, {0x8000, false}, {0, false}};
	uint32_t asking = mad_program_register(&client, CLASS_TEST, MAD_AGENT_RAW, 0);
	struct program_mad got;

	(void)state;
	mad_program_register(&server, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);

		request.header.agent_id = asking;
		request.header.pkey_index = rows[i].pkey;
		mad_program_send(&client, &request, MAD_BYTES);
		assert_int_equal(mad_program_receive(&server, &got), rows[i].arrives);
	}
}

static void test_a_request_is_repeated_and_then_reported(void **state)
{
	uint32_t asking = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;
	unsigned arrived = 0;

	(void)state;
	mad_program_register(&server, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	request.header.agent_id = asking;
	request.header.timeout_ms = 3;
	request.header.retries = 2;
	mad_program_send(&client, &request, MAD_BYTES);
	while (!mad_program_receive(&client, &got))
		;
	assert_int_equal(got.header.agent_id, asking);
	assert_int_equal(got.header.status, ETIMEDOUT);
	assert_int_equal(got.byte_count, MAD_HEADER_BYTES);
	assert_int_equal(got.mad[1], CLASS_TEST);
	while (mad_program_receive(&server, &got))
		arrived++;
	assert_int_equal(arrived, 3);
}

/* With timeout_ms 0 the agent waits for no answer. */
static void test_without_a_timeout_no_answer_is_waited_for(void **state)
{
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;

	(void)state;
	request.header.agent_id = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad_program_register(&server, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&server, &got));
	mad_program_answer(&server, &got, MAD_BYTES);
	assert_false(mad_program_receive(&client, &got));
}

static void test_a_second_request_with_the_same_id_is_refused(void **state)
{
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;

	(void)state;
	request.header.agent_id = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad_program_register(&server, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	request.header.timeout_ms = 60000;
	mad_program_send(&client, &request, MAD_BYTES);
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.header.status, EINVAL);
	/* The first request is still outstanding. */
	assert_true(mad_program_receive(&server, &got));
	mad_program_answer(&server, &got, MAD_BYTES);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.header.status, 0);
}

static void test_what_cannot_be_sent_is_reported(void **state)
{
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;

	(void)state;
	request.header.agent_id = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad_program_send(&client, &request, MAD_BYTES + 1);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.header.status, EINVAL);
	request.header.pkey_index = 9999;
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.header.status, EINVAL);
}

/* The port itself answers a class that no agent serves, as in Linux. */
static void test_a_class_that_nobody_serves_is_refused_by_the_port(void **state)
{
	struct program_mad request = mad_program_request(&server, CLASS_TEST, MAD_GET);
	struct program_mad got;

	(void)state;
	request.header.agent_id = mad_program_register(&client, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	request.header.timeout_ms = 60000;
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.header.status, 0);
	assert_int_equal(get_be16(got.mad + 4), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static uint8_t table[LONG_TABLE_BYTES];

/* One agent answers the other, whose id is returned, with a table of many segments. */
static uint32_t send_table(size_t table_bytes)
{
	uint32_t asking =
		mad_program_register(&client, MAD_CLASS_SUBNET_ADMINISTRATION, MAD_AGENT_RMPP, 0);
	struct program_mad request =
		mad_program_request(&server, MAD_CLASS_SUBNET_ADMINISTRATION, MAD_GET_TABLE);
	struct program_mad got;

	mad_program_register(&server, MAD_CLASS_SUBNET_ADMINISTRATION, MAD_AGENT_RMPP,
			     1u << MAD_GET_TABLE);
	request.header.agent_id = asking;
	request.header.timeout_ms = 60000;
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&server, &got));

	for (size_t i = 56; i < table_bytes; i++)
		table[i] = (uint8_t)(i * 13 + i / 251);
	memcpy(table, got.mad, 56);
	memcpy(got.mad, table, table_bytes);
	got.mad[RMPP_OFFSET] = RMPP_VERSION;
	got.mad[RMPP_OFFSET + 1] = RMPP_TYPE_DATA;
	got.mad[RMPP_OFFSET + 2] = RMPP_FLAG_ACTIVE;
	mad_program_answer(&server, &got, table_bytes);
	return asking;
}

/* The other gets it in one piece. */
static void exchange_table(size_t table_bytes)
{
	uint32_t asking = send_table(table_bytes);
	struct program_mad got;

	while (!mad_program_receive(&client, &got))
		;
	assert_int_equal(got.header.agent_id, asking);
	assert_int_equal(got.header.status, 0);
	assert_int_equal(got.byte_count, table_bytes);
	assert_memory_equal(got.mad + 56, table + 56, table_bytes - 56);
}

static void test_a_table_of_many_segments_arrives_in_one_piece(void **state)
{
	(void)state;
	exchange_table(TABLE_BYTES);
}

static void test_a_table_too_long_for_a_socket_arrives_too(void **state)
{
	(void)state;
	exchange_table(LONG_TABLE_BYTES);
}

/* Peers filled 64 MiB for each agent of a process, which counted nowhere. */
static void test_unfinished_messages_count_among_the_bytes_of_the_process(void **state)
{
	struct account *account = mad_file_account(client.file);
	struct program_mad got;
	uint32_t taken;

	(void)state;
	exchange_table(TABLE_BYTES);
	assert_int_equal(account->used[LIMIT_MAD_BYTES], 0);
	mad_program_close(&client);
	mad_program_close(&server);
	mad_program_open(&client, "h2");
	mad_program_open(&server, "h3");
	account = mad_file_account(client.file);
	taken = account_room(account, LIMIT_MAD_BYTES) - TABLE_BYTES / 2;
	assert_int_equal(account_take(account, LIMIT_MAD_BYTES, taken), 0);
	send_table(TABLE_BYTES);
	assert_false(mad_program_receive(&client, &got));
	account_give(account, LIMIT_MAD_BYTES, taken);
}

static void test_a_process_has_so_many_agents(void **state)
{
	const struct mad_agent_options options = {
		.management_class = CLASS_TEST, .class_version = 1, .kind = MAD_AGENT_SINGLE};
	struct accounts *accounts = &softibd->core.accounts;
	struct mad_agent_identity identity;

	(void)state;
	accounts->process_max[LIMIT_MAD_AGENTS] = 1;
	assert_int_equal(mad_file_add_agent(client.file, &options, &identity), 0);
	assert_int_equal(mad_file_add_agent(client.file, &options, &identity), -ENOMEM);
	assert_int_equal(mad_file_remove_agent(client.file, identity.id), 0);
	assert_int_equal(mad_file_add_agent(client.file, &options, &identity), 0);
}

static void test_a_program_that_joins_segments_itself_gets_each(void **state)
{
	struct program_mad request =
		mad_program_request(&server, MAD_CLASS_SUBNET_ADMINISTRATION, MAD_GET_TABLE);
	struct program_mad got;

	(void)state;
	request.header.agent_id = mad_program_register(&client, MAD_CLASS_SUBNET_ADMINISTRATION,
						       MAD_AGENT_USER_RMPP, 0);
	request.header.timeout_ms = 60000;
	mad_program_register(&server, MAD_CLASS_SUBNET_ADMINISTRATION, MAD_AGENT_USER_RMPP,
			     1u << MAD_GET_TABLE);
	mad_program_send(&client, &request, MAD_BYTES);
	assert_true(mad_program_receive(&server, &got));
	got.mad[RMPP_OFFSET] = RMPP_VERSION;
	got.mad[RMPP_OFFSET + 1] = RMPP_TYPE_DATA;
	got.mad[RMPP_OFFSET + 2] = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST;
	mad_program_answer(&server, &got, MAD_BYTES);
	got.mad[RMPP_OFFSET + 2] = RMPP_FLAG_ACTIVE | RMPP_FLAG_LAST;
	mad_program_answer(&server, &got, MAD_BYTES);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.mad[RMPP_OFFSET + 2], RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST);
	assert_true(mad_program_receive(&client, &got));
	assert_int_equal(got.mad[RMPP_OFFSET + 2], RMPP_FLAG_ACTIVE | RMPP_FLAG_LAST);
}

static void test_registrations_that_linux_refuses_are_refused(void **state)
{
	static const struct {
		struct mad_agent_options options;
		int error;
	} cases[] = {
		{{.management_class = 0x50, .class_version = 1}, -EINVAL},
		{{.management_class = CLASS_TEST, .class_version = 8}, -EINVAL},
		{{.management_class = 0x32, .class_version = 1}, -EINVAL}, /* no OUI */
		{{.management_class = 0x32, .class_version = 1, .oui = 0x1405}, 0},
		{{.management_class = CLASS_TEST, .class_version = 1, .kind = MAD_AGENT_RMPP},
		 -EINVAL},
		{{.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
		  .class_version = 2,
		  .kind = MAD_AGENT_RMPP},
		 0},
		{{.management_class = MAD_CLASS_SUBNET_DIRECTED, .class_version = 1}, 0},
		{{.management_class = 0}, 0},
	};
	struct mad_agent_identity identity;

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++)
		assert_int_equal(mad_file_add_agent(client.file, &cases[i].options, &identity),
				 cases[i].error);
}

#define AGENT_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AGENT_TEST(test_an_answer_comes_back_to_its_request),
		AGENT_TEST(test_a_mad_without_a_qkey_has_that_of_qp1),
		AGENT_TEST(test_a_raw_agent_sends_in_its_own_partitions_only),
		AGENT_TEST(test_a_request_is_repeated_and_then_reported),
		AGENT_TEST(test_without_a_timeout_no_answer_is_waited_for),
		AGENT_TEST(test_a_second_request_with_the_same_id_is_refused),
		AGENT_TEST(test_what_cannot_be_sent_is_reported),
		AGENT_TEST(test_a_class_that_nobody_serves_is_refused_by_the_port),
		AGENT_TEST(test_a_table_of_many_segments_arrives_in_one_piece),
		AGENT_TEST(test_a_table_too_long_for_a_socket_arrives_too),
		AGENT_TEST(test_unfinished_messages_count_among_the_bytes_of_the_process),
		AGENT_TEST(test_a_process_has_so_many_agents),
		AGENT_TEST(test_a_program_that_joins_segments_itself_gets_each),
		AGENT_TEST(test_registrations_that_linux_refuses_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
