/* SPDX-License-Identifier: Apache-2.0 */
/* RD domains: how many there may be, and the objects that keep one from being destroyed (transport
 * 9.1). */
#include "support/rd_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct rd_rig rig;

static void test_domain_goes_when_nothing_uses_it(void **state)
{
	struct rd_node *node = &rig.nodes[0];
	struct rdd *rdd;
	struct qp_object *eec;

	(void)state;
	rd_rig_init(&rig, 1);
	assert_int_equal(rdd_alloc(&node->hca, &rdd), 0);
	assert_int_equal(eec_create(rdd, NULL, &eec), 0);
	assert_int_equal(rdd_dealloc(rdd), -EBUSY);
	assert_int_equal(qp_object_destroy(eec), 0);
	assert_int_equal(rdd_dealloc(rdd), 0);
	rd_rig_release(&rig);
}

static void test_limit_is_kept(void **state)
{
	struct rd_node *node = &rig.nodes[0];
	struct rdd *rdd;

	(void)state;
	rd_rig_init(&rig, 1);
	node->hca.limits.rdd_count_max = 1;
	assert_int_equal(rdd_alloc(&node->hca, &rdd), -ENOMEM);
	rd_rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domain_goes_when_nothing_uses_it),
		cmocka_unit_test(test_limit_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
