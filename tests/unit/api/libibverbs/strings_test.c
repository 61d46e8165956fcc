/* SPDX-License-Identifier: Apache-2.0 */
/* Names of enumeration values: each value has one, and what is no value is "unknown". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include <infiniband/verbs.h>

static void test_every_completion_status_has_its_own_name(void **state)
{
	(void)state;
	for (int a = IBV_WC_SUCCESS; a <= IBV_WC_TM_RNDV_INCOMPLETE; a++) {
		assert_string_not_equal(ibv_wc_status_str((enum ibv_wc_status)a), "unknown");
		for (int b = IBV_WC_SUCCESS; b < a; b++)
			assert_string_not_equal(ibv_wc_status_str((enum ibv_wc_status)a),
						ibv_wc_status_str((enum ibv_wc_status)b));
	}
	assert_string_equal(ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR),
			    "transport retry counter exceeded");
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status) - 1), "unknown");
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status)(IBV_WC_TM_RNDV_INCOMPLETE + 1)),
			    "unknown");
}

static void test_every_event_has_a_name(void **state)
{
	(void)state;
	for (int event = IBV_EVENT_CQ_ERR; event <= IBV_EVENT_WQ_FATAL; event++)
		assert_string_not_equal(ibv_event_type_str((enum ibv_event_type)event), "unknown");
	assert_string_equal(ibv_event_type_str(IBV_EVENT_PORT_ACTIVE), "port active");
	assert_string_equal(ibv_event_type_str((enum ibv_event_type)(IBV_EVENT_WQ_FATAL + 1)),
			    "unknown");
}

static void test_node_types_and_port_states_have_names(void **state)
{
	(void)state;
	assert_string_equal(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter");
	assert_string_equal(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
	assert_string_equal(ibv_node_type_str((enum ibv_node_type)0), "unknown");
	assert_string_equal(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
	assert_string_equal(ibv_port_state_str((enum ibv_port_state)6), "unknown");
}

/* Public in the headers since 49, it still lives in the private nodes only. */
static void test_opcode_names_are_found_at_private_nodes(void **state)
{
	const char *(*opcode_str)(enum ibv_wr_opcode);

	(void)state;
	*(void **)&opcode_str = dlvsym(RTLD_DEFAULT, "ibv_wr_opcode_str", "IBVERBS_PRIVATE_34");
	assert_non_null(opcode_str);
	assert_string_equal(opcode_str(IBV_WR_RDMA_READ), "IBV_WR_RDMA_READ");
	assert_string_equal(opcode_str(IBV_WR_ATOMIC_WRITE), "IBV_WR_ATOMIC_WRITE");
	assert_string_equal(opcode_str((enum ibv_wr_opcode)13), "unknown");
	assert_null(dlvsym(RTLD_DEFAULT, "ibv_wr_opcode_str", "IBVERBS_PRIVATE_25"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_completion_status_has_its_own_name),
		cmocka_unit_test(test_every_event_has_a_name),
		cmocka_unit_test(test_node_types_and_port_states_have_names),
		cmocka_unit_test(test_opcode_names_are_found_at_private_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
