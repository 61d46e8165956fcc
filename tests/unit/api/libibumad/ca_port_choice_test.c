/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing the adapter and port for a program that names only one of them, or neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include <infiniband/umad.h>

#include "unit/api/libibumad/rendered_tree.h"

/* Of rdma-core 56 and newer. */
struct umad_ca_pair {
	char smi_name[UMAD_CA_NAME_LEN];
	uint32_t smi_preferred_port;
	char gsi_name[UMAD_CA_NAME_LEN];
	uint32_t gsi_preferred_port;
};

int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max);
int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ret_pair, unsigned enforce_smi);

static int make_tree(void **state)
{
	(void)state;
	tree_make();
	tree_write_ca("softib0", "025f:1b01:0001:0000");
	tree_write_port("softib0", 1, "1: DOWN", "2: Polling");
	tree_write_port("softib0", 2, "2: INIT", "5: LinkUp");
	tree_write_ca("softib1", "025f:1b01:0001:0100");
	tree_write_port("softib1", 1, "1: DOWN", "2: Polling");
	tree_write_port("softib1", 2, "4: ACTIVE", "5: LinkUp");
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

static void assert_resolves(const char *ca_name, int number, const char *expected_ca,
			    int expected_number)
{
	umad_port_t port;

	assert_int_equal(umad_get_port(ca_name, number, &port), 0);
	assert_string_equal(port.ca_name, expected_ca);
	assert_int_equal(port.portnum, expected_number);
	umad_release_port(&port);
}

static void test_an_active_port_is_preferred_then_a_link_that_is_up(void **state)
{
	(void)state;
	assert_resolves(NULL, 0, "softib1", 2);
	assert_resolves("softib0", 0, "softib0", 2);
	assert_resolves(NULL, 1, "softib0", 1);
	assert_resolves("softib1", 1, "softib1", 1);
}

static void test_both_halves_of_a_pair_are_one_adapter(void **state)
{
	struct umad_ca_pair pairs[4];
	struct umad_ca_pair pair;

	(void)state;
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 4), 2);
	assert_string_equal(pairs[1].smi_name, "softib1");
	assert_int_equal(pairs[1].smi_preferred_port, 2);
	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 1), 1);
	assert_int_equal(umad_get_smi_gsi_pair_by_ca_name("softib0", 1, &pair, 0), 0);
	assert_string_equal(pair.smi_name, "softib0");
	assert_string_equal(pair.gsi_name, "softib0");
	assert_int_equal(pair.gsi_preferred_port, 1);
	assert_int_equal(umad_get_smi_gsi_pair_by_ca_name("softib7", 1, &pair, 0), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_active_port_is_preferred_then_a_link_that_is_up),
		cmocka_unit_test(test_both_halves_of_a_pair_are_one_adapter),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
