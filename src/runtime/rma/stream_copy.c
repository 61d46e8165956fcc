/* SPDX-License-Identifier: Apache-2.0 */
/* Copying with stores that bypass the caches. */
#include "runtime/rma/stream_copy.h"

#include <string.h>
#include "base/attributes.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE_BYTES = 64 };

/* Copies whole cache lines to aligned memory. */
static void copy_lines(const uint8_t *bytes, size_t line_count, uint8_t *ret_bytes)
{
#ifdef __SSE2__
	for (size_t i = 0; i < line_count; i++) {
		const __m128i *from = (const __m128i *)(const void *)(bytes + i * LINE_BYTES);
		__m128i *to = (__m128i *)(void *)(ret_bytes + i * LINE_BYTES);
		__m128i first = _mm_loadu_si128(from), second = _mm_loadu_si128(from + 1);
		__m128i third = _mm_loadu_si128(from + 2), fourth = _mm_loadu_si128(from + 3);

		_mm_stream_si128(to, first);
		_mm_stream_si128(to + 1, second);
		_mm_stream_si128(to + 2, third);
		_mm_stream_si128(to + 3, fourth);
	}
	/* Streaming stores are not ordered with other stores. */
	_mm_sfence();
#else
	memcpy(ret_bytes, bytes, line_count * LINE_BYTES);
#endif
}

void stream_copy(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes)
{
	size_t head = -(uintptr_t)ret_bytes % LINE_BYTES;

	if (head > byte_count)
		head = byte_count;
	memcpy(ret_bytes, bytes, head);
	copy_lines(bytes + head, (byte_count - head) / LINE_BYTES, ret_bytes + head);

	size_t tail = (byte_count - head) % LINE_BYTES;

	memcpy(ret_bytes + byte_count - tail, bytes + byte_count - tail, tail);
}
