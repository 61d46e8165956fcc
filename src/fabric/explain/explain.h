/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains how a packet goes through the tables: at each port the table entry that decides, or why
 * the packet is dropped.
 *
 * The functions that forward packets decide; this file only finds the words.
 */
#ifndef SOFTIB_FABRIC_EXPLAIN_EXPLAIN_H
#define SOFTIB_FABRIC_EXPLAIN_EXPLAIN_H

#include <stdint.h>
#include "net/link/port.h"
#include "wire/gid.h"

struct fabric;

enum { EXPLAIN_TEXT_BYTES = 256, EXPLAIN_STEPS_MAX = 4096 };

/* One port. A drop has its reason; the text names the table and its entry. */
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

/* The header fields that decide. With a GRH routers forward the packet; for a DGID of another
 * subnet the router's LID replaces the DLID, as in fabric_inject(). */
struct explain_packet {
	uint16_t dlid;
	uint8_t sl;
	uint16_t pkey;
	bool has_grh;
	uint8_t hop_limit;
	struct gid dgid;
	uint32_t payload_bytes; /* compared with the MTUs on the path */
};

/* From a CA port to a unicast or multicast LID. Returns the number of ports that get the packet. */
unsigned explain(struct fabric *fabric, struct port *source, const struct explain_packet *packet,
		 const struct explain_listener *listener);

#endif
