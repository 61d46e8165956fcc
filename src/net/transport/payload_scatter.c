/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the payload of arriving packets into the consumer's memory, with L_Key checks. */
#include "net/transport/payload_scatter.h"

#include <string.h>

uint64_t sges_bytes(const struct sge *sges, uint32_t sge_count)
{
	uint64_t byte_count = 0;

	for (uint32_t i = 0; i < sge_count; i++)
		byte_count += sges[i].byte_count;
	return byte_count;
}

enum memory_verdict payload_scatter(const struct memory *memory, const struct protection_domain *pd,
				    const struct sge *sges, uint32_t sge_count, uint64_t offset,
				    const struct payload *payload, size_t from, size_t byte_count)
{
	for (uint32_t i = 0; i < sge_count && byte_count; i++) {
		const struct sge *sge = &sges[i];

		if (offset >= sge->byte_count) {
			offset -= sge->byte_count;
			continue;
		}

		size_t piece = sge->byte_count - (size_t)offset;
		uint8_t *bytes;

		if (piece > byte_count)
			piece = byte_count;

		enum memory_verdict verdict =
			memory_resolve(memory, pd, sge->lkey, sge->address + offset, piece,
				       ACCESS_LOCAL_WRITE, &bytes);

		if (unlikely(verdict != MEMORY_OK))
			return verdict;
		/* A null region discards the bytes. */
		if (likely(bytes))
			payload_copy(payload, from, piece, bytes);
		from += piece;
		byte_count -= piece;
		offset = 0;
	}
	debug_assert(byte_count == 0);
	return MEMORY_OK;
}

/* How many of the last bytes can be stored by one instruction. */
static size_t tail_bytes(const uint8_t *end, size_t byte_count)
{
	uintptr_t address = (uintptr_t)end;

	if (byte_count >= 8 && address % 8 == 0)
		return 8;
	if (byte_count >= 4 && address % 4 == 0)
		return 4;
	return 1;
}

/* Stores the last bytes by one instruction. */
static void write_tail(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes)
{
	uint64_t eight;
	uint32_t four;

	if (byte_count == sizeof(eight)) {
		memcpy(&eight, bytes, sizeof(eight));
		__atomic_store_n((uint64_t *)(void *)ret_bytes, eight, __ATOMIC_RELEASE);
	} else if (byte_count == sizeof(four)) {
		memcpy(&four, bytes, sizeof(four));
		__atomic_store_n((uint32_t *)(void *)ret_bytes, four, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(ret_bytes, *bytes, __ATOMIC_RELEASE);
	}
}

void bytes_write(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes)
{
	size_t tail = tail_bytes(ret_bytes + byte_count, byte_count);
	size_t body = byte_count - tail;

	if (body)
		memcpy(ret_bytes, bytes, body);
	write_tail(bytes + body, tail, ret_bytes + body);
}

void payload_write(const struct payload *payload, size_t from, size_t byte_count,
		   uint8_t *ret_bytes)
{
	if (!byte_count)
		return;

	size_t tail = tail_bytes(ret_bytes + byte_count, byte_count);
	size_t body = byte_count - tail;
	uint8_t last[8];

	if (body)
		payload_copy(payload, from, body, ret_bytes);
	payload_copy(payload, from + body, tail, last);
	write_tail(last, tail, ret_bytes + body);
}
