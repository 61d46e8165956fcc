/* SPDX-License-Identifier: Apache-2.0 */
/* Directed-route requests and responses, as bytes (management 2.1, 2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/mad/smp_request.h"
#include "wire/pkey.h"
#include "wire/smp.h"

static const struct smp_request get_port_info = {.method = MAD_GET,
						 .attribute_id = ATTRIBUTE_PORT_INFO,
						 .attribute_modifier = 3,
						 .mkey = 0x1122334455667788};

static void test_request_carries_route_key_and_permissive_lids(void **state)
{
	(void)state;
	const struct directed_route route = {.hop_count = 2, .ports = {1, 7}};
	static const uint8_t header[24] = {1, 0x81, 1, 1, 0, 0,	   0, 2, 0, 0, 0, 0,
					   0, 0,    0, 0, 0, 0x15, 0, 0, 0, 0, 0, 3};
	static const uint8_t path[4] = {0, 1, 7, 0};
	struct mad_message message;

	smp_request_make(&get_port_info, &route, &message);
	assert_memory_equal(message.bytes, header, sizeof(header));
	assert_int_equal(smp_mkey(message.bytes), 0x1122334455667788);
	assert_int_equal(smp_dr_slid(message.bytes), 0xffff);
	assert_int_equal(smp_dr_dlid(message.bytes), 0xffff);
	assert_memory_equal(smp_initial_path(message.bytes), path, sizeof(path));
	assert_int_equal(message.address.lid, LID_PERMISSIVE);
	assert_int_equal(message.address.qpn, 0);
}

static void test_route_grows_to_63_hops_and_no_further(void **state)
{
	(void)state;
	struct directed_route route = {0};

	for (unsigned hop = 1; hop <= 63; hop++)
		assert_true(directed_route_extend(&route, (uint8_t)hop, &route));
	assert_int_equal(route.hop_count, 63);
	assert_int_equal(route.ports[62], 63);
	assert_false(directed_route_extend(&route, 1, &route));
}

static void test_answer_turns_around_with_status(void **state)
{
	(void)state;
	const struct directed_route route = {.hop_count = 1, .ports = {1}};
	struct mad_message message;
	struct mad_message answer;

	smp_request_make(&get_port_info, &route, &message);
	message.address.lid = 5;
	smp_answer_make(&message, MAD_STATUS_BAD_FIELD, &answer);
	assert_int_equal(answer.bytes[3], MAD_GET_RESPONSE);
	assert_int_equal(get_be16(answer.bytes + 4), 0x801c);
	assert_int_equal(answer.address.lid, LID_PERMISSIVE);

	/* The last part of the route was LID routed, so the response is LID routed too. */
	smp_set_dr_dlid(9, message.bytes);
	message.bytes[3] = MAD_SET;
	smp_answer_make(&message, MAD_STATUS_OK, &answer);
	assert_int_equal(answer.bytes[3], MAD_GET_RESPONSE);
	assert_int_equal(answer.address.lid, 5);
}

static void test_lid_routed_answer_has_no_direction_bit(void **state)
{
	(void)state;
	struct mad_message message = {.address = {.lid = 12},
				      .bytes = {1, MAD_CLASS_SUBNET_LID, 1, MAD_GET}};
	struct mad_message answer;

	smp_answer_make(&message, MAD_STATUS_OK, &answer);
	assert_int_equal(get_be16(answer.bytes + 4), 0);
	assert_int_equal(answer.address.lid, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_carries_route_key_and_permissive_lids),
		cmocka_unit_test(test_route_grows_to_63_hops_and_no_further),
		cmocka_unit_test(test_answer_turns_around_with_status),
		cmocka_unit_test(test_lid_routed_answer_has_no_direction_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
