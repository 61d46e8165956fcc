/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs for tests of bursts: see burst_paths.h. */
#include "unit/runtime/burst_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "runtime/fast/short_send.h"
#include "wire/packet.h"

enum {
	STEP_BYTES = 8192,
	RECEIVED_AT = PAIR_BUFFER_BYTES / 2,
	IMMEDIATE = 0x12345678,
};

struct pair_end paths[PATHS][2];
uint32_t paths_wrong_qkey_bits;
const struct path_message path_plain = {SEND_SEND, 8, SEND_SIGNALED, 0};

bool path_is_datagram(unsigned path)
{
	return paths[path][0].qp->qp.type == QP_UD;
}

uint8_t *paths_bytes_of(uint32_t number)
{
	return pair.ends[0].buffer + number * STEP_BYTES;
}

static uint8_t *paths_place_of(uint32_t number)
{
	return pair.ends[1].buffer + RECEIVED_AT + number * STEP_BYTES;
}

void path_post_receives(unsigned path, uint32_t first, uint32_t count)
{
	for (uint32_t number = first; number < first + count; number++) {
		const struct sge sge = {(uintptr_t)paths_place_of(number), STEP_BYTES,
					pair.ends[1].region->key};
		const struct receive_request request = {
			.wr_id = number, .sge_count = 1, .sges = &sge};

		memset(paths_place_of(number), 0xee, STEP_BYTES);
		assert_int_equal(qp_object_post_receive(paths[path][1].qp, 0, &request), 0);
	}
}

void paths_end_bursts(void)
{
	for (unsigned path = 0; path < PATHS; path++)
		if (paths[path][0].qp)
			paths[path][0].qp->qp.templates->burst = (struct send_burst){0};
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
}

/* The Q_Key of the receiver. */
static uint32_t qkey_to(unsigned path)
{
	const struct qp_object *receiver = paths[path][1].qp;

	return receiver && path_is_datagram(path) ? receiver->qp.attributes.qkey : PAIR_QKEY;
}

bool path_post_to(unsigned from, unsigned to, uint32_t number, const struct path_message *message)
{
	/* On the stack: a program may make another address handle for each datagram. */
	const struct address_vector address = {.dlid = 2, .port_number = 1};
	struct pair_end *end = &paths[from][0];
	const struct sge sge = {(uintptr_t)paths_bytes_of(number), message->byte_count,
				message->lkey ? message->lkey : pair.ends[0].region->key};
	const struct send_request request = {
		.wr_id = number,
		.opcode = message->opcode,
		.flags = message->flags,
		.immediate_or_rkey = IMMEDIATE,
		.remote_address = (uintptr_t)paths_place_of(number),
		.remote_key = pair.ends[1].region->key,
		.address = &address,
		.address_pd = end->pd,
		.remote_qpn = paths[to][1].qp->qp.qpn,
		.remote_qkey = qkey_to(to) ^ paths_wrong_qkey_bits,
		.sge_count = 1,
		.sges = &sge,
	};
	const struct ring_producer *out = &pair_channel()->out;
	const uint64_t tail = out->tail;

	pair_fill(paths_bytes_of(number), message->byte_count, number);
	if (!pair_carry_out(end, &request)) {
		assert_int_equal(qp_post_send(&end->qp->qp, adapter_now(end->adapter), &request),
				 0);
		adapter_send(end->adapter, end->qp);
		pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
		return false;
	}
	return out->tail != tail &&
	       *(const uint64_t *)(out->data + (tail & (out->data_bytes - 1))) ==
		       (ring_stamp(out->stamp_seed, tail) ^ ring_payload_form(message->byte_count));
}

bool path_post(unsigned path, uint32_t number, const struct path_message *message)
{
	return path_post_to(path, path, number, message);
}

unsigned path_post_plain(unsigned path, uint32_t first, uint32_t count)
{
	unsigned payloads = 0;

	for (uint32_t number = first; number < first + count; number++)
		payloads += path_post(path, number, &path_plain);
	return payloads;
}

void paths_take(void)
{
	enum poll_round round;

	do {
		round = poll_round_run(pair_runtime());
		if (round == POLL_ROUND_FULL)
			adapter_progress(pair.ends[1].adapter, runtime_now());
	} while (round == POLL_ROUND_DONE);
}

static const struct completion *next_completion(const struct pair_end *end)
{
	time_ns start = runtime_now();

	while (!cq_first(end->cq)) {
		assert_false(pair_is_overdue(start));
		adapter_progress(end->adapter, runtime_now());
	}
	return cq_first(end->cq);
}

void path_expect_from(unsigned from, unsigned to, uint32_t number,
		      const struct path_message *message)
{
	const struct completion *completion = next_completion(&pair.ends[1]);
	uint32_t room = path_is_datagram(to) ? GRH_BYTES : 0;
	bool has_immediate = message->opcode == SEND_SEND_IMMEDIATE;
	uint8_t expected[STEP_BYTES];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_int_equal(completion->wr_id, number);
	assert_int_equal(completion->qpn, paths[to][1].qp->qp.qpn);
	assert_int_equal(completion->source_qpn, paths[from][0].qp->qp.qpn);
	assert_int_equal(completion->byte_count, message->byte_count + room);
	assert_int_equal(completion->flags, has_immediate ? COMPLETION_HAS_IMMEDIATE : 0);
	assert_int_equal(completion->is_solicited, !!(message->flags & SEND_SOLICITED));
	if (has_immediate)
		assert_int_equal(completion->immediate_or_rkey, IMMEDIATE);
	pair_fill(expected, message->byte_count, number);
	assert_memory_equal(paths_place_of(number) + room, expected, message->byte_count);
	/* Nothing is written behind the payload: pad bytes are not payload. */
	assert_int_equal(paths_place_of(number)[room + message->byte_count], 0xee);
	cq_advance(pair.ends[1].cq);
}

void path_expect_received(unsigned path, uint32_t number, const struct path_message *message)
{
	path_expect_from(path, path, number, message);
}

void paths_expect_sent(uint32_t number, enum completion_status status)
{
	const struct completion *completion = next_completion(&pair.ends[0]);

	assert_int_equal(completion->status, status);
	assert_int_equal(completion->wr_id, number);
	cq_advance(pair.ends[0].cq);
}

void path_expect_plain(unsigned path, uint32_t first, uint32_t count)
{
	for (uint32_t number = first; number < first + count; number++)
		path_expect_received(path, number, &path_plain);
}

void paths_expect_all_sent(uint32_t first, uint32_t count)
{
	for (uint32_t number = first; number < first + count; number++)
		paths_expect_sent(number, COMPLETION_SUCCESS);
}

void paths_expect_all_sent_in_any_order(uint32_t first, uint32_t count)
{
	bool is_sent[PATHS_NUMBERS] = {false};

	for (uint32_t i = 0; i < count; i++) {
		const struct completion *completion = next_completion(&pair.ends[0]);
		const uint64_t number = completion->wr_id;

		assert_int_equal(completion->status, COMPLETION_SUCCESS);
		assert_true(number >= first && number < first + count);
		assert_false(is_sent[number]);
		is_sent[number] = true;
		cq_advance(pair.ends[0].cq);
	}
}

void paths_expect_nothing(void)
{
	paths_take();
	assert_null(cq_first(pair.ends[0].cq));
	assert_null(cq_first(pair.ends[1].cq));
}

/* The first message resolves the flow. */
static void warm_up(unsigned path)
{
	paths_end_bursts();
	for (unsigned i = 0; i < 3; i++) {
		path_post_receives(path, 0, 1);
		(void)path_post(path, 0, &path_plain);
		paths_take();
		path_expect_plain(path, 0, 1);
		paths_expect_all_sent(0, 1);
	}
	paths_end_bursts();
}

int paths_start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	adapter_lock(pair.ends[0].adapter);
	pair_share_buffer(&pair.ends[0]);
	adapter_unlock(pair.ends[0].adapter);
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
	return 0;
}

/* New queue pairs. The test holds the lock, so neither the progress thread nor the fake softibd
 * take part. */
int paths_begin(void **state)
{
	(void)state;
	paths_wrong_qkey_bits = 0;
	pair_connect_another_as(QP_RC, paths[PATH_RC]);
	pair_connect_another_as(QP_UC, paths[PATH_UC]);
	pair_make_datagram_ends(paths[PATH_UD]);
	pair_connect_another_as(QP_RC, paths[PATH_OTHER]);
	pair_make_datagram_ends(paths[PATH_OTHER_UD]);
	adapter_lock(pair.ends[0].adapter);
	pair_channel()->rnr_hold.max_ns = pair_channel()->rnr_hold.left_ns = SECONDS(1000);
	for (unsigned path = 0; path < PATHS; path++)
		warm_up(path);
	return 0;
}

int paths_end(void **state)
{
	bool is_empty = !cq_first(pair.ends[0].cq) && !cq_first(pair.ends[1].cq);

	(void)state;
	for (unsigned path = 0; path < PATHS; path++)
		for (unsigned i = 0; i < 2; i++)
			if (paths[path][i].qp)
				assert_int_equal(qp_object_destroy(paths[path][i].qp), 0);
	for (unsigned i = 0; i < 2; i++)
		while (cq_first(pair.ends[i].cq))
			cq_advance(pair.ends[i].cq);
	adapter_unlock(pair.ends[0].adapter);
	return is_empty ? 0 : -1;
}

void paths_poll_between(void)
{
	pair_runtime()->turn += 2;
}
