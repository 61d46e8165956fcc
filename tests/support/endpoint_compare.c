/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two endpoints: see endpoint_compare.h. */
#include "support/endpoint_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void compare_completions(const struct completion_list *a, const struct completion_list *b)
{
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->entries, b->entries, a->count * sizeof(a->entries[0]));
}

void endpoint_compare(const struct endpoint *a, const struct endpoint *b)
{
	compare_completions(&a->sent, &b->sent);
	compare_completions(&a->received, &b->received);
	assert_int_equal(a->qp.state, b->qp.state);
	assert_int_equal(a->event_count, b->event_count);
	assert_memory_equal(a->events, b->events, a->event_count * sizeof(a->events[0]));
	assert_int_equal(a->qp.requester.next_psn.value, b->qp.requester.next_psn.value);
	assert_int_equal(a->qp.requester.oldest_psn.value, b->qp.requester.oldest_psn.value);
	assert_int_equal(a->qp.requester.cursor, b->qp.requester.cursor);
	assert_int_equal(a->qp.requester.queue.head, b->qp.requester.queue.head);
	assert_int_equal(a->qp.requester.queue.done, b->qp.requester.queue.done);
	assert_int_equal(a->qp.requester.messages_started.value,
			 b->qp.requester.messages_started.value);
	assert_true(a->qp.requester.retry_deadline == b->qp.requester.retry_deadline);
	assert_int_equal(a->qp.requester.retries_left, b->qp.requester.retries_left);
	assert_int_equal(a->qp.responder.expected_psn.value, b->qp.responder.expected_psn.value);
	assert_int_equal(a->qp.responder.msn, b->qp.responder.msn);
	assert_int_equal(a->qp.responder.inbound, b->qp.responder.inbound);
	assert_int_equal(a->port.pkey_violations, b->port.pkey_violations);
	assert_int_equal(a->port.qkey_violations, b->port.qkey_violations);
	assert_int_equal(a->qp.receive_queue->head, b->qp.receive_queue->head);
	assert_int_equal(a->shared_taken, b->shared_taken);
}
