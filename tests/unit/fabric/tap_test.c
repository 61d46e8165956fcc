/* SPDX-License-Identifier: Apache-2.0 */
/* Taps: what a captured port shows, in which order, and that flows over it are not offloaded. */
#include "unit/fabric/rig.h"

#include "fabric/tap.h"

enum { EVENTS_MAX = 16 };

static struct rig rig;

struct seen_event {
	enum tap_event event;
	const struct port *port;
	enum drop_reason reason;
};

static struct seen_event seen_events[EVENTS_MAX];
static unsigned seen_count;

static void seen(void *context, enum tap_event event, const struct port *port,
		 const struct frame *frame, enum drop_reason reason)
{
	assert_ptr_equal(context, &rig);
	assert_true(frame->byte_count > LRH_BYTES);
	assert_true(seen_count < EVENTS_MAX);
	seen_events[seen_count++] =
		(struct seen_event){.event = event, .port = port, .reason = reason};
}

static void begin(void)
{
	rig_star(&rig, "star:3");
	rig.fabric.tap = (struct fabric_tap){.seen = seen, .context = &rig};
	seen_count = 0;
}

static void send_to(uint16_t dlid)
{
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), rig_data_frame(&rig, 1, dlid, 64),
				  0));
	rig_run(&rig, 0);
}

static void expect(unsigned index, enum tap_event event, const struct port *port,
		   enum drop_reason reason)
{
	assert_true(index < seen_count);
	assert_int_equal(seen_events[index].event, event);
	assert_ptr_equal(seen_events[index].port, port);
	assert_int_equal(seen_events[index].reason, reason);
}

static void test_ports_without_a_tap_show_nothing(void **state)
{
	(void)state;
	begin();
	fabric_tap_add(&rig.fabric, rig_host(&rig, 3));
	send_to(2);
	assert_int_equal(seen_count, 0);
	rig_release(&rig);
}

static void test_a_packet_is_seen_as_it_leaves_and_as_it_arrives(void **state)
{
	(void)state;
	begin();
	fabric_tap_add(&rig.fabric, rig_host(&rig, 1));
	fabric_tap_add(&rig.fabric, &rig.switch_node->ports[1]);
	fabric_tap_add(&rig.fabric, rig_host(&rig, 2));
	send_to(2);
	assert_int_equal(seen_count, 3);
	expect(0, TAP_SENT, rig_host(&rig, 1), DROP_NONE);
	expect(1, TAP_RECEIVED, &rig.switch_node->ports[1], DROP_NONE);
	expect(2, TAP_RECEIVED, rig_host(&rig, 2), DROP_NONE);
	rig_release(&rig);
}

static void test_a_packet_to_its_own_port_is_seen_once(void **state)
{
	(void)state;
	begin();
	fabric_tap_add(&rig.fabric, rig_host(&rig, 1));
	send_to(1);
	assert_int_equal(seen_count, 1);
	expect(0, TAP_LOOPED, rig_host(&rig, 1), DROP_NONE);
	rig_release(&rig);
}

static void test_a_drop_is_seen_where_it_is_counted(void **state)
{
	(void)state;
	begin();
	fabric_tap_add(&rig.fabric, &rig.switch_node->ports[1]);
	send_to(77);
	assert_int_equal(seen_count, 2);
	expect(0, TAP_RECEIVED, &rig.switch_node->ports[1], DROP_NONE);
	expect(1, TAP_DROPPED, &rig.switch_node->ports[1], DROP_NO_ROUTE);
	rig_release(&rig);
}

static void test_flows_that_cross_a_tap_are_told_and_others_not(void **state)
{
	struct fabric_path path;

	(void)state;
	begin();

	unsigned changes = rig.path_changes;

	fabric_tap_add(&rig.fabric, &rig.switch_node->ports[2]);
	fabric_tap_add(&rig.fabric, &rig.switch_node->ports[2]);
	assert_int_equal(rig.path_changes, changes + 1);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_true(path.is_watched);
	fabric_walk(&rig.fabric, rig_host(&rig, 2), 1, 0, PKEY_DEFAULT_FULL, &path);
	assert_true(path.is_watched);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 3, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);
	fabric_tap_remove(&rig.fabric, &rig.switch_node->ports[2]);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_true(path.is_watched);
	fabric_tap_remove(&rig.fabric, &rig.switch_node->ports[2]);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);
	assert_int_equal(rig.path_changes, changes + 2);
	fabric_tap_add(&rig.fabric, rig_host(&rig, 1));
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 1, 0, PKEY_DEFAULT_FULL, &path);
	assert_true(path.is_watched);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports_without_a_tap_show_nothing),
		cmocka_unit_test(test_a_packet_is_seen_as_it_leaves_and_as_it_arrives),
		cmocka_unit_test(test_a_packet_to_its_own_port_is_seen_once),
		cmocka_unit_test(test_a_drop_is_seen_where_it_is_counted),
		cmocka_unit_test(test_flows_that_cross_a_tap_are_told_and_others_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
