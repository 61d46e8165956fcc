/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what programs write into the memory that they share with softibd. Records of every
 * kind in their up rings, nearly right or not; any word of the rings and counters at any time; the
 * commands that go with them. Two programs misbehave, and a third one on the second host still
 * sends and gets its packets.
 *
 * The input is a sequence of actions: a byte that chooses the action, a byte that chooses the
 * program, and what the action needs.
 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz/input.h"
#include "fuzz/near_packet.h"
#include "fuzz/softibd_rig.h"
#include "ipc/memory_file.h"
#include "ipc/verb_faults.h"

enum { HOSTILE = 2, PROGRAMS, ACTIONS_MAX = 64, STEPS_MAX = 2000, BODY_BYTES_MAX = 1024 };
enum { GOOD = HOSTILE }; /* the program that behaves */

struct program {
	int socket; /* -1: it has gone */
	uint8_t *memory;
	int doorbell, softibd_doorbell;
	struct ring_producer up;
	struct ring_consumer down;
	uint16_t lid;
};

static struct program programs[PROGRAMS];

static void send_text(const struct program *program, const char *text)
{
	if (program->socket >= 0)
		(void)rig_send(program->socket, text, NULL, 0);
}

static void map_memory(struct program *program, struct control_message *message)
{
	const struct process_layout layout = process_layout();

	MUST_HOLD(memory_file_map(message->descriptors[1], layout.total_bytes,
				  (void **)&program->memory) == 0);
	program->doorbell = control_message_take(message, 3);
	program->softibd_doorbell = control_message_take(message, 4);
	ring_producer_init(&program->up, program->memory + layout.up_offset, PROCESS_RING_BYTES);
	ring_consumer_init(&program->down, program->memory + layout.down_offset,
			   PROCESS_RING_BYTES);
}

static void start(struct program *program, unsigned host)
{
	struct control_message message;
	char hello[128];

	snprintf(hello, sizeof(hello),
		 "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\",\"host\":\"h%u\"}",
		 PROTOCOL_VERSION, host);
	*program = (struct program){.socket = rig_connect(false)};
	send_text(program, hello);
	send_text(program, "{\"command\":\"attach\"}");
	rig_step(4);
	while (!program->memory) {
		MUST_HOLD(rig_receive(program->socket, &message));
		if (message.descriptor_count == 5)
			map_memory(program, &message);
		control_message_release(&message);
	}
	send_text(program, "{\"command\":\"port\",\"adapter\":0}");
	send_text(program, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1}");
	/* A domain that the programs of the host share, and a target in it. */
	send_text(program, "{\"command\":\"domain\",\"adapter\":0,\"device\":\"0x1\","
			   "\"inode\":\"0x1\",\"opening\":1}");
	send_text(program, "{\"command\":\"target\",\"adapter\":0,\"domain\":1}");
	rig_step(2);
}

static void leave(struct program *program)
{
	if (program->socket < 0)
		return;
	munmap(program->memory, process_layout().total_bytes);
	close(program->doorbell);
	close(program->softibd_doorbell);
	close(program->socket);
	*program = (struct program){.socket = -1};
}

static void read_answers(const struct program *program)
{
	struct control_message message;

	while (program->socket >= 0 && rig_receive(program->socket, &message))
		control_message_release(&message);
}

/* All records of the down ring; the last port update says the port's LID. */
static unsigned read_down(struct program *program, enum record_kind kind)
{
	const struct ring_record *record;
	unsigned count = 0;

	while ((record = ring_next(&program->down))) {
		struct port_update update;

		count += record->kind == kind;
		if (record->kind != RECORD_PORT_UPDATE || record->byte_count != sizeof(update))
			continue;
		memcpy(&update, record->body, sizeof(update));
		program->lid = update.view.lid;
	}
	(void)!ring_release(&program->down);
	return count;
}

static void ring_softibd(const struct program *program)
{
	const uint64_t one = 1;

	(void)!write(program->softibd_doorbell, &one, sizeof(one));
}

static void publish(struct program *program)
{
	if (ring_publish(&program->up))
		ring_softibd(program);
}

static uint32_t make_packet(const struct program *program, struct input *input, uint8_t *body)
{
	const struct near_packet near = {
		.slid = program->lid,
		.dlid = input_byte(input) & 7,
		.qpn = input_below(input, 4) ? QPN_BLOCK * (1 + input_below(input, 4)) : 1,
		.source_qpn = QPN_BLOCK,
		.qkey = 0x80010000,
	};

	return near_packet_make(input, &near, body);
}

/* A body as a record of this kind has it; the rest of the body is of the input. */
static uint32_t make_body(const struct program *program, struct input *input, uint16_t kind,
			  uint8_t *body)
{
	const struct resolve_request request = {
		.request_id = input_byte(input),
		.destination_qpn = QPN_BLOCK * (1u + input_below(input, 4)),
		.dlid = (uint16_t)input_below(input, 6),
		.pkey = PKEY_DEFAULT_FULL,
		.source_port = 1,
		.sl = (uint8_t)input_below(input, 2),
	};
	const struct target_return back = {.taken_count = input_below(input, 4)};
	const struct key_violation violation = {.count = 1,
						.key = input_byte(input),
						.slid = 2,
						.dlid = program->lid,
						.is_qkey = input_byte(input) & 1};
	uint32_t byte_count = input_byte(input);

	memset(body, 0, BODY_BYTES_MAX);
	if (kind == RECORD_PACKET)
		return make_packet(program, input, body);
	if (kind == RECORD_RESOLVE)
		memcpy(body, &request, byte_count = sizeof(request));
	else if (kind == RECORD_TARGET_RETURNED)
		memcpy(body, &back, sizeof(back));
	else if (kind == RECORD_KEY_VIOLATION)
		memcpy(body, &violation, byte_count = sizeof(violation));
	else
		(void)input_fill(input, body, byte_count);
	input_change(input, body, BODY_BYTES_MAX);
	return byte_count;
}

/* Most records are right but for what input_change() changed. */
static void write_record(struct program *program, struct input *input)
{
	static const uint16_t kinds[] = {
		RECORD_PACKET,
		RECORD_PACKET,
		RECORD_RESOLVE,
		RECORD_EXPOSE,
		RECORD_TARGET_RETURNED,
		RECORD_TARGET_CLOSED,
		RECORD_DOMAIN_CLOSED,
		RECORD_RAW_RELEASED,
		RECORD_KEY_VIOLATION,
		RECORD_ALTERNATE_LOADED,
		RECORD_ALTERNATE_REFUSED,
		RECORD_PACKET,
	};
	const uint8_t choice = input_byte(input);
	const uint16_t kind = choice < 0xf0 ? kinds[choice % ARRAY_COUNT(kinds)] : input_16(input);
	uint8_t body[BODY_BYTES_MAX];
	const uint32_t byte_count = make_body(program, input, kind, body);
	struct ring_record *record = ring_reserve(&program->up, byte_count);
	const uint8_t unusual = input_byte(input);

	/* The ring is full, or a word was written that makes it look so. */
	if (!record)
		return;
	memcpy(record->body, body, byte_count);
	record->byte_count = byte_count;
	record->kind = kind ? kind : RECORD_PACKET;
	record->port = unusual & 1 ? input_16(input) : 1;
	record->packet_count = unusual & 2 ? input_32(input) : 1;
	record->word =
		unusual & 4 ? input_32(input)
			    : record_packet_word(0, unusual & 8 ? 1 + (unusual >> 4) : QPN_BLOCK);
	ring_commit(&program->up, record);
	publish(program);
}

/* Any word: of the heads of the rings, where nearly all words matter, or of everything. */
static void write_word(const struct program *program, struct input *input)
{
	const struct process_layout layout = process_layout();
	const size_t starts[] = {layout.up_offset, layout.down_offset, layout.flows_offset, 0};
	const uint8_t choice = input_byte(input);
	size_t offset =
		starts[choice & 3] +
		((choice & 3) == 3 ? input_32(input) : input_byte(input)) % layout.total_bytes;
	uint64_t value = choice & 4 ? input_64(input) : input_byte(input);

	offset = offset % (layout.total_bytes - sizeof(value)) & ~(sizeof(value) - 1);
	/* Often near the value that is there. */
	if (choice & 8) {
		uint64_t before;

		memcpy(&before, program->memory + offset, sizeof(before));
		value += before;
	}
	memcpy(program->memory + offset, &value, sizeof(value));
}

/* What goes with the records. */
static void command(const struct program *program, struct input *input)
{
	static const char *const texts[] = {
		"{\"command\":\"ring\",\"id\":%u}",
		"{\"command\":\"exposure\",\"id\":%u}",
		"{\"command\":\"refuse\",\"id\":%u}",
		"{\"command\":\"catch-up\"}",
		"{\"command\":\"domain\",\"device\":\"0x1\",\"inode\":\"0x%x\",\"opening\":1,\"adapter\":0}",
		"{\"command\":\"target\",\"adapter\":0,\"domain\":%u}",
		"{\"command\":\"target-open\",\"adapter\":0,\"domain\":1,\"qpn\":%u}",
		"{\"command\":\"target-borrow\",\"adapter\":0,\"domain\":1,\"qpn\":%u,\"now\":true}",
		"{\"command\":\"raw\",\"adapter\":0,\"port\":1,\"kind\":%u}",
		"{\"command\":\"qpns\",\"adapter\":0,\"count\":%u}",
		"{\"command\":\"port\",\"adapter\":%u}",
	};
	const unsigned choice = input_below(input, ARRAY_COUNT(texts));
	unsigned number = input_below(input, 4);
	char text[160];

	if (choice == 6 || choice == 7)
		number += QPN_BLOCK * (1 + input_below(input, 4));
	snprintf(text, sizeof(text), texts[choice], number);
	send_text(program, text);
}

enum action {
	RECORD,
	RECORD_AGAIN,
	RECORD_ONCE_MORE,
	WORD,
	COMMAND,
	READ,
	DOORBELL,
	STEP,
	LEAVE,
	ACTIONS
};

static void act(struct input *input)
{
	const enum action action = (enum action)input_below(input, ACTIONS);
	struct program *program = &programs[input_below(input, HOSTILE)];

	if (program->socket < 0)
		return;
	switch (action) {
	case RECORD:
	case RECORD_AGAIN:
	case RECORD_ONCE_MORE:
		write_record(program, input);
		break;
	case WORD:
		write_word(program, input);
		break;
	case COMMAND:
		command(program, input);
		break;
	case READ:
		read_answers(program);
		(void)read_down(program, RECORD_PACKET);
		break;
	case DOORBELL:
		ring_softibd(program);
		break;
	case STEP:
		rig_step(1 + input_below(input, 8));
		break;
	case LEAVE:
		leave(program);
		break;
	case ACTIONS:
		break;
	}
}

/* The third program sends a datagram to itself, through the switch's port, and gets it. */
static void check_good_program(void)
{
	struct program *good = &programs[GOOD];
	const struct near_packet near = {.slid = good->lid,
					 .dlid = good->lid,
					 .qpn = QPN_BLOCK,
					 .source_qpn = QPN_BLOCK,
					 .qkey = 1};
	const uint8_t ud_send_only[] = {3, 0};
	struct input none = {ud_send_only, sizeof(ud_send_only)};
	uint8_t body[NEAR_PACKET_BYTES_MAX];
	struct ring_record *record;
	uint32_t byte_count;

	(void)read_down(good, RECORD_PACKET);
	byte_count = near_packet_make(&none, &near, body);
	record = ring_reserve(&good->up, byte_count);
	MUST_HOLD(record);
	memcpy(record->body, body, byte_count);
	record->byte_count = byte_count;
	record->kind = RECORD_PACKET;
	record->port = 1;
	record->packet_count = 1;
	record->word = record_packet_word(0, QPN_BLOCK);
	ring_commit(&good->up, record);
	publish(good);
	for (unsigned step = 0; !read_down(good, RECORD_PACKET); step++) {
		MUST_HOLD(step < STEPS_MAX);
		rig_step(1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct input input = {bytes, byte_count};

	rig_start();
	start(&programs[GOOD], 2);
	start(&programs[0], 1);
	start(&programs[1], 2);
	for (unsigned i = 0; i < PROGRAMS; i++)
		(void)read_down(&programs[i], RECORD_PACKET);
	for (unsigned i = 0; input.byte_count && i < ACTIONS_MAX; i++)
		act(&input);
	rig_step(4);
	check_good_program();
	for (unsigned i = 0; i < PROGRAMS; i++) {
		read_answers(&programs[i]);
		leave(&programs[i]);
	}
	rig_stop();
	return 0;
}
