/* SPDX-License-Identifier: Apache-2.0 */
/* Names of connection events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <rdma/rdma_cma.h>

static void test_every_event_has_the_name_of_its_constant(void **state)
{
	(void)state;
	for (int event = RDMA_CM_EVENT_ADDR_RESOLVED; event <= RDMA_CM_EVENT_TIMEWAIT_EXIT; event++)
		assert_int_equal(strncmp(rdma_event_str((enum rdma_cm_event_type)event),
					 "RDMA_CM_EVENT_", 14),
				 0);
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ESTABLISHED), "RDMA_CM_EVENT_ESTABLISHED");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT),
			    "RDMA_CM_EVENT_TIMEWAIT_EXIT");
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)20), "UNKNOWN EVENT");
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type) - 1), "UNKNOWN EVENT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_has_the_name_of_its_constant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
