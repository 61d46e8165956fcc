/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a packet through the tables, told step by step: where it goes, by which entry, or why
 * it is dropped.
 *
 * The decisions are those of the functions that forward packets; only the words are made here.
 */
#ifndef SOFTIB_FABRIC_EXPLAIN_EXPLAIN_H
#define SOFTIB_FABRIC_EXPLAIN_EXPLAIN_H

#include <stdint.h>
#include "net/link/port.h"
#include "wire/gid.h"

struct fabric;

enum { EXPLAIN_TEXT_BYTES = 256, EXPLAIN_STEPS_MAX = 4096 };

/* What happens at one port. A drop has its reason; the text says what stands in which table. */
struct explain_step {
	unsigned depth; /* cables crossed so far */
	const struct port *port;
	enum drop_reason reason;
	bool is_end; /* dropped or delivered here */
	const char *text;
};

struct explain_listener {
	void (*step)(void *context, const struct explain_step *step);
	void *context;
};

/* The header fields that decide. With a GRH the packet goes on at routers; a DGID of another subnet
 * replaces the DLID by that of the router on the way, as fabric_inject() does. */
struct explain_packet {
	uint16_t dlid;
	uint8_t sl;
	uint16_t pkey;
	bool has_grh;
	uint8_t hop_limit;
	struct gid dgid;
	uint32_t payload_bytes; /* against the MTUs on the way */
};

/* From a CA port to a unicast or multicast LID. Returns at how many ports it is delivered. */
unsigned explain(struct fabric *fabric, struct port *source, const struct explain_packet *packet,
		 const struct explain_listener *listener);

#endif
