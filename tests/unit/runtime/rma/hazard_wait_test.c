/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that do not end their accesses: they are cut off, and never waited for again. */
#include "runtime/rma/hazard_wait.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"
#include "runtime/runtime_state.h"

enum { PEERS = 40 };

static struct rma_area areas[PEERS];
static struct ring_shared rings[PEERS];
static struct channel channels[PEERS], *all[PEERS];
static struct rkey_export_header header;
static struct rma_peer *peer;
static pid_t child;

static int start(void **state)
{
	(void)state;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return -1;
	peer->peer_memory.header = &header;
	child = fork();
	if (child == 0) {
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	return waitpid(child, NULL, WUNTRACED) == child ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	free(peer);
	return 0;
}

/* Peers of which no one is at work. */
static int renew(void **state)
{
	(void)state;
	memset(areas, 0, sizeof(areas));
	memset(rings, 0, sizeof(rings));
	for (unsigned i = 0; i < PEERS; i++) {
		channels[i] = (struct channel){.state = CHANNEL_OPEN,
					       .rma_in = &areas[i],
					       .in.shared = &rings[i],
					       .peer = peer};
		all[i] = &channels[i];
	}
	header.pid = (uint32_t)child;
	return 0;
}

static void test_nobody_is_cut_off_who_is_not_at_work(void **state)
{
	(void)state;
	areas[1].hazard = 8;
	assert_false(hazard_wait(all, PEERS, false));
	assert_int_equal(areas[1].hazard, 8);
	assert_false(channels[1].hazard.is_cut_off);
}

static void test_a_peer_that_goes_on_for_ever_is_cut_off_once(void **state)
{
	(void)state;
	areas[1].hazard = 7;
	assert_true(hazard_wait(all, PEERS, false));
	assert_int_equal(areas[1].hazard, 7 | RMA_HAZARD_CUT_OFF);
	assert_true(channels[1].hazard.is_cut_off);
	assert_false(channels[0].hazard.is_cut_off || channels[2].hazard.is_cut_off);
	/* The next access of a peer that does not care. */
	areas[1].hazard = 9;
	assert_false(hazard_wait(all, PEERS, false));
	assert_int_equal(areas[1].hazard, 9);
}

static void test_all_peers_have_the_same_time(void **state)
{
	const time_ns begin = runtime_now();

	(void)state;
	for (unsigned i = 0; i < PEERS; i++)
		areas[i].hazard = 1;
	assert_true(hazard_wait(all, PEERS, true));
	for (unsigned i = 0; i < PEERS; i++)
		assert_true(channels[i].hazard.is_cut_off);
	/* One after the other they would take 10 s. */
	assert_true(runtime_now() - begin < SECONDS(5));
}

static void test_a_running_peer_may_copy_a_while_longer(void **state)
{
	const time_ns begin = runtime_now();
	time_ns stopped_ns, running_ns;

	(void)state;
	areas[0].hazard = 1;
	assert_true(hazard_wait(all, PEERS, false));
	stopped_ns = runtime_now() - begin;
	/* This process has a running thread: the caller. */
	(void)renew(state);
	areas[0].hazard = 1;
	header.pid = (uint32_t)getpid();
	assert_true(hazard_wait(all, PEERS, false));
	running_ns = runtime_now() - begin - stopped_ns;
	assert_true(running_ns >= MILLISECONDS(400)); /* 250 and 150 */
}

static void *end_access(void *context)
{
	(void)context;
	while (!(__atomic_load_n(&areas[2].hazard, __ATOMIC_SEQ_CST) & RMA_HAZARD_CUT_OFF))
		sched_yield();
	__atomic_store_n(&areas[2].hazard, 8, __ATOMIC_SEQ_CST);
	return NULL;
}

static void test_a_peer_that_ends_after_all_stays_cut_off(void **state)
{
	pthread_t thread;

	(void)state;
	areas[2].hazard = 7;
	assert_int_equal(pthread_create(&thread, NULL, end_access, NULL), 0);
	assert_true(hazard_wait(all, PEERS, false));
	pthread_join(thread, NULL);
	assert_true(channels[2].hazard.is_cut_off);
	assert_int_equal(areas[2].hazard, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nobody_is_cut_off_who_is_not_at_work, renew),
		cmocka_unit_test_setup(test_a_peer_that_goes_on_for_ever_is_cut_off_once, renew),
		cmocka_unit_test_setup(test_all_peers_have_the_same_time, renew),
		cmocka_unit_test_setup(test_a_running_peer_may_copy_a_while_longer, renew),
		cmocka_unit_test_setup(test_a_peer_that_ends_after_all_stays_cut_off, renew),
	};

	return cmocka_run_group_tests(tests, start, end);
}
