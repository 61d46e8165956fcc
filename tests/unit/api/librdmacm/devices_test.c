/* SPDX-License-Identifier: Apache-2.0 */
/* The list of adapters: each is opened once, however often programs ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include <infiniband/verbs.h>
#include "api/librdmacm/identifier.h"
#include "runtime/session.h"

enum { DEVICES_MAX = 4 };

static struct ibv_device devices[DEVICES_MAX];
static struct ibv_context contexts[DEVICES_MAX];
static int device_count;
static int open_count;
static int lists_held;
static unsigned id_count;
static bool has_ended;

/* What the tested file asks of the others. */
unsigned identifier_count(void)
{
	return id_count;
}

bool session_has_ended(void)
{
	return has_ended;
}

/* The verbs that the tested file calls. */
struct ibv_device **ibv_get_device_list(int *ret_count)
{
	struct ibv_device **list = calloc(DEVICES_MAX + 1, sizeof(list[0]));

	for (int i = 0; i < device_count; i++)
		list[i] = &devices[i];
	*ret_count = device_count;
	lists_held++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	lists_held--;
	free(list);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	static struct ibv_pd pds[DEVICES_MAX];
	struct ibv_pd *pd = &pds[context - contexts];

	/* Once per adapter. */
	assert_null(pd->context);
	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	pd->context = NULL;
	return 0;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	open_count--;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *ret_attributes)
{
	(void)context;
	ret_attributes->max_qp_rd_atom = 16;
	ret_attributes->max_qp_init_rd_atom = 1000;
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	open_count++;
	/* The second adapter belongs to somebody else. */
	return device == &devices[1] ? NULL : &contexts[device - devices];
}

static void test_no_adapter_is_no_list(void **state)
{
	int count = 7;

	(void)state;
	device_count = 0;
	errno = 0;
	assert_null(rdma_get_devices(&count));
	assert_int_equal(count, 0);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(lists_held, 0);
}

static void test_adapters_that_open_are_listed_and_stay_open(void **state)
{
	struct ibv_context **first;
	struct ibv_context **second;
	int count = 0;

	(void)state;
	device_count = 3;
	first = rdma_get_devices(&count);
	assert_non_null(first);
	assert_int_equal(count, 2);
	assert_ptr_equal(first[0], &contexts[0]);
	assert_ptr_equal(first[1], &contexts[2]);
	assert_null(first[2]);
	second = rdma_get_devices(NULL);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(second[0], first[0]);
	assert_int_equal(open_count, 3);
	assert_int_equal(lists_held, 0);
	rdma_free_devices(first);
	rdma_free_devices(second);
}

static void test_an_adapter_has_one_domain_for_all_ids(void **state)
{
	uint8_t resources, depth;

	(void)state;
	struct ibv_context *context = devices_context(0);

	assert_non_null(context);
	assert_ptr_equal(devices_pd(0)->context, context);
	assert_ptr_equal(devices_pd(0), devices_pd(0));
	/* The one that does not open leaves a gap. */
	assert_null(devices_context(1));
	assert_ptr_equal(devices_context(2), &contexts[2]);
	assert_null(devices_context(DEVICES_MAX));
	assert_null(devices_pd(DEVICES_MAX));
	devices_depths(context, &resources, &depth);
	assert_int_equal(resources, 16);
	/* 255 means "as many as you can". */
	assert_int_equal(depth, 254);
}

static void test_adapters_without_softibd_are_closed_when_nothing_uses_them(void **state)
{
	int before = open_count;

	(void)state;
	devices_close_lost();
	assert_int_equal(open_count, before);
	has_ended = true;
	id_count = 1;
	devices_close_lost();
	assert_int_equal(open_count, before);
	id_count = 0;
	has_ended = false;

	struct ibv_context **list = rdma_get_devices(NULL);

	has_ended = true;
	devices_close_lost();
	assert_int_equal(open_count, before);
	rdma_free_devices(list);
	devices_close_lost();
	assert_int_equal(open_count, before - 2);
	/* The next softibd's, each with a domain of its own. */
	has_ended = false;
	assert_ptr_equal(devices_context(0), &contexts[0]);
	assert_non_null(devices_pd(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_adapter_is_no_list),
		cmocka_unit_test(test_adapters_that_open_are_listed_and_stay_open),
		cmocka_unit_test(test_an_adapter_has_one_domain_for_all_ids),
		cmocka_unit_test(test_adapters_without_softibd_are_closed_when_nothing_uses_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
