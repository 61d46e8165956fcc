/* SPDX-License-Identifier: Apache-2.0 */
/* The context block, as the inline functions of rdma-core's header see it (abi 4.1, 4.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "api/libibverbs/objects/verbs_layout.h"

static size_t port_attr_bytes;

static int answer_query_port(struct ibv_context *context, uint8_t port_number,
			     struct ibv_port_attr *ret_attr, size_t attr_bytes)
{
	(void)context;
	port_attr_bytes = attr_bytes;
	memset(ret_attr, 0, attr_bytes);
	ret_attr->lid = port_number;
	return 0;
}

static struct softib_context_block make_block(void)
{
	struct softib_context_block block = {0};

	block.verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	block.verbs.sz = CONTEXT_BLOCK_BYTES;
	block.verbs.query_port = answer_query_port;
	return block;
}

static void test_programs_reach_an_operation_through_the_context(void **state)
{
	struct softib_context_block block = make_block();
	struct ibv_port_attr attr;

	(void)state;
	assert_ptr_equal(context_block_of(&block.verbs.context), &block);
	assert_int_equal(ibv_query_port(&block.verbs.context, 7, &attr), 0);
	assert_int_equal(attr.lid, 7);
	assert_int_equal(port_attr_bytes, sizeof(attr));
}

static void test_an_absent_operation_is_answered_in_the_program(void **state)
{
	struct softib_context_block block = make_block();
	struct ibv_cq_init_attr_ex attr = {.cqe = 1};

	(void)state;
	errno = 0;
	assert_null(ibv_create_cq_ex(&block.verbs.context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_reach_an_operation_through_the_context),
		cmocka_unit_test(test_an_absent_operation_is_answered_in_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
