/* SPDX-License-Identifier: Apache-2.0 */
/* Names of connection messages and of reject reasons, and offsets of private data (management
 * 7.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wire/cm_message.h"

static void test_every_reason_has_its_number_and_name(void **state)
{
	(void)state;
	assert_int_equal(CM_REJECT_INVALID_SERVICE_ID, 8);
	assert_int_equal(CM_REJECT_STALE_CONNECTION, 10);
	assert_int_equal(CM_REJECT_CONSUMER, 28);
	assert_int_equal(CM_REJECT_VENDOR_OPTION, 35);
	assert_string_equal(cm_reject_reason_name(10), "stale connection");
	assert_string_equal(cm_reject_reason_name(35), "vendor option not supported");
	for (unsigned reason = 1; reason <= 33; reason++)
		assert_string_not_equal(cm_reject_reason_name(reason), "unknown reason");
}

static void test_numbers_without_a_meaning_are_unknown(void **state)
{
	(void)state;
	assert_string_equal(cm_reject_reason_name(0), "unknown reason");
	assert_string_equal(cm_reject_reason_name(34), "unknown reason");
	assert_string_equal(cm_reject_reason_name(0xffff), "unknown reason");
	assert_string_equal(cm_message_name(0x000f), "unknown message");
	assert_string_equal(cm_message_name(0xffff), "unknown message");
}

static void test_messages_have_their_names(void **state)
{
	(void)state;
	assert_string_equal(cm_message_name(0x0010), "REQ");
	assert_string_equal(cm_message_name(0x0016), "DREP");
	assert_string_equal(cm_message_name(0x001a), "APR");
}

/* Private data fill each message up to its last byte. */
static void test_private_data_reach_to_the_end_of_every_message(void **state)
{
	(void)state;
	assert_int_equal(CM_REQ_PRIVATE_OFFSET + CM_REQ_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_MRA_PRIVATE_OFFSET + CM_MRA_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_REJ_PRIVATE_OFFSET + CM_REJ_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_REP_PRIVATE_OFFSET + CM_REP_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_RTU_PRIVATE_OFFSET + CM_RTU_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_DREQ_PRIVATE_OFFSET + CM_DREQ_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_DREP_PRIVATE_OFFSET + CM_DREP_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_LAP_PRIVATE_OFFSET + CM_LAP_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_APR_PRIVATE_OFFSET + CM_APR_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_SIDR_REQ_PRIVATE_OFFSET + CM_SIDR_REQ_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_SIDR_REP_PRIVATE_OFFSET + CM_SIDR_REP_PRIVATE_BYTES, CM_DATA_BYTES);
	assert_int_equal(CM_DATA_OFFSET + CM_DATA_BYTES, MAD_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason_has_its_number_and_name),
		cmocka_unit_test(test_numbers_without_a_meaning_are_unknown),
		cmocka_unit_test(test_messages_have_their_names),
		cmocka_unit_test(test_private_data_reach_to_the_end_of_every_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
