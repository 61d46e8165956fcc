/* SPDX-License-Identifier: Apache-2.0 */
/* Which events a change of a port raises (transport 5.8). */
#include "adapter_pair.h"

static struct adapter_pair pair;

/* Gives the port a new state and expects exactly these events, in order. */
static void expect_events(const struct port_view *view, bool reregister,
			  const enum hca_event_type *types, unsigned count)
{
	struct recorded_adapter *adapter = &pair.adapters[0];

	adapter->event_count = 0;
	hca_port_update(&adapter->hca, view, reregister);
	assert_int_equal(adapter->event_count, count);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(adapter->events[i].type, types[i]);
		assert_int_equal(adapter->events[i].port_number, 1);
		assert_null(adapter->events[i].qp);
	}
}

static void test_each_change_raises_its_event(void **state)
{
	struct port_view view = active_port(1, FIRST_LID);

	(void)state;
	adapter_pair_init(&pair);
	expect_events(&view, false, NULL, 0);

	view.state = PORT_DOWN;
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_PORT_ERROR}, 1);
	view.state = PORT_INIT;
	expect_events(&view, false, NULL, 0);
	view.state = PORT_ACTIVE;
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_PORT_ACTIVE}, 1);
	view.lid++;
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_LID_CHANGE}, 1);
	view.pkeys[1] = 0x8001;
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_PKEY_CHANGE}, 1);
	view.sm_lid++;
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_SM_CHANGE}, 1);
	view.gids[1] = gid_from(1, 2);
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_GID_CHANGE}, 1);
	expect_events(&view, true, (enum hca_event_type[]){HCA_EVENT_CLIENT_REREGISTER}, 1);
	adapter_pair_release(&pair);
}

static void test_a_port_that_comes_back_changed_is_announced_last(void **state)
{
	struct port_view view = active_port(1, FIRST_LID);

	(void)state;
	adapter_pair_init(&pair);
	view.state = PORT_INIT;
	expect_events(&view, false, (enum hca_event_type[]){HCA_EVENT_PORT_ERROR}, 1);
	view.state = PORT_ACTIVE;
	view.lid++;
	view.sm_lid++;
	expect_events(&view, true,
		      (enum hca_event_type[]){HCA_EVENT_LID_CHANGE, HCA_EVENT_SM_CHANGE,
					      HCA_EVENT_CLIENT_REREGISTER, HCA_EVENT_PORT_ACTIVE},
		      4);
	adapter_pair_release(&pair);
}

static void test_violations_are_kept_and_unknown_ports_ignored(void **state)
{
	struct port_view view = active_port(1, FIRST_LID);
	struct hca *hca = &pair.adapters[0].hca;

	(void)state;
	adapter_pair_init(&pair);
	hca->ports[0].pkey_violations = 7;
	expect_events(&view, false, NULL, 0);
	assert_int_equal(hca->ports[0].pkey_violations, 7);
	view.number = 2;
	expect_events(&view, false, NULL, 0);
	view.number = 0;
	expect_events(&view, false, NULL, 0);
	adapter_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_change_raises_its_event),
		cmocka_unit_test(test_a_port_that_comes_back_changed_is_announced_last),
		cmocka_unit_test(test_violations_are_kept_and_unknown_ports_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
