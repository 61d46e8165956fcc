/* SPDX-License-Identifier: Apache-2.0 */
/* GIDs from their halves and back (transport 10.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wire/gid.h"

static void test_a_gid_is_prefix_then_guid(void **state)
{
	(void)state;
	static const uint8_t expected[16] = {0xfe, 0x80, 0,    0,    0, 0, 0, 0,
					     0x02, 0x5f, 0x1b, 0x01, 0, 1, 0, 1};
	struct gid gid = gid_from(GID_PREFIX_LINK_LOCAL, 0x025f1b0100010001);

	assert_memory_equal(gid.bytes, expected, sizeof(expected));
	assert_int_equal(gid_prefix(&gid), GID_PREFIX_LINK_LOCAL);
	assert_int_equal(gid_guid(&gid), 0x025f1b0100010001);
	assert_false(gid_is_multicast(&gid));
}

static void test_equality_looks_at_all_bytes(void **state)
{
	(void)state;
	struct gid gid = gid_from(1, 2);

	for (unsigned i = 0; i < 16; i++) {
		struct gid other = gid;

		assert_true(gid_equal(&gid, &other));
		other.bytes[i] ^= 1;
		assert_false(gid_equal(&gid, &other));
	}
	gid.bytes[0] = 0xff;
	assert_true(gid_is_multicast(&gid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_gid_is_prefix_then_guid),
		cmocka_unit_test(test_equality_looks_at_all_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
