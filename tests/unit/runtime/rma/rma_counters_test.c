/* SPDX-License-Identifier: Apache-2.0 */
/* RMA requests send no packets, and are counted as if they had. */
#include "runtime/rma/rma_counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "runtime/flows.h"
#include "net/transport/qp.h"
#include "net/transport/rma/rma_bypass.h"

/* LRH 8, BTH 12 and ICRC 4 bytes in each packet; RETH 16, AETH 4, AtomicETH 28, answer 8. */
static const struct {
	enum send_opcode opcode;
	enum qp_type type;
	bool is_global;
	uint32_t byte_count, psn_count;
	uint64_t packets, words, returned_packets, returned_words;
} cases[] = {
	{SEND_RDMA_WRITE, QP_RC, false, 8, 1, 1, (24 + 16 + 8) / 4, 1, 28 / 4},
	{SEND_RDMA_WRITE, QP_RC, false, 601, 3, 3, (72 + 16 + 604) / 4, 1, 28 / 4},
	{SEND_RDMA_WRITE, QP_UC, false, 8, 1, 1, (24 + 16 + 8) / 4, 0, 0},
	{SEND_RDMA_WRITE, QP_RC, true, 8, 1, 1, (64 + 16 + 8) / 4, 1, 68 / 4},
	{SEND_RDMA_READ, QP_RC, false, 8, 1, 1, 40 / 4, 1, (24 + 4 + 8) / 4},
	{SEND_RDMA_READ, QP_RC, false, 600, 3, 1, 40 / 4, 3, (72 + 8 + 600) / 4},
	{SEND_FETCH_ADD, QP_RC, false, 8, 1, 1, 52 / 4, 1, 36 / 4},
};

static void test_every_kind_counts_its_packets_and_words(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct flow_counters counters = {0};
		struct flow flow = {.counters = &counters};
		struct bypass bypass = {.opcode = (uint8_t)cases[i].opcode,
					.byte_count = cases[i].byte_count,
					.psn_count = cases[i].psn_count};
		struct qp qp = {.type = cases[i].type,
				.attributes.address.is_global = cases[i].is_global};

		rma_count(&flow, &qp, &bypass);
		assert_int_equal(counters.packets, cases[i].packets);
		assert_int_equal(counters.words, cases[i].words);
		assert_int_equal(counters.returned_packets, cases[i].returned_packets);
		assert_int_equal(counters.returned_words, cases[i].returned_words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_counts_its_packets_and_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
