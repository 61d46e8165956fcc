/* SPDX-License-Identifier: Apache-2.0 */
/* A wire between two queue pairs in tests: encoded bytes, a virtual clock, scripted or seeded
 * faults, and a log that can be compared. */
#ifndef SOFTIB_TESTS_SUPPORT_QP_WIRE_H
#define SOFTIB_TESTS_SUPPORT_QP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/random.h"
#include "base/time.h"
#include "wire/packet.h"

enum { WIRE_FLIGHTS_MAX = 8192, WIRE_LOSSES_MAX = 64, WIRE_LOG_BYTES = 1 << 14 };

struct flight {
	time_ns arrival;
	uint64_t order; /* among packets that arrive at the same time */
	uint8_t *bytes;
	size_t byte_count;
	uint32_t packet_count;
};

/* Chances in 1000. */
struct wire_faults {
	unsigned lose, duplicate, delay, corrupt;
};

struct qp_wire {
	struct flight flights[WIRE_FLIGHTS_MAX];
	unsigned flight_count;
	uint64_t sent_count;
	uint64_t losses[WIRE_LOSSES_MAX]; /* numbers of packets from 0 that are lost */
	unsigned loss_count;
	struct wire_faults faults;
	struct random random;
	time_ns latency;
	bool is_cut;
	char log[WIRE_LOG_BYTES];
	size_t log_bytes;
	uint32_t request_psn;  /* the log counts request PSNs from here */
	uint32_t response_psn; /* and response PSNs from here */
};

void qp_wire_init(struct qp_wire *wire, uint32_t request_psn, uint32_t response_psn);
void qp_wire_release(struct qp_wire *wire);

/* The n-th packet from now on (from 0) is lost. */
void wire_lose(struct qp_wire *wire, unsigned n);

void qp_wire_send(struct qp_wire *wire, time_ns now, const struct packet *packet);
time_ns qp_wire_deadline(const struct qp_wire *wire);
/* Takes out a packet that has arrived; false: there is none. The caller frees flight->bytes. */
bool qp_wire_arrived(struct qp_wire *wire, time_ns now, struct flight *ret_flight);

/* "FIRST@0 MIDDLE@1! LAST@2": opcodes of SENDs without their prefix, PSNs from the connection's
 * first, "!" for lost packets, "x3" for a train of three. Empties the log. */
void expect_wire(struct qp_wire *wire, const char *expected);

#endif
