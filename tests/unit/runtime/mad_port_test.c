/* SPDX-License-Identifier: Apache-2.0 */
/* An open port of the embedded default fabric with raw agents, such as softib's subnet manager in a
 * process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "runtime/mad_port.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { RNR_HOLD_MS = 20000, METHOD_OFFSET = 3, CLASS_TEST = 0x0a };

static char runtime[] = "/tmp/softib-unit-XXXXXX";

static int start(void **state)
{
	(void)state;
	if (!mkdtemp(runtime))
		return -1;
	setenv("SOFTIB_RUNTIME_DIR", runtime, 1);
	unsetenv("SOFTIB_SOCKET");
	unsetenv("SOFTIB_HOST");
	unsetenv("SOFTIB_FABRIC");
	return 0;
}

/* The fabric ends by itself when its last user has left. */
static int stop(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", runtime);
	return system(command) == -1;
}

static int open_port(void)
{
	int port = mad_port_open("softib0", 1);

	assert_true(port >= 0);
	return port;
}

static struct mad_agent_identity add_agent(int port, uint8_t management_class, uint64_t methods)
{
	const struct mad_agent_options options = {.management_class = management_class,
						  .class_version = 1,
						  .methods = {methods},
						  .kind = MAD_AGENT_RAW};
	struct mad_agent_identity identity;

	assert_int_equal(mad_port_register(port, &options, &identity), 0);
	return identity;
}

static void wait_for(int port)
{
	struct pollfd watched = {.fd = port, .events = POLLIN};

	assert_int_equal(poll(&watched, 1, RNR_HOLD_MS), 1);
	assert_true(watched.revents & POLLIN);
}

static void test_a_port_that_is_not_there_cannot_be_opened(void **state)
{
	(void)state;
	assert_int_equal(mad_port_open("softib0", 2), -ENODEV);
	assert_int_equal(mad_port_open("softib9", 1), -ENODEV);
}

static void test_the_descriptor_neither_blocks_nor_survives_exec(void **state)
{
	int port = open_port();
	struct mad_message message;
	uint32_t agent;

	(void)state;
	assert_true(fcntl(port, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(port, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(mad_port_receive(port, &agent, &message), -EAGAIN);
	close(port);
}

/* The port's own agent answers, and the answer carries the whole transaction ID. */
static void test_a_raw_agent_does_its_own_transactions(void **state)
{
	int port = open_port();
	struct mad_agent_identity identity = add_agent(port, MAD_CLASS_SUBNET_DIRECTED, 0);
	const struct mad_header header = {.base_version = MAD_BASE_VERSION,
					  .management_class = MAD_CLASS_SUBNET_DIRECTED,
					  .class_version = SMP_CLASS_VERSION,
					  .method = MAD_GET,
					  .transaction_id = (uint64_t)identity.number << 32 | 7,
					  .attribute_id = ATTRIBUTE_NODE_INFO};
	struct mad_message message = {.address = {.lid = LID_PERMISSIVE, .qpn = QPN_SMI}};
	struct mad_header answer;
	uint32_t agent;

	(void)state;
	smp_start(&header, message.bytes);
	assert_int_equal(mad_port_send(port, identity.id, &message), 0);
	wait_for(port);
	assert_int_equal(mad_port_receive(port, &agent, &message), 0);
	assert_int_equal(agent, identity.id);
	assert_true(mad_header_decode(message.bytes, MAD_BYTES, &answer));
	assert_int_equal(answer.method, MAD_GET_RESPONSE);
	assert_int_equal(answer.transaction_id, header.transaction_id);
	assert_int_equal(mad_port_receive(port, &agent, &message), -EAGAIN);
	close(port);
}

static void test_agents_have_the_lowest_free_ids(void **state)
{
	int port = open_port();

	(void)state;
	assert_int_equal(add_agent(port, CLASS_TEST, 0).id, 0);
	assert_int_equal(add_agent(port, CLASS_TEST, 0).id, 1);
	assert_int_equal(mad_port_unregister(port, 0), 0);
	assert_int_equal(mad_port_unregister(port, 0), -EINVAL);
	assert_int_equal(add_agent(port, CLASS_TEST, 0).id, 0);
	close(port);
}

static void test_a_class_has_one_owner_until_its_port_is_closed(void **state)
{
	const struct mad_agent_options options = {.management_class = CLASS_TEST,
						  .class_version = 1,
						  .methods = {1u << MAD_GET},
						  .kind = MAD_AGENT_RAW};
	struct mad_agent_identity identity;
	int first = open_port();
	int second = open_port();
	int error = -EBUSY;

	(void)state;
	assert_int_equal(mad_port_register(first, &options, &identity), 0);
	assert_int_equal(mad_port_register(second, &options, &identity), -EBUSY);
	close(first);
	/* softibd notices it without being told. */
	while (error == -EBUSY)
		error = mad_port_register(second, &options, &identity);
	assert_int_equal(error, 0);
	close(second);
}

static void test_what_is_no_open_port_has_no_agents(void **state)
{
	const struct mad_agent_options options = {.management_class = CLASS_TEST};
	struct mad_agent_identity identity;
	int ends[2];

	(void)state;
	assert_int_equal(mad_port_register(STDIN_FILENO, &options, &identity), -EBADF);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(mad_port_register(ends[0], &options, &identity), -EBADF);
	assert_int_equal(mad_port_unregister(ends[0], 0), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_that_is_not_there_cannot_be_opened),
		cmocka_unit_test(test_the_descriptor_neither_blocks_nor_survives_exec),
		cmocka_unit_test(test_a_raw_agent_does_its_own_transactions),
		cmocka_unit_test(test_agents_have_the_lowest_free_ids),
		cmocka_unit_test(test_a_class_has_one_owner_until_its_port_is_closed),
		cmocka_unit_test(test_what_is_no_open_port_has_no_agents),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
