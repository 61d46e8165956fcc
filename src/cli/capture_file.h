/* SPDX-License-Identifier: Apache-2.0 */
/* Output of captured packets: a pcapng file or pipe, or text with one line per packet. */
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
	CAPTURE_ERF,	    /* pcapng with ERF records, which Wireshark decodes */
	CAPTURE_INFINIBAND, /* pcapng with LINKTYPE_INFINIBAND */
	CAPTURE_TEXT,
};

/* The caller keeps the descriptor. interfaces and drop_reasons come from softibd's answer.
 * realtime_offset converts softibd's clock to the time of day. NULL: no memory, or the answer is
 * invalid. */
struct capture_file *capture_file_create(int descriptor, enum capture_format format,
					 const json_t *interfaces, const json_t *drop_reasons,
					 time_ns realtime_offset);
void capture_file_destroy(struct capture_file *file);

/* Buffers one record of the ring. -EPROTO: the record is invalid. Else -errno of the write. */
MUST_USE int capture_file_put(struct capture_file *file, const struct ring_record *record);
/* Writes out the buffer. */
MUST_USE int capture_file_flush(struct capture_file *file);
/* Adds the totals of each interface, then writes out the buffer. */
MUST_USE int capture_file_finish(struct capture_file *file, uint64_t missed);

/* After a failed write: the size up to which the file has only whole blocks. */
off_t capture_file_whole_bytes(const struct capture_file *file);
uint64_t capture_file_packets(const struct capture_file *file);

#endif
