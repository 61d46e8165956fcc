/* SPDX-License-Identifier: Apache-2.0 */
/* The store buffer: see store_buffer.h. */
#include "store_buffer.h"

#include <stdint.h>
#include "raw_copy.h"

enum { STORES_MAX = 56, STORE_BYTES_MAX = 64 };

struct store {
	uint8_t *address;
	uint32_t byte_count;
	uint8_t bytes[STORE_BYTES_MAX]; /* the other ones: memory's while the thread runs, its own
					   while it does not */
};

struct store_buffer {
	unsigned first, count;
	struct store stores[STORES_MAX];
};

static __thread struct store_buffer buffer __attribute__((tls_model("initial-exec")));

static struct store *store_number(unsigned number)
{
	return &buffer.stores[(buffer.first + number) % STORES_MAX];
}

static void exchange(struct store *store)
{
	uint8_t other[STORE_BYTES_MAX];

	raw_copy(other, store->address, store->byte_count);
	raw_copy(store->address, store->bytes, store->byte_count);
	raw_copy(store->bytes, other, store->byte_count);
}

static void add_piece(uint8_t *address, uint32_t byte_count)
{
	store_buffer_keep(STORES_MAX - 1);

	struct store *store = store_number(buffer.count++);

	store->address = address;
	store->byte_count = byte_count;
	raw_copy(store->bytes, address, byte_count);
}

void store_buffer_add(void *address, size_t byte_count)
{
	uint8_t *bytes = address;

	while (byte_count) {
		const size_t piece = STORE_BYTES_MAX - (uintptr_t)bytes % STORE_BYTES_MAX;
		const size_t taken = byte_count < piece ? byte_count : piece;

		add_piece(bytes, (uint32_t)taken);
		bytes += taken;
		byte_count -= taken;
	}
}

void store_buffer_keep(unsigned count)
{
	if (buffer.count <= count)
		return;
	/* What they replaced is forgotten, so that they stay. */
	buffer.first = (buffer.first + buffer.count - count) % STORES_MAX;
	buffer.count = count;
}

unsigned store_buffer_count(void)
{
	return buffer.count;
}

void store_buffer_put_aside(void)
{
	for (unsigned i = buffer.count; i-- > 0;)
		exchange(store_number(i));
}

void store_buffer_take_up(void)
{
	for (unsigned i = 0; i < buffer.count; i++)
		exchange(store_number(i));
}
