/* SPDX-License-Identifier: Apache-2.0 */
/* The port counters of performance management (vol 1, chapter 16); data lies at
 * PERFORMANCE_DATA_OFFSET of a MAD. */
#ifndef SOFTIB_WIRE_PERFORMANCE_H
#define SOFTIB_WIRE_PERFORMANCE_H

#include "wire/attribute.h"
#include "wire/class_port_info.h"

enum {
	PORT_COUNTERS_BYTES = 44,
	PORT_COUNTERS_EXTENDED_BYTES = 184,
	PERFORMANCE_CLASS_VERSION = 1,
	PORT_SELECT_ALL = 0xff,
};

/* ClassPortInfo.CapabilityMask of this class. */
enum {
	PERFORMANCE_ALL_PORT_SELECT = 1 << 8,
	PERFORMANCE_EXTENDED_WIDTH = 1 << 9,
	PERFORMANCE_EXTENDED_WIDTH_NO_IETF = 1 << 10,
	PERFORMANCE_XMIT_WAIT = 1 << 12,
	PERFORMANCE_QP1_DROPPED = 1 << 15,
};

/* ClassPortInfo.CapabilityMask2 of this class. */
enum { PERFORMANCE_ADDITIONAL_EXTENDED = 1 << 1 };

/* Bits of PortCounters.CounterSelect, in the order of the counters; CounterSelect2 has bits of its
 * own. */
enum {
	SELECT_SYMBOL_ERROR = 1 << 0,
	SELECT_LINK_ERROR_RECOVERY = 1 << 1,
	SELECT_LINK_DOWNED = 1 << 2,
	SELECT_RCV_ERRORS = 1 << 3,
	SELECT_RCV_REMOTE_PHYSICAL_ERRORS = 1 << 4,
	SELECT_RCV_SWITCH_RELAY_ERRORS = 1 << 5,
	SELECT_XMIT_DISCARDS = 1 << 6,
	SELECT_XMIT_CONSTRAINT_ERRORS = 1 << 7,
	SELECT_RCV_CONSTRAINT_ERRORS = 1 << 8,
	SELECT_LOCAL_LINK_INTEGRITY_ERRORS = 1 << 9,
	SELECT_EXCESSIVE_BUFFER_OVERRUN_ERRORS = 1 << 10,
	SELECT_VL15_DROPPED = 1 << 11,
	SELECT_XMIT_DATA = 1 << 12,
	SELECT_RCV_DATA = 1 << 13,
	SELECT_XMIT_PACKETS = 1 << 14,
	SELECT_RCV_PACKETS = 1 << 15,

	SELECT2_XMIT_WAIT = 1 << 0,
	SELECT2_QP1_DROPPED = 1 << 1,
};

#define PORT_COUNTERS_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint16_t, symbol_error, 32, 16)                                                      \
	FIELD(uint8_t, link_error_recovery, 48, 8)                                                 \
	FIELD(uint8_t, link_downed, 56, 8)                                                         \
	FIELD(uint16_t, rcv_errors, 64, 16)                                                        \
	FIELD(uint16_t, rcv_remote_physical_errors, 80, 16)                                        \
	FIELD(uint16_t, rcv_switch_relay_errors, 96, 16)                                           \
	FIELD(uint16_t, xmit_discards, 112, 16)                                                    \
	FIELD(uint8_t, xmit_constraint_errors, 128, 8)                                             \
	FIELD(uint8_t, rcv_constraint_errors, 136, 8)                                              \
	FIELD(uint8_t, counter_select2, 144, 8)                                                    \
	FIELD(uint8_t, local_link_integrity_errors, 152, 4)                                        \
	FIELD(uint8_t, excessive_buffer_overrun_errors, 156, 4)                                    \
	FIELD(uint16_t, qp1_dropped, 160, 16)                                                      \
	FIELD(uint16_t, vl15_dropped, 176, 16)                                                     \
	FIELD(uint32_t, xmit_data, 192, 32)                                                        \
	FIELD(uint32_t, rcv_data, 224, 32)                                                         \
	FIELD(uint32_t, xmit_packets, 256, 32)                                                     \
	FIELD(uint32_t, rcv_packets, 288, 32)                                                      \
	FIELD(uint32_t, xmit_wait, 320, 32)

ATTRIBUTE_STRUCT(port_counters, PORT_COUNTERS_FIELDS)

/* CounterSelect bits are 0 .. 7 from xmit_data on, CounterSelect2 bits 0 .. 13 from symbol_error
 * on. */
#define PORT_COUNTERS_EXTENDED_FIELDS(FIELD)                                                       \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, counter_select2, 32, 32)                                                   \
	FIELD(uint64_t, xmit_data, 64, 64)                                                         \
	FIELD(uint64_t, rcv_data, 128, 64)                                                         \
	FIELD(uint64_t, xmit_packets, 192, 64)                                                     \
	FIELD(uint64_t, rcv_packets, 256, 64)                                                      \
	FIELD(uint64_t, unicast_xmit_packets, 320, 64)                                             \
	FIELD(uint64_t, unicast_rcv_packets, 384, 64)                                              \
	FIELD(uint64_t, multicast_xmit_packets, 448, 64)                                           \
	FIELD(uint64_t, multicast_rcv_packets, 512, 64)                                            \
	FIELD(uint64_t, symbol_error, 576, 64)                                                     \
	FIELD(uint64_t, link_error_recovery, 640, 64)                                              \
	FIELD(uint64_t, link_downed, 704, 64)                                                      \
	FIELD(uint64_t, rcv_errors, 768, 64)                                                       \
	FIELD(uint64_t, rcv_remote_physical_errors, 832, 64)                                       \
	FIELD(uint64_t, rcv_switch_relay_errors, 896, 64)                                          \
	FIELD(uint64_t, xmit_discards, 960, 64)                                                    \
	FIELD(uint64_t, xmit_constraint_errors, 1024, 64)                                          \
	FIELD(uint64_t, rcv_constraint_errors, 1088, 64)                                           \
	FIELD(uint64_t, local_link_integrity_errors, 1152, 64)                                     \
	FIELD(uint64_t, excessive_buffer_overrun_errors, 1216, 64)                                 \
	FIELD(uint64_t, vl15_dropped, 1280, 64)                                                    \
	FIELD(uint64_t, xmit_wait, 1344, 64)                                                       \
	FIELD(uint64_t, qp1_dropped, 1408, 64)

ATTRIBUTE_STRUCT(port_counters_extended, PORT_COUNTERS_EXTENDED_FIELDS)

#endif
