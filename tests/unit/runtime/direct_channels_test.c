/* SPDX-License-Identifier: Apache-2.0 */
/* Direct channels open, share pages, close and turn out corrupt, and traffic continues.
 * Covers: runtime/exposure.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include "runtime/direct_channels.h"
#include "unit/runtime/runtime_pair.h"

static uint32_t fetches(void)
{
	return __atomic_load_n(&pair.softibd.ring_fetch_count, __ATOMIC_SEQ_CST);
}

static void send_datagram(void)
{
	struct pair_end ends[2];
	struct completion completion;

	pair_make_datagram_ends(ends);
	pair_post_receive(&ends[1], 1, 100);

	const struct address_vector address = {.dlid = 2, .port_number = 1};
	const struct sge sge = {(uintptr_t)ends[0].buffer, 8, ends[0].region->key};
	const struct send_request request = {.wr_id = 2,
					     .opcode = SEND_SEND,
					     .flags = SEND_SIGNALED,
					     .address = &address,
					     .address_pd = ends[0].pd,
					     .remote_qpn = ends[1].qp->qp.qpn,
					     .remote_qkey = PAIR_QKEY,
					     .sge_count = 1,
					     .sges = &sge};

	adapter_lock(ends[0].adapter);
	assert_int_equal(qp_post_send(&ends[0].qp->qp, adapter_now(ends[0].adapter), &request), 0);
	adapter_send(ends[0].adapter, ends[0].qp);
	adapter_unlock(ends[0].adapter);
	for (unsigned i = 0; i < 2; i++) {
		pair_poll_one(&ends[i], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
	}
}

static bool has_pages_of_peer(void)
{
	adapter_lock(pair.ends[0].adapter);

	bool has_pages = pair_channel()->peer != NULL;

	adapter_unlock(pair.ends[0].adapter);
	return has_pages;
}

/* A program that a stranger reaches, or that sends a short datagram, gives nothing away. Runs
 * first: there is no channel yet. */
static void test_pages_are_shared_once_there_is_a_connection(void **state)
{
	time_ns start = runtime_now();

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	send_datagram();
	assert_int_equal(pair_runtime()->direct.count, 1);
	assert_int_equal(pair_channel()->state, CHANNEL_OPEN);
	assert_false(pair_channel()->is_exposed);
	assert_false(has_pages_of_peer());
	pair_send_and_check(10, 1);
	assert_true(pair_channel()->is_exposed);
	while (!has_pages_of_peer()) {
		assert_false(pair_is_overdue(start));
		sched_yield();
	}
	assert_int_equal(pair_runtime()->direct.exposure_count, 0);
}

/* softibd closes a ring when one of its ends dies; the next packet asks anew. */
static void test_closed_ring_is_left_and_asked_for_anew(void **state)
{
	struct ring_shared *shared =
		(struct ring_shared *)(pair.softibd.direct + direct_layout().offset[0]);
	uint32_t before = pair_fabric_packets();

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	assert_int_equal(fetches(), 1);
	__atomic_store_n(&shared->closed, 1, __ATOMIC_SEQ_CST);
	pair_send_and_check(5000, 2);
	pair_send_and_check(5000, 3);
	assert_int_equal(fetches(), 2);
	/* ACKs do not wait for the new ring; the packets of a message do. */
	assert_in_range(pair_fabric_packets(), before, before + 2);
}

/* The peer's last ACK may come between the look at the words and the look at the closed ring. */
static void test_closed_ring_is_kept_while_it_has_an_ack(void **state)
{
	struct channel *channel;
	struct word_producer words;

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	runtime_lock(pair_runtime());
	channel = pair_channel();
	assert_false(channel_has_more(channel));
	words = channel->words_out;
	word_ring_put(&words, 0);
	__atomic_store_n(&channel->in.shared->closed, 1, __ATOMIC_SEQ_CST);
	assert_false(direct_channels_reap(pair_runtime()));
	assert_int_equal(channel->state, CHANNEL_OPEN);
	(void)runtime_progress(pair_runtime(), runtime_now());
	assert_int_equal(pair_runtime()->direct.count, 0);
	runtime_unlock(pair_runtime());
	/* The fake softibd has one ring. */
	pair_send_and_check(10, 2);
}

/* Puts a stamped header that claims to be longer than the ring where the next record will be. */
static void write_nonsense(void)
{
	struct process_runtime *runtime = pair.ends[0].adapter->runtime;
	const struct ring_producer *out = &runtime->direct.channels[0]->out;
	uint64_t *header = (uint64_t *)(out->data + (out->tail & (out->data_bytes - 1)));

	header[1] = UINT32_MAX;
	__atomic_store_n(&header[0], ring_stamp(out->stamp_seed, out->tail), __ATOMIC_SEQ_CST);
}

static void test_corrupt_ring_is_left_and_traffic_goes_on(void **state)
{
	uint32_t before = pair_fabric_packets(), fetches_before;

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	fetches_before = fetches();
	/* This process is also the ring's producer, so the reader must find the bad header before a
	 * record overwrites it. */
	adapter_lock(pair.ends[0].adapter);
	write_nonsense();
	adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));
	adapter_unlock(pair.ends[0].adapter);
	pair_send_and_check(10, 2);
	pair_send_and_check(10, 3);
	assert_true(pair_fabric_packets() > before);
	assert_int_equal(fetches(), fetches_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_are_shared_once_there_is_a_connection),
		cmocka_unit_test(test_closed_ring_is_left_and_asked_for_anew),
		cmocka_unit_test(test_closed_ring_is_kept_while_it_has_an_ack),
		cmocka_unit_test(test_corrupt_ring_is_left_and_traffic_goes_on),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
