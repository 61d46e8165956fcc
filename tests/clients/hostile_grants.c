/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that got a ring to a victim honestly, and then sends on it what its path does not
 * allow.
 *
 *   hostile_grants SOCKET HOST ATTACK VICTIM PEER-LID ring|softibd
 *
 * VICTIM is the file that hostile_victim wrote, PEER-LID the port of its connection's other end,
 * where this program is not. The packets go by a direct ring, or through softibd. Forged packets
 * say "forged". Behind them comes an honest datagram that says the attack's name: when the victim
 * has that, it has seen all.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/ring_payloads.h"
#include "hostile_attacker.h"
#include "hostile_victim.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/packet.h"

enum { BLUE_PKEY = 0x8010, PAYLOADS = 8, PACKET_BYTES = 128 };

struct target {
	struct attacker attacker;
	bool is_relayed;
	struct direct direct;
	uint32_t ring_id;
	struct control_message message; /* softibd's answer with the ring */
	uint32_t open_qpn, blue_qpn, rc_qpn;
	uint16_t peer_lid;
};

/* An honest datagram. */
static struct packet datagram(const struct target *target)
{
	return (struct packet){
		.kind = PACKET_IBA,
		.lrh = {.lnh = LNH_LOCAL,
			.dlid = target->attacker.victim_lid,
			.slid = target->attacker.own_lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.migrated = true,
			.pkey = 0xffff,
			.destination_qpn = target->open_qpn},
		.deth = {.qkey = VICTIM_QKEY, .source_qpn = 7},
		.packet_count = 1,
	};
}

/* What the peer of the victim's connection would send. */
static struct packet message_of_peer(const struct target *target)
{
	struct packet packet = datagram(target);

	packet.lrh.slid = target->peer_lid;
	packet.bth.opcode = TRANSPORT_RC | OPCODE_SEND_ONLY;
	packet.bth.destination_qpn = target->rc_qpn;
	packet.bth.psn = psn_from(VICTIM_PSN);
	return packet;
}

static struct ring_producer *out_of(struct target *target)
{
	return target->is_relayed ? &target->attacker.up : &target->direct.out;
}

static void put(struct target *target, struct packet *packet, enum record_kind kind,
		const char *text)
{
	char payload[VICTIM_TEXT_BYTES] = "";
	struct ring_producer *out = out_of(target);
	struct ring_record *record = attacker_reserve(out, PACKET_BYTES);

	snprintf(payload, sizeof(payload), "%s", text);
	packet_set_payload(packet, (uint8_t *)payload, sizeof(payload));
	record->kind = (uint16_t)kind;
	record->port = ADAPTER_PORT;
	record->packet_count = 1;
	record->word = 0;
	record->byte_count = (uint32_t)packet_encode(packet, record->body);
	ring_commit(out, record);
	(void)!ring_publish(out);
	doorbell_ring(target->is_relayed ? target->attacker.softibd_doorbell
					 : target->direct.doorbell);
}

static void forge(struct target *target, struct packet packet)
{
	put(target, &packet, RECORD_PACKET, "forged");
}

static void attack_pkey(struct target *target)
{
	struct packet packet = datagram(target);

	packet.bth.pkey = BLUE_PKEY;
	packet.bth.destination_qpn = target->blue_qpn;
	forge(target, packet);
}

static void attack_slid(struct target *target)
{
	struct packet packet = datagram(target);

	packet.lrh.slid = target->peer_lid;
	forge(target, packet);
}

static void attack_qkey(struct target *target)
{
	struct packet packet = datagram(target);

	packet.deth.qkey++;
	forge(target, packet);
}

static void attack_connection(struct target *target)
{
	forge(target, message_of_peer(target));
	forge(target, message_of_peer(target));
}

/* Payload records behind a template that was refused. */
static void attack_burst(struct target *target)
{
	struct packet packet = message_of_peer(target);

	put(target, &packet, RECORD_TEMPLATE, "forged");
	for (unsigned i = 0; i < PAYLOADS; i++) {
		struct ring_producer *out = &target->direct.out;

		CHECK(ring_fits_payload(out, VICTIM_TEXT_BYTES));
		memcpy(ring_payload_place(out, VICTIM_TEXT_BYTES), "forged\0\0\0\0\0\0\0\0\0",
		       VICTIM_TEXT_BYTES);
		ring_commit_payload(out, VICTIM_TEXT_BYTES);
	}
}

/* An honest datagram first, so that the victim knows such headers. Then they change while the
 * victim may be reading them. */
static void attack_race(struct target *target)
{
	for (unsigned i = 0; i < 20000; i++) {
		struct packet packet = datagram(target);

		if (ring_room(&target->direct.out) < 4096) {
			i--;
			doorbell_ring(target->direct.doorbell);
			continue;
		}

		uint8_t *headers = target->direct.out.data +
				   ((target->direct.out.tail & (DIRECT_RING_BYTES - 1)) +
				    RING_STAMPED_HEADER_BYTES);

		put(target, &packet, RECORD_PACKET, "race");
		for (unsigned flips = 0; flips < 100; flips++) {
			put_be16(headers + LRH_SLID_OFFSET, target->peer_lid);
			put_be16(headers + LRH_SLID_OFFSET, target->attacker.own_lid);
		}
	}
}

/* Goes on to send after the fabric has cut it off; each line says how many it has sent. */
static void attack_revoked(struct target *target)
{
	/* One in a millisecond, until the fabric is gone. */
	for (unsigned count = 1; !attacker_is_cut_off(&target->attacker, 1); count++) {
		struct packet packet = datagram(target);
		char text[VICTIM_TEXT_BYTES];

		snprintf(text, sizeof(text), "revoked %u", count);
		if (ring_room(out_of(target)) >= 4096)
			put(target, &packet, RECORD_PACKET, text);
		printf("%u\n", count);
		fflush(stdout);
	}
}

/* Looks for the victim's private memory in a file that softibd gave us, and overwrites it. */
static void overwrite(int file)
{
	struct stat status;
	uint8_t pattern[4096];

	CHECK(fstat(file, &status) == 0);
	if (!S_ISREG(status.st_mode))
		return;

	uint8_t *bytes =
		mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	off_t begin = 0, end;

	if (bytes == MAP_FAILED)
		return;
	memset(pattern, VICTIM_PATTERN, sizeof(pattern));
	for (; memory_file_next_data(file, &begin, status.st_size, &end); begin = end)
		for (off_t at = begin; at + (off_t)sizeof(pattern) <= end; at += sizeof(pattern))
			if (memcmp(bytes + at, pattern, sizeof(pattern)) == 0)
				memset(bytes + at, ~VICTIM_PATTERN, sizeof(pattern));
	munmap(bytes, (size_t)status.st_size);
}

/* Before the victim maps it, a file could be made read-only for the victim. */
static void attack_seals(struct target *target)
{
	const int file = target->message.descriptors[0];
	const int seals[] = {0x10 /* F_SEAL_FUTURE_WRITE */, F_SEAL_WRITE, F_SEAL_SEAL};

	for (unsigned i = 0; i < sizeof(seals) / sizeof(seals[0]); i++)
		CHECK(fcntl(file, F_ADD_SEALS, seals[i]) != 0 && errno != EBUSY);
}

/* Takes all that softibd gives with a ring to any queue pair. */
static void attack_memory(struct target *target)
{
	struct control_message *message = &target->message;
	char text[64];

	for (unsigned i = 0; i < message->descriptor_count; i++)
		overwrite(message->descriptors[i]);
	snprintf(text, sizeof(text), "{\"command\":\"exposure\",\"id\":%u}", target->ring_id);
	control_message_release(message);
	if (attacker_ask(&target->attacker, text, message) != 0)
		return;
	for (unsigned i = 0; i < message->descriptor_count; i++)
		overwrite(message->descriptors[i]);
}

static const struct {
	const char *name;
	void (*run)(struct target *target);
} attacks[] = {
	{"pkey", attack_pkey},
	{"slid", attack_slid},
	{"qkey", attack_qkey},
	{"burst", attack_burst},
	{"connection", attack_connection},
	{"race", attack_race},
	{"revoked", attack_revoked},
	{"seals", attack_seals},
	{"memory", attack_memory},
};

int main(int argument_count, char **arguments)
{
	struct target target = {.attacker = {.socket = -1}};
	struct attacker *attacker = &target.attacker;
	unsigned lid;

	CHECK(argument_count == 7);
	attacker->socket_path = arguments[1];
	attacker->host_name = arguments[2];
	target.peer_lid = (uint16_t)strtoul(arguments[5], NULL, 0);

	FILE *file = fopen(arguments[4], "r");

	CHECK(file);
	CHECK(fscanf(file, "%u %u %u %u", &lid, &target.open_qpn, &target.blue_qpn,
		     &target.rc_qpn) == 4);
	fclose(file);
	attacker->victim_lid = (uint16_t)lid;
	attacker->victim_qpn = target.open_qpn;
	attacker_attach(attacker);
	CHECK(attacker->own_lid != target.peer_lid);
	target.is_relayed = strcmp(arguments[6], "softibd") == 0;
	if (!target.is_relayed) {
		target.ring_id = attacker_find_ring(attacker);
		attacker_fetch_ring(attacker, target.ring_id, &target.direct, &target.message);
	}
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		if (strcmp(attacks[i].name, arguments[3]) != 0)
			continue;

		struct packet last = datagram(&target);

		attacks[i].run(&target);
		put(&target, &last, RECORD_PACKET, arguments[3]);
		CHECK(attacker_is_served(attacker));
		if (!target.is_relayed) {
			control_message_release(&target.message);
			direct_close(&target.direct);
		}
		attacker_leave(attacker);
		return 0;
	}
	fprintf(stderr, "no attack is called %s\n", arguments[3]);
	return 2;
}
