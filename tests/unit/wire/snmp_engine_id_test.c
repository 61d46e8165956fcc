/* SPDX-License-Identifier: Apache-2.0 */
/* Engine IDs of the nodes' SNMP agents: literal bytes both ways, and those of other agents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wire/snmp_engine_id.h"

static const uint8_t expected[] = {0x80, 0x00, 0x1f, 0x88, 0x05, 0x02, 0x5f,
				   0x1b, 0x02, 0x00, 0x01, 0x00, 0x00};

static void test_engine_id_is_the_prefix_and_the_guid(void **state)
{
	uint8_t id[SNMP_ENGINE_ID_BYTES];
	uint64_t guid = 0;

	(void)state;
	assert_int_equal(sizeof(expected), SNMP_ENGINE_ID_BYTES);
	snmp_engine_id_encode(0x025f1b0200010000, id);
	assert_memory_equal(id, expected, sizeof(expected));
	assert_true(snmp_engine_id_decode(expected, sizeof(expected), &guid));
	assert_int_equal(guid, 0x025f1b0200010000);
}

static void test_other_engine_ids_name_no_node(void **state)
{
	uint8_t id[SNMP_ENGINE_ID_BYTES + 1] = {0};
	uint64_t guid;

	(void)state;
	snmp_engine_id_encode(7, id);
	assert_false(snmp_engine_id_decode(id, 0, &guid));
	assert_false(snmp_engine_id_decode(id, SNMP_ENGINE_ID_BYTES - 1, &guid));
	assert_false(snmp_engine_id_decode(id, SNMP_ENGINE_ID_BYTES + 1, &guid));
	for (unsigned i = 0; i < 5; i++) {
		id[i] ^= 1;
		assert_false(snmp_engine_id_decode(id, SNMP_ENGINE_ID_BYTES, &guid));
		id[i] ^= 1;
	}
	assert_true(snmp_engine_id_decode(id, SNMP_ENGINE_ID_BYTES, &guid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine_id_is_the_prefix_and_the_guid),
		cmocka_unit_test(test_other_engine_ids_name_no_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
