/* SPDX-License-Identifier: Apache-2.0 */
/* The capabilities, log and time stamp of the congestion control agent (management 6.5). */
#include "congestion_rig.h"

#include "net/link/congestion_state.h"

static void test_info_says_how_long_the_table_is(void **state)
{
	struct congestion_info info;

	(void)state;
	assert_int_equal(
		congestion_ask(&fixture.adapter, 0, MAD_GET, ATTRIBUTE_CONGESTION_INFO, 0, NULL),
		MAD_STATUS_OK);
	congestion_info_decode(congestion_data(), &info);
	assert_int_equal(info.control_table_cap, 2);
	assert_int_equal(info.flags, 0);
	assert_int_equal(
		congestion_ask(&fixture.hub, 0, MAD_GET, ATTRIBUTE_CONGESTION_INFO, 0, NULL),
		MAD_STATUS_OK);
	congestion_info_decode(congestion_data(), &info);
	assert_int_equal(info.control_table_cap, 0);
	assert_int_equal(
		congestion_ask(&fixture.hub, 0, MAD_GET, ATTRIBUTE_CONGESTION_INFO, 1, NULL),
		MAD_STATUS_BAD_FIELD);
	assert_int_equal(
		congestion_ask(&fixture.hub, 0, MAD_SET, ATTRIBUTE_CONGESTION_INFO, 0, NULL),
		MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_time_stamp_counts_1024_ns(void **state)
{
	(void)state;
	fixture.now = 1024 * 5 + 1023;
	assert_int_equal(
		congestion_ask(&fixture.hub, 0, MAD_GET, ATTRIBUTE_CONGESTION_TIME_STAMP, 0, NULL),
		MAD_STATUS_OK);
	assert_int_equal(get_be32(congestion_data()), 5);
}

static void test_switch_log_tells_who_was_marked_since_it_was_read(void **state)
{
	const struct congestion_event event = {.slid = 3, .dlid = 4, .sl = 2, .time_stamp = 7};
	const uint8_t *data = fixture.answer.bytes + CONGESTION_LOG_OFFSET;
	struct switch_congestion_log log;
	struct switch_congestion_event shown;

	(void)state;
	assert_int_equal(
		agent_control_congestion(&fixture.environment, &fixture.hub, CONGESTION_CONTROL_ON),
		0);
	port_log_congestion(&fixture.hub.ports[0], &event);
	fixture.hub.ports[0].congestion->log->port_map[0] = 1 << 4;
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(
			congestion_ask(&fixture.hub, 0, MAD_GET, ATTRIBUTE_CONGESTION_LOG, 0, NULL),
			MAD_STATUS_OK);
		switch_congestion_log_decode(data, &log);
		assert_int_equal(log.log_type, CONGESTION_LOG_OF_SWITCH);
		assert_int_equal(log.congestion_flags, CONGESTION_FLAG_ENABLED);
		assert_int_equal(log.log_events_counter, round == 0);
		assert_int_equal(log.port_map_0, round == 0 ? 1 << 4 : 0);
		switch_congestion_event_decode(data + SWITCH_CONGESTION_LOG_BYTES, &shown);
		assert_int_equal(shown.slid, 3);
		assert_int_equal(shown.dlid, 4);
		assert_int_equal(shown.sl, 2);
		assert_int_equal(shown.time_stamp, 7);
	}
}

static void test_adapter_log_tells_whose_index_reached_the_trigger(void **state)
{
	const struct congestion_event event = {
		.slid = 3, .dlid = 4, .sl = 2, .local_qpn = 0x123456, .service_type = 3};
	const uint8_t *data = fixture.answer.bytes + CONGESTION_LOG_OFFSET;
	struct ca_congestion_log log;
	struct ca_congestion_event shown;

	(void)state;
	assert_int_equal(port_obtain_congestion(&fixture.adapter.ports[1]), 0);
	port_log_congestion(&fixture.adapter.ports[1], &event);
	assert_int_equal(
		congestion_ask(&fixture.adapter, 0, MAD_GET, ATTRIBUTE_CONGESTION_LOG, 0, NULL),
		MAD_STATUS_OK);
	ca_congestion_log_decode(data, &log);
	assert_int_equal(log.log_type, CONGESTION_LOG_OF_CA);
	assert_int_equal(log.congestion_flags, 0);
	assert_int_equal(log.threshold_event_counter, 1);
	assert_int_equal(log.threshold_congestion_event_map, 1 << 2);
	ca_congestion_event_decode(data + CA_CONGESTION_LOG_BYTES, &shown);
	assert_int_equal(shown.local_qpn, 0x123456);
	assert_int_equal(shown.service_type, 3);
	assert_int_equal(shown.local_lid, 4);
	assert_int_equal(shown.remote_lid, 3);
	assert_int_equal(
		congestion_ask(&fixture.router, 0, MAD_GET, ATTRIBUTE_CONGESTION_LOG, 0, NULL),
		MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

/* In ClassPortInfo, only the trap address can be set. */
static void test_class_port_info_keeps_where_traps_go(void **state)
{
	const struct class_port_info told = {.capability_mask = 0xffff,
					     .redirect_lid = 9,
					     .trap_lid = 6,
					     .trap_qpn = 1,
					     .trap_gid_guid = 77};
	uint8_t data[DATA_BYTES] = {0};
	struct class_port_info info;

	(void)state;
	class_port_info_encode(&told, data);
	assert_int_equal(
		congestion_ask(&fixture.hub, 0, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, 0, data),
		MAD_STATUS_OK);
	class_port_info_decode(congestion_data(), &info);
	assert_int_equal(info.class_version, CONGESTION_CLASS_VERSION);
	assert_int_equal(info.capability_mask, 0);
	assert_int_equal(info.redirect_lid, 0);
	assert_int_equal(info.trap_lid, 6);
	assert_int_equal(info.trap_qpn, 1);
	assert_int_equal(info.trap_gid_guid, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_info_says_how_long_the_table_is),
		TEST(test_time_stamp_counts_1024_ns),
		TEST(test_switch_log_tells_who_was_marked_since_it_was_read),
		TEST(test_adapter_log_tells_whose_index_reached_the_trigger),
		TEST(test_class_port_info_keeps_where_traps_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
