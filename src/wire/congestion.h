/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of congestion control management (vol 1, annex A10; management 6.5). The CC_Key is at
 * CLASS_KEY_OFFSET of a MAD. The data of CongestionLog begin at an offset of their own. */
#ifndef SOFTIB_WIRE_CONGESTION_H
#define SOFTIB_WIRE_CONGESTION_H

#include "wire/attribute.h"
#include "wire/class_key_info.h"

enum {
	CONGESTION_CLASS_VERSION = 2,
	CONGESTION_LOG_OFFSET = 32, /* the data of CongestionLog; of others: SMP_DATA_OFFSET */

	ATTRIBUTE_CONGESTION_INFO = 0x0011,
	ATTRIBUTE_CONGESTION_KEY_INFO = 0x0012,
	ATTRIBUTE_CONGESTION_LOG = 0x0013,
	ATTRIBUTE_SWITCH_CONGESTION_SETTING = 0x0014,
	ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING = 0x0015,
	ATTRIBUTE_CA_CONGESTION_SETTING = 0x0016,
	ATTRIBUTE_CONGESTION_CONTROL_TABLE = 0x0017,
	ATTRIBUTE_CONGESTION_TIME_STAMP = 0x0018,

	TRAP_BAD_CC_KEY = 0, /* of this class */
};

#define CONGESTION_INFO_FIELDS(FIELD)                                                              \
	FIELD(uint16_t, flags, 0, 16)                                                              \
	FIELD(uint8_t, control_table_cap, 16, 8)

enum { CONGESTION_INFO_BYTES = 4 };
ATTRIBUTE_STRUCT(congestion_info, CONGESTION_INFO_FIELDS)

/* CongestionKeyInfo: wire/class_key_info.h. */

/* CongestionLog: the header of a switch or of a CA, then the events, the newest first. */

enum { CONGESTION_LOG_OF_SWITCH = 1, CONGESTION_LOG_OF_CA = 2, CONGESTION_FLAG_ENABLED = 1 };

/* Port n is bit n of 256; the last word has the lowest bits. */
#define SWITCH_CONGESTION_LOG_FIELDS(FIELD)                                                        \
	FIELD(uint8_t, log_type, 0, 8)                                                             \
	FIELD(uint8_t, congestion_flags, 8, 8)                                                     \
	FIELD(uint16_t, log_events_counter, 16, 16)                                                \
	FIELD(uint32_t, current_time_stamp, 32, 32)                                                \
	FIELD(uint64_t, port_map_3, 64, 64)                                                        \
	FIELD(uint64_t, port_map_2, 128, 64)                                                       \
	FIELD(uint64_t, port_map_1, 192, 64)                                                       \
	FIELD(uint64_t, port_map_0, 256, 64)

enum { SWITCH_CONGESTION_LOG_BYTES = 40 };
ATTRIBUTE_STRUCT(switch_congestion_log, SWITCH_CONGESTION_LOG_FIELDS)

#define SWITCH_CONGESTION_EVENT_FIELDS(FIELD)                                                      \
	FIELD(uint16_t, slid, 0, 16)                                                               \
	FIELD(uint16_t, dlid, 16, 16)                                                              \
	FIELD(uint8_t, sl, 32, 4)                                                                  \
	FIELD(uint32_t, time_stamp, 64, 32)

enum { SWITCH_CONGESTION_EVENT_BYTES = 12, SWITCH_CONGESTION_EVENTS = 15 };
ATTRIBUTE_STRUCT(switch_congestion_event, SWITCH_CONGESTION_EVENT_FIELDS)

#define CA_CONGESTION_LOG_FIELDS(FIELD)                                                            \
	FIELD(uint8_t, log_type, 0, 8)                                                             \
	FIELD(uint8_t, congestion_flags, 8, 8)                                                     \
	FIELD(uint16_t, threshold_event_counter, 16, 16)                                           \
	FIELD(uint16_t, threshold_congestion_event_map, 32, 16)                                    \
	FIELD(uint32_t, current_time_stamp, 64, 32)

enum { CA_CONGESTION_LOG_BYTES = 12 };
ATTRIBUTE_STRUCT(ca_congestion_log, CA_CONGESTION_LOG_FIELDS)

/* ServiceType. */
enum {
	CONGESTION_SERVICE_RC = 0,
	CONGESTION_SERVICE_UC = 1,
	CONGESTION_SERVICE_RD = 2,
	CONGESTION_SERVICE_UD = 3,
};

#define CA_CONGESTION_EVENT_FIELDS(FIELD)                                                          \
	FIELD(uint32_t, local_qpn, 0, 24)                                                          \
	FIELD(uint8_t, sl, 24, 4)                                                                  \
	FIELD(uint8_t, service_type, 28, 4)                                                        \
	FIELD(uint32_t, remote_qpn, 32, 24)                                                        \
	FIELD(uint16_t, local_lid, 64, 16)                                                         \
	FIELD(uint16_t, remote_lid, 80, 16)                                                        \
	FIELD(uint32_t, time_stamp, 96, 32)

enum { CA_CONGESTION_EVENT_BYTES = 16, CA_CONGESTION_EVENTS = 13 };
ATTRIBUTE_STRUCT(ca_congestion_event, CA_CONGESTION_EVENT_FIELDS)

/* Settings. */

/* SwitchCongestionSetting.ControlMap: the fields that a Set changes. */
enum {
	CONTROL_VICTIM_MASK = 1 << 0,
	CONTROL_CREDIT_MASK = 1 << 1,
	CONTROL_THRESHOLD = 1 << 2, /* and PacketSize */
	CONTROL_CREDIT_STARVATION = 1 << 3,
	CONTROL_MARKING_RATE = 1 << 4,
};

#define SWITCH_CONGESTION_SETTING_FIELDS(FIELD)                                                    \
	FIELD(uint32_t, control_map, 0, 32)                                                        \
	FIELD(uint64_t, victim_mask_3, 32, 64)                                                     \
	FIELD(uint64_t, victim_mask_2, 96, 64)                                                     \
	FIELD(uint64_t, victim_mask_1, 160, 64)                                                    \
	FIELD(uint64_t, victim_mask_0, 224, 64)                                                    \
	FIELD(uint64_t, credit_mask_3, 288, 64)                                                    \
	FIELD(uint64_t, credit_mask_2, 352, 64)                                                    \
	FIELD(uint64_t, credit_mask_1, 416, 64)                                                    \
	FIELD(uint64_t, credit_mask_0, 480, 64)                                                    \
	FIELD(uint8_t, threshold, 544, 4)                                                          \
	FIELD(uint8_t, packet_size, 552, 8)                                                        \
	FIELD(uint8_t, cs_threshold, 560, 4)                                                       \
	FIELD(uint16_t, cs_return_delay, 576, 16)                                                  \
	FIELD(uint16_t, marking_rate, 592, 16)

enum { SWITCH_CONGESTION_SETTING_BYTES = 76 };
ATTRIBUTE_STRUCT(switch_congestion_setting, SWITCH_CONGESTION_SETTING_FIELDS)

/* One of the 32 ports of a block. */
#define SWITCH_PORT_CONGESTION_FIELDS(FIELD)                                                       \
	FIELD(uint8_t, valid, 0, 1)                                                                \
	FIELD(uint8_t, control_type, 1, 1)                                                         \
	FIELD(uint8_t, threshold, 4, 4)                                                            \
	FIELD(uint8_t, packet_size, 8, 8)                                                          \
	FIELD(uint16_t, marking_rate, 16, 16)

enum { SWITCH_PORT_CONGESTION_BYTES = 4, SWITCH_PORT_CONGESTION_BLOCK = 32 };
ATTRIBUTE_STRUCT(switch_port_congestion, SWITCH_PORT_CONGESTION_FIELDS)

enum { CA_CONGESTION_PER_SL = 1 << 0 }; /* PortControl */

/* An entry per SL follows. */
#define CA_CONGESTION_SETTING_FIELDS(FIELD)                                                        \
	FIELD(uint16_t, port_control, 0, 16)                                                       \
	FIELD(uint16_t, control_map, 16, 16)

enum { CA_CONGESTION_SETTING_BYTES = 4 };
ATTRIBUTE_STRUCT(ca_congestion_setting, CA_CONGESTION_SETTING_FIELDS)

#define CA_CONGESTION_ENTRY_FIELDS(FIELD)                                                          \
	FIELD(uint16_t, ccti_timer, 0, 16)                                                         \
	FIELD(uint8_t, ccti_increase, 16, 8)                                                       \
	FIELD(uint8_t, trigger_threshold, 24, 8)                                                   \
	FIELD(uint8_t, ccti_min, 32, 8)

enum { CA_CONGESTION_ENTRY_BYTES = 8 };
ATTRIBUTE_STRUCT(ca_congestion_entry, CA_CONGESTION_ENTRY_FIELDS)

/* CongestionControlTable: CCTI_Limit, then 64 entries of 16 bits, Shift:2 and Multiplier:14. */
enum { CCT_ENTRIES_OFFSET = 4, CCT_BLOCK_ENTRIES = 64 };

/* Details of trap 0, with the GID of the requester if there was a GRH. */
#define BAD_CC_KEY_DETAILS_FIELDS(FIELD)                                                           \
	FIELD(uint16_t, slid, 0, 16)                                                               \
	FIELD(uint8_t, method, 16, 8)                                                              \
	FIELD(uint16_t, attribute_id, 32, 16)                                                      \
	FIELD(uint32_t, attribute_modifier, 64, 32)                                                \
	FIELD(uint32_t, qpn, 104, 24)                                                              \
	FIELD(uint64_t, cc_key, 128, 64)                                                           \
	FIELD(uint64_t, gid_prefix, 192, 64)                                                       \
	FIELD(uint64_t, gid_guid, 256, 64)

ATTRIBUTE_STRUCT(bad_cc_key_details, BAD_CC_KEY_DETAILS_FIELDS)

#endif
