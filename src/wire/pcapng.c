/* SPDX-License-Identifier: Apache-2.0 */
/* Capture files: the blocks of pcapng that softib writes (draft-ietf-opsawg-pcapng). */
#include "wire/pcapng.h"

#include <stdbool.h>
#include <string.h>
#include "base/bytes.h"

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum option_code {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_SECTION_APPLICATION = 4,
	OPTION_INTERFACE_NAME = 2,
	OPTION_INTERFACE_DESCRIPTION = 3,
	OPTION_INTERFACE_SPEED = 8,
	OPTION_INTERFACE_TIME_RESOLUTION = 9,
	OPTION_PACKET_FLAGS = 2,
	OPTION_STATISTICS_RECEIVED = 4,
	OPTION_STATISTICS_DROPPED = 5,
};

enum {
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	VERSION_MAJOR = 1,
	VERSION_MINOR = 0,
	SNAP_BYTES_UNLIMITED = 0,
	RESOLUTION_NANOSECONDS = 9,
	WORD_BYTES = 4,
	ERF_HEADER_BYTES = 16,
};

/* A block that grows; once something did not fit, nothing more is written. */
struct block {
	uint8_t *bytes;
	size_t byte_count;
	size_t room;
	bool is_too_long;
};

static void put_bytes(struct block *block, const void *bytes, size_t byte_count)
{
	size_t padded = (byte_count + WORD_BYTES - 1) & ~(size_t)(WORD_BYTES - 1);

	if (block->is_too_long || block->room - block->byte_count < padded) {
		block->is_too_long = true;
		return;
	}
	if (byte_count)
		memcpy(block->bytes + block->byte_count, bytes, byte_count);
	memset(block->bytes + block->byte_count + byte_count, 0, padded - byte_count);
	block->byte_count += padded;
}

static void put_16_16(struct block *block, unsigned first, unsigned second)
{
	const uint8_t bytes[] = {(uint8_t)first, (uint8_t)(first >> 8), (uint8_t)second,
				 (uint8_t)(second >> 8)};

	put_bytes(block, bytes, sizeof(bytes));
}

static void put_32(struct block *block, uint32_t value)
{
	put_16_16(block, value & 0xffff, value >> 16);
}

/* A time is two words, the upper one first, whatever the byte order. */
static void put_time(struct block *block, time_ns time)
{
	put_32(block, (uint32_t)(time >> 32));
	put_32(block, (uint32_t)time);
}

static void put_option(struct block *block, enum option_code code, const void *bytes,
		       size_t byte_count)
{
	put_16_16(block, (unsigned)code, (unsigned)byte_count);
	put_bytes(block, bytes, byte_count);
}

static void put_text(struct block *block, enum option_code code, const char *text)
{
	if (text && *text)
		put_option(block, code, text, strnlen(text, PCAPNG_TEXT_BYTES_MAX));
}

static void put_number(struct block *block, enum option_code code, uint64_t value,
		       size_t byte_count)
{
	uint8_t bytes[sizeof(value)];

	for (size_t index = 0; index < byte_count; index++)
		bytes[index] = (uint8_t)(value >> (8 * index));
	put_option(block, code, bytes, byte_count);
}

static struct block block_begin(enum block_type type, size_t room, uint8_t *bytes)
{
	struct block block = {.bytes = bytes, .room = room};

	put_32(&block, type);
	put_32(&block, 0); /* the length, once it is known */
	return block;
}

static size_t block_end(struct block *block)
{
	put_option(block, OPTION_END, NULL, 0);

	uint32_t byte_count = (uint32_t)block->byte_count + WORD_BYTES;

	put_32(block, byte_count);
	if (block->is_too_long)
		return 0;
	memcpy(block->bytes + WORD_BYTES, block->bytes + block->byte_count - WORD_BYTES,
	       WORD_BYTES);
	return byte_count;
}

size_t pcapng_write_section(const char *application, size_t room, uint8_t *ret_bytes)
{
	struct block block = block_begin(BLOCK_SECTION, room, ret_bytes);

	put_32(&block, BYTE_ORDER_MAGIC);
	put_16_16(&block, VERSION_MAJOR, VERSION_MINOR);
	/* The length of the section is not known beforehand. */
	put_32(&block, UINT32_MAX);
	put_32(&block, UINT32_MAX);
	put_text(&block, OPTION_SECTION_APPLICATION, application);
	return block_end(&block);
}

size_t pcapng_write_interface(const struct pcapng_interface *interface, size_t room,
			      uint8_t *ret_bytes)
{
	struct block block = block_begin(BLOCK_INTERFACE, room, ret_bytes);

	put_16_16(&block, interface->link_type, 0);
	put_32(&block, SNAP_BYTES_UNLIMITED);
	put_text(&block, OPTION_INTERFACE_NAME, interface->name);
	put_text(&block, OPTION_INTERFACE_DESCRIPTION, interface->description);
	if (interface->bits_per_second)
		put_number(&block, OPTION_INTERFACE_SPEED, interface->bits_per_second, 8);
	put_number(&block, OPTION_INTERFACE_TIME_RESOLUTION, RESOLUTION_NANOSECONDS, 1);
	return block_end(&block);
}

/* Time in seconds and parts of 2^-32, little-endian; the rest is not. */
static void put_erf_header(struct block *block, const struct pcapng_packet *packet)
{
	enum { TYPE_INFINIBAND = 21, FLAG_VARYING_LENGTH = 4 };
	uint8_t bytes[ERF_HEADER_BYTES] = {[8] = TYPE_INFINIBAND, [9] = FLAG_VARYING_LENGTH};
	uint64_t seconds = packet->time / SECONDS(1);
	uint64_t fraction = (packet->time % SECONDS(1) << 32) / SECONDS(1);
	uint64_t time = seconds << 32 | fraction;

	for (unsigned index = 0; index < sizeof(time); index++)
		bytes[index] = (uint8_t)(time >> (8 * index));
	put_be16(bytes + 10, (uint16_t)(ERF_HEADER_BYTES + packet->byte_count));
	put_be16(bytes + 14, (uint16_t)packet->byte_count);
	put_bytes(block, bytes, sizeof(bytes));
}

size_t pcapng_write_packet(const struct pcapng_packet *packet, size_t room, uint8_t *ret_bytes)
{
	uint32_t header_bytes = packet->link_type == PCAPNG_ERF ? ERF_HEADER_BYTES : 0;
	struct block block = block_begin(BLOCK_PACKET, room, ret_bytes);

	put_32(&block, packet->interface_index);
	put_time(&block, packet->time);
	put_32(&block, header_bytes + packet->byte_count);
	put_32(&block, header_bytes + packet->byte_count);
	if (header_bytes)
		put_erf_header(&block, packet);
	put_bytes(&block, packet->bytes, packet->byte_count);
	put_text(&block, OPTION_COMMENT, packet->comment);
	if (packet->direction != PCAPNG_UNKNOWN)
		put_number(&block, OPTION_PACKET_FLAGS, packet->direction, 4);
	return block_end(&block);
}

size_t pcapng_write_statistics(const struct pcapng_statistics *statistics, size_t room,
			       uint8_t *ret_bytes)
{
	struct block block = block_begin(BLOCK_STATISTICS, room, ret_bytes);

	put_32(&block, statistics->interface_index);
	put_time(&block, statistics->time);
	put_number(&block, OPTION_STATISTICS_RECEIVED, statistics->seen_count, 8);
	put_number(&block, OPTION_STATISTICS_DROPPED, statistics->missed_count, 8);
	return block_end(&block);
}
