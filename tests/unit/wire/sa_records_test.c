/* SPDX-License-Identifier: Apache-2.0 */
/* SA records: literal bytes, and the properties of every field table (management 4.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/attributes.h"
#include "vectors/attribute_checks.h"
#include "vectors/hex.h"
#include "wire/sa_records.h"

static const struct attribute_layout *const layouts[] = {
	&record_lid_layout,
	&port_record_id_layout,
	&sl_to_vl_record_id_layout,
	&forwarding_record_id_layout,
	&multicast_forwarding_record_id_layout,
	&vl_arbitration_record_id_layout,
	&guid_info_record_id_layout,
	&pkey_table_record_id_layout,
	&link_record_layout,
	&path_record_layout,
	&multi_path_header_layout,
	&mc_member_record_layout,
	&trace_record_layout,
	&service_record_id_layout,
	&inform_info_layout,
	&inform_info_record_id_layout,
};

static void test_every_table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(layouts); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], i);
	}
}

static void expect_bytes(const uint8_t *bytes, const char *text, size_t byte_count)
{
	uint8_t expected[256];

	assert_int_equal(hex_bytes(text, sizeof(expected), expected), byte_count);
	assert_memory_equal(bytes, expected, byte_count);
}

static void test_path_record_bytes(void **state)
{
	const struct path_record record = {
		.service_id = 0x0102030405060708,
		.dgid_prefix = 0xfe80000000000000,
		.dgid_guid = 0x1111111111111111,
		.sgid_prefix = 0xfe80000000000000,
		.sgid_guid = 0x2222222222222222,
		.dlid = 0x0304,
		.slid = 0x0506,
		.raw_traffic = 1,
		.flow_label = 0xabcde,
		.hop_limit = 0x3f,
		.traffic_class = 0x77,
		.reversible = 1,
		.path_count = 5,
		.pkey = 0x8001,
		.qos_class = 0x123,
		.sl = 4,
		.mtu_selector = 2,
		.mtu = 5,
		.rate_selector = 3,
		.rate = 16,
		.packet_life_time_selector = 1,
		.packet_life_time = 18,
		.preference = 9,
		.reverse_path_pkey_member_bit = 2,
	};
	uint8_t bytes[PATH_RECORD_BYTES];

	(void)state;
	path_record_encode(&record, bytes);
	expect_bytes(bytes,
		     "0102030405060708 fe80000000000000 1111111111111111 fe80000000000000"
		     "2222222222222222 0304 0506 8abcde 3f 77 85 8001 1234 85 d0 52 09"
		     "80 00 00 00 00 00",
		     PATH_RECORD_BYTES);
}

static void test_mc_member_record_bytes(void **state)
{
	const struct mc_member_record record = {
		.mgid_high = 0xff12401bffff0000,
		.mgid_low = 0x00000000ffffffff,
		.port_gid_prefix = 0xfe80000000000000,
		.port_gid_guid = 0x025f1b0100010001,
		.qkey = 0x0b1b,
		.mlid = 0xc001,
		.mtu_selector = 2,
		.mtu = 4,
		.traffic_class = 0x66,
		.pkey = 0xffff,
		.rate_selector = 2,
		.rate = 3,
		.packet_life_time_selector = 2,
		.packet_life_time = 18,
		.sl = 5,
		.flow_label = 0x12345,
		.hop_limit = 7,
		.scope = 2,
		.join_state = 9,
		.proxy_join = 1,
	};
	uint8_t bytes[MC_MEMBER_RECORD_BYTES];

	(void)state;
	mc_member_record_encode(&record, bytes);
	expect_bytes(bytes,
		     "ff12401bffff0000 00000000ffffffff fe80000000000000 025f1b0100010001"
		     "00000b1b c001 84 66 ffff 83 92 51 23 45 07 29 80 0000",
		     MC_MEMBER_RECORD_BYTES);
}

static void test_multi_path_header_bytes(void **state)
{
	const struct multi_path_header header = {
		.flow_label = 0xabcde,
		.hop_limit = 1,
		.traffic_class = 2,
		.reversible = 1,
		.path_count = 3,
		.pkey = 0xffff,
		.qos_class = 0x123,
		.sl = 4,
		.mtu_selector = 2,
		.mtu = 5,
		.rate_selector = 2,
		.rate = 16,
		.packet_life_time_selector = 2,
		.packet_life_time = 18,
		.service_id_high = 0xaa,
		.independence_selector = 1,
		.sgid_count = 2,
		.dgid_count = 3,
		.service_id_low = 0x01020304050607,
	};
	uint8_t bytes[MULTI_PATH_HEADER_BYTES];

	(void)state;
	multi_path_header_encode(&header, bytes);
	expect_bytes(bytes, "0abcde 01 02 83 ffff 1234 85 90 92 aa 40 02 03 01020304050607",
		     MULTI_PATH_HEADER_BYTES);
}

static void test_inform_info_bytes(void **state)
{
	const struct inform_info info = {
		.gid_prefix = 0xfe80000000000000,
		.gid_guid = 5,
		.lid_range_begin = 0xffff,
		.lid_range_end = 0x10,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 64,
		.qpn = 0x123456,
		.resp_time_value = 18,
		.producer_type = 4,
	};
	uint8_t bytes[INFORM_INFO_BYTES];

	(void)state;
	inform_info_encode(&info, bytes);
	expect_bytes(bytes,
		     "fe80000000000000 0000000000000005 ffff 0010 0000 01 01 ffff 0040 123456 12"
		     "00 000004",
		     INFORM_INFO_BYTES);
}

static void test_service_record_bytes(void **state)
{
	struct service_record record = {
		.id = {.id = 0x0100000000000001,
		       .gid_prefix = 0xfe80000000000000,
		       .gid_guid = 3,
		       .pkey = 0xffff,
		       .lease_s = 60,
		       .key_high = 0x1122334455667788,
		       .key_low = 0x99aabbccddeeff00},
	};
	struct service_record decoded = {0};
	uint8_t bytes[SERVICE_RECORD_BYTES];

	(void)state;
	memcpy(record.name, "storage", 7);
	record.data[0] = 0xd8;
	record.data[63] = 0x64;
	service_record_encode(&record, bytes);
	expect_bytes(bytes,
		     "0100000000000001 fe80000000000000 0000000000000003 ffff 0000 0000003c"
		     "1122334455667788 99aabbccddeeff00 73746f72616765 00",
		     56);
	assert_int_equal(bytes[112], 0xd8);
	assert_int_equal(bytes[175], 0x64);
	service_record_decode(bytes, &decoded);
	assert_memory_equal(&decoded, &record, sizeof(record));
}

static void test_identities_of_table_records(void **state)
{
	const struct port_record_id port = {.lid = 0x0102, .port_number = 3};
	const struct sl_to_vl_record_id sl_to_vl = {
		.lid = 0x0102, .input_port = 3, .output_port = 4};
	const struct multicast_forwarding_record_id multicast = {
		.lid = 0x0102, .position = 0xf, .block = 0x1ff};
	const struct vl_arbitration_record_id arbitration = {
		.lid = 0x0102, .output_port = 5, .block = 3};
	const struct pkey_table_record_id pkeys = {.lid = 0x0102, .block = 7, .port_number = 9};
	const struct guid_info_record_id guids = {.lid = 0x0102, .block = 1};
	const struct link_record link = {
		.from_lid = 0x0102, .from_port = 3, .to_port = 4, .to_lid = 0x0506};
	uint8_t bytes[BLOCK_RECORD_BYTES];

	(void)state;
	port_record_id_encode(&port, bytes);
	expect_bytes(bytes, "0102 03 00", 4);
	sl_to_vl_record_id_encode(&sl_to_vl, bytes);
	expect_bytes(bytes, "0102 03 04 00000000", 8);
	multicast_forwarding_record_id_encode(&multicast, bytes);
	expect_bytes(bytes, "0102 f1ff 00000000", 8);
	vl_arbitration_record_id_encode(&arbitration, bytes);
	expect_bytes(bytes, "0102 05 03 00000000", 8);
	pkey_table_record_id_encode(&pkeys, bytes);
	expect_bytes(bytes, "0102 0007 09 000000", 8);
	guid_info_record_id_encode(&guids, bytes);
	expect_bytes(bytes, "0102 01 00 00000000", 8);
	link_record_encode(&link, bytes);
	expect_bytes(bytes, "0102 03 04 0506", 6);
}

static void test_trace_record_bytes(void **state)
{
	const struct trace_record record = {.gid_prefix = 0xfe80000000000000,
					    .id_generation = 0x0102,
					    .node_type = 2,
					    .node_id = 3,
					    .chassis_id = 4,
					    .entry_port_id = 5,
					    .exit_port_id = 6,
					    .entry_port = 7,
					    .exit_port = 8};
	uint8_t bytes[TRACE_RECORD_BYTES];

	(void)state;
	trace_record_encode(&record, bytes);
	expect_bytes(bytes,
		     "fe80000000000000 0102 00 02 0000000000000003 0000000000000004"
		     "0000000000000005 0000000000000006 07 08",
		     TRACE_RECORD_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_table_is_sound),
		cmocka_unit_test(test_path_record_bytes),
		cmocka_unit_test(test_mc_member_record_bytes),
		cmocka_unit_test(test_multi_path_header_bytes),
		cmocka_unit_test(test_inform_info_bytes),
		cmocka_unit_test(test_service_record_bytes),
		cmocka_unit_test(test_identities_of_table_records),
		cmocka_unit_test(test_trace_record_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
