/* SPDX-License-Identifier: Apache-2.0 */
/* Which headers a ring may bring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "net/transport/packet_source.h"

static const struct packet_grant granted = {
	.slid = 8, .dlid = 3, .pkey = 0x8010, .port = 0x102, .sl = 5, .lmc = 1};

static void test_nothing_is_granted_at_first_and_everything_to_the_fabric(void **state)
{
	const struct packet_source none = {0};

	(void)state;
	assert_false(packet_source_admits(&none, &granted));
	assert_false(packet_source_has_lid(&none, 8));
	assert_true(packet_source_admits(&packet_source_fabric, &granted));
	assert_true(packet_source_has_lid(&packet_source_fabric, 8));
}

static void test_every_field_counts_and_a_port_has_the_lids_of_its_lmc(void **state)
{
	struct packet_source source = {0};
	struct packet_grant others[] = {granted, granted, granted, granted, granted, granted};

	(void)state;
	assert_int_equal(packet_source_grant(&source, &granted), 0);
	for (uint16_t slid = 0; slid < 20; slid++) {
		struct packet_grant wanted = granted;

		wanted.slid = slid;
		wanted.lmc = 0; /* does not count */
		assert_int_equal(packet_source_admits(&source, &wanted), slid == 8 || slid == 9);
		assert_int_equal(packet_source_has_lid(&source, slid), slid == 8 || slid == 9);
	}
	others[0].slid = 10;
	others[1].dlid++;
	others[2].pkey ^= 0x8000; /* as a limited member */
	others[3].port ^= 0x100;
	others[4].port++;
	others[5].sl++;
	for (unsigned i = 0; i < 6; i++)
		assert_false(packet_source_admits(&source, &others[i]));
	packet_source_release(&source);
	assert_false(packet_source_admits(&source, &granted));
}

static void test_a_grant_is_kept_once_and_revoked_alone(void **state)
{
	struct packet_source source = {0};
	struct packet_grant grant = granted;

	(void)state;
	for (unsigned i = 0; i < PACKET_GRANTS_MAX; i++) {
		grant.dlid = (uint16_t)i;
		assert_int_equal(packet_source_grant(&source, &grant), 0);
		assert_int_equal(packet_source_grant(&source, &grant), 0);
	}
	grant.dlid = PACKET_GRANTS_MAX;
	assert_int_equal(packet_source_grant(&source, &grant), -ENOSPC);
	packet_source_revoke(&source, &grant); /* was never granted */
	for (unsigned i = 0; i < PACKET_GRANTS_MAX; i++) {
		grant.dlid = (uint16_t)i;
		assert_true(packet_source_admits(&source, &grant));
		packet_source_revoke(&source, &grant);
		assert_false(packet_source_admits(&source, &grant));
	}
	assert_int_equal(source.count, 0);
	packet_source_release(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_granted_at_first_and_everything_to_the_fabric),
		cmocka_unit_test(test_every_field_counts_and_a_port_has_the_lids_of_its_lmc),
		cmocka_unit_test(test_a_grant_is_kept_once_and_revoked_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
