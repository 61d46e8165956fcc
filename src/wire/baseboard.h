/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baseboard management: B_KeyInfo, commands and traps (management 6.2). The B_Key is at
 * CLASS_KEY_OFFSET of a MAD. B_KeyInfo: wire/class_key_info.h.
 *
 * A command is a Send with AttributeModifier 0; its answer is a Send with AttributeModifier 1 and
 * the same transaction id. The parameters of the commands that the reference does not lay out are
 * softib's own: docs/decisions.md.
 */
#ifndef SOFTIB_WIRE_BASEBOARD_H
#define SOFTIB_WIRE_BASEBOARD_H

#include <stdbool.h>
#include "base/attributes.h"
#include "wire/attribute.h"
#include "wire/class_key_info.h"
#include "wire/mad.h"

enum {
	BASEBOARD_CLASS_VERSION = 1,
	BASEBOARD_DATA_OFFSET = 64,

	ATTRIBUTE_BKEY_INFO = 0x0010,
	ATTRIBUTE_INFORM_INFO = 0x0003, /* to the baseboard manager */

	TRAP_BAD_BKEY = 259,  /* of this class */
	TRAP_BASEBOARD = 260, /* from a module or a chassis */

	/* ClassPortInfo.CapabilityMask. */
	BASEBOARD_CAPABILITY_TRAP = 1 << 0,
	BASEBOARD_CAPABILITY_NOTICE = 1 << 1, /* Get and Set of Notice */
	BASEBOARD_CAPABILITY_IBML = 1 << 8,
	BASEBOARD_CAPABILITY_BKEY_NVRAM = 1 << 9,
};

enum baseboard_command {
	COMMAND_WRITE_VPD = 0x20,
	COMMAND_READ_VPD = 0x21,
	COMMAND_RESET_IBML = 0x22,
	COMMAND_SET_MODULE_PM = 0x23,
	COMMAND_GET_MODULE_PM = 0x24,
	COMMAND_SET_UNIT_PM = 0x25,
	COMMAND_GET_UNIT_PM = 0x26,
	COMMAND_SET_IOC_PM = 0x27,
	COMMAND_GET_IOC_PM = 0x28,
	COMMAND_SET_MODULE_STATE = 0x29,
	COMMAND_SET_MODULE_ATTENTION = 0x2a,
	COMMAND_GET_MODULE_STATUS = 0x2b,
	COMMAND_IB2IBML = 0x2c,
	COMMAND_IB2CME = 0x2d,
	COMMAND_IB2MME = 0x2e,
	COMMAND_OEM = 0x2f,
};

/* The first parameter of an answer. */
enum baseboard_status {
	BASEBOARD_OK = 0,
	BASEBOARD_ERROR = 1,
	BASEBOARD_CME_BUSY = 2,
	BASEBOARD_MME_BUSY = 3,
	BASEBOARD_NOT_SUPPORTED = 4,
	BASEBOARD_ILLEGAL_PARAMETER = 5,
	BASEBOARD_WRITE_PROTECTED = 0x40,
	BASEBOARD_NACK = 0x41,
	BASEBOARD_BUS_ERROR = 0x42,
	BASEBOARD_BUSY = 0x43,
	BASEBOARD_INVALID_VPD = 0x44, /* no VPD device has this selector */
	BASEBOARD_ILLEGAL_OFFSET = 0x45,
	BASEBOARD_ILLEGAL_BYTE_COUNT = 0x46,
};

/* NULL: not one of the above. */
const char *baseboard_status_text(uint8_t status);

enum {
	SOURCE_DEVICE_BM = 0xfe,
	SOURCE_DEVICE_CME = 0xe8,
	SOURCE_DEVICE_MME = 0xe0,

	PARAMETERS_MAX = 40, /* of a command */
	VPD_MODULE = 0xa0,
	VPD_CHASSIS = 0xa8,
	VPD_HEADER_BYTES = 5, /* device selector, byte count, offset */
	VPD_WRITE_MAX = 35,
	VPD_READ_MAX = 39,
	MODULE_STATUS_BYTES = 6,
	OEM_VENDOR_BYTES = 3,
};

struct baseboard_message {
	uint16_t sequence;
	uint8_t source_device;
	uint8_t parameter_count;
	uint8_t parameters[PARAMETERS_MAX];
};

/* Data of a Send, from BASEBOARD_DATA_OFFSET to the end of the MAD. False: more parameters than a
 * command may have. */
MUST_USE bool baseboard_message_decode(const uint8_t *data, struct baseboard_message *ret_message);
void baseboard_message_encode(const struct baseboard_message *message, uint8_t *ret_data);

/* Power states of module and unit, as PCI numbers them. */
enum baseboard_power { POWER_ON = 0, POWER_STANDBY = 1, POWER_OFF = 3 };

/* SetModuleState. */
enum module_state { MODULE_OUT_OF_SERVICE = 0, MODULE_IN_SERVICE = 1, MODULE_RESET = 2 };

/* SetModuleAttention. */
enum module_attention { ATTENTION_OFF = 0, ATTENTION_ON = 1, ATTENTION_IDENTIFY = 2 };

#define MODULE_STATUS_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, module_power, 0, 8)                                                         \
	FIELD(uint8_t, unit_power, 8, 8)                                                           \
	FIELD(uint8_t, attention, 16, 8)                                                           \
	FIELD(uint8_t, health, 24, 8) /* enum sensor_level of the worst sensor */                  \
	FIELD(uint8_t, bus_is_hung, 36, 1)                                                         \
	FIELD(uint8_t, chassis_vpd_is_protected, 37, 1)                                            \
	FIELD(uint8_t, module_vpd_is_protected, 38, 1)                                             \
	FIELD(uint8_t, power_is_changing, 39, 1)                                                   \
	FIELD(uint8_t, sensor_count, 40, 8)

ATTRIBUTE_STRUCT(module_status, MODULE_STATUS_FIELDS)

/* Sensors: softib's OEM commands and the data of trap 260. Values are signed thousandths of a
 * degree Celsius, a volt, or a revolution per minute. */
enum sensor_kind { SENSOR_TEMPERATURE = 1, SENSOR_VOLTAGE = 2, SENSOR_FAN = 3 };

enum sensor_level {
	SENSOR_NORMAL = 0,
	SENSOR_LOW_WARNING = 1,
	SENSOR_HIGH_WARNING = 2,
	SENSOR_LOW_CRITICAL = 3,
	SENSOR_HIGH_CRITICAL = 4,
	SENSOR_LEVEL_COUNT,
};

const char *sensor_level_name(uint8_t level);

/* OEM parameters: vendor id, then one of these, then its own parameters. */
enum oem_command {
	OEM_READ_SENSOR = 1,   /* index:8; answered with a sensor report */
	OEM_SET_THRESHOLD = 2, /* index:8, enum sensor_level:8, value:32 */
};

enum { SENSOR_THRESHOLD_BYTES = 6 };

/* NODE_VENDOR_ID of net/node, as trap 260 and OEM commands carry it. */
enum { SOFTIB_VENDOR_ID = 0x025f1b };

#define SENSOR_REPORT_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, index, 0, 8)                                                                \
	FIELD(uint8_t, kind, 8, 8)                                                                 \
	FIELD(uint8_t, number, 16, 8) /* among those of its kind, as in its name */                \
	FIELD(uint8_t, level, 24, 8)                                                               \
	FIELD(uint32_t, value, 32, 32)                                                             \
	FIELD(uint32_t, low_critical, 64, 32)                                                      \
	FIELD(uint32_t, low_warning, 96, 32)                                                       \
	FIELD(uint32_t, high_warning, 128, 32)                                                     \
	FIELD(uint32_t, high_critical, 160, 32)

enum { SENSOR_REPORT_BYTES = 24 };
ATTRIBUTE_STRUCT(sensor_report, SENSOR_REPORT_FIELDS)

/* Writes "temp1", "in0", "fan2". */
enum { SENSOR_NAME_BYTES = 16 };
void sensor_name(uint8_t kind, uint8_t number, char ret_name[static SENSOR_NAME_BYTES]);

/* Details of trap 259. */
#define BAD_BKEY_DETAILS_FIELDS(FIELD)                                                             \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint8_t, method, 16, 8)                                                              \
	FIELD(uint16_t, attribute_id, 32, 16)                                                      \
	FIELD(uint32_t, attribute_modifier, 48, 32)                                                \
	FIELD(uint32_t, qpn, 88, 24)                                                               \
	FIELD(uint64_t, bkey, 112, 64)                                                             \
	FIELD(uint64_t, gid_prefix, 176, 64)                                                       \
	FIELD(uint64_t, gid_guid, 240, 64)

ATTRIBUTE_STRUCT(bad_bkey_details, BAD_BKEY_DETAILS_FIELDS)

/* Details of trap 260; up to 49 bytes of data follow at BASEBOARD_TRAP_DATA_OFFSET. */
enum baseboard_trap_type {
	BASEBOARD_TRAP_MME = 0,
	BASEBOARD_TRAP_OEM_MME = 1,
	BASEBOARD_TRAP_CME_RTR = 2,
	BASEBOARD_TRAP_CME_WRE = 3,
	BASEBOARD_TRAP_CME = 4,
	BASEBOARD_TRAP_OEM_CME = 5,
};

#define BASEBOARD_TRAP_DETAILS_FIELDS(FIELD)                                                       \
	FIELD(uint8_t, data_length, 0, 8)                                                          \
	FIELD(uint8_t, type, 8, 8)                                                                 \
	FIELD(uint32_t, modifier, 16, 24)

enum { BASEBOARD_TRAP_DATA_OFFSET = 5, BASEBOARD_TRAP_DATA_MAX = 49 };
ATTRIBUTE_STRUCT(baseboard_trap_details, BASEBOARD_TRAP_DETAILS_FIELDS)

#endif
