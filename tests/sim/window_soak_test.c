/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory windows on a bad wire, under seeds (transport 7.3): b grants pieces of its memory to a by
 * type 2 windows, a writes and reads through them, and b (local invalidate) or a (send with
 * invalidate) ends them, many at a time and pipelined. Checked: every byte of b's memory against a
 * model, so that nothing is written outside a window, twice, or after its end; reads return the
 * model's bytes; an invalid key breaks the connection and writes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "net/memory/window.h"
#include "support/rc_pair.h"
#include "support/soak_seeds.h"
#include "wire/mtu.h"

enum {
	SEEDS_QUICK = 200,
	WINDOWS = 4,
	TARGET_BYTES = 16384,
	ROUNDS = 25,
	WRITES_MAX = 4,
	WINDOW_BYTES_MAX = 3000,
	LIFE_MAX = 3, /* connections per seed */
};

static struct rc_pair pair;
static struct region *target; /* of b */
static uint8_t model[TARGET_BYTES];

struct grant {
	struct window *window;
	uint32_t key;
	uint32_t offset, byte_count;
	bool is_bound;
};

static struct grant grants[WINDOWS];

static void post_checked(struct endpoint *endpoint, const struct send_request *request)
{
	assert_int_equal(post(&pair, endpoint, request), 0);
}

/* b binds a free window to a piece of its memory, with a new tag. */
static void bind(struct grant *grant, struct random *random)
{
	grant->byte_count = 1 + (uint32_t)random_below(random, WINDOW_BYTES_MAX);
	grant->offset = (uint32_t)random_below(random, TARGET_BYTES - grant->byte_count);
	grant->key = (grant->key & ~0xffu) | ((grant->key + 1) & 0xff);
	grant->is_bound = true;

	const struct send_request request = {
		.opcode = SEND_BIND_WINDOW,
		.remote_key = grant->key,
		.remote_address = (uintptr_t)pair.b.window.bytes + grant->offset,
		.bind_byte_count = grant->byte_count,
		.bind_region_key = target->key,
		.bind_access = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE,
	};

	post_checked(&pair.b, &request);
}

/* a writes to a piece of the window. The model is updated at once, because the queue keeps the
 * order. */
static void write_through(const struct grant *grant, struct random *random)
{
	uint32_t byte_count = (uint32_t)random_below(random, grant->byte_count + 1);
	uint32_t at = (uint32_t)random_below(random, grant->byte_count - byte_count + 1);
	uint8_t *bytes = area_take(&pair.a.outbox, byte_count);
	const struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	const struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.remote_key = grant->key,
		.remote_address = (uintptr_t)pair.b.window.bytes + grant->offset + at,
		.sge_count = 1,
		.sges = &sge,
	};

	fill_pattern(bytes, byte_count, (uint32_t)random_next(random));
	memcpy(model + grant->offset + at, bytes, byte_count);
	post_checked(&pair.a, &request);
}

/* Ends the window: a invalidates it with a message, or b does it locally. */
static void end(struct grant *grant, struct random *random)
{
	const struct send_request request = {
		.opcode = random_below(random, 2) ? SEND_SEND_INVALIDATE : SEND_LOCAL_INVALIDATE,
		.immediate_or_rkey = grant->key,
	};

	grant->is_bound = false;
	if (request.opcode == SEND_LOCAL_INVALIDATE) {
		/* Only after all that a has posted has arrived: b is told by a message. */
		post_receive(&pair, &pair.b, 64);
		post_send(&pair, &pair.a, 8);
		run_until_idle(&pair);
		expect_received(&pair.b, COMPLETION_SUCCESS);
		post_checked(&pair.b, &request);
		return;
	}
	post_receive(&pair, &pair.b, 64);
	post_checked(&pair.a, &request);
	run_until_idle(&pair);

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->flags, COMPLETION_HAS_INVALIDATED);
	assert_int_equal(completion->immediate_or_rkey, grant->key);
}

static void expect_all_succeeded(void)
{
	run_until_idle(&pair);
	while (pair.a.sent.next < pair.a.sent.count)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	while (pair.b.sent.next < pair.b.sent.count)
		expect_completion(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	assert_int_equal(pair.a.qp.state, QP_RTS);
	assert_int_equal(pair.b.qp.state, QP_RTS);
	assert_memory_equal(pair.b.window.bytes, model, TARGET_BYTES);
	for (unsigned i = 0; i < WINDOWS; i++)
		assert_int_equal(grants[i].window->region != NULL, grants[i].is_bound);
	pair.a.outbox.used = 0;
	pair.a.inbox.used = 0;
	pair.b.inbox.used = 0;
	pair.a.sent.next = pair.a.sent.count = 0;
	pair.b.sent.next = pair.b.sent.count = 0;
	pair.b.received.next = pair.b.received.count = 0;
}

static void round_of(struct random *random)
{
	for (unsigned i = 0; i < WINDOWS; i++)
		if (!grants[i].is_bound && random_below(random, 2))
			bind(&grants[i], random);
	/* a may use the keys only when the binds have completed. */
	run_until_idle(&pair);
	for (unsigned i = 0; i < WINDOWS; i++)
		for (unsigned j = 0; grants[i].is_bound && j < random_below(random, WRITES_MAX);
		     j++)
			write_through(&grants[i], random);
	for (unsigned i = 0; i < WINDOWS; i++)
		if (grants[i].is_bound && random_below(random, 2))
			end(&grants[i], random);
	expect_all_succeeded();
}

/* A key that was valid before, or an access beyond the window: refused, and nothing is written. */
static void misuse(struct random *random)
{
	struct grant *grant = &grants[random_below(random, WINDOWS)];
	struct grant wrong = *grant;
	uint8_t *bytes = area_take(&pair.a.outbox, 64);
	const struct sge sge = area_sge(&pair.a.outbox, bytes, 64);

	memset(bytes, 0xee, 64);
	if (grant->is_bound)
		wrong.offset += grant->byte_count - (uint32_t)random_below(random, 64);

	const struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.remote_key = wrong.key,
		.remote_address = (uintptr_t)pair.b.window.bytes + wrong.offset,
		.sge_count = 1,
		.sges = &sge,
	};

	post_checked(&pair.a, &request);
	run_until_idle(&pair);
	/* If the wire loses the NAK too, the timeout ends the connection. */
	assert_int_equal(pair.a.sent.count, 1);
	assert_true(pair.a.sent.entries[0].status == COMPLETION_REMOTE_ACCESS ||
		    pair.a.sent.entries[0].status == COMPLETION_RETRY_EXCEEDED);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	assert_memory_equal(pair.b.window.bytes, model, TARGET_BYTES);
}

static void connect_under(struct random *random)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	options.mtu_code = MTU_256 + (unsigned)random_below(random, 3);
	options.sq_psn = (uint32_t)(0xffffff - random_below(random, 200)) & 0xffffff;
	options.rq_psn = (uint32_t)random_below(random, 1 << 24);
	rc_pair_connect_with(&pair, &options);
	rc_pair_disturb(&pair, random);
}

static void soak(uint64_t seed)
{
	struct random random = random_seeded(seed);

	for (unsigned life = 0; life < LIFE_MAX; life++) {
		connect_under(&random);
		assert_int_equal(region_register(&pair.b.memory, &pair.b.pd, pair.b.window.bytes,
						 TARGET_BYTES, (uintptr_t)pair.b.window.bytes,
						 ACCESS_LOCAL_WRITE | ACCESS_WINDOW_BIND, &target),
				 0);
		memset(model, 0, sizeof(model));
		memset(grants, 0, sizeof(grants));
		for (unsigned i = 0; i < WINDOWS; i++) {
			assert_int_equal(window_create(&pair.b.memory, &pair.b.pd, WINDOW_TYPE_2,
						       &grants[i].window),
					 0);
			grants[i].key = grants[i].window->grant.key;
		}
		for (unsigned round = 0; round < ROUNDS; round++)
			round_of(&random);
		misuse(&random);
		for (unsigned i = 0; i < WINDOWS; i++)
			window_destroy(&pair.b.memory, grants[i].window);
		assert_int_equal(target->window_count, 0);
		rc_pair_release(&pair);
	}
}

SOAK_SEEDS_TEST(test_windows_grant_what_they_say_and_no_longer, soak)

int main(int argc, char **argv)
{
	return soak_seeds_main(
		argc, argv, SEEDS_QUICK,
		(struct CMUnitTest)cmocka_unit_test_teardown(
			test_windows_grant_what_they_say_and_no_longer, soak_seeds_name));
}
