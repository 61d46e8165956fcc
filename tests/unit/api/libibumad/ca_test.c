/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters and ports as umad_get_ca() and its relatives describe them (abi 8.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>

#include <infiniband/umad.h>

#include "unit/api/libibumad/rendered_tree.h"

static int make_tree(void **state)
{
	(void)state;
	tree_make();
	tree_write_ca("softib0", "025f:1b01:0001:0000");
	tree_write_port("softib0", 1, "4: ACTIVE", "5: LinkUp");
	tree_write_port("softib0", 2, "1: DOWN", "2: Polling");
	tree_write("infiniband_mad/issm0/ibdev", "softib0");
	tree_write("infiniband_mad/issm0/port", "1");
	tree_write("infiniband_mad/issm1/ibdev", "softib0");
	tree_write("infiniband_mad/issm1/port", "2");
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

static void test_an_adapter_is_read_with_its_ports(void **state)
{
	umad_ca_t ca;

	(void)state;
	assert_int_equal(umad_get_ca("softib0", &ca), 0);
	assert_string_equal(ca.ca_name, "softib0");
	assert_int_equal(ca.node_type, 1);
	assert_int_equal(ca.numports, 2);
	assert_string_equal(ca.fw_ver, "0.1.0");
	assert_string_equal(ca.ca_type, "softib");
	assert_true(ca.node_guid == htobe64(0x025f1b0100010000));
	assert_null(ca.ports[0]);
	assert_non_null(ca.ports[1]);
	assert_int_equal(ca.ports[2]->state, 1);
	assert_int_equal(umad_release_ca(&ca), 0);
	assert_null(ca.ports[1]);
}

static void test_a_port_is_read_in_the_units_of_the_interface(void **state)
{
	umad_port_t port;

	(void)state;
	assert_int_equal(umad_get_port("softib0", 1, &port), 0);
	assert_string_equal(port.ca_name, "softib0");
	assert_int_equal(port.portnum, 1);
	assert_int_equal(port.base_lid, 0x12);
	assert_int_equal(port.lmc, 2);
	assert_int_equal(port.sm_lid, 1);
	assert_int_equal(port.sm_sl, 3);
	assert_int_equal(port.state, 4);
	assert_int_equal(port.phys_state, 5);
	assert_int_equal(port.rate, 100);
	assert_int_equal(port.capmask, htobe32(0x2673ca7c));
	assert_true(port.gid_prefix == htobe64(0xfe80000000000000));
	assert_true(port.port_guid == htobe64(0x025f1b0100010101));
	assert_int_equal(port.pkeys_size, 2);
	assert_int_equal(port.pkeys[0], 0xffff);
	assert_int_equal(port.pkeys[1], 0x8001);
	assert_string_equal(port.link_layer, "InfiniBand");
	assert_int_equal(umad_release_port(&port), 0);
}

/* OpenSM offers room for three: itself port 0, which an adapter does not have. */
static void test_port_guids_start_with_port_zero(void **state)
{
	__be64 guids[3] = {1, 1, 1};

	(void)state;
	assert_int_equal(umad_get_ca_portguids("softib0", guids, 3), 3);
	assert_true(guids[0] == 0);
	assert_true(guids[1] == htobe64(0x025f1b0100010101));
	assert_true(guids[2] == htobe64(0x025f1b0100010102));
	assert_int_equal(umad_get_ca_portguids("softib0", guids, 2), -ENOMEM);
	assert_int_equal(umad_get_ca_portguids("softib0", NULL, 0), 3);
}

static void test_the_issm_file_is_the_ports_own(void **state)
{
	char path[256];
	char expected[256];

	(void)state;
	snprintf(expected, sizeof(expected), "%s/dev/infiniband/issm1", tree_folder);
	assert_int_equal(umad_get_issm_path("softib0", 2, path, sizeof(path)), 0);
	assert_string_equal(path, expected);
	assert_int_equal(umad_get_issm_path("softib0", 2, path, 8), -ENAMETOOLONG);
}

static void test_what_is_absent_is_enodev(void **state)
{
	umad_port_t port;
	umad_ca_t ca;

	(void)state;
	errno = 0;
	assert_int_equal(umad_get_ca("softib9", &ca), -ENODEV);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(umad_get_port("softib0", 3, &port), -ENODEV);
	assert_int_equal(umad_release_ca(NULL), -ENODEV);
	assert_int_equal(umad_release_port(NULL), -ENODEV);
}

static void test_a_port_that_is_not_there_cannot_be_opened(void **state)
{
	(void)state;
	assert_int_equal(umad_init(), 0);
	errno = 0;
	assert_int_equal(umad_open_port("softib0", 9), -ENODEV);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(umad_open_port("mlx5_0", 1), -ENODEV);
	assert_int_equal(umad_done(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_adapter_is_read_with_its_ports),
		cmocka_unit_test(test_a_port_is_read_in_the_units_of_the_interface),
		cmocka_unit_test(test_port_guids_start_with_port_zero),
		cmocka_unit_test(test_the_issm_file_is_the_ports_own),
		cmocka_unit_test(test_what_is_absent_is_enodev),
		cmocka_unit_test(test_a_port_that_is_not_there_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
