/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what a program gets by its rings. A hostile peer has a direct ring to it: records of
 * every kind, nearly right or not, ACK words, any word of the shared memory at any time, also
 * between two reads of it (shared_reads.h). softibd, which is trusted, sends records of every kind
 * by the down ring, with any content that fits them. No byte is written outside registered memory,
 * queue pairs stay in legal states, and everything can be closed afterwards.
 *
 * The input is a sequence of actions: a byte that chooses the action, and what the action needs.
 */
#include "fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "fuzz/input.h"
#include "fuzz/near_packet.h"
#include "fuzz/shared_reads.h"
#include "ipc/alternate_path.h"
#include "ipc/doorbell.h"
#include "ipc/rma_area.h"
#include "ipc/verb_faults.h"
#include "runtime/channel_queues.h"
#include "runtime/direct_channels.h"
#include "runtime/fast/short_send.h"
#include "runtime/packets/ack_words.h"
#include "runtime/packets/receive.h"
#include "runtime/rma/pinned_range.h"
#include "runtime/rma/rma.h"
#include "runtime/rma/rma_target.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "unit/runtime/runtime_pair.h"
#include "wire/mtu.h"
#include "wire/subnet_attributes.h"

enum {
	ACTIONS_MAX = 64,
	RING_ID = 99, /* of the hostile peer */
	BODY_BYTES_MAX = 1024,
	READS_MAX = 200,
	RECEIVE_BYTES = 4096,
	WORDS_MAX = 8,
	PAYLOADS_MAX = 16,
	RECEIVES_MAX = 8,
	DRAIN_MAX = 1000,
};

/* The queue pairs of the second end, at which the peer aims. */
enum target { TARGET_RC, TARGET_UC, TARGET_UD, TARGETS };

static struct pair_end ends[TARGETS][2];

/* The peer's ring and areas, and the down ring, for the length of an input. */
static struct {
	uint8_t *memory, *down_memory;
	struct channel *channel;
	struct ring_producer out; /* the peer's end */
	struct word_producer words;
	struct ring_producer down;
	struct direct_channels saved_direct;
	struct ring_consumer saved_in;
	uint32_t sent_bytes;
} rig;

static void remove_runtime(void)
{
	fake_softibd_remove(&pair.softibd);
}

static void start_once(void)
{
	static bool is_started;

	if (is_started)
		return;
	is_started = true;
	MUST_HOLD(pair_start_connected(NULL) == 0 && atexit(remove_runtime) == 0);
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	rig.memory = mmap(NULL, direct_layout().total_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rig.down_memory = mmap(NULL, ring_shared_bytes(PROCESS_RING_BYTES), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST_HOLD(rig.memory != MAP_FAILED && rig.down_memory != MAP_FAILED);
}

static void make_targets(void)
{
	pair_connect_another_as(QP_RC, ends[TARGET_RC]);
	pair_connect_another_as(QP_UC, ends[TARGET_UC]);
	pair_make_datagram_ends(ends[TARGET_UD]);
}

static void end_targets(void)
{
	for (unsigned target = 0; target < TARGETS; target++)
		for (unsigned i = 0; i < 2; i++)
			MUST_HOLD(qp_object_destroy(ends[target][i].qp) == 0);
}

/* What softibd has granted to the peer: packets to the second end from the first one's port. */
static void grant(struct channel *channel)
{
	const struct packet_grant granted = {
		.slid = 1, .dlid = 2, .pkey = PKEY_DEFAULT_FULL, .port = 1 << 8 | 1};

	MUST_HOLD(packet_source_grant(&channel->source, &granted) == 0);
}

/* As direct_channels.c opens a ring that it has fetched. Both directions have one area, as in a
 * ring of a process to itself: then nobody waits for the peer's hazard word, which takes 250 ms. */
static void open_channel(void)
{
	const struct direct_layout layout = direct_layout();
	struct channel *channel = malloc(sizeof(*channel));

	(void)madvise(rig.memory, layout.total_bytes, MADV_DONTNEED);
	ring_shared_init_stamped(rig.memory + layout.offset[0], 0x5eed);
	ring_shared_init_stamped(rig.memory + layout.offset[1], 0x5eee);
	channel_init(channel, RING_ID);
	channel_open(channel, rig.memory + layout.offset[1], DIRECT_RING_BYTES,
		     rig.memory + layout.offset[0], DIRECT_RING_BYTES, doorbell_make());
	channel_open_words(channel, rig.memory + layout.words_offset[1],
			   rig.memory + layout.words_offset[0]);
	channel->rma_in = (struct rma_area *)(void *)(rig.memory + layout.area_offset[0]);
	channel->rma_out = channel->rma_in;
	rma_open(channel, dup(pair.softibd.rkey_export_file));
	grant(channel);
	ring_producer_init(&rig.out, rig.memory + layout.offset[0], DIRECT_RING_BYTES);
	word_producer_init(&rig.words, rig.memory + layout.words_offset[0]);
	rig.channel = channel;
}

/* As direct_channels.c buries a channel. */
static void close_channel(struct process_runtime *runtime, struct channel *channel)
{
	ud_zcopies_close(runtime, channel, runtime_now());
	rma_target_close(channel);
	pinned_range_close(runtime, channel);
	rma_close(channel);
	waiting_wake(&channel->waiting);
	runtime_invalidate(runtime);
	flow_table_forget_channel(&runtime->flows, channel, waiting_wake_flow, runtime);
	channel_close(channel);
	free(channel);
}

/* The runtime has the peer's ring in place of its own one, and a down ring of ours. */
static void swap_in(struct process_runtime *runtime)
{
	(void)madvise(rig.down_memory, ring_shared_bytes(PROCESS_RING_BYTES), MADV_DONTNEED);
	ring_shared_init(rig.down_memory);
	ring_producer_init(&rig.down, rig.down_memory, PROCESS_RING_BYTES);
	rig.saved_in = runtime->softibd.in;
	ring_consumer_init(&runtime->softibd.in, rig.down_memory, PROCESS_RING_BYTES);
	rig.saved_direct = runtime->direct;
	open_channel();
	runtime->direct = (struct direct_channels){
		.channels = malloc(sizeof(struct channel *)), .count = 1, .capacity = 1};
	runtime->direct.channels[0] = rig.channel;
}

static void swap_out(struct process_runtime *runtime)
{
	close_channel(runtime, rig.channel);
	free(runtime->direct.channels);
	runtime->direct = rig.saved_direct;
	runtime->softibd.in = rig.saved_in;
	rnr_hold_init(&runtime->softibd.rnr_hold);
	runtime->softibd.grants_read = 0;
}

static struct near_packet near_target(enum target target)
{
	const struct pair_end *end = &ends[target][1];

	return (struct near_packet){
		.slid = 1,
		.dlid = 2,
		.qpn = end->qp->qp.qpn,
		.source_qpn = ends[target][0].qp->qp.qpn,
		.psn = end->qp->qp.responder.expected_psn.value,
		.qkey = PAIR_QKEY,
		.reth = {.address = (uintptr_t)end->buffer, .rkey = end->region->key, .bytes = 64},
	};
}

static uint32_t make_packet(struct input *input, uint8_t *body)
{
	const struct near_packet near = near_target((enum target)input_below(input, TARGETS));

	return near_packet_make(input, &near, body);
}

static void put_direct(struct input *input, uint16_t kind, const uint8_t *body, uint32_t byte_count)
{
	const uint8_t unusual = input_byte(input);
	struct ring_record *record = ring_reserve(&rig.out, byte_count);

	if (!record)
		return;
	memcpy(record->body, body, byte_count);
	record->kind =
		kind == RING_RECORD_FILLER || kind == RING_RECORD_PAYLOAD ? RECORD_PACKET : kind;
	record->byte_count = byte_count;
	record->port = unusual & 1 ? input_16(input) : 1 << 8 | 1;
	record->packet_count = unusual & 2 ? 1u + input_byte(input) : 1;
	record->word = unusual & 4 ? input_32(input) : 0;
	ring_commit(&rig.out, record);
	(void)!ring_publish(&rig.out);
}

static void packet_record(struct input *input)
{
	uint8_t body[BODY_BYTES_MAX];
	const uint32_t byte_count = make_packet(input, body);

	put_direct(input, input_byte(input) & 1 ? RECORD_PACKET : RECORD_TEMPLATE, body,
		   byte_count);
}

/* A SEND by reference: the headers, then a ticket. */
static void zcopy_record(struct input *input)
{
	const struct near_packet near = near_target(TARGET_RC);
	const struct zcopy_ticket ticket = {.place = (uint64_t)input_byte(input) << 12,
					    .byte_count = input_16(input),
					    .serial_index = input_byte(input)};
	const uint8_t send_only[] = {0, 4};
	struct input none = {send_only, sizeof(send_only)};
	uint8_t body[NEAR_PACKET_BYTES_MAX + sizeof(ticket)];
	uint32_t byte_count = near_packet_make(&none, &near, body);

	memcpy(body + byte_count, &ticket, sizeof(ticket));
	byte_count += (uint32_t)sizeof(ticket);
	input_change(input, body, byte_count);
	put_direct(input, RECORD_ZCOPY, body, byte_count);
}

/* A datagram by reference: a ticket, the headers, and room for the payload. */
static void ud_zcopy_record(struct input *input)
{
	const struct near_packet near = near_target(TARGET_UD);
	const struct ud_zcopy_ticket ticket = {.place = (uint32_t)input_byte(input) << 12,
					       .serial = input_below(input, 2)};
	const uint8_t send_only[] = {3, 4, 255};
	struct input none = {send_only, sizeof(send_only)};
	uint8_t body[BODY_BYTES_MAX];
	uint32_t byte_count;

	memcpy(body, &ticket, sizeof(ticket));
	byte_count =
		(uint32_t)sizeof(ticket) + near_packet_make(&none, &near, body + sizeof(ticket));
	input_change(input, body, byte_count);
	put_direct(input, RECORD_UD_ZCOPY, body, byte_count);
}

static void grant_request_record(struct input *input)
{
	const struct near_packet near = near_target(input_byte(input) & 1 ? TARGET_RC : TARGET_UC);
	const struct rma_grant_request ask = {.index = input_byte(input),
					      .ask_number = 1u + input_byte(input)};
	const uint8_t write_only[] = {4 << 2, 4};
	struct input none = {write_only, sizeof(write_only)};
	uint8_t body[BODY_BYTES_MAX];
	uint32_t byte_count;

	memcpy(body, &ask, sizeof(ask));
	byte_count = (uint32_t)sizeof(ask) + near_packet_make(&none, &near, body + sizeof(ask));
	input_change(input, body, byte_count);
	put_direct(input, RECORD_RMA_GRANT_REQUEST, body, byte_count);
}

/* proof_address stays 0 or a small number: the target reads the asker's memory there. */
static void pin_record(struct input *input)
{
	const struct pin_ask ask = {.key = ends[TARGET_RC][1].region->key,
				    .ask_number = input_byte(input),
				    .address =
					    (uintptr_t)ends[TARGET_RC][1].buffer + input_16(input),
				    .proof_address = input_byte(input)};
	uint8_t body[sizeof(ask)];

	memcpy(body, &ask, sizeof(ask));
	input_change(input, body, sizeof(ask));
	put_direct(input, RECORD_PIN_ASKED, body, input_byte(input) & 1 ? sizeof(ask) : 8);
}

static void any_record(struct input *input)
{
	uint8_t body[BODY_BYTES_MAX];
	const uint16_t kind = input_16(input) % (RECORD_EXPOSED + 2);
	const uint32_t byte_count = input_byte(input);

	(void)input_fill(input, body, byte_count);
	put_direct(input, kind, body, byte_count);
}

static void payload_record(struct input *input)
{
	static const uint32_t sizes[] = {4, 8, 12, 24, 64, 200};
	const uint32_t byte_count = sizes[input_below(input, ARRAY_COUNT(sizes))];

	if (!ring_has_room_for_payload(&rig.out, byte_count))
		return;
	(void)input_fill(input, ring_payload_place(&rig.out, byte_count), byte_count);
	ring_commit_payload(&rig.out, byte_count);
}

/* A template and the payload records that may follow it, as a sender of short messages writes them;
 * some say another length than the template. */
static void burst(struct input *input)
{
	const enum target target = input_byte(input) & 1 ? TARGET_RC : TARGET_UD;
	const struct near_packet near = near_target(target);
	const uint8_t byte_count = (uint8_t)(4 * (1 + input_below(input, 8)));
	const uint8_t send_only[] = {target == TARGET_RC ? 0 : 3, 4, byte_count};
	struct input none = {send_only, sizeof(send_only)};
	uint8_t body[NEAR_PACKET_BYTES_MAX];
	uint32_t packet_bytes = near_packet_make(&none, &near, body);

	put_direct(&none, RECORD_TEMPLATE, body, packet_bytes);
	for (unsigned left = input_below(input, PAYLOADS_MAX); left; left--) {
		const uint32_t length = byte_count + (input_byte(input) % 16 ? 0u : 4u);

		if (!ring_has_room_for_payload(&rig.out, length))
			return;
		(void)input_fill(input, ring_payload_place(&rig.out, length), length);
		ring_commit_payload(&rig.out, length);
	}
}

static void ack_words(struct input *input)
{
	for (unsigned left = 1 + input_below(input, WORDS_MAX); left; left--) {
		const struct pair_end *end =
			&ends[input_below(input, TARGETS)][input_byte(input) & 1];
		const uint64_t psn =
			(end->qp->qp.requester.next_psn.value + input_byte(input) - 2) & 0xffffff;

		if (word_ring_has_room(&rig.words))
			word_ring_put(&rig.words, psn << ACK_WORD_QPN_BITS | end->qp->qp.qpn);
	}
}

/* A word that the peer may write: near the next record, in the heads, or anywhere. Not the hazard
 * word, which only makes the program wait. */
static uint64_t *choose_word(struct input *input)
{
	const struct direct_layout layout = direct_layout();
	const struct ring_consumer *in = &rig.channel->in;
	const uint8_t choice = input_byte(input);
	size_t offset;

	if (choice < 0xa0)
		offset = (size_t)(in->data - rig.memory) +
			 ((in->head + choice / 8 * 8) & (in->data_bytes - 1));
	else if (choice < 0xc0)
		offset = layout.offset[0] + choice % 32 * 8;
	else if (choice < 0xe0)
		offset = layout.area_offset[0] + offsetof(struct rma_area, placed) +
			 input_byte(input) * sizeof(uint64_t);
	else if (choice < 0xf0)
		offset = layout.words_offset[0] + input_byte(input) * sizeof(uint64_t);
	else
		offset = input_32(input) % layout.area_offset[0] & ~(size_t)7;
	return (uint64_t *)(void *)(rig.memory + offset);
}

/* A new value, near the one that is there. */
static uint64_t choose_value(struct input *input, const uint64_t *place)
{
	const uint8_t choice = input_byte(input);

	if (choice & 0x80)
		return input_64(input);
	return *place ^ (uint64_t)input_byte(input) << (choice & 7) * 8;
}

static void write_word(struct input *input)
{
	uint64_t *place = choose_word(input);

	*place = choose_value(input, place);
}

static void plan_write(struct input *input)
{
	struct shared_write write = {.read = input_byte(input) % READS_MAX,
				     .place = choose_word(input)};

	write.value = choose_value(input, write.place);
	shared_reads_add(&write);
}

static void make_view(unsigned adapter, struct port_update *ret_update)
{
	*ret_update = (struct port_update){
		.adapter_index = adapter,
		.view = {.number = 1,
			 .state = PORT_ACTIVE,
			 .mtu_code = MTU_1024,
			 .mtu_cap_code = MTU_4096,
			 .lid = (uint16_t)(adapter + 1),
			 .sm_lid = 1,
			 .guid = 0x1000 + adapter,
			 .pkey_count = 1,
			 .gid_count = 1,
			 .pkeys = {0xffff}},
	};
}

static void put_down(uint16_t kind, uint16_t port, uint32_t packet_count, uint32_t word,
		     const void *body, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(&rig.down, byte_count);

	if (!record)
		return;
	memcpy(record->body, body, byte_count);
	record->kind = kind;
	record->byte_count = byte_count;
	record->port = port;
	record->packet_count = packet_count;
	record->word = word;
	ring_commit(&rig.down, record);
	(void)!ring_publish(&rig.down);
}

/* softibd is trusted, so each record is one that it can write; but a packet in it can be anything
 * that a hostile host sends. */
static void down_record(struct input *input)
{
	uint8_t body[BODY_BYTES_MAX];
	const struct pair_end *end = &ends[input_below(input, TARGETS)][input_byte(input) & 1];
	/* Not those that end the adapter or the completion queue, which later inputs need. */
	const struct verb_fault fault = {.kind = VERB_FAULT_EVENT,
					 .event = HCA_EVENT_QP_FATAL + input_below(input, 7)};
	const struct packet_grant granted = {.slid = (uint16_t)(1 + input_below(input, 3)),
					     .dlid = 2,
					     .pkey = PKEY_DEFAULT_FULL,
					     .port = 1 << 8 | 1};
	const struct alternate_path path = {
		.address = {.dlid = (uint16_t)(1 + input_below(input, 2)), .port_number = 1},
		.timeout = (uint8_t)input_below(input, 20)};
	struct port_update update;
	uint32_t byte_count;

	switch (input_below(input, 9)) {
	case 0:
	case 1:
		byte_count = make_packet(input, body);
		put_down(RECORD_PACKET, 1 << 8 | 1, 1, 0, body, byte_count);
		break;
	case 2:
		byte_count = (uint32_t)input_fill(input, body, input_byte(input));
		put_down(RECORD_RAW_PACKET, 1 << 8 | 1, 1, 0, body, byte_count);
		break;
	case 3:
		put_down(RECORD_RING_OFFERED, 0, 0, RING_ID, &granted, sizeof(granted));
		break;
	case 4:
		put_down(RECORD_RING_REVOKED, 0, 0, RING_ID, &granted, sizeof(granted));
		break;
	case 5:
		make_view(input_byte(input) & 1, &update);
		update.view.lid = (uint16_t)input_below(input, 4);
		update.view.state = (uint8_t)(1 + input_below(input, 4));
		update.client_reregister = input_byte(input) & 1;
		put_down(RECORD_PORT_UPDATE, 1, 0, 0, &update, sizeof(update));
		break;
	case 6:
		put_down(RECORD_VERB_FAULT, 0, 0, 0, &fault, sizeof(fault));
		break;
	case 7:
		put_down(RECORD_ALTERNATE_PATH, 1 << 8 | 1, 0, end->qp->qp.qpn, &path,
			 sizeof(path));
		break;
	default:
		byte_count = make_packet(input, body);
		put_down(RECORD_TARGET_PACKET, 1 << 8 | 1, 1, end->qp->qp.qpn, body, byte_count);
		break;
	}
}

static void poll_completions(void)
{
	for (unsigned i = 0; i < 2; i++)
		while (cq_first(pair.ends[i].cq))
			cq_advance(pair.ends[i].cq);
}

static void post_receives(struct input *input)
{
	const struct pair_end *end = &ends[input_below(input, TARGETS)][1];
	const struct sge sge = {(uintptr_t)end->buffer, RECEIVE_BYTES, end->region->key};
	const struct receive_request request = {.wr_id = 1, .sge_count = 1, .sges = &sge};

	/* A completion queue that overflows is lost for later inputs. */
	poll_completions();
	for (unsigned left = 1 + input_below(input, RECEIVES_MAX); left; left--)
		(void)!qp_object_post_receive(end->qp, runtime_now(), &request);
}

static void post_send(struct input *input)
{
	const struct pair_end *end = &ends[input_byte(input) & 1 ? TARGET_RC : TARGET_UC][1];
	const struct sge sge = {(uintptr_t)end->buffer, input_byte(input), end->region->key};
	const struct send_request request = {.wr_id = 2,
					     .opcode = SEND_SEND,
					     .flags = SEND_SIGNALED,
					     .sge_count = 1,
					     .sges = &sge};

	if (qp_object_post_send(end->qp, runtime_now(), &request) == 0)
		adapter_transmit(end->adapter, runtime_now());
}

static void check_states(void)
{
	for (unsigned target = 0; target < TARGETS; target++)
		for (unsigned i = 0; i < 2; i++)
			MUST_HOLD(ends[target][i].qp->qp.state <= QP_ERROR);
}

static void receive(struct process_runtime *runtime, struct input *input)
{
	const uint8_t choice = input_byte(input);

	shared_reads_begin();
	runtime->may_go_fast = !(choice & 4);
	if (choice & 1)
		(void)receive_all(runtime, runtime_now());
	else if (choice & 2)
		(void)poll_round_run(runtime);
	else if (rig.channel->state == CHANNEL_OPEN)
		(void)receive_direct(runtime, rig.channel, runtime_now());
	shared_reads_end();
	if (choice & 8)
		(void)direct_channels_reap(runtime);
	check_states();
}

static void act(struct process_runtime *runtime, struct input *input)
{
	static void (*const actions[])(struct input * input) = {
		packet_record,	 packet_record,	 zcopy_record,
		ud_zcopy_record, pin_record,	 grant_request_record,
		any_record,	 payload_record, burst,
		burst,		 ack_words,	 write_word,
		plan_write,	 plan_write,	 down_record,
		post_receives,	 post_send,
	};
	const unsigned choice = input_below(input, ARRAY_COUNT(actions) + 4);

	if (choice < ARRAY_COUNT(actions))
		actions[choice](input);
	else if (choice == ARRAY_COUNT(actions))
		poll_completions();
	else
		receive(runtime, input);
}

/* Ports as they were before the input. */
static void restore_ports(struct process_runtime *runtime)
{
	struct port_update update;

	for (unsigned adapter = 0; adapter < 2; adapter++) {
		make_view(adapter, &update);
		put_down(RECORD_PORT_UPDATE, 1, 0, 0, &update, sizeof(update));
	}
	/* What waits for a receive request would hold up the updates. */
	runtime->softibd.rnr_hold.left_ns = 0;
	rig.channel->state = CHANNEL_DEAD;
	for (unsigned i = 0; i < DRAIN_MAX && !ring_is_empty(&runtime->softibd.in); i++) {
		poll_completions();
		(void)receive_all(runtime, runtime_now());
	}
	MUST_HOLD(ring_is_empty(&runtime->softibd.in));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct input input = {bytes, byte_count};
	struct process_runtime *runtime;

	start_once();
	runtime = pair_runtime();
	make_targets();
	runtime_lock(runtime);
	swap_in(runtime);
	for (unsigned i = 0; input.byte_count && i < ACTIONS_MAX; i++)
		act(runtime, &input);
	shared_reads_end();
	runtime->may_go_fast = true;
	restore_ports(runtime);
	end_targets();
	swap_out(runtime);
	poll_completions();
	(void)adapter_progress(pair.ends[0].adapter, runtime_now());
	poll_completions();
	runtime_unlock(runtime);
	return 0;
}
