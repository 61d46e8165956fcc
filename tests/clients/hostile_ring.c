/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that got its rings honestly and then fills them with nonsense.
 *
 *   hostile_ring SOCKET HOST ATTACK SEED VICTIM
 *
 * VICTIM is a file with "LID QPN" of somebody else's queue pair, as kill_traffic writes it. Exit
 * code 0: the attack ran to its end, and softibd did with this client what the attack expects.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/random.h"
#include "base/ring_payloads.h"
#include "base/time.h"
#include "ipc/doorbell.h"
#include "runtime/channel.h"
#include "ipc/control_socket.h"
#include "ipc/memory_file.h"
#include "ipc/protocol.h"
#include "net/link/frame.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/packet.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum {
	ANSWER_MS = 60000,
	ADAPTER_PORT = 1, /* adapter 0, port 1 */
	BODY_BYTES_MAX = 4200,
	CONNECTIONS = 200,
	PACKETS = 20000,
	DIRECT_CONNECTIONS = 12,
	RUNS = 500, /* per connection */
	LIDS = 65536,
};

struct attacker {
	int socket;
	uint8_t *memory;
	struct ring_producer up;
	struct ring_consumer down;
	int own_doorbell, softibd_doorbell;
	uint16_t own_lid, victim_lid;
	uint32_t victim_qpn;
	struct random random;
};

static const char *socket_path, *host_name;

static int ask(struct attacker *attacker, const char *text, struct control_message *ret_message)
{
	int error = control_ask(attacker->socket, text, ANSWER_MS, ret_message);

	CHECK(error != -ETIMEDOUT);
	return error;
}

static void ask_and_forget(struct attacker *attacker, const char *text)
{
	struct control_message message;

	CHECK(ask(attacker, text, &message) == 0);
	CHECK(strstr(message.text, "\"ok\":true"));
	control_message_release(&message);
}

static void map_rings(struct attacker *attacker)
{
	struct process_layout layout = process_layout();
	struct control_message message;
	void *memory;

	CHECK(ask(attacker, "{\"command\":\"attach\"}", &message) == 0);
	CHECK(message.descriptor_count == 5);
	CHECK(memory_file_map(message.descriptors[1], layout.total_bytes, &memory) == 0);
	attacker->memory = memory;
	attacker->own_doorbell = dup(message.descriptors[3]);
	attacker->softibd_doorbell = dup(message.descriptors[4]);
	control_message_release(&message);
	ring_producer_init(&attacker->up, attacker->memory + layout.up_offset, PROCESS_RING_BYTES);
	ring_consumer_init(&attacker->down, attacker->memory + layout.down_offset,
			   PROCESS_RING_BYTES);
}

static void learn_own_lid(struct attacker *attacker)
{
	const struct ring_record *record = ring_next(&attacker->down);
	struct port_update update;

	CHECK(record && record->kind == RECORD_PORT_UPDATE);
	memcpy(&update, record->body, sizeof(update));
	attacker->own_lid = update.view.lid;
	CHECK(attacker->own_lid != 0);
}

static void attach(struct attacker *attacker)
{
	char hello[256];

	attacker->socket = control_connect_path(socket_path);
	CHECK(attacker->socket >= 0);
	snprintf(hello, sizeof(hello),
		 "{\"command\":\"hello\",\"version\":%d,\"host\":\"%s\",\"pid\":%d,\"kind\":"
		 "\"program\"}",
		 PROTOCOL_VERSION, host_name, (int)getpid());
	ask_and_forget(attacker, hello);
	map_rings(attacker);
	ask_and_forget(attacker, "{\"command\":\"port\",\"adapter\":0}");
	ask_and_forget(attacker, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1}");
	learn_own_lid(attacker);
}

static void leave(struct attacker *attacker)
{
	munmap(attacker->memory, process_layout().total_bytes);
	close(attacker->own_doorbell);
	close(attacker->softibd_doorbell);
	close(attacker->socket);
}

static bool is_cut_off(const struct attacker *attacker, int wait_ms)
{
	struct pollfd item = {.fd = attacker->socket, .events = POLLRDHUP};

	return poll(&item, 1, wait_ms) == 1;
}

static bool is_served(struct attacker *attacker)
{
	struct control_message message;

	if (ask(attacker, "{\"command\":\"status\"}", &message) != 0)
		return false;
	control_message_release(&message);
	return true;
}

static bool one_in(struct attacker *attacker, unsigned count)
{
	return random_below(&attacker->random, count) == 0;
}

static void fill_with_noise(struct attacker *attacker, uint8_t *ret_bytes, size_t byte_count)
{
	for (size_t i = 0; i < byte_count; i++)
		ret_bytes[i] = (uint8_t)random_next(&attacker->random);
}

static uint16_t some_lid(struct attacker *attacker)
{
	const uint16_t interesting[] = {attacker->victim_lid, attacker->own_lid, 0, 0xffff, 0xc000};
	uint64_t choice = random_below(&attacker->random, 8);

	return choice < 5 ? interesting[choice] : (uint16_t)random_next(&attacker->random);
}

static uint32_t some_qpn(struct attacker *attacker)
{
	const uint32_t interesting[] = {attacker->victim_qpn, attacker->victim_qpn ^ 1, 0, 1,
					0xffffff};
	uint64_t choice = random_below(&attacker->random, 8);

	return choice < 5 ? interesting[choice] : random_next(&attacker->random) & 0xffffff;
}

/* A packet whose headers pass the first checks, more or less. */
static uint32_t write_packet(struct attacker *attacker, uint8_t *ret_bytes)
{
	uint32_t byte_count = (uint32_t)random_below(&attacker->random, PACKET_BYTES_MAX) & ~3u;
	struct lrh lrh = {
		.sl = (uint8_t)(one_in(attacker, 4) ? random_below(&attacker->random, 16) : 0),
		.lnh = (uint8_t)(one_in(attacker, 4) ? random_below(&attacker->random, 4)
						     : LNH_LOCAL),
		.dlid = some_lid(attacker),
		.slid = one_in(attacker, 4) ? some_lid(attacker) : attacker->own_lid,
		.words = (uint16_t)((byte_count + ICRC_BYTES) / 4 & 0x7ff),
	};

	fill_with_noise(attacker, ret_bytes, byte_count);
	if (byte_count < LRH_BYTES + BTH_BYTES || one_in(attacker, 16))
		return byte_count;
	if (one_in(attacker, 16))
		lrh.words ^= 1;
	lrh_encode(&lrh, ret_bytes);

	uint8_t *bth = ret_bytes + LRH_BYTES;

	bth[0] = (uint8_t)(one_in(attacker, 2) ? random_below(&attacker->random, 32) : bth[0]);
	bth[1] &= 0xf0; /* version 0 */
	put_be16(bth + 2, one_in(attacker, 8) ? 0x7fff : 0xffff);
	put_be24(bth + 5, some_qpn(attacker));
	return byte_count;
}

static void publish(struct attacker *attacker, struct ring_producer *producer, int doorbell)
{
	if (ring_publish(producer) || one_in(attacker, 64))
		doorbell_ring(doorbell);
}

/* Waits until the other side makes room; false when it does not, or hung up. */
static bool make_room(struct attacker *attacker, struct ring_producer *producer, int doorbell)
{
	for (unsigned tries = 0; tries < ANSWER_MS; tries++) {
		if (ring_room(producer) > 4 * BODY_BYTES_MAX)
			return true;
		doorbell_ring(doorbell);
		if (producer->is_corrupt || is_cut_off(attacker, 1))
			return false;
	}
	return false;
}

static struct ring_record *reserve(struct ring_producer *producer, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(producer, byte_count);

	CHECK(record);
	return record;
}

/* Records of any kind, port, count and length: softibd must end this client, and only this one. */
static void attack_records(struct attacker *attacker)
{
	for (unsigned connection = 0; connection < CONNECTIONS; connection++) {
		attach(attacker);
		for (unsigned i = 0; i < 16; i++) {
			uint32_t byte_count =
				(uint32_t)random_below(&attacker->random, BODY_BYTES_MAX);
			struct ring_record *record = reserve(&attacker->up, byte_count);

			fill_with_noise(attacker, record->body, byte_count);
			record->kind = (uint16_t)(1 + random_below(&attacker->random, 7));
			record->port =
				(uint16_t)(one_in(attacker, 2) ? ADAPTER_PORT
							       : random_next(&attacker->random));
			record->packet_count = (uint32_t)random_below(&attacker->random, 3);
			ring_commit(&attacker->up, record);
		}
		publish(attacker, &attacker->up, attacker->softibd_doorbell);
		doorbell_ring(attacker->softibd_doorbell);
		CHECK(is_cut_off(attacker, ANSWER_MS));
		leave(attacker);
	}
}

/* Values for the shared words of both rings, and for record headers, that no ring could have. */
static void attack_words(struct attacker *attacker)
{
	struct process_layout layout = process_layout();

	for (unsigned connection = 0; connection < CONNECTIONS; connection++) {
		attach(attacker);

		struct ring_shared *up =
			(struct ring_shared *)(attacker->memory + layout.up_offset);
		struct ring_shared *down =
			(struct ring_shared *)(attacker->memory + layout.down_offset);

		fill_with_noise(attacker, (uint8_t *)(up + 1), 4096);
		fill_with_noise(attacker, attacker->memory + layout.flows_offset,
				FLOW_SLOTS * sizeof(struct flow_counters));
		if (one_in(attacker, 2))
			__atomic_store_n(&up->tail, random_next(&attacker->random) & ~15u,
					 __ATOMIC_SEQ_CST);
		else
			__atomic_store_n(&up->tail,
					 random_below(&attacker->random, PROCESS_RING_BYTES),
					 __ATOMIC_SEQ_CST);
		if (one_in(attacker, 2))
			__atomic_store_n(&down->head, random_next(&attacker->random),
					 __ATOMIC_SEQ_CST);
		down->closed = up->closed = (uint32_t)random_next(&attacker->random);
		doorbell_ring(attacker->softibd_doorbell);
		/* A tail of zero, or noise that reads as fillers, may pass. */
		if (!is_cut_off(attacker, 50))
			CHECK(is_served(attacker));
		leave(attacker);
	}
}

/* Malformed packets from one client that stays: each is dropped, and none ends the client. */
static void attack_packets(struct attacker *attacker)
{
	attach(attacker);
	for (unsigned i = 0; i < PACKETS; i++) {
		if (ring_room(&attacker->up) <= 4 * BODY_BYTES_MAX)
			CHECK(make_room(attacker, &attacker->up, attacker->softibd_doorbell));

		struct ring_record *record = reserve(&attacker->up, PACKET_BYTES_MAX);

		record->byte_count = write_packet(attacker, record->body);
		record->kind = RECORD_PACKET;
		record->port = ADAPTER_PORT;
		record->packet_count = 1;
		ring_commit(&attacker->up, record);
		publish(attacker, &attacker->up, attacker->softibd_doorbell);
	}
	CHECK(is_served(attacker));
	leave(attacker);
}

/* Bytes that change while softibd looks at them. */
static void attack_race(struct attacker *attacker)
{
	for (unsigned connection = 0; connection < 20; connection++) {
		attach(attacker);
		for (unsigned i = 0; i < 500 && !attacker->up.is_corrupt; i++) {
			if (!make_room(attacker, &attacker->up, attacker->softibd_doorbell))
				break;

			struct ring_record *record = reserve(&attacker->up, PACKET_BYTES_MAX);
			uint8_t *header = record->body - RING_ALIGNMENT;

			record->byte_count = write_packet(attacker, record->body);
			record->kind = RECORD_PACKET;
			record->port = ADAPTER_PORT;
			record->packet_count = 1;
			ring_commit(&attacker->up, record);
			publish(attacker, &attacker->up, attacker->softibd_doorbell);
			for (unsigned flips = 0; flips < 200; flips++)
				header[random_below(&attacker->random, 64)] =
					(uint8_t)random_next(&attacker->random);
		}
		leave(attacker);
	}
}

static void put_question(struct attacker *attacker, uint32_t id, uint16_t dlid, uint32_t qpn)
{
	struct resolve_request request = {
		.request_id = id,
		.destination_qpn = qpn,
		.dlid = dlid,
		.pkey = 0xffff,
		.source_port = ADAPTER_PORT,
	};
	struct ring_record *record = reserve(&attacker->up, sizeof(request));

	record->kind = RECORD_RESOLVE;
	record->port = ADAPTER_PORT;
	memcpy(record->body, &request, sizeof(request));
	ring_commit(&attacker->up, record);
}

static uint32_t read_answers(struct attacker *attacker, struct resolve_answer *ret_last)
{
	const struct ring_record *record;
	uint32_t count = 0;

	while ((record = ring_next(&attacker->down))) {
		if (record->kind != RECORD_RESOLVED)
			continue;
		memcpy(ret_last, record->body, sizeof(*ret_last));
		count++;
	}
	CHECK(!attacker->down.is_corrupt);
	if (ring_release(&attacker->down))
		doorbell_ring(attacker->softibd_doorbell);
	return count;
}

/* A question about every possible LID; the answers stay unread as long as there is room. */
static void attack_questions(struct attacker *attacker)
{
	struct resolve_answer answer;
	uint32_t asked = 0, answered = 0;

	attach(attacker);
	for (unsigned tries = 0; answered < LIDS; tries++) {
		CHECK(tries < LIDS);
		while (asked < LIDS && ring_room(&attacker->up) > 4 * BODY_BYTES_MAX) {
			put_question(attacker, asked, (uint16_t)asked, some_qpn(attacker));
			asked++;
		}
		publish(attacker, &attacker->up, attacker->softibd_doorbell);
		doorbell_ring(attacker->softibd_doorbell);
		CHECK(!is_cut_off(attacker, 1));
		if (asked == LIDS || ring_room(&attacker->up) <= 4 * BODY_BYTES_MAX)
			answered += read_answers(attacker, &answer);
	}
	CHECK(is_served(attacker));
	leave(attacker);
}

struct direct {
	void *memory;
	int doorbell;
	struct ring_producer out;
	struct ring_shared *in;
};

static void get_ring(struct attacker *attacker, struct direct *ret_direct)
{
	struct direct_layout layout = direct_layout();
	struct resolve_answer answer = {.verdict = RESOLVED_FABRIC};
	struct control_message message;
	char text[64];

	for (unsigned tries = 0; answer.verdict != RESOLVED_DIRECT; tries++) {
		CHECK(tries < ANSWER_MS);
		put_question(attacker, 0, attacker->victim_lid, attacker->victim_qpn);
		publish(attacker, &attacker->up, attacker->softibd_doorbell);
		doorbell_ring(attacker->softibd_doorbell);
		CHECK(!is_cut_off(attacker, 1));
		read_answers(attacker, &answer);
	}
	snprintf(text, sizeof(text), "{\"command\":\"ring\",\"id\":%u}", answer.ring_id);
	CHECK(ask(attacker, text, &message) == 0);
	CHECK(message.descriptor_count == 3);
	CHECK(memory_file_map(message.descriptors[0], layout.total_bytes, &ret_direct->memory) ==
	      0);
	ret_direct->doorbell = dup(message.descriptors[2]);

	bool is_first = strstr(message.text, "\"outgoing\":0") != NULL;
	uint8_t *bytes = ret_direct->memory;

	ring_producer_init(&ret_direct->out, bytes + layout.offset[is_first ? 0 : 1],
			   DIRECT_RING_BYTES);
	ret_direct->in = (struct ring_shared *)(bytes + layout.offset[is_first ? 1 : 0]);
	control_message_release(&message);
}

static void send_trains(struct attacker *attacker, struct direct *direct, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (ring_room(&direct->out) <= 4 * BODY_BYTES_MAX &&
		    !make_room(attacker, &direct->out, direct->doorbell))
			return; /* the victim has had enough */

		struct ring_record *record = reserve(&direct->out, PACKET_BYTES_MAX);

		record->byte_count = write_packet(attacker, record->body);
		record->kind = (uint16_t)(one_in(attacker, 16) ? random_next(&attacker->random) | 1
							       : RECORD_PACKET);
		record->port = (uint16_t)(one_in(attacker, 8) ? random_next(&attacker->random)
							      : ADAPTER_PORT);
		record->packet_count =
			(uint32_t)(one_in(attacker, 2) ? random_below(&attacker->random, 20)
						       : random_next(&attacker->random));
		ring_commit(&direct->out, record);
		publish(attacker, &direct->out, direct->doorbell);
	}
}

/* A ring to the victim, as any program may have: trains of nonsense, then a ring of nonsense. */
static void attack_direct(struct attacker *attacker)
{
	for (unsigned connection = 0; connection < DIRECT_CONNECTIONS; connection++) {
		struct direct direct;

		attach(attacker);
		get_ring(attacker, &direct);
		send_trains(attacker, &direct, PACKETS / DIRECT_CONNECTIONS);
		/* As many rings as its doorbell can count. */
		uint64_t rings = UINT64_MAX - 1;

		if (write(direct.doorbell, &rings, sizeof(rings)) < 0)
			CHECK(errno == EAGAIN);
		switch (connection % 4) {
		case 0:
			direct.out.shared->tail = random_next(&attacker->random);
			break;
		case 1:
			fill_with_noise(attacker, direct.memory, direct_layout().total_bytes);
			break;
		case 2:
			direct.in->head = random_next(&attacker->random);
			direct.in->consumer_sleeping = 1;
			break;
		default: /* leaves without closing anything */
			break;
		}
		doorbell_ring(direct.doorbell);
		munmap(direct.memory, direct_layout().total_bytes);
		close(direct.doorbell);
		CHECK(is_served(attacker));
		leave(attacker);
	}
}

/* The headers of a small SEND that pass the first checks, more or less. */
static void write_template_headers(struct attacker *attacker, uint8_t *ret_bytes,
				   uint32_t byte_count)
{
	const uint8_t transports[] = {TRANSPORT_RC, TRANSPORT_UC, TRANSPORT_UD, 0x80};
	const struct lrh lrh = {
		.lnh = LNH_LOCAL,
		.dlid = attacker->victim_lid,
		.slid = one_in(attacker, 2) ? some_lid(attacker) : attacker->own_lid,
		.words = (uint16_t)((byte_count + ICRC_BYTES) / 4 & 0x7ff),
	};
	uint8_t *bth = ret_bytes + LRH_BYTES;

	lrh_encode(&lrh, ret_bytes);
	bth[0] = (uint8_t)(transports[random_below(&attacker->random, 4)] | OPCODE_SEND_ONLY);
	bth[1] = (uint8_t)(0x40 | (one_in(attacker, 4) ? 0x30 : 0));
	put_be16(bth + 2, 0xffff);
	put_be24(bth + 5, some_qpn(attacker));
}

/* A template: of a size that no burst has, or of a queue pair to which this one may not send. */
static void put_template(struct attacker *attacker, struct direct *direct)
{
	uint32_t byte_count =
		(uint32_t)(one_in(attacker, 8) ? random_below(&attacker->random, BODY_BYTES_MAX)
					       : random_below(&attacker->random, 64));
	struct ring_record *record = reserve(&direct->out, byte_count);

	fill_with_noise(attacker, record->body, byte_count);
	if (byte_count >= LRH_BYTES + BTH_BYTES && !one_in(attacker, 8))
		write_template_headers(attacker, record->body, byte_count);
	record->kind = RECORD_TEMPLATE;
	record->port =
		(uint16_t)(one_in(attacker, 8) ? random_next(&attacker->random) : ADAPTER_PORT);
	record->packet_count = one_in(attacker, 8) ? (uint32_t)random_next(&attacker->random) : 1;
	ring_commit(&direct->out, record);
}

static void put_payload_records(struct attacker *attacker, struct direct *direct)
{
	for (uint64_t count = random_below(&attacker->random, 100); count; count--) {
		uint32_t byte_count = one_in(attacker, 4)
					      ? 1 + (uint32_t)random_below(&attacker->random,
									   RING_PAYLOAD_BYTES_MAX)
					      : 8;

		if (!ring_fits_payload(&direct->out, byte_count))
			return;
		fill_with_noise(attacker, ring_payload_place(&direct->out, byte_count), byte_count);
		ring_commit_payload(&direct->out, byte_count);
	}
}

/* Stamps of every form where none may be; the reader may be in time to read each. */
static void write_stamps(struct attacker *attacker, struct direct *direct)
{
	enum { FORMS = RING_FORM_MASK / 2 + 1 }; /* of which three are invalid */
	uint64_t form = 2 * random_below(&attacker->random, FORMS);

	for (uint64_t at = 0; at < DIRECT_RING_BYTES; at += RING_ALIGNMENT) {
		uint64_t position = direct->out.tail + at;

		__atomic_store_n((uint64_t *)(direct->out.data + position % DIRECT_RING_BYTES),
				 ring_stamp(direct->out.stamp_seed, position) ^
					 (one_in(attacker, 64)
						  ? 2 * random_below(&attacker->random, FORMS)
						  : form),
				 __ATOMIC_RELEASE);
	}
}

/* Bursts of nonsense: payload records without a template, templates of no queue pair, and in the
 * end stamps without a record. */
static void attack_bursts(struct attacker *attacker)
{
	for (unsigned connection = 0; connection < DIRECT_CONNECTIONS; connection++) {
		struct direct direct;

		attach(attacker);
		get_ring(attacker, &direct);
		CHECK(direct.out.stamp_seed);
		put_payload_records(attacker, &direct); /* without a template */
		for (unsigned i = 0; i < RUNS; i++) {
			if (ring_room(&direct.out) <= 4 * BODY_BYTES_MAX &&
			    !make_room(attacker, &direct.out, direct.doorbell))
				break; /* the victim has had enough */
			if (!one_in(attacker, 4))
				put_template(attacker, &direct);
			put_payload_records(attacker, &direct);
			if (one_in(attacker, 4))
				send_trains(attacker, &direct, 1);
			publish(attacker, &direct.out, direct.doorbell);
		}
		write_stamps(attacker, &direct);
		doorbell_ring(direct.doorbell);
		CHECK(is_served(attacker));
		munmap(direct.memory, direct_layout().total_bytes);
		close(direct.doorbell);
		leave(attacker);
	}
}

static const struct {
	const char *name;
	void (*run)(struct attacker *attacker);
} attacks[] = {
	{"records", attack_records}, {"words", attack_words},	      {"packets", attack_packets},
	{"race", attack_race},	     {"questions", attack_questions}, {"direct", attack_direct},
	{"bursts", attack_bursts},
};

int main(int argument_count, char **arguments)
{
	struct attacker attacker = {.socket = -1};
	unsigned lid;

	CHECK(argument_count == 6);
	socket_path = arguments[1];
	host_name = arguments[2];
	attacker.random = random_seeded(strtoull(arguments[4], NULL, 0));

	FILE *file = fopen(arguments[5], "r");

	CHECK(file);
	CHECK(fscanf(file, "%u %u", &lid, &attacker.victim_qpn) == 2);
	attacker.victim_lid = (uint16_t)lid;
	fclose(file);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		if (strcmp(attacks[i].name, arguments[3]) != 0)
			continue;
		attacks[i].run(&attacker);
		return 0;
	}
	fprintf(stderr, "no attack is called %s\n", arguments[3]);
	return 2;
}
