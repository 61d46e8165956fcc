/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels, and what fails while connections are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

static void test_a_new_channel_is_quiet_and_closes_on_exec(void **state)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct pollfd events;

	(void)state;
	assert_non_null(channel);
	events = (struct pollfd){.fd = channel->fd, .events = POLLIN};
	assert_int_equal(poll(&events, 1, 0), 0);
	assert_true(fcntl(channel->fd, F_GETFD) & FD_CLOEXEC);
	rdma_destroy_event_channel(channel);
	assert_int_equal(fcntl(events.fd, F_GETFD), -1);
}

static void test_calls_that_are_not_there_fail_in_their_own_way(void **state)
{
	struct rdma_cm_event *event;
	struct rdma_addrinfo *info;
	struct rdma_cm_id id = {0};

	(void)state;
	errno = 0;
	assert_int_equal(rdma_get_cm_event(NULL, &event), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_int_equal(rdma_getaddrinfo("127.0.0.1", "1", NULL, &info), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_int_equal(rsocket(0, 0, 0), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(rdma_get_src_port(&id), 0);
	rdma_destroy_ep(&id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_channel_is_quiet_and_closes_on_exec),
		cmocka_unit_test(test_calls_that_are_not_there_fail_in_their_own_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
