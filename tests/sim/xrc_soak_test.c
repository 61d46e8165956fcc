/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC under many seeds: requests to several shared queues through one target, over a wire that
 * loses, duplicates, reorders and corrupts, while the target goes from owner to owner between its
 * messages.
 *
 * | operation                            | what must hold | | SEND, WRITE with immediate | once, in
 * order within their queue, in a request of that queue | | WRITE, ATOMIC WRITE                  |
 * executed once and in order: the memory is as written last   | | READ, FLUSH | answered right | |
 * FETCH_ADD                            | executed once, also when its answer was lost with its
 * owner |
 *
 * A failing seed is printed; "xrc_soak_test SEED" runs it alone.
 */
#include "support/soak_seeds.h"
#include "support/rc_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/target_state.h"
#include "wire/mtu.h"

enum {
	SEEDS_QUICK = 200,
	ROUNDS = 60,
	OPERATIONS_MAX = 24, /* outstanding */
	QUEUES = 3,
	QUEUE_REQUESTS = 32,
	MESSAGE_BYTES = 2000,
	PLACE_BYTES = 2048,
	WORD_AT = 0,
	WRITTEN_AT = 64,
	WRITTEN_BYTES = 8192,
	STEADY_AT = 65536,
};

static_assert(QUEUES * QUEUE_REQUESTS * PLACE_BYTES <= AREA_BYTES, "receives have room");

struct operation {
	enum send_opcode opcode;
	const uint8_t *bytes;
	uint32_t byte_count;
	uint32_t offset;
	uint64_t result;
};

struct message {
	uint8_t bytes[MESSAGE_BYTES];
	uint32_t byte_count;
	bool is_write;
	uint32_t immediate;
};

struct queue_script {
	struct message messages[QUEUE_REQUESTS * 2];
	const uint8_t *receives[QUEUE_REQUESTS * 2];
	unsigned expected, arrived, receives_posted;
};

static struct rc_pair pair; /* a is the initiator */
static struct receive_queue queues[QUEUES];
static struct queue_script scripts[QUEUES];
static struct operation operations[OPERATIONS_MAX];
static unsigned posted, completed, handovers;
static uint64_t word;
static uint8_t written[WRITTEN_BYTES];

static void connect_under(struct random *random)
{
	struct endpoint_options initiator = endpoint_options_default(QP_XRC_INI);
	struct endpoint_options target = endpoint_options_default(QP_XRC_TGT);

	initiator.mtu_code = target.mtu_code = MTU_256 + (unsigned)random_below(random, 3);
	initiator.sq_psn = target.rq_psn =
		(uint32_t)(0xffffff - random_below(random, 200)) & 0xffffff;
	initiator.initiator_depth = (uint8_t)(1 + random_below(random, 4));
	target.min_rnr_timer = 1;
	target.access |= ACCESS_FLUSH_GLOBAL;
	rc_pair_init(&pair, &initiator, &target);
	pair.b.window.region->access |= ACCESS_FLUSH_GLOBAL;
	for (unsigned i = 0; i < QUEUES; i++) {
		assert_int_equal(receive_queue_init(&queues[i], &pair.b.pd, QUEUE_REQUESTS, 1), 0);
		pair.b.xrc_queues[i] = &queues[i];
	}
	rc_pair_bring_up(&pair);
	rc_pair_disturb(&pair, random);
	fill_pattern(pair.b.window.bytes + STEADY_AT, WRITTEN_BYTES, 1);
}

/* Another queue pair with the same number continues, as in another process. */
static void hand_over(void)
{
	const struct qp_capabilities none = {0};
	struct qp_ports ports = endpoint_ports(&pair.b);
	uint32_t qpn = pair.b.qp.qpn;
	struct target_state state;

	if (!target_is_idle(&pair.b.qp))
		return;
	target_state_take(&pair.b.qp, &state);
	qp_release(&pair.b.qp);
	assert_int_equal(
		qp_init(&pair.b.qp, &pair.b.environment, QP_XRC_TGT, qpn, NULL, &none, NULL, false),
		0);
	assert_int_equal(target_state_install(&pair.b.qp, &ports, &state), 0);
	handovers++;
}

static void post_receives(unsigned index, unsigned count)
{
	struct queue_script *script = &scripts[index];

	while (count-- && script->receives_posted - script->arrived < QUEUE_REQUESTS) {
		/* An index of its own, because some queues are emptied much faster than others. */
		unsigned place = index * QUEUE_REQUESTS + script->receives_posted % QUEUE_REQUESTS;
		uint8_t *bytes = pair.b.inbox.bytes + place * PLACE_BYTES;
		const struct sge sge = area_sge(&pair.b.inbox, bytes, MESSAGE_BYTES);
		/* The id holds the queue that the receive was posted to. */
		const struct receive_request request = {
			.wr_id = (uint64_t)index << 32 | script->receives_posted,
			.sge_count = 1,
			.sges = &sge,
		};

		assert_int_equal(receive_queue_post(&queues[index], &request), 0);
		script->receives[script->receives_posted++ % ARRAY_COUNT(script->receives)] = bytes;
	}
}

static void expect_message(unsigned index, const struct send_request *request, const uint8_t *bytes,
			   uint32_t byte_count)
{
	struct queue_script *script = &scripts[index];
	struct message *message =
		&script->messages[script->expected++ % ARRAY_COUNT(script->messages)];

	memcpy(message->bytes, bytes, byte_count);
	message->byte_count = byte_count;
	message->is_write = request->opcode == SEND_RDMA_WRITE_IMMEDIATE;
	message->immediate = request->immediate_or_rkey;
}

static void post_random(struct random *random)
{
	static const enum send_opcode opcodes[] = {
		SEND_SEND,	SEND_SEND_IMMEDIATE, SEND_RDMA_WRITE, SEND_RDMA_WRITE_IMMEDIATE,
		SEND_RDMA_READ, SEND_FETCH_ADD,	     SEND_FLUSH,
	};
	enum send_opcode opcode = opcodes[random_below(random, ARRAY_COUNT(opcodes))];
	unsigned index = (unsigned)random_below(random, QUEUES);
	uint32_t byte_count = (uint32_t)random_below(random, MESSAGE_BYTES + 1);
	bool takes_receive = opcode == SEND_SEND || opcode == SEND_SEND_IMMEDIATE ||
			     opcode == SEND_RDMA_WRITE_IMMEDIATE;

	if (opcode == SEND_FETCH_ADD)
		byte_count = 8;

	uint32_t offset = (uint32_t)random_below(random, WRITTEN_BYTES - byte_count + 1);
	uint8_t *bytes = area_take(&pair.a.outbox, byte_count);
	const struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	struct operation *operation = &operations[posted++ % OPERATIONS_MAX];
	uint32_t base = opcode == SEND_RDMA_READ ? STEADY_AT : WRITTEN_AT;
	struct send_request request = {
		.opcode = opcode,
		.remote_srqn = index,
		.remote_address = (uintptr_t)pair.b.window.bytes + base + offset,
		.remote_key = pair.b.window.region->key,
		.immediate_or_rkey = (uint32_t)random_next(random),
		.sge_count = opcode == SEND_FLUSH ? 0 : 1,
		.sges = &sge,
		.flush_byte_count = byte_count,
		.flush_placement = FLUSH_GLOBAL,
		.flush_selectivity = (uint8_t)random_below(random, 2),
	};

	*operation = (struct operation){opcode, bytes, byte_count, offset, word};
	if (opcode == SEND_FETCH_ADD) {
		request.remote_address = (uintptr_t)pair.b.window.bytes + WORD_AT;
		request.compare_or_add = random_below(random, 1000);
		word += request.compare_or_add;
	} else if (opcode != SEND_RDMA_READ) {
		fill_pattern(bytes, byte_count, (uint32_t)random_next(random));
	}
	if (opcode == SEND_RDMA_WRITE || opcode == SEND_RDMA_WRITE_IMMEDIATE)
		memcpy(written + offset, bytes, byte_count);
	if (takes_receive)
		expect_message(index, &request, bytes, byte_count);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
}

static bool queues_have_room(void)
{
	for (unsigned i = 0; i < QUEUES; i++)
		if (scripts[i].expected - scripts[i].arrived >= QUEUE_REQUESTS)
			return false;
	return true;
}

static void check_operation(const struct completion *completion)
{
	const struct operation *operation = &operations[completed++ % OPERATIONS_MAX];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	if (operation->opcode == SEND_RDMA_READ)
		assert_memory_equal(operation->bytes,
				    pair.b.window.bytes + STEADY_AT + operation->offset,
				    operation->byte_count);
	if (operation->opcode == SEND_FETCH_ADD)
		assert_memory_equal(operation->bytes, &operation->result, 8);
}

static void check_message(const struct completion *completion)
{
	unsigned index = (unsigned)(completion->wr_id >> 32);

	assert_true(index < QUEUES);

	struct queue_script *script = &scripts[index];
	const struct message *message =
		&script->messages[script->arrived % ARRAY_COUNT(script->messages)];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_true(script->arrived < script->expected);
	assert_int_equal((uint32_t)completion->wr_id, script->arrived);
	assert_int_equal(completion->byte_count, message->byte_count);
	if (completion->flags & COMPLETION_HAS_IMMEDIATE)
		assert_int_equal(completion->immediate_or_rkey, message->immediate);
	if (message->is_write)
		assert_int_equal(completion->opcode, COMPLETED_RECEIVE_WRITE_IMMEDIATE);
	else
		assert_memory_equal(
			script->receives[script->arrived % ARRAY_COUNT(script->receives)],
			message->bytes, message->byte_count);
	script->arrived++;
}

static void check(void)
{
	while (pair.a.sent.next < pair.a.sent.count)
		check_operation(&pair.a.sent.entries[pair.a.sent.next++]);
	while (pair.b.received.next < pair.b.received.count)
		check_message(&pair.b.received.entries[pair.b.received.next++]);
	pair.a.sent.next = pair.a.sent.count = 0;
	pair.b.received.next = pair.b.received.count = 0;
}

static bool all_arrived(void)
{
	for (unsigned i = 0; i < QUEUES; i++)
		if (scripts[i].arrived < scripts[i].expected)
			return false;
	return completed == posted;
}

static void soak(uint64_t seed)
{
	struct random random = random_seeded(seed);

	memset(scripts, 0, sizeof(scripts));
	memset(written, 0, sizeof(written));
	posted = completed = handovers = 0;
	word = 0;
	connect_under(&random);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned count = (unsigned)random_below(&random, 6);

		while (count-- && posted - completed < OPERATIONS_MAX && queues_have_room())
			post_random(&random);
		for (unsigned i = 0; i < QUEUES; i++)
			post_receives(i, (unsigned)random_below(&random, 6));
		run_until(&pair, pair.now + random_below(&random, MICROSECONDS(200)));
		check();
		if (random_below(&random, 2))
			hand_over();
	}
	while (!all_arrived()) {
		for (unsigned i = 0; i < QUEUES; i++)
			post_receives(i, QUEUE_REQUESTS);
		run_until(&pair, pair.now + MILLISECONDS(100));
		check();
		hand_over();
		assert_true(pair.now < SECONDS(1000));
	}
	assert_true(handovers > 0);
	assert_memory_equal(pair.b.window.bytes + WORD_AT, &word, sizeof(word));
	assert_memory_equal(pair.b.window.bytes + WRITTEN_AT, written, WRITTEN_BYTES);
	expect_no_event(&pair.a);
	expect_no_event(&pair.b);
	rc_pair_release(&pair);
	for (unsigned i = 0; i < QUEUES; i++)
		receive_queue_release(&queues[i]);
}

SOAK_SEEDS_TEST(test_queues_get_their_messages_once_whoever_has_the_target, soak)

int main(int argc, char **argv)
{
	return soak_seeds_main(argc, argv, SEEDS_QUICK,
			       (struct CMUnitTest)cmocka_unit_test_teardown(
				       test_queues_get_their_messages_once_whoever_has_the_target,
				       soak_seeds_name));
}
