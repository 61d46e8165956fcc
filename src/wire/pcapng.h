/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture files: the blocks of pcapng that softib writes (draft-ietf-opsawg-pcapng), little-endian,
 * times in nanoseconds.
 *
 * Each writer returns how many bytes it wrote, or 0 when they do not fit.
 */
#ifndef SOFTIB_WIRE_PCAPNG_H
#define SOFTIB_WIRE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

enum {
	PCAPNG_TEXT_BYTES_MAX = 256, /* longer texts are cut */
	/* Room that any block needs beside its packet. */
	PCAPNG_BLOCK_OVERHEAD = 128 + 3 * PCAPNG_TEXT_BYTES_MAX,
};

/* What the bytes of a packet begin with. Wireshark knows InfiniBand only behind a header of the
 * Extensible Record Format. */
enum pcapng_link_type {
	PCAPNG_ERF = 197,
	PCAPNG_INFINIBAND = 247, /* the LRH */
};

enum pcapng_direction { PCAPNG_UNKNOWN = 0, PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 };

struct pcapng_interface {
	enum pcapng_link_type link_type;
	const char *name;
	const char *description;
	uint64_t bits_per_second; /* 0: not said */
};

struct pcapng_packet {
	enum pcapng_link_type link_type; /* of its interface */
	uint32_t interface_index;	 /* in the order of the interface blocks */
	time_ns time;			 /* since 1970 */
	enum pcapng_direction direction;
	const char *comment;  /* NULL: none */
	const uint8_t *bytes; /* LRH to VCRC */
	uint32_t byte_count;
};

struct pcapng_statistics {
	uint32_t interface_index;
	time_ns time;
	uint64_t seen_count;
	uint64_t missed_count; /* for want of room between capture and file */
};

MUST_USE size_t pcapng_write_section(const char *application, size_t room, uint8_t *ret_bytes);
MUST_USE size_t pcapng_write_interface(const struct pcapng_interface *interface, size_t room,
				       uint8_t *ret_bytes);
MUST_USE size_t pcapng_write_packet(const struct pcapng_packet *packet, size_t room,
				    uint8_t *ret_bytes);
MUST_USE size_t pcapng_write_statistics(const struct pcapng_statistics *statistics, size_t room,
					uint8_t *ret_bytes);

#endif
