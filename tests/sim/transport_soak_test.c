/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random operations in both directions over a wire that loses, duplicates, reorders and corrupts,
 * under many seeds.
 *
 * Checked after each step and at the end:
 *
 * | operation                        | what must hold                                             |
 * | SEND, with and without immediate | each once, in order, right                                 |
 * | WRITE                            | executed once and in order: the memory is as written last  |
 * | WRITE with immediate             | the same, and one receive each                             |
 * | READ                             | right, whichever parts of the answer were lost             |
 * | CMP_SWAP, FETCH_ADD              | executed once; the first result, however often it was sent |
 * | ATOMIC WRITE                     | executed once and in order                                 |
 * | fence, RNR, credits              | all complete, none overtakes                               |
 *
 * A failing seed is printed; "transport_soak_test SEED" runs it alone.
 */
#include "support/soak_seeds.h"
#include "support/rc_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/mtu.h"

enum {
	SEEDS_QUICK = 300,
	ROUNDS = 60,
	OPERATIONS_MAX = 24, /* outstanding, per side */
	MESSAGE_BYTES = 3000,
	/* The exposed memory: three words for atomics, a part that is written, a part that only its
	 * owner writes. */
	WORDS_AT = 0,
	WRITTEN_AT = 64,
	WRITTEN_BYTES = 8192,
	STEADY_AT = 65536,
	STEADY_BYTES = 8192,
};

struct operation {
	enum send_opcode opcode;
	const uint8_t *bytes; /* where the READ or atomic result goes */
	uint32_t byte_count;
	uint32_t offset;
	uint64_t result; /* that an atomic must give */
};

struct message {
	uint8_t bytes[MESSAGE_BYTES];
	uint32_t byte_count;
	enum send_opcode opcode;
	uint32_t immediate;
};

/* The requests of one side, with the results that they must have. */
struct script {
	struct operation operations[OPERATIONS_MAX];
	unsigned posted, completed;
	struct message messages[OPERATIONS_MAX * 2]; /* that take a receive */
	unsigned expected, arrived;
	const uint8_t *receives[64];
	unsigned receives_posted;
	uint64_t words[3];
	uint8_t written[WRITTEN_BYTES];
};

static struct rc_pair pair;
static struct script from_a, from_b;

static struct send_request request_to(const struct endpoint *peer, enum send_opcode opcode,
				      uint32_t offset, const struct sge *sge)
{
	return (struct send_request){
		.opcode = opcode,
		.remote_address = (uintptr_t)peer->window.bytes + offset,
		.remote_key = peer->window.region->key,
		.sge_count = 1,
		.sges = sge,
	};
}

static void expect_message(struct script *script, const struct send_request *request,
			   const uint8_t *bytes, uint32_t byte_count)
{
	struct message *message =
		&script->messages[script->expected++ % ARRAY_COUNT(script->messages)];

	memcpy(message->bytes, bytes, byte_count);
	message->byte_count = byte_count;
	message->opcode = request->opcode;
	message->immediate = request->immediate_or_rkey;
}

static uint64_t model_atomic(struct script *script, struct random *random,
			     struct send_request *request)
{
	uint64_t *word = &script->words[request->opcode == SEND_FETCH_ADD ? 0 : 1];
	uint64_t before = *word;

	if (request->opcode == SEND_FETCH_ADD) {
		request->compare_or_add = random_below(random, 1000);
		*word += request->compare_or_add;
		return before;
	}
	/* Half of the comparisons succeed. */
	request->compare_or_add = before + random_below(random, 2);
	request->swap = random_next(random);
	if (request->compare_or_add == before)
		*word = request->swap;
	return before;
}

static void post_random(struct endpoint *endpoint, const struct endpoint *peer,
			struct script *script, struct random *random)
{
	static const enum send_opcode opcodes[] = {
		SEND_SEND,	SEND_SEND_IMMEDIATE, SEND_RDMA_WRITE,	SEND_RDMA_WRITE_IMMEDIATE,
		SEND_RDMA_READ, SEND_FETCH_ADD,	     SEND_COMPARE_SWAP, SEND_ATOMIC_WRITE,
	};
	enum send_opcode opcode = opcodes[random_below(random, ARRAY_COUNT(opcodes))];
	bool is_atomic = opcode == SEND_FETCH_ADD || opcode == SEND_COMPARE_SWAP;
	bool is_word = is_atomic || opcode == SEND_ATOMIC_WRITE;
	uint32_t byte_count = is_word ? 8 : (uint32_t)random_below(random, MESSAGE_BYTES + 1);
	uint32_t offset = (uint32_t)random_below(random, WRITTEN_BYTES - byte_count + 1);
	uint8_t *bytes = area_take(&endpoint->outbox, byte_count);
	struct sge sge = area_sge(&endpoint->outbox, bytes, byte_count);
	struct operation *operation = &script->operations[script->posted++ % OPERATIONS_MAX];
	uint32_t base = opcode == SEND_RDMA_READ ? STEADY_AT : WRITTEN_AT;
	struct send_request request = request_to(peer, opcode, base + offset, &sge);

	*operation = (struct operation){opcode, bytes, byte_count, offset, 0};
	request.immediate_or_rkey = (uint32_t)random_next(random);
	request.flags = random_below(random, 8) == 0 ? SEND_FENCE : 0;
	if (is_atomic) {
		request.remote_address =
			(uintptr_t)peer->window.bytes + (opcode == SEND_FETCH_ADD ? 0 : 8);
		operation->result = model_atomic(script, random, &request);
	} else if (opcode != SEND_RDMA_READ) {
		fill_pattern(bytes, byte_count, (uint32_t)random_next(random));
	}
	if (opcode == SEND_ATOMIC_WRITE) {
		request.remote_address = (uintptr_t)peer->window.bytes + WORDS_AT + 16;
		memcpy(&script->words[2], bytes, 8);
	}
	if (opcode == SEND_RDMA_WRITE || opcode == SEND_RDMA_WRITE_IMMEDIATE)
		memcpy(script->written + offset, bytes, byte_count);
	if (opcode != SEND_RDMA_WRITE && opcode != SEND_RDMA_READ && !is_word)
		expect_message(script, &request, bytes, byte_count);
	assert_int_equal(post(&pair, endpoint, &request), 0);
}

static void check_operation(const struct operation *operation, const struct completion *completion,
			    const struct endpoint *peer)
{
	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	if (operation->opcode == SEND_RDMA_READ) {
		assert_int_equal(completion->byte_count, operation->byte_count);
		assert_memory_equal(operation->bytes,
				    peer->window.bytes + STEADY_AT + operation->offset,
				    operation->byte_count);
	}
	if (operation->opcode == SEND_FETCH_ADD || operation->opcode == SEND_COMPARE_SWAP)
		assert_memory_equal(operation->bytes, &operation->result, 8);
}

static void check_message(const struct script *script, const struct completion *completion,
			  const uint8_t *bytes)
{
	const struct message *message =
		&script->messages[script->arrived % ARRAY_COUNT(script->messages)];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_int_equal(completion->byte_count, message->byte_count);
	if (message->opcode != SEND_SEND)
		assert_int_equal(completion->immediate_or_rkey, message->immediate);
	if (message->opcode == SEND_RDMA_WRITE_IMMEDIATE)
		assert_int_equal(completion->opcode, COMPLETED_RECEIVE_WRITE_IMMEDIATE);
	else
		assert_memory_equal(bytes, message->bytes, message->byte_count);
}

/* Checks the results of a requester and of the responder that it talks to. */
static void check(struct endpoint *endpoint, struct endpoint *peer, struct script *script)
{
	while (endpoint->sent.next < endpoint->sent.count) {
		check_operation(&script->operations[script->completed % OPERATIONS_MAX],
				&endpoint->sent.entries[endpoint->sent.next++], peer);
		script->completed++;
	}
	while (peer->received.next < peer->received.count) {
		assert_true(script->arrived < script->expected);
		check_message(script, &peer->received.entries[peer->received.next++],
			      script->receives[script->arrived % ARRAY_COUNT(script->receives)]);
		script->arrived++;
	}
	endpoint->sent.next = endpoint->sent.count = 0;
	peer->received.next = peer->received.count = 0;
}

static void post_receives(struct endpoint *peer, struct script *script, unsigned count)
{
	while (count-- && script->receives_posted - script->arrived < OPERATIONS_MAX) {
		const uint8_t *bytes = post_receive(&pair, peer, MESSAGE_BYTES);

		script->receives[script->receives_posted++ % ARRAY_COUNT(script->receives)] = bytes;
	}
}

static void connect_under(struct random *random)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	options.mtu_code = MTU_256 + (unsigned)random_below(random, 3);
	/* Often across the end of the PSN space. */
	options.sq_psn = (uint32_t)(0xffffff - random_below(random, 200)) & 0xffffff;
	options.rq_psn = (uint32_t)random_below(random, 1 << 24);
	options.initiator_depth = (uint8_t)(1 + random_below(random, 4));
	options.min_rnr_timer = 1;
	rc_pair_connect_with(&pair, &options);
	pair.a.qp.promises_receives = random_below(random, 2);
	pair.b.qp.promises_receives = random_below(random, 2);
	rc_pair_disturb(&pair, random);
	fill_pattern(pair.a.window.bytes + STEADY_AT, STEADY_BYTES, 1);
	fill_pattern(pair.b.window.bytes + STEADY_AT, STEADY_BYTES, 2);
}

static void step(struct endpoint *endpoint, struct endpoint *peer, struct script *script,
		 struct random *random)
{
	unsigned operations = (unsigned)random_below(random, 6);

	while (operations-- && script->posted - script->completed < OPERATIONS_MAX)
		post_random(endpoint, peer, script, random);
	post_receives(peer, script, (unsigned)random_below(random, 6));
}

static void expect_all_done(const struct script *script, const struct endpoint *peer)
{
	assert_int_equal(script->completed, script->posted);
	assert_int_equal(script->arrived, script->expected);
	assert_memory_equal(peer->window.bytes + WORDS_AT, script->words, sizeof(script->words));
	assert_memory_equal(peer->window.bytes + WRITTEN_AT, script->written, WRITTEN_BYTES);
}

static void soak(uint64_t seed)
{
	struct random random = random_seeded(seed);

	memset(&from_a, 0, sizeof(from_a));
	memset(&from_b, 0, sizeof(from_b));
	connect_under(&random);
	for (unsigned round = 0; round < ROUNDS; round++) {
		step(&pair.a, &pair.b, &from_a, &random);
		step(&pair.b, &pair.a, &from_b, &random);
		run_until(&pair, pair.now + random_below(&random, MICROSECONDS(200)));
		check(&pair.a, &pair.b, &from_a);
		check(&pair.b, &pair.a, &from_b);
	}
	while (from_a.completed < from_a.posted || from_b.completed < from_b.posted ||
	       from_a.arrived < from_a.expected || from_b.arrived < from_b.expected) {
		post_receives(&pair.b, &from_a, OPERATIONS_MAX);
		post_receives(&pair.a, &from_b, OPERATIONS_MAX);
		run_until(&pair, pair.now + MILLISECONDS(100));
		check(&pair.a, &pair.b, &from_a);
		check(&pair.b, &pair.a, &from_b);
		assert_true(pair.now < SECONDS(1000));
	}
	expect_all_done(&from_a, &pair.b);
	expect_all_done(&from_b, &pair.a);
	expect_no_event(&pair.a);
	expect_no_event(&pair.b);
	rc_pair_release(&pair);
}

SOAK_SEEDS_TEST(test_everything_happens_once_and_in_order_on_a_bad_wire, soak)

int main(int argc, char **argv)
{
	return soak_seeds_main(
		argc, argv, SEEDS_QUICK,
		(struct CMUnitTest)cmocka_unit_test_teardown(
			test_everything_happens_once_and_in_order_on_a_bad_wire, soak_seeds_name));
}
