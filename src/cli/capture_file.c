/* SPDX-License-Identifier: Apache-2.0 */
/* Output of captured packets: a pcapng file or pipe, or text with one line per packet. */
#include "cli/capture_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/packet_text.h"
#include "ipc/capture_ring.h"
#include "wire/crc.h"
#include "wire/lrh.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pcapng.h"

enum {
	BUFFER_BYTES = 1 << 20,
	WIRE_BYTES_MAX = PACKET_BYTES_MAX + ICRC_BYTES + VCRC_BYTES,
	ENTRY_BYTES_MAX = WIRE_BYTES_MAX + PCAPNG_BLOCK_OVERHEAD,
	COMMENT_BYTES = 160,
};

struct capture_file {
	int descriptor;
	enum capture_format format;
	time_ns realtime_offset;
	const json_t *interfaces;
	const json_t *drop_reasons;
	uint64_t packet_count;
	uint64_t *packets_by_interface;
	time_ns last_time;
	off_t whole_bytes; /* size after the last successful flush */
	size_t buffered_bytes;
	uint8_t buffer[BUFFER_BYTES];
};

static const char *interface_text(const struct capture_file *file, size_t index, size_t column)
{
	const char *text =
		json_string_value(json_array_get(json_array_get(file->interfaces, index), column));

	return text ? text : "?";
}

static size_t room(const struct capture_file *file)
{
	return BUFFER_BYTES - file->buffered_bytes;
}

static uint8_t *end_of(struct capture_file *file)
{
	return file->buffer + file->buffered_bytes;
}

static enum pcapng_link_type link_type(const struct capture_file *file)
{
	return file->format == CAPTURE_INFINIBAND ? PCAPNG_INFINIBAND : PCAPNG_ERF;
}

static void put_headings(struct capture_file *file)
{
	file->buffered_bytes += pcapng_write_section("softib capture", room(file), end_of(file));
	for (size_t index = 0; index < json_array_size(file->interfaces); index++) {
		struct pcapng_interface interface = {.link_type = link_type(file),
						     .name = interface_text(file, index, 0),
						     .description = interface_text(file, index, 1)};

		file->buffered_bytes +=
			pcapng_write_interface(&interface, room(file), end_of(file));
	}
}

struct capture_file *capture_file_create(int descriptor, enum capture_format format,
					 const json_t *interfaces, const json_t *drop_reasons,
					 time_ns realtime_offset)
{
	size_t interface_count = json_array_size(interfaces);
	struct capture_file *file = malloc(sizeof(*file));
	uint64_t *counts = calloc(interface_count + 1, sizeof(*counts));

	/* The interface blocks must fit the buffer. */
	if (!file || !counts || !interface_count ||
	    interface_count * PCAPNG_BLOCK_OVERHEAD > BUFFER_BYTES / 2) {
		free(file);
		free(counts);
		return NULL;
	}
	file->descriptor = descriptor;
	file->format = format;
	file->realtime_offset = realtime_offset;
	file->interfaces = interfaces;
	file->drop_reasons = drop_reasons;
	file->packet_count = 0;
	file->packets_by_interface = counts;
	file->last_time = realtime_offset;
	file->whole_bytes = 0;
	file->buffered_bytes = 0;
	if (format != CAPTURE_TEXT)
		put_headings(file);
	return file;
}

void capture_file_destroy(struct capture_file *file)
{
	if (file)
		free(file->packets_by_interface);
	free(file);
}

/* softibd sends valid packets without CRCs; adds them. Returns the length with the CRCs. */
static uint32_t add_crcs(uint8_t *bytes, uint32_t byte_count)
{
	if (byte_count < LRH_BYTES)
		return byte_count;
	if ((bytes[1] & 3) >= LNH_LOCAL) {
		uint32_t invariant = icrc(bytes, byte_count);

		for (unsigned index = 0; index < ICRC_BYTES; index++)
			bytes[byte_count++] = (uint8_t)(invariant >> (8 * index));
	}

	uint16_t variant = vcrc(bytes, byte_count);

	bytes[byte_count++] = (uint8_t)variant;
	bytes[byte_count++] = (uint8_t)(variant >> 8);
	return byte_count;
}

static void make_comment(const struct capture_file *file, const struct capture_record *head,
			 char ret_comment[static COMMENT_BYTES])
{
	const char *reason =
		json_string_value(json_array_get(file->drop_reasons, head->drop_reason));
	int length = snprintf(ret_comment, COMMENT_BYTES, "port %.80s",
			      interface_text(file, head->interface_index, 0));

	if (head->is_loopback)
		length += snprintf(ret_comment + length, (size_t)(COMMENT_BYTES - length),
				   ", to itself");
	if (head->drop_reason)
		snprintf(ret_comment + length, (size_t)(COMMENT_BYTES - length), ", dropped: %.40s",
			 reason ? reason : "?");
}

static void put_packet(struct capture_file *file, const struct capture_record *head,
		       const uint8_t *bytes, uint32_t byte_count)
{
	char comment[COMMENT_BYTES];
	struct pcapng_packet packet = {
		.link_type = link_type(file),
		.interface_index = head->interface_index,
		.time = file->last_time,
		.direction = head->direction == CAPTURE_IN ? PCAPNG_INBOUND : PCAPNG_OUTBOUND,
		.comment = comment,
		.bytes = bytes,
		.byte_count = byte_count,
	};

	make_comment(file, head, comment);
	if (file->format != CAPTURE_TEXT)
		file->buffered_bytes += pcapng_write_packet(&packet, room(file), end_of(file));
	else
		file->buffered_bytes += packet_text_line(&packet, room(file), end_of(file));
}

int capture_file_put(struct capture_file *file, const struct ring_record *record)
{
	struct capture_record head;
	uint8_t bytes[WIRE_BYTES_MAX];
	uint32_t byte_count = record->byte_count - (uint32_t)sizeof(head);

	if (record->kind != CAPTURE_RECORD_PACKET || record->byte_count < sizeof(head) ||
	    byte_count > WIRE_BYTES_MAX)
		return -EPROTO;
	memcpy(&head, record->body, sizeof(head));
	if (head.interface_index >= json_array_size(file->interfaces) ||
	    (!head.has_crcs && byte_count > PACKET_BYTES_MAX))
		return -EPROTO;
	memcpy(bytes, record->body + sizeof(head), byte_count);
	if (!head.has_crcs)
		byte_count = add_crcs(bytes, byte_count);
	file->last_time = head.time_ns + file->realtime_offset;
	file->packet_count++;
	file->packets_by_interface[head.interface_index]++;

	int error = room(file) < ENTRY_BYTES_MAX ? capture_file_flush(file) : 0;

	if (!error)
		put_packet(file, &head, bytes, byte_count);
	return error;
}

int capture_file_flush(struct capture_file *file)
{
	size_t done = 0;

	while (done < file->buffered_bytes) {
		ssize_t count =
			write(file->descriptor, file->buffer + done, file->buffered_bytes - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		done += (size_t)count;
	}
	file->whole_bytes += (off_t)done;
	file->buffered_bytes = 0;
	return 0;
}

int capture_file_finish(struct capture_file *file, uint64_t missed)
{
	int error = capture_file_flush(file);

	for (uint32_t index = 0;
	     !error && file->format != CAPTURE_TEXT && index < json_array_size(file->interfaces);
	     index++) {
		/* Missed packets are counted per capture, not per interface, so the first interface
		 * reports them. */
		struct pcapng_statistics statistics = {
			.interface_index = index,
			.time = file->last_time,
			.seen_count = file->packets_by_interface[index] + (index ? 0 : missed),
			.missed_count = index ? 0 : missed,
		};

		file->buffered_bytes +=
			pcapng_write_statistics(&statistics, room(file), end_of(file));
	}
	return error ? error : capture_file_flush(file);
}

off_t capture_file_whole_bytes(const struct capture_file *file)
{
	return file->whole_bytes;
}

uint64_t capture_file_packets(const struct capture_file *file)
{
	return file->packet_count;
}
