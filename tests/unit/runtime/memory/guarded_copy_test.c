/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams to memory that the program has unmapped: there is no fault, and nothing else is lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/memory/guarded_copy.h"
#include "net/transport/payload_scatter.h"
#include "unit/runtime/runtime_pair.h"
#include "wire/packet.h"

enum { PAGE_BYTES = 4096 };

static uint8_t *map_pages(unsigned count)
{
	uint8_t *pages = mmap(NULL, (size_t)count * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	return pages;
}

static struct payload payload_of(struct span *span, uint8_t *bytes, size_t byte_count)
{
	*span = (struct span){bytes, byte_count};
	return (struct payload){.spans = span, .span_count = 1, .byte_count = (uint32_t)byte_count};
}

static void test_memory_that_is_there_is_written(void **state)
{
	uint8_t bytes[3000], *page = map_pages(1);
	struct span span;
	struct payload payload = payload_of(&span, bytes, sizeof(bytes));

	(void)state;
	pair_fill(bytes, sizeof(bytes), 7);
	guarded_copy(&payload, 100, 2000, page + 3);
	assert_memory_equal(page + 3, bytes + 100, 2000);
	assert_int_equal(page[2], 0);
	assert_int_equal(page[2003], 0);
	munmap(page, PAGE_BYTES);
}

static void test_memory_that_is_gone_is_no_fault(void **state)
{
	uint8_t bytes[3000] = {1}, *pages = map_pages(2);
	struct span span;
	struct payload payload = payload_of(&span, bytes, sizeof(bytes));

	(void)state;
	munmap(pages + PAGE_BYTES, PAGE_BYTES);
	guarded_copy(&payload, 0, sizeof(bytes), pages + PAGE_BYTES);
	guarded_copy(&payload, 0, sizeof(bytes), pages + PAGE_BYTES - 1);
	munmap(pages, PAGE_BYTES);
	guarded_copy(&payload, 0, sizeof(bytes), pages);
}

static payload_copier *copier(unsigned end)
{
	return adapter_hca(pair.ends[end].adapter)->environment.copy_datagram;
}

static void test_it_is_used_between_begin_and_end_only(void **state)
{
	struct process_runtime *runtime = pair.ends[0].adapter->runtime;

	(void)state;
	adapter_lock(pair.ends[0].adapter);
	assert_null(copier(0));
	guarded_copy_begin(runtime);
	assert_ptr_equal(copier(0), guarded_copy);
	assert_ptr_equal(copier(1), guarded_copy);
	guarded_copy_end(runtime);
	assert_null(copier(0));
	assert_null(copier(1));
	adapter_unlock(pair.ends[0].adapter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_that_is_there_is_written),
		cmocka_unit_test(test_memory_that_is_gone_is_no_fault),
		cmocka_unit_test(test_it_is_used_between_begin_and_end_only),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
