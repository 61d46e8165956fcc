/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: RDMA WRITE, READ and atomics into the memory of a peer that lies. Its grants, its
 * exported rkeys and the words around them change before any read of them (shared_reads.h), while
 * requests of the shipped code are under way. No byte is read or written outside the peer's shared
 * pages and the program's own buffers, each request completes at most once, and a queue pair that
 * still works afterwards does so in a legal state.
 *
 * The input is a sequence of actions: a byte that chooses the action, and what the action needs.
 */
#include "fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "fuzz/input.h"
#include "fuzz/shared_reads.h"
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"
#include "unit/runtime/runtime_pair.h"
#include "unit/runtime/shared_pages.h"

enum { ACTIONS_MAX = 48, READS_MAX = 128, LOCAL_BYTES = 1 << 15, WARM_UP_WRITES = 64 };

/* What the peer owns, as it was before the input. */
struct peer_words {
	struct rkey_export_header header;
	struct published_key key;
};

static struct pair_end ends[2];
static struct published_key *entry; /* of the second end's region */
static struct peer_words honest;
static uint8_t *local; /* of LOCAL_BYTES, in a heap block of its own */
static struct region *local_region;
static unsigned posted, completed;

static struct rkey_export_header *header(void)
{
	return pair_runtime()->rkey_export.header;
}

static void find_entry(void)
{
	struct published_key *keys = pair_runtime()->rkey_export.keys;

	for (unsigned i = 0; i < PUBLISHED_KEYS && !entry; i++)
		if (keys[i].key == pair.ends[1].region->key && keys[i].adapter_index == 1)
			entry = &keys[i];
	MUST_HOLD(entry);
}

/* Reaching the peer's private memory needs a system call that names the peer: here that is this
 * process, which would be made to overwrite itself. */
static void forgo_system_calls(void)
{
	struct peer_memory *peer_memory = &pair_channel()->peer->peer_memory;

	cma_close(&peer_memory->memory);
	peer_memory->has_tried = true;
	peer_memory->memory.file = -1;
}

static void remove_runtime(void)
{
	fake_softibd_remove(&pair.softibd);
}

static void start_once(void)
{
	if (local)
		return;
	MUST_HOLD(pair_start_connected(NULL) == 0 && atexit(remove_runtime) == 0);
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	share(PLACE + 1);
	runtime_lock(pair_runtime());
	find_entry();
	forgo_system_calls();
	honest = (struct peer_words){*header(), *entry};
	local = malloc(LOCAL_BYTES);
	MUST_HOLD(local && region_register(&adapter_hca(pair.ends[0].adapter)->memory,
					   pair.ends[0].pd, local, LOCAL_BYTES, (uintptr_t)local,
					   ACCESS_LOCAL_WRITE, &local_region) == 0);
	runtime_unlock(pair_runtime());
}

static uint32_t draw_length(struct input *input)
{
	static const uint32_t lengths[] = {0, 1, 4, 7, 8, 64, 100, 1024, 4096, 5000, LOCAL_BYTES};

	return lengths[input_below(input, ARRAY_COUNT(lengths))];
}

static struct send_request make_request(struct input *input, enum send_opcode opcode,
					struct sge *sge)
{
	const uint64_t offset = input_16(input);
	const bool is_atomic = opcode == SEND_FETCH_ADD || opcode == SEND_COMPARE_SWAP;

	*sge = (struct sge){(uintptr_t)local, is_atomic ? 8 : draw_length(input),
			    local_region->key};
	return (struct send_request){
		.wr_id = 1,
		.opcode = opcode,
		.flags = input_byte(input) & 1 ? SEND_SIGNALED : 0,
		.remote_address = page_begin() + (is_atomic ? offset & ~UINT64_C(7) : offset),
		.remote_key = pair.ends[1].region->key,
		.compare_or_add = offset,
		.sge_count = 1,
		.sges = sge,
	};
}

static void poll_completions(void)
{
	for (unsigned i = 0; i < 2; i++) {
		while (cq_first(pair.ends[i].cq)) {
			completed++;
			cq_advance(pair.ends[i].cq);
		}
	}
	MUST_HOLD(completed <= posted);
}

/* Both ends go on: packets, grants and ACKs arrive. */
static void progress(void)
{
	for (unsigned i = 0; i < 2; i++)
		(void)adapter_progress(ends[i].adapter, runtime_now());
	poll_completions();
}

static void post(const struct send_request *request)
{
	struct qp_object *qp = ends[0].qp;

	if (qp->qp.state != QP_RTS)
		return;
	posted++;
	shared_reads_begin();
	if (pair_carry_out(&ends[0], request))
		adapter_posted(ends[0].adapter);
	else if (qp_object_post_send(qp, runtime_now(), request) == 0)
		adapter_transmit(ends[0].adapter, runtime_now());
	else
		posted--;
	shared_reads_end();
	MUST_HOLD(qp->qp.state <= QP_ERROR);
}

static void request(struct input *input)
{
	static const enum send_opcode opcodes[] = {SEND_RDMA_WRITE, SEND_RDMA_READ, SEND_RDMA_WRITE,
						   SEND_FETCH_ADD, SEND_COMPARE_SWAP};
	const enum send_opcode opcode = opcodes[input_below(input, ARRAY_COUNT(opcodes))];
	struct sge sge;
	const struct send_request made = make_request(input, opcode, &sge);

	post(&made);
}

/* Immediate data goes by packets, behind the RMA that is done. */
static void request_with_packet(struct input *input)
{
	struct sge sge;
	const struct send_request made = make_request(input, SEND_RDMA_WRITE_IMMEDIATE, &sge);

	post(&made);
}

/* The grant of the queue pair, once it has asked. */
static struct rma_grant *granted(void)
{
	const struct rma *rma = ends[0].qp->qp.owner_rma;

	return rma && rma->channel ? &rma->channel->rma_out->grants[rma->index] : NULL;
}

/* A word of the grant, of the key, of the header that matters to requests, or the hazard word. */
static uint64_t *choose_word(struct input *input)
{
	const uint8_t choice = input_byte(input);
	const unsigned index = choice >> 2;
	struct rma_grant *grant = granted();

	if ((choice & 3) == 0 && grant)
		return (uint64_t *)(void *)grant + index % (sizeof(*grant) / sizeof(uint64_t));
	if ((choice & 3) == 1)
		return (uint64_t *)(void *)header() + index % 4;
	if ((choice & 3) == 2 && index % 4 == 0)
		return &pair_channel()->rma_out->hazard;
	return (uint64_t *)(void *)entry + index % (sizeof(*entry) / sizeof(uint64_t));
}

/* Values near the one that is there, and those at which sums wrap. */
static uint64_t choose_value(struct input *input, uint64_t before)
{
	static const uint64_t edges[] = {0,
					 1,
					 UINT64_MAX,
					 UINT64_MAX - 4095,
					 RKEY_EXPORT_SHARED_BYTES,
					 RKEY_EXPORT_SHARED_BYTES - 4095,
					 UINT64_C(1) << 63,
					 UINT64_C(1) << 32};
	const uint8_t choice = input_byte(input);

	switch (choice & 3) {
	case 0:
		return before ^ (uint64_t)input_byte(input) << (choice >> 2 & 7) * 8;
	case 1:
		return before + input_16(input) - 0x8000;
	case 2:
		return edges[(choice >> 2) % ARRAY_COUNT(edges)];
	default:
		return input_64(input);
	}
}

static void write_word(struct input *input)
{
	uint64_t *place = choose_word(input);

	*place = choose_value(input, *place);
}

static void plan_write(struct input *input)
{
	struct shared_write write = {.read = input_byte(input) % READS_MAX};

	write.place = choose_word(input);
	write.value = choose_value(input, *write.place);
	shared_reads_add(&write);
}

/* The whole key, as the peer may write it: a valid sequence, and a region of any kind. */
static void write_key(struct input *input)
{
	struct published_key made = *entry;

	made.sequence += 2;
	made.bytes = input_byte(input) & 1 ? choose_value(input, made.bytes) : made.bytes;
	made.iova = input_byte(input) & 1 ? choose_value(input, made.iova) : made.iova;
	made.byte_count =
		input_byte(input) & 1 ? choose_value(input, made.byte_count) : made.byte_count;
	made.kind = (uint16_t)input_below(input, 6);
	made.shared_place =
		input_byte(input) & 1 ? choose_value(input, made.shared_place) : made.shared_place;
	*entry = made;
}

/* The peer is honest again: requests after lies go on, or the queue pair has failed. */
static void restore(struct input *input)
{
	(void)input;
	*header() = honest.header;
	honest.key.sequence = entry->sequence | 1;
	honest.key.sequence++;
	*entry = honest.key;
	pair_channel()->rma_out->hazard = 0;
	pair_channel()->peer->failures = 0;
	pair_channel()->hazard = (struct hazard_watch){0};
}

static void go_on(struct input *input)
{
	(void)input;
	shared_reads_begin();
	progress();
	shared_reads_end();
}

/* The first WRITEs go by packets and ask for a grant; the last ones are RMA. */
static void warm_up(void)
{
	struct sge sge = {(uintptr_t)local, 8, local_region->key};
	const struct send_request write = {.wr_id = 1,
					   .opcode = SEND_RDMA_WRITE,
					   .flags = SEND_SIGNALED,
					   .remote_address = page_begin(),
					   .remote_key = pair.ends[1].region->key,
					   .sge_count = 1,
					   .sges = &sge};

	for (unsigned i = 0; i < WARM_UP_WRITES; i++) {
		const struct rma *rma = ends[0].qp->qp.owner_rma;

		if (rma && rma->serial % 2)
			return;
		post(&write);
		progress();
	}
}

static void act(struct input *input)
{
	static void (*const actions[])(struct input * input) = {
		request,    request,	request,    request_with_packet,
		write_word, plan_write, plan_write, plan_write,
		write_key,  restore,	go_on,
	};

	actions[input_below(input, ARRAY_COUNT(actions))](input);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct input input = {bytes, byte_count};

	start_once();
	pair_connect_another(ends);
	runtime_lock(pair_runtime());
	posted = completed = 0;
	warm_up();
	for (unsigned i = 0; input.byte_count && i < ACTIONS_MAX; i++)
		act(&input);
	shared_reads_end();
	restore(NULL);
	for (unsigned i = 0; i < 2; i++)
		MUST_HOLD(qp_object_destroy(ends[i].qp) == 0);
	progress();
	runtime_unlock(pair_runtime());
	return 0;
}
