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
#include "hostile_attacker.h"
#include "net/link/frame.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/packet.h"

enum {
	BODY_BYTES_MAX = 4200,
	CONNECTIONS = 200,
	PACKETS = 20000,
	DIRECT_CONNECTIONS = 12,
	RUNS = 500, /* per connection */
	LIDS = 65536,
};

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
		if (producer->is_corrupt || attacker_is_cut_off(attacker, 1))
			return false;
	}
	return false;
}

/* Records of any kind, port, count and length: softibd must end this client, and only this one. */
static void attack_records(struct attacker *attacker)
{
	for (unsigned connection = 0; connection < CONNECTIONS; connection++) {
		attacker_attach(attacker);
		for (unsigned i = 0; i < 16; i++) {
			uint32_t byte_count =
				(uint32_t)random_below(&attacker->random, BODY_BYTES_MAX);
			struct ring_record *record = attacker_reserve(&attacker->up, byte_count);

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
		CHECK(attacker_is_cut_off(attacker, ANSWER_MS));
		attacker_leave(attacker);
	}
}

/* Values for the shared words of both rings, and for record headers, that no ring could have. */
static void attack_words(struct attacker *attacker)
{
	struct process_layout layout = process_layout();

	for (unsigned connection = 0; connection < CONNECTIONS; connection++) {
		attacker_attach(attacker);

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
		if (!attacker_is_cut_off(attacker, 50))
			CHECK(attacker_is_served(attacker));
		attacker_leave(attacker);
	}
}

/* Malformed packets from one client that stays: each is dropped, and none ends the client. */
static void attack_packets(struct attacker *attacker)
{
	attacker_attach(attacker);
	for (unsigned i = 0; i < PACKETS; i++) {
		if (ring_room(&attacker->up) <= 4 * BODY_BYTES_MAX)
			CHECK(make_room(attacker, &attacker->up, attacker->softibd_doorbell));

		struct ring_record *record = attacker_reserve(&attacker->up, PACKET_BYTES_MAX);

		record->byte_count = write_packet(attacker, record->body);
		record->kind = RECORD_PACKET;
		record->port = ADAPTER_PORT;
		record->packet_count = 1;
		ring_commit(&attacker->up, record);
		publish(attacker, &attacker->up, attacker->softibd_doorbell);
	}
	CHECK(attacker_is_served(attacker));
	attacker_leave(attacker);
}

/* Bytes that change while softibd looks at them. */
static void attack_race(struct attacker *attacker)
{
	for (unsigned connection = 0; connection < 20; connection++) {
		attacker_attach(attacker);
		for (unsigned i = 0; i < 500 && !attacker->up.is_corrupt; i++) {
			if (!make_room(attacker, &attacker->up, attacker->softibd_doorbell))
				break;

			struct ring_record *record =
				attacker_reserve(&attacker->up, PACKET_BYTES_MAX);
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
		attacker_leave(attacker);
	}
}

/* A question about every possible LID; the answers stay unread as long as there is room. */
static void attack_questions(struct attacker *attacker)
{
	struct resolve_answer answer;
	uint32_t asked = 0, answered = 0;

	attacker_attach(attacker);
	for (unsigned tries = 0; answered < LIDS; tries++) {
		CHECK(tries < LIDS);
		while (asked < LIDS && ring_room(&attacker->up) > 4 * BODY_BYTES_MAX) {
			attacker_put_question(attacker, asked, (uint16_t)asked, some_qpn(attacker));
			asked++;
		}
		publish(attacker, &attacker->up, attacker->softibd_doorbell);
		doorbell_ring(attacker->softibd_doorbell);
		CHECK(!attacker_is_cut_off(attacker, 1));
		if (asked == LIDS || ring_room(&attacker->up) <= 4 * BODY_BYTES_MAX)
			answered += attacker_read_answers(attacker, &answer);
	}
	CHECK(attacker_is_served(attacker));
	attacker_leave(attacker);
}

static void send_trains(struct attacker *attacker, struct direct *direct, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (ring_room(&direct->out) <= 4 * BODY_BYTES_MAX &&
		    !make_room(attacker, &direct->out, direct->doorbell))
			return; /* the victim has had enough */

		struct ring_record *record = attacker_reserve(&direct->out, PACKET_BYTES_MAX);

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

		attacker_attach(attacker);
		attacker_get_ring(attacker, &direct);
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
		direct_close(&direct);
		CHECK(attacker_is_served(attacker));
		attacker_leave(attacker);
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
	struct ring_record *record = attacker_reserve(&direct->out, byte_count);

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

		attacker_attach(attacker);
		attacker_get_ring(attacker, &direct);
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
		CHECK(attacker_is_served(attacker));
		direct_close(&direct);
		attacker_leave(attacker);
	}
}

static const struct attack attacks[] = {
	{"records", attack_records},	 {"words", attack_words},
	{"packets", attack_packets},	 {"race", attack_race},
	{"questions", attack_questions}, {"direct", attack_direct},
	{"bursts", attack_bursts},	 {NULL, NULL},
};

int main(int argument_count, char **arguments)
{
	return attacker_main(argument_count, arguments, attacks);
}
