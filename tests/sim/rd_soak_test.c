/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable datagrams under many seeds: three hundred queue pairs of three nodes talk to each other
 * by one pair of EE contexts between each two nodes, over wires that lose, duplicate, reorder and
 * corrupt.
 *
 * | operation                  | what must hold                                                   |
 * | SEND, WRITE with immediate | once, whole, in order between each two queue pairs               |
 * | WRITE                      | executed in order: the memory is as written last                 |
 * | READ                       | answered right                                                   |
 * | FETCH_ADD                  | executed once                                                    |
 * | a wrong Q_Key or R_Key     | fails that request; every context stays up                       |
 *
 * A failing seed is printed; "rd_soak_test SEED" runs it alone.
 */
#include "support/soak_seeds.h"
#include "support/rd_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"

enum {
	SEEDS_QUICK = 60,
	NODES = 3,
	QPS = 100, /* of a node */
	ROUNDS = 40,
	POSTS_PER_ROUND = 60,
	STEPS_PER_ROUND = 200,
	TRIES = 20,
	RECEIVES = 4, /* of a queue pair */
	PLACE_BYTES = 1280,
	MESSAGE_BYTES = 1200,
	OUTSTANDING = 2, /* of a queue pair */
	INBOX_AT = 0,
	OUTBOX_AT = QPS * RECEIVES * PLACE_BYTES,
	WRITTEN_AT = OUTBOX_AT + QPS * OUTSTANDING * PLACE_BYTES,
	WORDS_AT = WRITTEN_AT + QPS * 512,
	STEADY_AT = WORDS_AT + QPS * 8,
	STEADY_BYTES = 4096,
};

static_assert(STEADY_AT + STEADY_BYTES <= RIG_BYTES, "a node's memory has room for all");

/* The beginning of each message. */
struct label {
	uint32_t source;
	uint32_t number;
	uint32_t byte_count;
	uint32_t seed;
};

struct operation {
	enum send_opcode opcode;
	enum completion_status status;
	uint32_t offset; /* of the local bytes */
	uint32_t byte_count;
	uint32_t remote_offset;
	unsigned node;
	bool is_pending;
};

struct party {
	struct qp_object *object;
	struct operation operations[OUTSTANDING];
	unsigned posted, completed;
	uint32_t numbers[NODES][QPS];  /* of the next message to each */
	uint32_t expected[NODES][QPS]; /* from each */
	uint32_t receives_posted, arrived, sent_to;
	uint8_t written[512]; /* the last bytes that others wrote */
	uint64_t word;
};

static struct rd_rig rig;
static struct party parties[NODES][QPS];
static struct qp_object *eecs[NODES][NODES];
static unsigned messages, failures;

static void connect_under(struct random *random)
{
	static const uint32_t trains[] = {1, 1024, 65536};
	const struct wire_faults faults = {
		.lose = (unsigned)random_below(random, 30),
		.duplicate = (unsigned)random_below(random, 200),
		.delay = (unsigned)random_below(random, 30),
		.corrupt = (unsigned)random_below(random, 10),
	};

	rd_rig_init(&rig, NODES);
	rig.train_bytes_max = trains[random_below(random, 3)];
	for (unsigned i = 0; i < NODES; i++) {
		for (unsigned j = 0; j < QPS; j++)
			parties[i][j].object = rd_rig_qp(&rig, i);
		for (unsigned j = 0; j < STEADY_BYTES; j++)
			rig.nodes[i].bytes[STEADY_AT + j] = (uint8_t)(j * 3 + i);
		for (unsigned j = 0; j < NODES; j++) {
			rig.wires[i][j]->faults = faults;
			rig.wires[i][j]->random = random_seeded(random_next(random));
		}
		for (unsigned j = 0; j < i; j++) {
			struct qp_object *ends[2];

			rd_rig_connect(&rig, i, j, ends);
			eecs[i][j] = ends[0];
			eecs[j][i] = ends[1];
		}
	}
}

static void fill(uint8_t *bytes, const struct label *label)
{
	struct random random = random_seeded(label->seed);

	memcpy(bytes, label, sizeof(*label));
	for (uint32_t i = sizeof(*label); i < label->byte_count; i++)
		bytes[i] = (uint8_t)random_next(&random);
}

static uint32_t party_number(unsigned node, unsigned index)
{
	return node * QPS + index;
}

static void post_receives(unsigned node, unsigned index)
{
	struct party *party = &parties[node][index];

	while (party->receives_posted - party->arrived < RECEIVES) {
		uint32_t place = index * RECEIVES + party->receives_posted % RECEIVES;

		rd_receive(&rig, party->object, INBOX_AT + place * PLACE_BYTES, PLACE_BYTES,
			   (uint64_t)index << 32 | party->receives_posted++);
	}
}

/* Prefers a queue pair that messages wait for. */
static void post_where_missing(struct random *random)
{
	unsigned node = 0, index = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		node = (unsigned)random_below(random, NODES);
		index = (unsigned)random_below(random, QPS);
		if (parties[node][index].sent_to > parties[node][index].receives_posted)
			break;
	}
	post_receives(node, index);
}

/* A SEND or WRITE with immediate, with a label that the receiver checks. */
static void make_message(struct random *random, unsigned node, unsigned index, unsigned to_node,
			 unsigned to, struct operation *operation)
{
	struct party *party = &parties[node][index];
	struct label label = {
		.source = party_number(node, index),
		.number = party->numbers[to_node][to]++,
		.byte_count = (uint32_t)(sizeof(label) +
					 random_below(random, MESSAGE_BYTES - sizeof(label))),
		.seed = (uint32_t)random_next(random),
	};

	operation->byte_count = label.byte_count;
	fill(rig.nodes[node].bytes + operation->offset, &label);
	parties[to_node][to].sent_to++;
	messages++;
}

static void make_memory_operation(struct random *random, struct operation *operation,
				  unsigned to_node, unsigned to, struct send_request *request,
				  uint8_t *bytes)
{
	struct party *target = &parties[to_node][to];

	if (operation->opcode == SEND_FETCH_ADD) {
		operation->byte_count = 8;
		operation->remote_offset = (uint32_t)(WORDS_AT + to * 8);
		request->compare_or_add = random_below(random, 1000);
		target->word += request->compare_or_add;
	} else if (operation->opcode == SEND_RDMA_READ) {
		operation->byte_count = (uint32_t)random_below(random, MESSAGE_BYTES);
		operation->remote_offset =
			(uint32_t)(STEADY_AT + random_below(random, STEADY_BYTES - MESSAGE_BYTES));
	} else {
		operation->byte_count = 512;
		operation->remote_offset = (uint32_t)(WRITTEN_AT + to * 512);
		for (unsigned i = 0; i < 512; i++)
			bytes[i] = (uint8_t)random_next(random);
		memcpy(target->written, bytes, 512);
	}
}

/* Two writers of one range would have no order, so each queue pair writes to its neighbour's
 * range. */
static void choose_target(struct random *random, enum send_opcode opcode, unsigned node,
			  unsigned index, unsigned *ret_node, unsigned *ret_index)
{
	bool is_write = opcode == SEND_RDMA_WRITE;

	*ret_node = is_write ? (node + 1) % NODES
			     : (node + 1 + (unsigned)random_below(random, NODES - 1)) % NODES;
	*ret_index = is_write ? index : (unsigned)random_below(random, QPS);
}

static void spoil(struct random *random, struct send_request *request, struct operation *operation)
{
	if (random_below(random, 2)) {
		operation->opcode = request->opcode = SEND_SEND;
		operation->byte_count = (uint32_t)random_below(random, MESSAGE_BYTES);
		request->remote_qkey++;
		operation->status = COMPLETION_REMOTE_INVALID_RD_REQUEST;
	} else {
		operation->opcode = request->opcode = SEND_RDMA_READ;
		operation->byte_count = MESSAGE_BYTES;
		request->remote_key ^= 0x100;
		operation->status = COMPLETION_REMOTE_ACCESS;
	}
	failures++;
}

static void post_random(struct random *random)
{
	static const enum send_opcode opcodes[] = {SEND_SEND,	    SEND_SEND,
						   SEND_RDMA_WRITE, SEND_RDMA_WRITE_IMMEDIATE,
						   SEND_RDMA_READ,  SEND_FETCH_ADD};
	unsigned node = (unsigned)random_below(random, NODES);
	unsigned index = (unsigned)random_below(random, QPS);
	struct party *party = &parties[node][index];
	unsigned slot = party->posted % OUTSTANDING;
	struct operation *operation = &party->operations[slot];
	/* An error flushes the requests after it, so nothing is posted behind it. */
	bool is_spoiled = party->posted == party->completed && random_below(random, 40) == 0;
	unsigned to_node, to;

	if (party->posted - party->completed == OUTSTANDING)
		return;
	if (party->posted != party->completed &&
	    party->operations[!slot].status != COMPLETION_SUCCESS)
		return;
	*operation = (struct operation){
		.opcode = opcodes[random_below(random, ARRAY_COUNT(opcodes))],
		.offset = OUTBOX_AT + (index * OUTSTANDING + slot) * PLACE_BYTES,
	};
	choose_target(random, operation->opcode, node, index, &to_node, &to);
	operation->node = to_node;

	struct sge sge;
	uint8_t *bytes = rig.nodes[node].bytes + operation->offset;
	struct send_request request =
		rd_request(&rig.nodes[node], eecs[node][to_node],
			   parties[to_node][to].object->qp.qpn, operation->offset, 0, &sge);

	request.wr_id = index;
	request.opcode = operation->opcode;
	request.remote_key = rig.nodes[to_node].region->key;
	if (is_spoiled)
		spoil(random, &request, operation);
	else if (operation->opcode == SEND_SEND || operation->opcode == SEND_RDMA_WRITE_IMMEDIATE)
		make_message(random, node, index, to_node, to, operation);
	else
		make_memory_operation(random, operation, to_node, to, &request, bytes);
	if (operation->opcode == SEND_RDMA_WRITE_IMMEDIATE) {
		/* The data are not checked; the immediate names the sender. */
		operation->remote_offset = RIG_BYTES - PLACE_BYTES;
		request.immediate_or_rkey = party_number(node, index);
	}
	request.remote_address = (uintptr_t)rig.nodes[to_node].bytes + operation->remote_offset;
	sge.byte_count = operation->byte_count;
	party->posted++;
	assert_int_equal(rd_post(&rig, party->object, &request), 0);
}

static void check_sent(unsigned node, const struct completion *completion)
{
	struct party *party = &parties[node][completion->wr_id];
	const struct operation *operation = &party->operations[party->completed++ % OUTSTANDING];

	assert_int_equal(completion->status, operation->status);
	if (operation->status != COMPLETION_SUCCESS) {
		assert_int_equal(party->object->qp.state, QP_SQE);
		assert_int_equal(rd_rig_set_state(&rig, party->object, QP_RTS), 0);
	} else if (operation->opcode == SEND_RDMA_READ) {
		assert_memory_equal(rig.nodes[node].bytes + operation->offset,
				    rig.nodes[operation->node].bytes + operation->remote_offset,
				    operation->byte_count);
	}
}

static void check_received(unsigned node, const struct completion *completion)
{
	unsigned index = (unsigned)(completion->wr_id >> 32);
	struct party *party = &parties[node][index];
	uint32_t place = index * RECEIVES + (uint32_t)completion->wr_id % RECEIVES;
	const uint8_t *bytes = rig.nodes[node].bytes + INBOX_AT + place * PLACE_BYTES;
	uint8_t wanted[PLACE_BYTES];
	struct label label;
	uint32_t source;

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_int_equal(completion->qpn, party->object->qp.qpn);
	party->arrived++;
	if (completion->opcode == COMPLETED_RECEIVE_WRITE_IMMEDIATE) {
		source = completion->immediate_or_rkey;
	} else {
		memcpy(&label, bytes, sizeof(label));
		source = label.source;
		assert_true(source < NODES * QPS);
		assert_int_equal(label.byte_count, completion->byte_count);
		fill(wanted, &label);
		assert_memory_equal(bytes, wanted, label.byte_count);
	}

	uint32_t *expected = &party->expected[source / QPS][source % QPS];

	if (completion->opcode == COMPLETED_RECEIVE)
		assert_int_equal(label.number, *expected);
	++*expected;
	assert_int_equal(completion->source_qpn,
			 parties[source / QPS][source % QPS].object->qp.qpn);
	assert_int_equal(completion->eecn, eecs[node][source / QPS]->qp.qpn);
}

static void check(void)
{
	for (unsigned i = 0; i < NODES; i++) {
		while (cq_first(rig.nodes[i].sent)) {
			struct completion completion = rd_take(rig.nodes[i].sent);

			check_sent(i, &completion);
		}
		while (cq_first(rig.nodes[i].received)) {
			struct completion completion = rd_take(rig.nodes[i].received);

			check_received(i, &completion);
		}
	}
}

static bool all_done(void)
{
	for (unsigned i = 0; i < NODES; i++)
		for (unsigned j = 0; j < QPS; j++)
			if (parties[i][j].posted != parties[i][j].completed ||
			    parties[i][j].arrived != parties[i][j].sent_to)
				return false;
	return true;
}

static void check_end(void)
{
	for (unsigned i = 0; i < NODES; i++) {
		for (unsigned j = 0; j < QPS; j++) {
			const uint8_t *bytes = rig.nodes[i].bytes;

			assert_memory_equal(bytes + WRITTEN_AT + j * 512, parties[i][j].written,
					    512);
			assert_memory_equal(bytes + WORDS_AT + j * 8, &parties[i][j].word, 8);
		}
		for (unsigned j = 0; j < NODES; j++)
			if (i != j)
				assert_int_equal(eecs[i][j]->qp.state, QP_RTS);
		assert_int_equal(rig.nodes[i].event_count, 0);
	}
}

static void soak(uint64_t seed)
{
	struct random random = random_seeded(seed);

	memset(parties, 0, sizeof(parties));
	messages = failures = 0;
	connect_under(&random);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < POSTS_PER_ROUND; i++)
			post_random(&random);
		/* So few receives that many messages find none, at any moment. */
		for (unsigned i = 0; i < STEPS_PER_ROUND; i++) {
			post_where_missing(&random);
			rd_run_until(&rig, rig.now + random_below(&random, MICROSECONDS(2)));
			check();
		}
	}
	while (!all_done()) {
		for (unsigned i = 0; i < NODES * QPS; i++)
			post_receives(i / QPS, i % QPS);
		rd_run_until(&rig, rig.now + MILLISECONDS(10));
		check();
		assert_true(rig.now < SECONDS(1000));
	}
	check_end();
	assert_true(messages > 100 && failures > 0);
	rd_rig_release(&rig);
}

SOAK_SEEDS_TEST(test_everyone_gets_every_message_once_by_a_few_contexts, soak)

int main(int argc, char **argv)
{
	return soak_seeds_main(
		argc, argv, SEEDS_QUICK,
		(struct CMUnitTest)cmocka_unit_test_teardown(
			test_everyone_gets_every_message_once_by_a_few_contexts, soak_seeds_name));
}
