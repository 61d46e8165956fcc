/* SPDX-License-Identifier: Apache-2.0 */
/* The rkeys that a process exports, and how it waits for the peers that use them. */
#include "runtime/rma/rkey_export.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "ipc/rma_area.h"
#include "unit/runtime/runtime_pair.h"

static const struct published_key *published(void)
{
	return (const struct published_key *)(const void *)(pair.softibd.rkey_export +
							    rkey_export_layout().keys_offset);
}

static void test_keys_are_published_while_they_live(void **state)
{
	struct pair_end *end = &pair.ends[1];
	struct memory *memory = &adapter_hca(end->adapter)->memory;
	struct published_view view;
	struct region *region;

	(void)state;
	/* The pair's own region. */
	assert_true(published_keys_read(published(), 1, end->region->key, &view));
	assert_ptr_equal(view.region.bytes, end->buffer);
	assert_ptr_equal(view.region.pd, end->pd);

	adapter_lock(end->adapter);
	assert_int_equal(
		region_register(memory, end->pd, end->buffer, 100, 0, ACCESS_REMOTE_READ, &region),
		0);

	uint32_t key = region->key;

	assert_true(published_keys_read(published(), 1, key, &view));
	assert_int_equal(region_deregister(memory, region), 0);
	assert_false(published_keys_read(published(), 1, key, &view));
	/* Memory that no peer could access is not exported. */
	assert_int_equal(
		region_register(memory, end->pd, end->buffer, 100, 0, ACCESS_LOCAL_WRITE, &region),
		0);
	assert_false(published_keys_read(published(), 1, region->key, &view));
	assert_int_equal(region_deregister(memory, region), 0);
	adapter_unlock(end->adapter);
}

static void test_the_header_leads_to_this_process(void **state)
{
	const struct rkey_export_header *header = (const void *)pair.softibd.rkey_export;

	(void)state;
	assert_int_equal(header->pid, getpid());
	assert_int_equal(*(const uint64_t *)(uintptr_t)header->nonce_address, header->nonce);
}

static struct rma_area area;
static struct ring_shared ring;
static struct channel channel = {.state = CHANNEL_OPEN, .rma_in = &area, .in.shared = &ring};
static bool has_returned;

static void *wait_for_it(void *context)
{
	(void)context;
	rkey_export_wait_for(&channel);
	__atomic_store_n(&has_returned, true, __ATOMIC_SEQ_CST);
	return NULL;
}

static pthread_t start_waiting(void)
{
	pthread_t thread;

	has_returned = false;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_it, NULL), 0);
	/* Waiting can't be observed; but if it did not wait, it would have returned by now. */
	for (unsigned i = 0; i < 20; i++)
		sched_yield();
	return thread;
}

static void test_a_peer_at_work_is_waited_for(void **state)
{
	(void)state;
	area.hazard = 7;

	pthread_t thread = start_waiting();

	assert_false(__atomic_load_n(&has_returned, __ATOMIC_SEQ_CST));
	/* Copying again already, but a copy that began later. */
	__atomic_store_n(&area.hazard, 9, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < 20 && !__atomic_load_n(&has_returned, __ATOMIC_SEQ_CST); i++)
		sched_yield();
	/* A thread that began so late that it found this one waiting waits for its end. */
	__atomic_store_n(&area.hazard, 10, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	assert_true(has_returned);
}

static void test_an_idle_peer_is_not_waited_for(void **state)
{
	(void)state;
	area.hazard = 8;
	rkey_export_wait_for(&channel);
}

static void test_a_peer_that_died_at_work_is_not_waited_for(void **state)
{
	(void)state;
	area.hazard = 11;

	pthread_t thread = start_waiting();

	assert_false(__atomic_load_n(&has_returned, __ATOMIC_SEQ_CST));
	__atomic_store_n(&ring.closed, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	assert_true(has_returned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_published_while_they_live),
		cmocka_unit_test(test_the_header_leads_to_this_process),
		cmocka_unit_test(test_a_peer_at_work_is_waited_for),
		cmocka_unit_test(test_an_idle_peer_is_not_waited_for),
		cmocka_unit_test(test_a_peer_that_died_at_work_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
