/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of device management (vol 1, chapter 16.3; management 6.3). The data of every
 * attribute begin at DEVICE_DATA_OFFSET of a MAD. */
#ifndef SOFTIB_WIRE_DEVICE_MANAGEMENT_H
#define SOFTIB_WIRE_DEVICE_MANAGEMENT_H

#include <stdbool.h>
#include "base/attributes.h"
#include "wire/attribute.h"

enum {
	DEVICE_CLASS_VERSION = 1,
	DEVICE_DATA_OFFSET = 64,
	DEVICE_DATA_BYTES = 192,

	ATTRIBUTE_IO_UNIT_INFO = 0x0010,
	ATTRIBUTE_IO_CONTROLLER_PROFILE = 0x0011,
	ATTRIBUTE_SERVICE_ENTRIES = 0x0012,
	ATTRIBUTE_DIAGNOSTIC_TIMEOUT = 0x0020,
	ATTRIBUTE_PREPARE_TO_TEST = 0x0021,
	ATTRIBUTE_TEST_DEVICE_ONCE = 0x0022,
	ATTRIBUTE_TEST_DEVICE_LOOP = 0x0023,
	ATTRIBUTE_DIAG_CODE = 0x0024,

	TRAP_READY_TO_TEST = 514, /* of this class */
};

/* Status of the class (bits 8 to 15). */
enum device_status {
	DEVICE_STATUS_NO_RESPONSE = 0x0100, /* the slot is empty, or its controller is silent */
	DEVICE_STATUS_NO_SERVICE_ENTRIES = 0x0200,
	DEVICE_STATUS_CONTROLLER_FAILURE = 0x8000, /* DiagCode has the reason */
};

/* IOUnitInfo: these fields, then the controller list with 4 bits a slot. */
#define IO_UNIT_INFO_FIELDS(FIELD)                                                                 \
	FIELD(uint16_t, change_id, 0, 16)                                                          \
	FIELD(uint8_t, max_controllers, 16, 8)                                                     \
	FIELD(uint8_t, diag_device_id, 30, 1)                                                      \
	FIELD(uint8_t, option_rom, 31, 1)

enum {
	IO_SLOTS_MAX = 255,
	IO_UNIT_INFO_BYTES = 4,
	IO_CONTROLLER_LIST_OFFSET = 4,
	IO_CONTROLLER_LIST_BYTES = 128,
	IO_UNIT_INFO_TOTAL_BYTES = IO_CONTROLLER_LIST_OFFSET + IO_CONTROLLER_LIST_BYTES,
};
ATTRIBUTE_STRUCT(io_unit_info, IO_UNIT_INFO_FIELDS)

enum io_slot_state { IO_SLOT_EMPTY = 0, IO_SLOT_HAS_CONTROLLER = 1, IO_SLOT_NONE = 0xf };

/* The state of a slot, 1 to 255, in the data of an IOUnitInfo. Other values than those of enum
 * io_slot_state may occur. */
unsigned io_slot_state_get(const uint8_t data[static IO_UNIT_INFO_TOTAL_BYTES], unsigned slot);
void io_slot_state_put(uint8_t data[static IO_UNIT_INFO_TOTAL_BYTES], unsigned slot,
		       enum io_slot_state state);

/* IOControllerProfile: these fields, then the ID string. */
#define IO_CONTROLLER_PROFILE_FIELDS(FIELD)                                                        \
	FIELD(uint64_t, guid, 0, 64)                                                               \
	FIELD(uint32_t, vendor_id, 64, 24)                                                         \
	FIELD(uint32_t, device_id, 96, 32)                                                         \
	FIELD(uint16_t, device_version, 128, 16)                                                   \
	FIELD(uint32_t, subsystem_vendor_id, 160, 24)                                              \
	FIELD(uint32_t, subsystem_id, 192, 32)                                                     \
	FIELD(uint16_t, io_class, 224, 16)                                                         \
	FIELD(uint16_t, io_subclass, 240, 16)                                                      \
	FIELD(uint16_t, protocol, 256, 16)                                                         \
	FIELD(uint16_t, protocol_version, 272, 16)                                                 \
	FIELD(uint16_t, send_message_queue_depth, 320, 16)                                         \
	FIELD(uint8_t, rdma_read_queue_depth, 344, 8)                                              \
	FIELD(uint32_t, send_message_size, 352, 32)                                                \
	FIELD(uint32_t, rdma_transfer_size, 384, 32)                                               \
	FIELD(uint8_t, controller_op_capability_mask, 416, 8)                                      \
	FIELD(uint8_t, service_entries, 432, 8)

enum {
	IO_CONTROLLER_PROFILE_BYTES = 64,
	IO_ID_STRING_OFFSET = 64,
	IO_ID_STRING_BYTES = 64,
	IO_CONTROLLER_PROFILE_TOTAL_BYTES = IO_ID_STRING_OFFSET + IO_ID_STRING_BYTES,
};
ATTRIBUTE_STRUCT(io_controller_profile, IO_CONTROLLER_PROFILE_FIELDS)

/* ControllerOpCapabilityMask. */
enum {
	IO_CAPABILITY_SEND_TO = 1 << 0,
	IO_CAPABILITY_SEND_FROM = 1 << 1,
	IO_CAPABILITY_READ_TO = 1 << 2,
	IO_CAPABILITY_READ_FROM = 1 << 3,
	IO_CAPABILITY_WRITE_TO = 1 << 4,
	IO_CAPABILITY_WRITE_FROM = 1 << 5,
	IO_CAPABILITY_ATOMIC_TO = 1 << 6,
	IO_CAPABILITY_ATOMIC_FROM = 1 << 7,
};

/* ServiceEntries: up to four entries of a name and a service ID. */
enum {
	IO_SERVICES_MAX = 255, /* of a controller */
	IO_SERVICES_PER_MAD = 4,
	IO_SERVICE_NAME_BYTES = 40,
	IO_SERVICE_ENTRY_BYTES = IO_SERVICE_NAME_BYTES + 8,
};

struct io_service_entry {
	char name[IO_SERVICE_NAME_BYTES]; /* ended by a zero */
	uint64_t id;
};

void io_service_entry_encode(const struct io_service_entry *entry,
			     uint8_t ret_bytes[static IO_SERVICE_ENTRY_BYTES]);
/* false: the name has no terminator, or bytes that are not printable ASCII. */
MUST_USE bool io_service_entry_decode(const uint8_t bytes[static IO_SERVICE_ENTRY_BYTES],
				      struct io_service_entry *ret_entry);

/* Copies a text of the wire and ends it with a zero; other bytes than printable ASCII become '?',
 * so that a peer can't write to a terminal. ret_text has byte_count + 1 bytes. */
void io_text_decode(const uint8_t *bytes, size_t byte_count, char *ret_text);

/* The attribute modifier of ServiceEntries. Entries count from 0. */
struct io_service_range {
	uint8_t slot, first, last;
};

uint32_t io_service_range_encode(const struct io_service_range *range);
/* false: reserved bits, the range is empty, or it does not fit a MAD. */
MUST_USE bool io_service_range_decode(uint32_t modifier, struct io_service_range *ret_range);

#define DIAGNOSTIC_TIMEOUT_FIELDS(FIELD) FIELD(uint32_t, max_diag_time_ms, 0, 32)
enum { DIAGNOSTIC_TIMEOUT_BYTES = 4 };
ATTRIBUTE_STRUCT(diagnostic_timeout, DIAGNOSTIC_TIMEOUT_FIELDS)

#define DIAG_CODE_FIELDS(FIELD) FIELD(uint16_t, diag_code, 0, 16)
enum { DIAG_CODE_BYTES = 4, DIAG_CODE_PASSED = 0 };
ATTRIBUTE_STRUCT(diag_code, DIAG_CODE_FIELDS)

/* Details of trap 514. */
#define READY_TO_TEST_DETAILS_FIELDS(FIELD) FIELD(uint64_t, controller_guid, 0, 64)
ATTRIBUTE_STRUCT(ready_to_test_details, READY_TO_TEST_DETAILS_FIELDS)

/* The class has no trap for a changed unit. softib sends a vendor's notice with this device ID and
 * these details. Slot 0: several slots changed. */
enum { NOTICE_IO_UNIT_CHANGED = 1 };

#define IO_UNIT_CHANGE_DETAILS_FIELDS(FIELD)                                                       \
	FIELD(uint16_t, change_id, 0, 16)                                                          \
	FIELD(uint8_t, slot, 16, 8)                                                                \
	FIELD(uint8_t, slot_state, 24, 8)                                                          \
	FIELD(uint64_t, controller_guid, 32, 64)
ATTRIBUTE_STRUCT(io_unit_change_details, IO_UNIT_CHANGE_DETAILS_FIELDS)

#endif
