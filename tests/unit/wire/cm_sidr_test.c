/* SPDX-License-Identifier: Apache-2.0 */
/* SIDR_REQ, SIDR_REP: literal bytes, and the properties of every field table (management 7.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/cm_sidr.h"

static void test_request_and_reply_lie_where_the_tables_put_them(void **state)
{
	(void)state;
	const struct cm_sidr_req request = {
		.request_id = 0x01020304, .pkey = 0xffff, .service_id = 0x0000000001110539};
	const struct cm_sidr_rep reply = {.request_id = 0x01020304,
					  .status = CM_SIDR_REJECTED,
					  .info_bytes = 3,
					  .qpn = 0x000405,
					  .service_id = 0x0000000001110539,
					  .qkey = 0x01234567};
	const uint8_t expected_request[CM_SIDR_REQ_PRIVATE_OFFSET] = {
		1, 2, 3, 4, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 1, 0x11, 5, 0x39};
	const uint8_t expected_reply[CM_SIDR_REP_INFO_OFFSET] = {
		1, 2, 3, 4, 2, 3,    0, 0,    0, 4,    5,    0,
		0, 0, 0, 0, 1, 0x11, 5, 0x39, 1, 0x23, 0x45, 0x67};
	uint8_t bytes[CM_SIDR_REP_INFO_OFFSET];

	cm_sidr_req_encode(&request, bytes);
	assert_memory_equal(bytes, expected_request, sizeof(expected_request));
	cm_sidr_rep_encode(&reply, bytes);
	assert_memory_equal(bytes, expected_reply, sizeof(expected_reply));
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	expect_fields_apart(&cm_sidr_req_layout);
	expect_round_trips(&cm_sidr_req_layout, 90);
	expect_fields_apart(&cm_sidr_rep_layout);
	expect_round_trips(&cm_sidr_rep_layout, 91);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_and_reply_lie_where_the_tables_put_them),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
