/* SPDX-License-Identifier: Apache-2.0 */
/* The local address range that a send template keeps: it gives the same bytes as the memory's own
 * check, or none. */
#include "runtime/fast/send_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/memory/memory.h"
#include "unit/runtime/runtime_pair.h"

static struct qp *qp(void)
{
	return &pair.ends[0].qp->qp;
}

static struct template_local remember(uint32_t byte_count, uint32_t flags)
{
	const struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, byte_count, end->region->key};
	const struct send_request request = {.flags = flags, .sge_count = 1, .sges = &sge};

	return template_local(qp(), &request);
}

/* Addresses around both ends of the region. */
static void test_places_are_those_of_the_region(void **state)
{
	static const uint32_t sizes[] = {1, 8, 100};
	const struct pair_end *end = &pair.ends[0];
	const uint64_t edges[] = {(uintptr_t)end->buffer,
				  (uintptr_t)end->buffer + PAIR_BUFFER_BYTES};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		const struct template_local local = remember(sizes[i], SEND_SIGNALED);

		for (unsigned edge = 0; edge < 2; edge++)
			for (int offset = -200; offset <= 200; offset++) {
				const struct sge sge = {edges[edge] + (uint64_t)offset, sizes[i],
							end->region->key};

				assert_ptr_equal(template_bytes(&local, SEND_SIGNALED, &sge),
						 memory_place(qp()->environment->memory, end->pd,
							      sge.lkey, sge.address, sizes[i], 0));
			}
	}
}

static void test_what_differs_has_none(void **state)
{
	const struct pair_end *end = &pair.ends[0];
	const struct template_local local = remember(8, SEND_SIGNALED | SEND_SOLICITED);
	const struct sge sge = {(uintptr_t)end->buffer, 8, end->region->key};
	const struct sge longer = {sge.address, 9, sge.lkey};
	const struct sge of_another = {sge.address, 8, sge.lkey ^ 1};

	(void)state;
	assert_ptr_equal(template_bytes(&local, SEND_SIGNALED | SEND_SOLICITED, &sge), end->buffer);
	assert_ptr_equal(template_bytes(&local, SEND_SOLICITED, &sge), end->buffer);
	assert_null(template_bytes(&local, SEND_SIGNALED, &sge));
	assert_null(template_bytes(&local, SEND_SOLICITED | SEND_INLINE, &sge));
	assert_null(template_bytes(&local, SEND_SOLICITED | SEND_FENCE, &sge));
	assert_null(template_bytes(&local, SEND_SOLICITED, &longer));
	assert_null(template_bytes(&local, SEND_SOLICITED, &of_another));
}

/* Inline bytes need no key. */
static void test_inline_bytes_are_anywhere(void **state)
{
	const struct template_local local = remember(8, SEND_INLINE);
	uint8_t bytes[8];
	const struct sge sge = {(uintptr_t)bytes, 8, 12345};
	const struct sge last = {UINT64_MAX - 7, 8, 0};

	(void)state;
	assert_ptr_equal(template_bytes(&local, SEND_INLINE, &sge), bytes);
	assert_int_equal((uintptr_t)template_bytes(&local, SEND_INLINE, &last), UINT64_MAX - 7);
	assert_null(template_bytes(&local, 0, &sge));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_are_those_of_the_region),
		cmocka_unit_test(test_what_differs_has_none),
		cmocka_unit_test(test_inline_bytes_are_anywhere),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
