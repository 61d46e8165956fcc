/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between the kernel's structures and the public ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <string.h>

#include "api/libibverbs/compat/kernel_copies.h"

static void fill(void *object, size_t byte_count)
{
	for (size_t i = 0; i < byte_count; i++)
		((uint8_t *)object)[i] = (uint8_t)(i + 1);
}

static void test_a_path_survives_both_directions(void **state)
{
	struct ib_user_path_rec kernel;
	struct ib_user_path_rec back = {0};
	struct ibv_sa_path_rec path = {0};

	(void)state;
	fill(&kernel, sizeof(kernel));
	/* A path MTU is one byte in the public structure. */
	kernel.mtu = 5;
	ibv_copy_path_rec_from_kern(&path, &kernel);
	assert_memory_equal(path.sgid.raw, kernel.sgid, 16);
	assert_int_equal(path.mtu, 5);
	assert_int_equal(path.preference, kernel.preference);
	ibv_copy_path_rec_to_kern(&back, &path);
	assert_memory_equal(&back, &kernel, sizeof(kernel));
}

static void test_an_address_keeps_every_field(void **state)
{
	struct ib_uverbs_ah_attr kernel;
	struct ibv_ah_attr attr = {0};

	(void)state;
	fill(&kernel, sizeof(kernel));
	ibv_copy_ah_attr_from_kern(&attr, &kernel);
	assert_memory_equal(attr.grh.dgid.raw, kernel.grh.dgid, 16);
	assert_int_equal(attr.grh.flow_label, kernel.grh.flow_label);
	assert_int_equal(attr.grh.sgid_index, kernel.grh.sgid_index);
	assert_int_equal(attr.grh.hop_limit, kernel.grh.hop_limit);
	assert_int_equal(attr.grh.traffic_class, kernel.grh.traffic_class);
	assert_int_equal(attr.dlid, kernel.dlid);
	assert_int_equal(attr.sl, kernel.sl);
	assert_int_equal(attr.src_path_bits, kernel.src_path_bits);
	assert_int_equal(attr.static_rate, kernel.static_rate);
	assert_int_equal(attr.is_global, kernel.is_global);
	assert_int_equal(attr.port_num, kernel.port_num);
}

static void test_queue_pair_attributes_keep_their_places(void **state)
{
	struct ib_uverbs_qp_attr kernel;
	struct ibv_qp_attr attr = {0};

	(void)state;
	fill(&kernel, sizeof(kernel));
	ibv_copy_qp_attr_from_kern(&attr, &kernel);
	assert_int_equal(attr.qp_state, kernel.qp_state);
	assert_int_equal(attr.cur_qp_state, kernel.cur_qp_state);
	assert_int_equal(attr.rq_psn, kernel.rq_psn);
	assert_int_equal(attr.sq_psn, kernel.sq_psn);
	assert_int_equal(attr.dest_qp_num, kernel.dest_qp_num);
	assert_int_equal(attr.cap.max_inline_data, kernel.max_inline_data);
	assert_int_equal(attr.cap.max_recv_sge, kernel.max_recv_sge);
	assert_int_equal(attr.ah_attr.dlid, kernel.ah_attr.dlid);
	assert_int_equal(attr.alt_ah_attr.dlid, kernel.alt_ah_attr.dlid);
	assert_int_equal(attr.max_rd_atomic, kernel.max_rd_atomic);
	assert_int_equal(attr.max_dest_rd_atomic, kernel.max_dest_rd_atomic);
	assert_int_equal(attr.alt_timeout, kernel.alt_timeout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_path_survives_both_directions),
		cmocka_unit_test(test_an_address_keeps_every_field),
		cmocka_unit_test(test_queue_pair_attributes_keep_their_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
