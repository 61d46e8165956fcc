/* SPDX-License-Identifier: Apache-2.0 */
/* A wire between two queue pairs in tests. */
#include "support/qp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/crc.h"

void qp_wire_init(struct qp_wire *wire, uint32_t request_psn, uint32_t response_psn)
{
	/* Flights and log are large, and only as long as their counts say. */
	wire->flight_count = 0;
	wire->sent_count = 0;
	wire->loss_count = 0;
	wire->faults = (struct wire_faults){0};
	wire->random = (struct random){0};
	wire->latency = MICROSECONDS(1);
	wire->is_cut = false;
	wire->log_bytes = 0;
	wire->request_psn = request_psn;
	wire->response_psn = response_psn;
}

void qp_wire_release(struct qp_wire *wire)
{
	for (unsigned i = 0; i < wire->flight_count; i++)
		free(wire->flights[i].bytes);
	wire->flight_count = 0;
}

void wire_lose(struct qp_wire *wire, unsigned n)
{
	assert_true(wire->loss_count < WIRE_LOSSES_MAX);
	wire->losses[wire->loss_count++] = wire->sent_count + n;
}

static const char *nak_name(uint8_t syndrome)
{
	static const char *const names[] = {"NAK_SEQUENCE", "NAK_INVALID", "NAK_ACCESS",
					    "NAK_OPERATIONAL", "NAK_RD"};

	if (aeth_kind(syndrome) == AETH_ACK)
		return "ACK";
	if (aeth_kind(syndrome) == AETH_RNR_NAK)
		return "RNR";
	return aeth_value(syndrome) < 5 ? names[aeth_value(syndrome)] : "NAK_RESERVED";
}

static const char *log_name(const struct packet *packet)
{
	const struct opcode_info *info = opcode_info(packet->bth.opcode);

	if (info->kind == OPCODE_KIND_ACKNOWLEDGE)
		return nak_name(packet->aeth.syndrome);

	const char *operation = strchr(info->name, '_') + 1;

	return operation + (info->kind == OPCODE_KIND_SEND ? strlen("SEND_") : 0);
}

static void log_packet(struct qp_wire *wire, const struct packet *packet, bool is_lost)
{
	bool is_response = opcode_info(packet->bth.opcode)->is_response;
	uint32_t base = is_response ? wire->response_psn : wire->request_psn;
	char train[16] = "";

	if (packet->packet_count > 1)
		snprintf(train, sizeof(train), "x%u", packet->packet_count);
	if (wire->log_bytes > WIRE_LOG_BYTES - 64)
		return;
	wire->log_bytes += (size_t)snprintf(wire->log + wire->log_bytes, 64, "%s%s@%u%s%s",
					    wire->log_bytes ? " " : "", log_name(packet),
					    psn_from(packet->bth.psn.value - base).value, train,
					    is_lost ? "!" : "");
}

static bool chance(struct qp_wire *wire, unsigned per_mille)
{
	return per_mille && random_below(&wire->random, 1000) < per_mille;
}

static bool is_scripted_loss(const struct qp_wire *wire)
{
	for (unsigned i = 0; i < wire->loss_count; i++)
		if (wire->losses[i] == wire->sent_count)
			return true;
	return false;
}

static void put_in_flight(struct qp_wire *wire, time_ns arrival, const struct packet *packet)
{
	assert_true(wire->flight_count < WIRE_FLIGHTS_MAX);

	struct flight *flight = &wire->flights[wire->flight_count++];

	flight->arrival = arrival;
	flight->order = wire->sent_count;
	flight->byte_count = packet_bytes(packet);
	flight->packet_count = packet->packet_count;
	flight->bytes = malloc(flight->byte_count);
	assert_non_null(flight->bytes);
	assert_int_equal(packet_encode(packet, flight->bytes), flight->byte_count);
}

/* Only the ICRC keeps a flipped bit from the consumer: a corrupted packet must fail it. */
static bool corruption_is_caught(struct qp_wire *wire, const struct packet *packet)
{
	size_t byte_count = packet_bytes(packet);
	uint8_t *bytes = malloc(byte_count);

	assert_non_null(bytes);
	packet_encode(packet, bytes);

	uint32_t before = icrc(bytes, byte_count);
	/* The ICRC covers all bytes from the PSN on; in a global packet this offset is inside the
	 * SGID. */
	size_t position = 17 + random_below(&wire->random, byte_count - 17);

	bytes[position] ^= (uint8_t)(1u << random_below(&wire->random, 8));

	bool is_caught = icrc(bytes, byte_count) != before;

	free(bytes);
	return is_caught;
}

void qp_wire_send(struct qp_wire *wire, time_ns now, const struct packet *packet)
{
	bool is_lost = wire->is_cut || is_scripted_loss(wire) || chance(wire, wire->faults.lose);
	time_ns arrival = now + wire->latency;

	if (!is_lost && chance(wire, wire->faults.corrupt)) {
		assert_true(corruption_is_caught(wire, packet));
		is_lost = true;
	}
	log_packet(wire, packet, is_lost);
	if (chance(wire, wire->faults.delay))
		arrival += random_below(&wire->random, MICROSECONDS(40));
	if (!is_lost)
		put_in_flight(wire, arrival, packet);
	if (!is_lost && chance(wire, wire->faults.duplicate))
		put_in_flight(wire, arrival + random_below(&wire->random, MICROSECONDS(20)),
			      packet);
	wire->sent_count++;
}

static unsigned earliest(const struct qp_wire *wire)
{
	unsigned found = 0;

	for (unsigned i = 1; i < wire->flight_count; i++) {
		const struct flight *a = &wire->flights[i];
		const struct flight *b = &wire->flights[found];

		if (a->arrival < b->arrival || (a->arrival == b->arrival && a->order < b->order))
			found = i;
	}
	return found;
}

time_ns qp_wire_deadline(const struct qp_wire *wire)
{
	return wire->flight_count ? wire->flights[earliest(wire)].arrival : TIME_NEVER;
}

bool qp_wire_arrived(struct qp_wire *wire, time_ns now, struct flight *ret_flight)
{
	unsigned found = earliest(wire);

	if (!wire->flight_count || wire->flights[found].arrival > now)
		return false;
	*ret_flight = wire->flights[found];
	wire->flights[found] = wire->flights[--wire->flight_count];
	return true;
}

void expect_wire(struct qp_wire *wire, const char *expected)
{
	wire->log[wire->log_bytes] = 0;
	assert_string_equal(wire->log, expected);
	wire->log_bytes = 0;
}
