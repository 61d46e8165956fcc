/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of device management: literal bytes, and the properties of every field table
 * (management 6.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/device_management.h"

static void test_fields_keep_apart_and_come_back(void **state)
{
	const struct attribute_layout *layouts[] = {
		&io_unit_info_layout, &io_controller_profile_layout, &diagnostic_timeout_layout,
		&diag_code_layout,    &ready_to_test_details_layout, &io_unit_change_details_layout,
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(layouts); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 0x61 + i);
	}
}

static void test_unit_info_lies_where_the_reference_puts_it(void **state)
{
	const struct io_unit_info info = {
		.change_id = 0x0102, .max_controllers = 16, .diag_device_id = 1, .option_rom = 1};
	uint8_t data[IO_UNIT_INFO_TOTAL_BYTES] = {0};

	(void)state;
	io_unit_info_encode(&info, data);
	assert_int_equal(get_be32(data), 0x01021003);
	io_slot_state_put(data, 1, IO_SLOT_HAS_CONTROLLER);
	io_slot_state_put(data, 2, IO_SLOT_NONE);
	io_slot_state_put(data, 255, IO_SLOT_HAS_CONTROLLER);
	assert_int_equal(data[4], 0x1f);
	assert_int_equal(data[5], 0);
	assert_int_equal(data[4 + 127], 0x10);
	assert_int_equal(io_slot_state_get(data, 1), IO_SLOT_HAS_CONTROLLER);
	assert_int_equal(io_slot_state_get(data, 2), IO_SLOT_NONE);
	assert_int_equal(io_slot_state_get(data, 3), IO_SLOT_EMPTY);
	io_slot_state_put(data, 2, IO_SLOT_EMPTY);
	assert_int_equal(data[4], 0x10);
}

/* The profile of an SRP target. */
static void test_profile_lies_where_the_reference_puts_it(void **state)
{
	static const uint8_t expected[IO_CONTROLLER_PROFILE_BYTES] = {
		0x02, 0x5f, 0x1b, 0x11, 0, 5,  1, 0, /* GUID */
		0x02, 0x5f, 0x1b, 0,		     /* VendorID */
		0,    0,    0,	  9,	0, 2,  0, 0, /* DeviceID, DeviceVersion */
		0x00, 0x14, 0x05, 0,	0, 0,  0, 8, /* subsystem */
		0x01, 0x00, 0x60, 0x9e,		     /* IOClass, IOSubclass */
		0x01, 0x08, 0x00, 0x01,		     /* Protocol, ProtocolVersion */
		0,    0,    0,	  0,	0, 64, 0, 4, /* queue depths */
		0,    0,    0x08, 0,	0, 1,  0, 0, /* sizes */
		0x2b, 0,    3,
	};
	const struct io_controller_profile profile = {
		.guid = 0x025f1b1100050100,
		.vendor_id = 0x025f1b,
		.device_id = 9,
		.device_version = 2,
		.subsystem_vendor_id = 0x001405,
		.subsystem_id = 8,
		.io_class = 0x0100,
		.io_subclass = 0x609e,
		.protocol = 0x0108,
		.protocol_version = 1,
		.send_message_queue_depth = 64,
		.rdma_read_queue_depth = 4,
		.send_message_size = 0x800,
		.rdma_transfer_size = 0x10000,
		.controller_op_capability_mask = IO_CAPABILITY_SEND_TO | IO_CAPABILITY_SEND_FROM |
						 IO_CAPABILITY_READ_FROM | IO_CAPABILITY_WRITE_FROM,
		.service_entries = 3,
	};
	uint8_t bytes[IO_CONTROLLER_PROFILE_BYTES];

	(void)state;
	io_controller_profile_encode(&profile, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void test_service_entry_is_a_name_and_an_id(void **state)
{
	const struct io_service_entry entry = {"SRP.T10:0123456789abcdef", 0x0123456789abcdef};
	struct io_service_entry again;
	uint8_t bytes[IO_SERVICE_ENTRY_BYTES];

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	io_service_entry_encode(&entry, bytes);
	assert_memory_equal(bytes, "SRP.T10:0123456789abcdef\0", 25);
	assert_int_equal(bytes[39], 0);
	assert_int_equal(get_be64(bytes + 40), entry.id);
	assert_true(io_service_entry_decode(bytes, &again));
	assert_memory_equal(&again, &entry, sizeof(entry));
}

static void test_name_without_end_is_refused(void **state)
{
	struct io_service_entry entry = {.id = 7};
	uint8_t bytes[IO_SERVICE_ENTRY_BYTES];

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	assert_false(io_service_entry_decode(bytes, &entry));
	assert_int_equal(entry.id, 7);
	bytes[39] = 0;
	assert_true(io_service_entry_decode(bytes, &entry));
	assert_int_equal(strlen(entry.name), 39);
	bytes[3] = '\n';
	assert_false(io_service_entry_decode(bytes, &entry));
}

static void test_text_of_a_peer_is_made_printable(void **state)
{
	static const uint8_t bytes[6] = {'a', 0x1b, '[', 0xc3, 'z', '!'};
	char text[7];

	(void)state;
	io_text_decode(bytes, sizeof(bytes), text);
	assert_string_equal(text, "a?[?z!");
	io_text_decode((const uint8_t *)"ab\0cd", 5, text);
	assert_string_equal(text, "ab");
}

/* Every slot, first and last. */
static void test_ranges_of_services(void **state)
{
	struct io_service_range range = {0};

	(void)state;
	for (uint32_t modifier = 0; modifier < 0x10000; modifier++) {
		uint32_t last = modifier >> 8, first = modifier & 0xff;
		bool is_good = last >= first && last - first < 4;

		assert_int_equal(io_service_range_decode(0xa50000 | modifier, &range), is_good);
		if (!is_good)
			continue;
		assert_int_equal(range.slot, 0xa5);
		assert_int_equal(io_service_range_encode(&range), 0xa50000 | modifier);
	}
	assert_false(io_service_range_decode(0x01010000, &range));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_keep_apart_and_come_back),
		cmocka_unit_test(test_unit_info_lies_where_the_reference_puts_it),
		cmocka_unit_test(test_profile_lies_where_the_reference_puts_it),
		cmocka_unit_test(test_service_entry_is_a_name_and_an_id),
		cmocka_unit_test(test_name_without_end_is_refused),
		cmocka_unit_test(test_text_of_a_peer_is_made_printable),
		cmocka_unit_test(test_ranges_of_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
