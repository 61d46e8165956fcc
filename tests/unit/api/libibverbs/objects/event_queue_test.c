/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of an event queue is readable exactly while something waits. */
#include "api/libibverbs/objects/event_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MANY = 1000 };

static struct event_queue queue;

static bool is_readable(void)
{
	struct pollfd item = {.fd = queue.fd, .events = POLLIN};

	return poll(&item, 1, 0) == 1;
}

static void append(struct list *link)
{
	event_queue_lock(&queue);
	list_append(&queue.waiting, link);
	event_queue_unlock(&queue);
}

static void test_readable_exactly_while_something_waits(void **state)
{
	struct list first, second;

	(void)state;
	assert_int_equal(event_queue_open(&queue), 0);
	assert_false(is_readable());
	append(&first);
	append(&second);
	assert_true(is_readable());
	assert_int_equal(event_queue_wait(&queue), 0);
	assert_ptr_equal(list_pop(&queue.waiting), &first);
	event_queue_unlock(&queue);
	assert_true(is_readable());
	assert_int_equal(event_queue_wait(&queue), 0);
	assert_ptr_equal(list_pop(&queue.waiting), &second);
	event_queue_unlock(&queue);
	assert_false(is_readable());
	event_queue_close(&queue);
}

static void test_taking_something_back_makes_it_quiet_again(void **state)
{
	struct list only;

	(void)state;
	assert_int_equal(event_queue_open(&queue), 0);
	append(&only);
	event_queue_lock(&queue);
	list_remove(&only);
	event_queue_unlock(&queue);
	assert_false(is_readable());
	append(&only);
	assert_true(is_readable());
	event_queue_close(&queue);
}

static void test_a_non_blocking_reader_is_told_to_come_again(void **state)
{
	(void)state;
	assert_int_equal(event_queue_open(&queue), 0);
	assert_int_equal(fcntl(queue.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(event_queue_wait(&queue), -EAGAIN);
	event_queue_close(&queue);
}

static void test_any_number_may_wait(void **state)
{
	static struct list links[MANY];

	(void)state;
	assert_int_equal(event_queue_open(&queue), 0);
	for (unsigned i = 0; i < MANY; i++)
		append(&links[i]);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(event_queue_wait(&queue), 0);
		assert_ptr_equal(list_pop(&queue.waiting), &links[i]);
		event_queue_unlock(&queue);
	}
	assert_false(is_readable());
	event_queue_close(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable_exactly_while_something_waits),
		cmocka_unit_test(test_taking_something_back_makes_it_quiet_again),
		cmocka_unit_test(test_a_non_blocking_reader_is_told_to_come_again),
		cmocka_unit_test(test_any_number_may_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
