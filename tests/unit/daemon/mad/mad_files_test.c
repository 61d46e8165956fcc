/* SPDX-License-Identifier: Apache-2.0 */
/* Open ports of management programs: what they leave behind, and limits on what they can do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/random.h"
#include "ipc/mad_socket.h"
#include "unit/daemon/mad_program.h"

enum { CLASS_TEST = 0x0a, MANY = 1000, FLOOD = 20000, NONSENSE = 3000 };

static struct daemon *softibd;
static struct mad_program a, b;
static struct program_mad mad, got;

static int set_up(void **state)
{
	(void)state;
	softibd = mad_programs_start("star:3");
	mad_program_open(&a, "h2");
	mad_program_open(&b, "h3");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mad_program_close(&a);
	mad_program_close(&b);
	assert_int_equal(softibd->mad_files.file_count, 0);
	assert_int_equal(softibd->mad_files.requests.count, 0);
	assert_int_equal(softibd->mad_files.timer_count, 0);
	mad_programs_stop();
	return 0;
}

static bool is_cut_off(const struct mad_program *program)
{
	char byte;

	fixture_settle();
	return recv(program->port, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Reads and drops the answers. */
static bool ends_after_its_answers(const struct mad_program *program)
{
	ssize_t byte_count;
	char byte;

	fixture_settle();
	do {
		byte_count = recv(program->port, &byte, 1, MSG_DONTWAIT);
	} while (byte_count > 0);
	return byte_count == 0 || errno == ECONNRESET;
}

static void check_that_the_other_works(void)
{
	mad = mad_program_request(&b, CLASS_TEST, MAD_GET);
	mad.header.agent_id = mad_program_register(&b, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad.header.timeout_ms = 60000;
	mad_program_send(&b, &mad, MAD_BYTES);
	assert_true(mad_program_receive(&b, &got));
}

static void test_a_program_that_goes_leaves_nothing(void **state)
{
	uint32_t clients_before = softibd->mads.clients.count;

	(void)state;
	mad = mad_program_request(&b, CLASS_TEST, MAD_SEND);
	mad.header.agent_id = mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
	mad.header.timeout_ms = 60000;
	mad_program_send(&a, &mad, MAD_BYTES);
	assert_int_equal(softibd->mad_files.requests.count, 1);
	mad_program_close(&a);
	assert_int_equal(softibd->mad_files.requests.count, 0);
	assert_int_equal(softibd->mads.clients.count, clients_before);
	assert_int_equal(softibd->mad_files.file_count, 1);
	/* Another program may register for its class now. */
	mad_program_open(&a, "h2");
	mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 1u << MAD_GET);
}

static void test_a_message_that_is_no_mad_ends_its_port_only(void **state)
{
	uint8_t bytes[MAD_PORT_SINGLE_BYTES] = {0};

	(void)state;
	assert_int_equal(mad_socket_send(a.port, bytes, MAD_PORT_HEADER_BYTES + 35), 0);
	assert_true(is_cut_off(&a));
	check_that_the_other_works();
}

static void test_less_than_a_header_ends_its_port_only(void **state)
{
	(void)state;
	assert_int_equal(send(a.port, "x", 1, 0), 1);
	assert_true(is_cut_off(&a));
	check_that_the_other_works();
}

/* softibd has as many descriptors as it may have, and a long message comes in a file. */
static void test_a_long_message_that_softibd_cannot_take_is_reported(void **state)
{
	static uint8_t bytes[PROGRAM_MAD_BYTES_MAX];
	struct rlimit before, full;
	int next;

	(void)state;
	mad = mad_program_request(&b, CLASS_TEST, MAD_SEND);
	mad.header.agent_id = mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad_port_header_encode(&mad.header, bytes);
	memcpy(bytes + MAD_PORT_HEADER_BYTES, mad.mad, MAD_BYTES);
	assert_int_equal(mad_socket_send(a.port, bytes, sizeof(bytes)), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	next = dup(a.port);
	close(next);
	full = before;
	full.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	fixture_settle();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(mad_program_receive(&a, &got));
	assert_int_equal(got.header.status, EMFILE);
	/* The port is open. */
	mad_program_register(&a, CLASS_TEST + 1, MAD_AGENT_SINGLE, 0);
	check_that_the_other_works();
}

/* Random lengths, agents and fields: a valid message is sent or refused, an invalid one ends that
 * port, and the next one is opened. */
static void test_random_messages_harm_nobody_else(void **state)
{
	struct random random = random_seeded(20261115);
	static uint8_t bytes[4096];
	unsigned cut_off = 0;

	(void)state;
	mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	for (unsigned count = 0; count < NONSENSE; count++) {
		size_t byte_count = random_below(&random, 700) + 1;

		for (size_t i = 0; i < byte_count; i++)
			bytes[i] = (uint8_t)random_next(&random);
		/* Most are for an existing agent, some are RMPP, few have long timeouts. */
		memset(bytes, 0, 16);
		bytes[0] = (uint8_t)random_below(&random, 4);
		bytes[8] = (uint8_t)random_below(&random, 3);
		if (random_below(&random, 2))
			bytes[MAD_PORT_HEADER_BYTES + 1] = MAD_CLASS_SUBNET_ADMINISTRATION;
		(void)!send(a.port, bytes, byte_count, MSG_DONTWAIT);
		if (count % 16)
			continue;
		if (!ends_after_its_answers(&a))
			continue;
		cut_off++;
		mad_program_close(&a);
		mad_program_open(&a, "h2");
		mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 0);
		mad_program_register(&a, MAD_CLASS_SUBNET_ADMINISTRATION, MAD_AGENT_RMPP, 0);
		mad_program_register(&a, MAD_CLASS_SUBNET_DIRECTED, MAD_AGENT_RAW, 0);
	}
	assert_true(cut_off > 0);
	check_that_the_other_works();
}

static void test_a_message_for_no_agent_is_forgotten(void **state)
{
	(void)state;
	mad = mad_program_request(&b, CLASS_TEST, MAD_GET);
	mad.header.agent_id = 5;
	mad_program_send(&a, &mad, MAD_BYTES);
	mad.header.agent_id = UINT32_MAX;
	mad_program_send(&a, &mad, MAD_BYTES);
	assert_false(is_cut_off(&a));
}

static void test_an_open_port_has_32_agents_at_most(void **state)
{
	const struct mad_agent_options options = {.management_class = CLASS_TEST,
						  .class_version = 1};
	struct mad_agent_identity identity;

	(void)state;
	for (unsigned id = 0; id < MAD_PORT_AGENTS_MAX; id++) {
		assert_int_equal(mad_file_add_agent(a.file, &options, &identity), 0);
		assert_int_equal(identity.id, id);
	}
	assert_int_equal(mad_file_add_agent(a.file, &options, &identity), -ENOMEM);
	assert_int_equal(mad_file_remove_agent(a.file, 7), 0);
	assert_int_equal(mad_file_remove_agent(a.file, 7), -EINVAL);
	assert_int_equal(mad_file_add_agent(a.file, &options, &identity), 0);
	assert_int_equal(identity.id, 7);
}

/* The program sends as fast as the socket takes messages, and none is answered. */
static void test_a_program_that_floods_is_read_no_faster_than_it_may(void **state)
{
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];
	unsigned sent = 0;

	(void)state;
	mad = mad_program_request(&b, CLASS_TEST, MAD_GET);
	mad.header.agent_id = mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad.header.timeout_ms = 60000;
	/* One-way MADs, so that none is answered. */
	mad.mad[3] = MAD_SEND;
	for (unsigned count = 0; count < FLOOD; count++) {
		memcpy(mad.mad + 12, &count, sizeof(count));
		mad_port_header_encode(&mad.header, bytes);
		memcpy(bytes + MAD_PORT_HEADER_BYTES, mad.mad, MAD_BYTES);
		if (mad_socket_send(a.port, bytes, sizeof(bytes)) == 0)
			sent++;
		if (count % 64 == 0)
			daemon_step(softibd, 0);
	}
	fixture_settle();
	assert_true(sent < FLOOD);
	assert_true(softibd->mad_files.requests.count <= 4096 + 64);
	check_that_the_other_works();
}

/* The program's requests are answered, and it does not read the answers. */
static void test_a_program_that_does_not_read_costs_no_more_than_its_share(void **state)
{
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];

	(void)state;
	mad = mad_program_request(&b, CLASS_TEST, MAD_GET);
	mad.header.agent_id = mad_program_register(&a, CLASS_TEST, MAD_AGENT_SINGLE, 0);
	mad.header.timeout_ms = 60000;
	for (unsigned count = 0; count < FLOOD; count++) {
		memcpy(mad.mad + 12, &count, sizeof(count));
		mad_port_header_encode(&mad.header, bytes);
		memcpy(bytes + MAD_PORT_HEADER_BYTES, mad.mad, MAD_BYTES);
		while (mad_socket_send(a.port, bytes, sizeof(bytes)) == -EAGAIN)
			daemon_step(softibd, 0);
	}
	fixture_settle();
	check_that_the_other_works();
	/* The oldest answers are there, in order. */
	for (uint32_t count = 0; count < 100; count++) {
		assert_true(mad_program_receive(&a, &got));
		assert_memory_equal(got.mad + 12, &count, sizeof(count));
	}
}

static void test_a_thousand_ports_are_open_at_once(void **state)
{
	static struct mad_program programs[MANY];

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		mad_program_open(&programs[i], i % 2 ? "h2" : "h3");
		mad_program_register(&programs[i], CLASS_TEST, MAD_AGENT_SINGLE, 0);
	}
	for (unsigned i = 0; i < MANY; i += 97) {
		mad = mad_program_request(&programs[i + 1 < MANY ? i + 1 : 0], CLASS_TEST, MAD_GET);
		mad.header.timeout_ms = 60000;
		mad_program_send(&programs[i], &mad, MAD_BYTES);
		assert_true(mad_program_receive(&programs[i], &got));
	}
	for (unsigned i = 0; i < MANY; i++)
		close(programs[i].port);
	for (unsigned i = 0; i < MANY / 16; i++)
		fixture_settle();
	assert_int_equal(softibd->mad_files.file_count, 2);
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(test_a_program_that_goes_leaves_nothing),
		FILE_TEST(test_a_message_that_is_no_mad_ends_its_port_only),
		FILE_TEST(test_less_than_a_header_ends_its_port_only),
		FILE_TEST(test_a_long_message_that_softibd_cannot_take_is_reported),
		FILE_TEST(test_random_messages_harm_nobody_else),
		FILE_TEST(test_a_message_for_no_agent_is_forgotten),
		FILE_TEST(test_an_open_port_has_32_agents_at_most),
		FILE_TEST(test_a_program_that_floods_is_read_no_faster_than_it_may),
		FILE_TEST(test_a_program_that_does_not_read_costs_no_more_than_its_share),
		FILE_TEST(test_a_thousand_ports_are_open_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
