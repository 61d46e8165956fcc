/* SPDX-License-Identifier: Apache-2.0 */
/* The address to which a ClassPortInfo redirects a client (management 1.2, 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/mad/redirect.h"
#include "wire/class_port_info.h"

static void test_data_offsets_are_those_of_the_classes(void **state)
{
	(void)state;
	assert_int_equal(mad_data_offset(MAD_CLASS_SUBNET_ADMINISTRATION), 56);
	assert_int_equal(mad_data_offset(MAD_CLASS_PERFORMANCE), 64);
	assert_int_equal(mad_data_offset(MAD_CLASS_BASEBOARD), 64);
	assert_int_equal(mad_data_offset(MAD_CLASS_DEVICE), 64);
	assert_int_equal(mad_data_offset(MAD_CLASS_COMMUNICATION), 24);
	assert_int_equal(mad_data_offset(0x0a), 24);
	assert_int_equal(mad_data_offset(0x30), 40);
	assert_int_equal(mad_data_offset(MAD_CLASS_CONGESTION_CONTROL), 64);
}

static void test_subnet_management_is_never_redirected(void **state)
{
	(void)state;
	struct mad_message answer = {.bytes = {1, MAD_CLASS_SUBNET_LID, 1, 0x81, 0, 2}};

	assert_false(mad_is_redirected(&answer));
	answer.bytes[1] = MAD_CLASS_SUBNET_DIRECTED;
	assert_false(mad_is_redirected(&answer));
	answer.bytes[1] = MAD_CLASS_SUBNET_ADMINISTRATION;
	assert_true(mad_is_redirected(&answer));
	answer.bytes[5] = 1;
	assert_false(mad_is_redirected(&answer));
}

/* Get(ClassPortInfo) gets the other place with status 0. An agent may write its own place. */
static void test_class_port_info_of_another_place_is_a_redirection(void **state)
{
	static const struct {
		struct class_port_info info;
		bool is_redirected;
	} cases[] = {
		{{0}, false},
		{{.redirect_qpn = 1}, false},
		{{.redirect_lid = 5, .redirect_qpn = 1}, false},
		{{.redirect_lid = 5}, false},
		{{.redirect_lid = 5, .redirect_gid_guid = 7, .redirect_qpn = 1}, false},
		{{.redirect_lid = 5, .redirect_qpn = 0x20}, true},
		{{.redirect_lid = 6, .redirect_qpn = 1}, true},
		{{.redirect_gid_guid = 7, .redirect_qpn = 1}, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mad_message answer = {
			.address = {.lid = 5, .qpn = 1},
			.bytes = {1, MAD_CLASS_DEVICE, 1,
				  MAD_GET_RESPONSE, [17] = ATTRIBUTE_CLASS_PORT_INFO}};

		class_port_info_encode(&cases[i].info, answer.bytes + 64);
		assert_int_equal(mad_is_redirected(&answer), cases[i].is_redirected);
		/* The same bytes in a request, or in another attribute, are none. */
		answer.bytes[3] = MAD_GET;
		assert_false(mad_is_redirected(&answer));
		answer.bytes[3] = MAD_GET_RESPONSE;
		answer.bytes[17] = 0x10;
		assert_false(mad_is_redirected(&answer));
	}
}

static void test_path_within_the_subnet_needs_a_lid_and_the_prefix(void **state)
{
	const struct gid own = gid_from(0xfe80000000000001, 2),
			 near = gid_from(0xfe80000000000001, 3),
			 far = gid_from(0xfe80000000000002, 3);
	struct mad_path path;

	(void)state;
	assert_true(mad_path_within_subnet(&near, &own, 7, 3, &path));
	assert_int_equal(path.lid, 7);
	assert_int_equal(path.sl, 3);
	assert_int_equal(path.hop_limit, 0);
	assert_false(mad_path_within_subnet(&near, &own, 0, 3, &path));
	assert_false(mad_path_within_subnet(&far, &own, 7, 3, &path));
}

static const struct mad_address before = {.lid = 5,
					  .sl = 2,
					  .qpn = 1,
					  .qkey = 0x80010000,
					  .pkey = 0xffff,
					  .has_grh = true,
					  .gid = {{0xfe, 0x80, [15] = 5}}};

static void test_a_place_needs_a_lid_or_a_gid(void **state)
{
	static const uint16_t no_lids[] = {0, 0xc000, 0xc001, 0xffff};

	(void)state;
	for (size_t i = 0; i < sizeof(no_lids) / sizeof(no_lids[0]); i++) {
		const struct class_port_info info = {.redirect_lid = no_lids[i], .redirect_qpn = 2};
		struct mad_address address = before;

		assert_false(mad_redirect_apply(&info, &address));
		assert_false(mad_redirect_needs_path(&info));
		assert_memory_equal(&address, &before, sizeof(before));
	}
}

/* A LID alone means QP1 at that LID. Each other field counts when it is given, alone and in every
 * combination. */
static void test_a_lid_alone_or_with_any_other_field_is_a_place(void **state)
{
	enum { WITH_QP = 1, WITH_SL = 2, WITH_PKEY = 4, WITH_QKEY = 8, WITH_GID = 16, ALL = 31 };

	(void)state;
	for (unsigned fields = 0; fields <= ALL; fields++) {
		const struct class_port_info info = {
			.redirect_lid = 9,
			.redirect_qpn = fields & WITH_QP ? 0x77 : 0,
			.redirect_sl = fields & WITH_SL ? 3 : 0,
			.redirect_pkey = fields & WITH_PKEY ? 0x8001 : 0,
			.redirect_qkey = fields & WITH_QKEY ? 0x80020000 : 0,
			.redirect_gid_prefix = fields & WITH_GID ? 0xfe80000000000000 : 0,
			.redirect_gid_guid = fields & WITH_GID ? 9 : 0,
			.redirect_traffic_class = 4,
			.redirect_flow_label = 5,
		};
		struct mad_address address = before;

		address.has_grh = fields & WITH_SL; /* of the request does not matter */
		assert_false(mad_redirect_needs_path(&info));
		assert_true(mad_redirect_apply(&info, &address));
		assert_int_equal(address.lid, 9);
		assert_int_equal(address.qpn, fields & WITH_QP ? 0x77 : 1);
		assert_int_equal(address.sl, fields & WITH_SL ? 3 : 0);
		assert_int_equal(address.pkey, fields & WITH_PKEY ? 0x8001 : 0xffff);
		assert_int_equal(address.qkey, fields & WITH_QKEY ? 0x80020000 : 0x80010000);
		assert_int_equal(address.has_grh, !!(fields & WITH_GID));
		if (fields & WITH_GID)
			assert_int_equal(gid_guid(&address.gid), 9);
		assert_int_equal(address.traffic_class, 4);
		assert_int_equal(address.flow_label, 5);
	}
}

static void test_a_gid_alone_is_reached_by_its_path(void **state)
{
	enum { WITH_QP = 1, WITH_PKEY = 2, WITH_QKEY = 4, WITH_HOPS = 8, WITH_GRH = 16, ALL = 31 };

	(void)state;
	for (unsigned fields = 0; fields <= ALL; fields++) {
		const struct class_port_info info = {
			.redirect_qpn = fields & WITH_QP ? 0x77 : 0,
			.redirect_sl = 9, /* belongs to RedirectLID */
			.redirect_pkey = fields & WITH_PKEY ? 0x8001 : 0,
			.redirect_qkey = fields & WITH_QKEY ? 0x80020000 : 0,
			.redirect_gid_prefix = 0xfe80000000000000,
			.redirect_gid_guid = 9,
		};
		const struct mad_path path = {
			.lid = 12, .sl = 3, .hop_limit = fields & WITH_HOPS ? 64 : 0};
		struct mad_address address = before;

		address.has_grh = fields & WITH_GRH;
		assert_true(mad_redirect_needs_path(&info));
		assert_false(mad_redirect_apply(&info, &address));
		assert_int_equal(address.lid, before.lid);
		assert_true(mad_redirect_apply_path(&info, &path, &address));
		assert_int_equal(address.lid, 12);
		assert_int_equal(address.sl, 3);
		assert_int_equal(address.qpn, fields & WITH_QP ? 0x77 : 1);
		assert_int_equal(address.pkey, fields & WITH_PKEY ? 0x8001 : 0xffff);
		assert_int_equal(address.qkey, fields & WITH_QKEY ? 0x80020000 : 0x80010000);
		assert_int_equal(address.has_grh, !!(fields & (WITH_HOPS | WITH_GRH)));
		assert_int_equal(address.hop_limit, fields & WITH_HOPS ? 64 : 0);
		assert_int_equal(gid_guid(&address.gid), 9);
	}
}

static void test_a_path_that_leads_nowhere_is_none(void **state)
{
	const struct class_port_info info = {.redirect_gid_guid = 9};
	const struct mad_path path = {0};
	struct mad_address address = before;

	(void)state;
	assert_false(mad_redirect_apply_path(&info, &path, &address));
	assert_memory_equal(&address, &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_offsets_are_those_of_the_classes),
		cmocka_unit_test(test_subnet_management_is_never_redirected),
		cmocka_unit_test(test_class_port_info_of_another_place_is_a_redirection),
		cmocka_unit_test(test_path_within_the_subnet_needs_a_lid_and_the_prefix),
		cmocka_unit_test(test_a_place_needs_a_lid_or_a_gid),
		cmocka_unit_test(test_a_lid_alone_or_with_any_other_field_is_a_place),
		cmocka_unit_test(test_a_gid_alone_is_reached_by_its_path),
		cmocka_unit_test(test_a_path_that_leads_nowhere_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
