/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gcc -fsanitize=thread calls at each access to memory, and the copies of the C library.
 *
 * Accesses to shared memory and atomic accesses anywhere are scheduling points, and their stores go
 * by the store buffer. Plain accesses to private memory are neither: two threads that race there
 * are the thread sanitizer's to find.
 */
#include <stdint.h>
#include <string.h>
#include "interpose.h"
#include "raw_copy.h"
#include "shared_ranges.h"
#include "store_buffer.h"
#include "turns.h"

/* Declares what the compiler calls, which has no header. */
#define CALLED_BY_COMPILER(type, name, ...)                                                        \
	EXPORT type name(__VA_ARGS__);                                                             \
	EXPORT type name(__VA_ARGS__)

CALLED_BY_COMPILER(void, __tsan_init, void)
{
}

static void plain_read(const void *address, size_t byte_count, const void *code)
{
	if (is_shared(address, byte_count))
		point(POINT_READ, address, code);
}

static void buffer_store(void *address, size_t byte_count)
{
	if (schedule->is_sequential)
		return;
	store_buffer_add(address, byte_count);
}

static void plain_write(void *address, size_t byte_count, const void *code)
{
	if (!own || !is_shared(address, byte_count))
		return;
	point_of_store(POINT_WRITE, address, shared_place(address), code);
	buffer_store(address, byte_count);
}

#define ACCESS(bytes)                                                                              \
	CALLED_BY_COMPILER(void, __tsan_read##bytes, void *address)                                \
	{                                                                                          \
		plain_read(address, bytes, CODE);                                                  \
	}                                                                                          \
	CALLED_BY_COMPILER(void, __tsan_write##bytes, void *address)                               \
	{                                                                                          \
		plain_write(address, bytes, CODE);                                                 \
	}                                                                                          \
	CALLED_BY_COMPILER(void, __tsan_unaligned_read##bytes, void *address)                      \
	{                                                                                          \
		plain_read(address, bytes, CODE);                                                  \
	}                                                                                          \
	CALLED_BY_COMPILER(void, __tsan_unaligned_write##bytes, void *address)                     \
	{                                                                                          \
		plain_write(address, bytes, CODE);                                                 \
	}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

CALLED_BY_COMPILER(void, __tsan_read_range, void *address, unsigned long byte_count)
{
	plain_read(address, byte_count, CODE);
}

CALLED_BY_COMPILER(void, __tsan_write_range, void *address, unsigned long byte_count)
{
	plain_write(address, byte_count, CODE);
}

/* A locked instruction, or one that orders like it. */
static void full_barrier(void)
{
	if (own)
		store_buffer_keep(0);
}

static void before_store(void *address, size_t byte_count, const void *code)
{
	if (!own)
		return;
	if (is_shared(address, byte_count))
		point_of_store(POINT_STORE, address, shared_place(address), code);
	else
		point(POINT_STORE, address, code);
	buffer_store(address, byte_count);
}

static void before_exchange(void *address, size_t byte_count, const void *code)
{
	if (own && is_shared(address, byte_count))
		point_of_store(POINT_EXCHANGE, address, shared_place(address), code);
	else
		point(POINT_EXCHANGE, address, code);
	full_barrier();
}

static void after_store(int order)
{
	if (order == __ATOMIC_SEQ_CST && own && schedule->mutation != MUTATE_FENCES)
		store_buffer_keep(0);
}

#define ATOMIC(bits)                                                                               \
	CALLED_BY_COMPILER(uint##bits##_t, __tsan_atomic##bits##_load,                             \
			   const uint##bits##_t *address, int order)                               \
	{                                                                                          \
		(void)order;                                                                       \
		point(POINT_LOAD, address, CODE);                                                  \
		return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                 \
	}                                                                                          \
	CALLED_BY_COMPILER(void, __tsan_atomic##bits##_store, uint##bits##_t *address,             \
			   uint##bits##_t value, int order)                                        \
	{                                                                                          \
		before_store(address, sizeof(value), CODE);                                        \
		__atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                \
		after_store(order);                                                                \
	}                                                                                          \
	CALLED_BY_COMPILER(int, __tsan_atomic##bits##_compare_exchange_strong,                     \
			   uint##bits##_t *address, uint##bits##_t *expected,                      \
			   uint##bits##_t value, int order, int failure_order)                     \
	{                                                                                          \
		(void)order;                                                                       \
		(void)failure_order;                                                               \
		before_exchange(address, sizeof(value), CODE);                                     \
		return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST,  \
						   __ATOMIC_SEQ_CST);                              \
	}                                                                                          \
	CALLED_BY_COMPILER(int, __tsan_atomic##bits##_compare_exchange_weak,                       \
			   uint##bits##_t *address, uint##bits##_t *expected,                      \
			   uint##bits##_t value, int order, int failure_order)                     \
	{                                                                                          \
		(void)order;                                                                       \
		(void)failure_order;                                                               \
		before_exchange(address, sizeof(value), CODE);                                     \
		return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST,  \
						   __ATOMIC_SEQ_CST);                              \
	}

#define EXCHANGE(bits, name, operation)                                                            \
	CALLED_BY_COMPILER(uint##bits##_t, __tsan_atomic##bits##_##name, uint##bits##_t *address,  \
			   uint##bits##_t value, int order)                                        \
	{                                                                                          \
		(void)order;                                                                       \
		before_exchange(address, sizeof(value), CODE);                                     \
		return operation(address, value, __ATOMIC_SEQ_CST);                                \
	}

#define ALL_OF_SIZE(bits)                                                                          \
	ATOMIC(bits)                                                                               \
	EXCHANGE(bits, exchange, __atomic_exchange_n)                                              \
	EXCHANGE(bits, fetch_add, __atomic_fetch_add)                                              \
	EXCHANGE(bits, fetch_sub, __atomic_fetch_sub)                                              \
	EXCHANGE(bits, fetch_and, __atomic_fetch_and)                                              \
	EXCHANGE(bits, fetch_or, __atomic_fetch_or)                                                \
	EXCHANGE(bits, fetch_xor, __atomic_fetch_xor)

ALL_OF_SIZE(8)
ALL_OF_SIZE(16)
ALL_OF_SIZE(32)
ALL_OF_SIZE(64)

CALLED_BY_COMPILER(void, __tsan_atomic_thread_fence, int order)
{
	point(POINT_FENCE, 0, CODE);
	after_store(order);
}

CALLED_BY_COMPILER(void, __tsan_atomic_signal_fence, int order)
{
	(void)order;
}

/* Other threads may come in between the cache lines of a copy from or to shared memory. */
enum { PIECE_BYTES = 64 };

static void copy_up(uint8_t *to, const uint8_t *from, size_t byte_count, const void *code)
{
	const bool to_shared = is_shared(to, byte_count);

	if (to_shared)
		schedule->progress++;
	while (byte_count) {
		const size_t left = PIECE_BYTES - (uintptr_t)to % PIECE_BYTES;
		const size_t piece = byte_count < left ? byte_count : left;

		point(POINT_COPY, to_shared ? to : from, code);
		if (to_shared)
			buffer_store(to, piece);
		raw_copy(to, from, piece);
		to += piece;
		from += piece;
		byte_count -= piece;
	}
}

EXPORT void *memcpy(void *to, const void *from, size_t byte_count)
{
	if (own && byte_count && (is_shared(to, byte_count) || is_shared(from, byte_count)))
		copy_up(to, from, byte_count, CODE);
	else
		raw_copy(to, from, byte_count);
	return to;
}

static void copy_down(uint8_t *to, const uint8_t *from, size_t byte_count)
{
	while (byte_count--)
		to[byte_count] = from[byte_count];
}

EXPORT void *memmove(void *to, const void *from, size_t byte_count)
{
	if ((uintptr_t)to - (uintptr_t)from >= byte_count)
		return memcpy(to, from, byte_count);
	plain_write(to, byte_count, CODE);
	copy_down(to, from, byte_count);
	return to;
}

EXPORT void *memset(void *to, int byte, size_t byte_count)
{
	if (byte_count)
		plain_write(to, byte_count, CODE);
	raw_fill(to, byte, byte_count);
	return to;
}
