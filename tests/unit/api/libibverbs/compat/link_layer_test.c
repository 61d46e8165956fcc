/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask to tell InfiniBand ports from Ethernet ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <infiniband/verbs.h>

/* Provider libraries and ibv_devinfo bind to it at whichever private node they were built with. */
static void test_gid_type_is_exported_at_every_private_node(void **state)
{
	void *first = dlvsym(RTLD_DEFAULT, "ibv_query_gid_type", "IBVERBS_PRIVATE_25");
	const int nodes[] = {33, 34, 57, 59, 64, 65, 66, 120};
	char node[32];

	(void)state;
	assert_non_null(first);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		snprintf(node, sizeof(node), "IBVERBS_PRIVATE_%d", nodes[i]);
		assert_ptr_equal(dlvsym(RTLD_DEFAULT, "ibv_query_gid_type", node), first);
	}
	assert_null(dlvsym(RTLD_DEFAULT, "ibv_query_gid_type", "IBVERBS_PRIVATE_121"));
	assert_null(dlsym(RTLD_DEFAULT, "ibv_query_gid_type"));
}

static void test_there_is_no_ethernet_address_behind_a_gid(void **state)
{
	uint8_t mac[ETHERNET_LL_SIZE];
	struct ibv_ah_attr attr = {0};
	uint16_t vid;

	(void)state;
	errno = 0;
	assert_int_equal(ibv_resolve_eth_l2_from_gid(NULL, &attr, mac, &vid), EOPNOTSUPP);
	assert_int_equal(errno, EOPNOTSUPP);
}

/* The functions of 2006 took other structures: calling one must fail, not corrupt. */
static void test_the_oldest_twins_fail_with_enosys(void **state)
{
	void *(*alloc_pd)(struct ibv_context *);
	int (*query_gid)(struct ibv_context *, uint8_t, int, union ibv_gid *);
	int (*dealloc_pd)(struct ibv_pd *);

	(void)state;
	*(void **)&alloc_pd = dlvsym(RTLD_DEFAULT, "ibv_alloc_pd", "IBVERBS_1.0");
	*(void **)&query_gid = dlvsym(RTLD_DEFAULT, "ibv_query_gid", "IBVERBS_1.0");
	*(void **)&dealloc_pd = dlvsym(RTLD_DEFAULT, "ibv_dealloc_pd", "IBVERBS_1.0");
	errno = 0;
	assert_null(alloc_pd(NULL));
	assert_int_equal(errno, ENOSYS);
	errno = 0;
	assert_int_equal(query_gid(NULL, 1, 0, NULL), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(dealloc_pd(NULL), ENOSYS);
}

static void test_private_stubs_fail_without_a_crash(void **state)
{
	char *disassociate =
		dlvsym(RTLD_DEFAULT, "verbs_allow_disassociate_destroy", "IBVERBS_PRIVATE_34");
	void (*register_driver)(const void *);
	int (*command)(void *);
	void *(*open_device)(void *, void *);

	(void)state;
	assert_non_null(disassociate);
	assert_int_equal(*disassociate, 0);
	*(void **)&register_driver =
		dlvsym(RTLD_DEFAULT, "verbs_register_driver_34", "IBVERBS_PRIVATE_34");
	register_driver(NULL);
	*(void **)&command = dlvsym(RTLD_DEFAULT, "ibv_cmd_dealloc_pd", "IBVERBS_PRIVATE_34");
	assert_int_equal(command(NULL), EOPNOTSUPP);
	*(void **)&open_device = dlvsym(RTLD_DEFAULT, "verbs_open_device", "IBVERBS_PRIVATE_34");
	errno = 0;
	assert_null(open_device(NULL, NULL));
	assert_int_equal(errno, EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gid_type_is_exported_at_every_private_node),
		cmocka_unit_test(test_there_is_no_ethernet_address_behind_a_gid),
		cmocka_unit_test(test_the_oldest_twins_fail_with_enosys),
		cmocka_unit_test(test_private_stubs_fail_without_a_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
