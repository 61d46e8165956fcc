/* SPDX-License-Identifier: Apache-2.0 */
/* Where captured packets go: a pcapng file or pipe, or a line per packet on the terminal. */
#ifndef SOFTIB_CLI_CAPTURE_FILE_H
#define SOFTIB_CLI_CAPTURE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "base/ring.h"
#include "base/time.h"

struct capture_file;

enum capture_format {
	CAPTURE_ERF,	    /* pcapng as Wireshark understands it */
	CAPTURE_INFINIBAND, /* pcapng with LINKTYPE_INFINIBAND */
	CAPTURE_TEXT,
};

/* The descriptor stays the caller's. interfaces and drop_reasons are those of softibd's answer. realtime_offset turns
 * softibd's clock into the time of day. NULL: no memory, or the answer makes no sense. */
struct capture_file *capture_file_create(int descriptor, enum capture_format format,
					 const json_t *interfaces, const json_t *drop_reasons,
					 time_ns realtime_offset);
void capture_file_destroy(struct capture_file *file);

/* One record of the ring; buffered. -EPROTO: it makes no sense. Else -errno of the write. */
MUST_USE int capture_file_put(struct capture_file *file, const struct ring_record *record);
/* Everything that came so far is where it belongs. */
MUST_USE int capture_file_flush(struct capture_file *file);
/* The same, with the totals of each interface before it. */
MUST_USE int capture_file_finish(struct capture_file *file, uint64_t missed);

/* Up to where a file has nothing but whole blocks, if a write failed. */
off_t capture_file_whole_bytes(const struct capture_file *file);
uint64_t capture_file_packets(const struct capture_file *file);

#endif
