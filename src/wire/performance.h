/* SPDX-License-Identifier: Apache-2.0 */
/* The port counters of performance management (vol 1, chapter 16; management 6.1). The data are at
 * PERFORMANCE_DATA_OFFSET of a MAD. */
#ifndef SOFTIB_WIRE_PERFORMANCE_H
#define SOFTIB_WIRE_PERFORMANCE_H

#include "wire/attribute.h"
#include "wire/class_port_info.h"

enum {
	PORT_COUNTERS_BYTES = 44,
	PORT_COUNTERS_EXTENDED_BYTES = 184,
	PORT_RCV_ERROR_DETAILS_BYTES = 16,
	PORT_XMIT_DISCARD_DETAILS_BYTES = 12,
	PORT_DATA_BY_SL_BYTES = 68,
	PORT_OP_RCV_COUNTERS_BYTES = 12,
	PORT_FLOW_CTL_COUNTERS_BYTES = 12,
	PORT_VL_COUNTERS_16_BYTES = 36,
	PORT_VL_COUNTERS_32_BYTES = 68,
	PORT_VL_UPDATE_ERRORS_BYTES = 8,
	PORT_EXTENDED_SPEEDS_BYTES = 140,
	PORT_EXTENDED_SPEEDS_RSFEC_BYTES = 152,
	PORT_RCV_CON_CTRL_BYTES = 12,
	PORT_XMIT_CON_CTRL_BYTES = 8,
	PORT_VL_XMIT_TIME_CONG_BYTES = 64,
	PORT_SAMPLES_CONTROL_BYTES = 80,
	PORT_SAMPLES_RESULT_BYTES = 64,
	PORT_SAMPLES_RESULT_EXTENDED_BYTES = 128,
	PERFORMANCE_CLASS_VERSION = 1,
	PORT_SELECT_ALL = 0xff,
};

/* ClassPortInfo.CapabilityMask of this class. */
enum {
	PERFORMANCE_ALL_PORT_SELECT = 1 << 8,
	PERFORMANCE_EXTENDED_WIDTH = 1 << 9,
	PERFORMANCE_EXTENDED_WIDTH_NO_IETF = 1 << 10,
	PERFORMANCE_XMIT_WAIT = 1 << 12,
	PERFORMANCE_RSFEC_COUNTERS = 1 << 14,
	PERFORMANCE_QP1_DROPPED = 1 << 15,
};

/* ClassPortInfo.CapabilityMask2 of this class. */
enum { PERFORMANCE_ADDITIONAL_EXTENDED = 1 << 1 };

/* Attributes of this class, beyond PortCounters and PortCountersExtended. */
enum {
	ATTRIBUTE_PORT_SAMPLES_CONTROL = 0x0010,
	ATTRIBUTE_PORT_SAMPLES_RESULT = 0x0011,
	ATTRIBUTE_PORT_RCV_ERROR_DETAILS = 0x0015,
	ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS = 0x0016,
	ATTRIBUTE_PORT_OP_RCV_COUNTERS = 0x0017,
	ATTRIBUTE_PORT_FLOW_CTL_COUNTERS = 0x0018,
	ATTRIBUTE_PORT_VL_OP_PACKETS = 0x0019,
	ATTRIBUTE_PORT_VL_OP_DATA = 0x001a,
	ATTRIBUTE_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS = 0x001b,
	ATTRIBUTE_PORT_VL_XMIT_WAIT_COUNTERS = 0x001c,
	ATTRIBUTE_PORT_SAMPLES_RESULT_EXTENDED = 0x001e,
	ATTRIBUTE_PORT_EXTENDED_SPEEDS_COUNTERS = 0x001f,
	ATTRIBUTE_SW_PORT_VL_CONGESTION = 0x0030,
	ATTRIBUTE_PORT_RCV_CON_CTRL = 0x0031,
	ATTRIBUTE_PORT_SL_RCV_FECN = 0x0032,
	ATTRIBUTE_PORT_SL_RCV_BECN = 0x0033,
	ATTRIBUTE_PORT_XMIT_CON_CTRL = 0x0034,
	ATTRIBUTE_PORT_VL_XMIT_TIME_CONG = 0x0035,
	ATTRIBUTE_PORT_XMIT_DATA_SL = 0x0036,
	ATTRIBUTE_PORT_RCV_DATA_SL = 0x0037,
};

/* Bits of PortCounters.CounterSelect, in the order of the counters. CounterSelect2 has bits of its
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

/* CounterSelect bits are 0 .. 5 in this order. */
#define PORT_RCV_ERROR_DETAILS_FIELDS(FIELD)                                                       \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint16_t, local_physical_errors, 32, 16)                                             \
	FIELD(uint16_t, malformed_packet_errors, 48, 16)                                           \
	FIELD(uint16_t, buffer_overrun_errors, 64, 16)                                             \
	FIELD(uint16_t, dlid_mapping_errors, 80, 16)                                               \
	FIELD(uint16_t, vl_mapping_errors, 96, 16)                                                 \
	FIELD(uint16_t, looping_errors, 112, 16)

ATTRIBUTE_STRUCT(port_rcv_error_details, PORT_RCV_ERROR_DETAILS_FIELDS)

/* CounterSelect bits are 0 .. 3 in this order. */
#define PORT_XMIT_DISCARD_DETAILS_FIELDS(FIELD)                                                    \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint16_t, inactive_discards, 32, 16)                                                 \
	FIELD(uint16_t, neighbor_mtu_discards, 48, 16)                                             \
	FIELD(uint16_t, switch_lifetime_discards, 64, 16)                                          \
	FIELD(uint16_t, switch_hoq_discards, 80, 16)

ATTRIBUTE_STRUCT(port_xmit_discard_details, PORT_XMIT_DISCARD_DETAILS_FIELDS)

/* PortXmitDataSL, PortRcvDataSL, PortSLRcvFECN and PortSLRcvBECN; CounterSelect has a bit per
 * SL. */
#define PORT_DATA_BY_SL_FIELDS(FIELD)                                                              \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, sl0, 32, 32)                                                               \
	FIELD(uint32_t, sl1, 64, 32)                                                               \
	FIELD(uint32_t, sl2, 96, 32)                                                               \
	FIELD(uint32_t, sl3, 128, 32)                                                              \
	FIELD(uint32_t, sl4, 160, 32)                                                              \
	FIELD(uint32_t, sl5, 192, 32)                                                              \
	FIELD(uint32_t, sl6, 224, 32)                                                              \
	FIELD(uint32_t, sl7, 256, 32)                                                              \
	FIELD(uint32_t, sl8, 288, 32)                                                              \
	FIELD(uint32_t, sl9, 320, 32)                                                              \
	FIELD(uint32_t, sl10, 352, 32)                                                             \
	FIELD(uint32_t, sl11, 384, 32)                                                             \
	FIELD(uint32_t, sl12, 416, 32)                                                             \
	FIELD(uint32_t, sl13, 448, 32)                                                             \
	FIELD(uint32_t, sl14, 480, 32)                                                             \
	FIELD(uint32_t, sl15, 512, 32)

ATTRIBUTE_STRUCT(port_data_by_sl, PORT_DATA_BY_SL_FIELDS)

/* OpCode is the opcode of the base transport header that the port counts. CounterSelect bits are 0
 * and 1. */
#define PORT_OP_RCV_COUNTERS_FIELDS(FIELD)                                                         \
	FIELD(uint8_t, op_code, 0, 8)                                                              \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, op_rcv_packets, 32, 32)                                                    \
	FIELD(uint32_t, op_rcv_data, 64, 32)

ATTRIBUTE_STRUCT(port_op_rcv_counters, PORT_OP_RCV_COUNTERS_FIELDS)

#define PORT_FLOW_CTL_COUNTERS_FIELDS(FIELD)                                                       \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, xmit_flow_packets, 32, 32)                                                 \
	FIELD(uint32_t, rcv_flow_packets, 64, 32)

ATTRIBUTE_STRUCT(port_flow_ctl_counters, PORT_FLOW_CTL_COUNTERS_FIELDS)

/* PortVLOpPackets, PortVLXmitWaitCounters and SwPortVLCongestion; CounterSelect has a bit per VL.
 * Only the first has an OpCode. */
#define PORT_VL_COUNTERS_16_FIELDS(FIELD)                                                          \
	FIELD(uint8_t, op_code, 0, 8)                                                              \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint16_t, vl0, 32, 16)                                                               \
	FIELD(uint16_t, vl1, 48, 16)                                                               \
	FIELD(uint16_t, vl2, 64, 16)                                                               \
	FIELD(uint16_t, vl3, 80, 16)                                                               \
	FIELD(uint16_t, vl4, 96, 16)                                                               \
	FIELD(uint16_t, vl5, 112, 16)                                                              \
	FIELD(uint16_t, vl6, 128, 16)                                                              \
	FIELD(uint16_t, vl7, 144, 16)                                                              \
	FIELD(uint16_t, vl8, 160, 16)                                                              \
	FIELD(uint16_t, vl9, 176, 16)                                                              \
	FIELD(uint16_t, vl10, 192, 16)                                                             \
	FIELD(uint16_t, vl11, 208, 16)                                                             \
	FIELD(uint16_t, vl12, 224, 16)                                                             \
	FIELD(uint16_t, vl13, 240, 16)                                                             \
	FIELD(uint16_t, vl14, 256, 16)                                                             \
	FIELD(uint16_t, vl15, 272, 16)

ATTRIBUTE_STRUCT(port_vl_counters_16, PORT_VL_COUNTERS_16_FIELDS)

/* PortVLOpData. */
#define PORT_VL_COUNTERS_32_FIELDS(FIELD)                                                          \
	FIELD(uint8_t, op_code, 0, 8)                                                              \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, vl0, 32, 32)                                                               \
	FIELD(uint32_t, vl1, 64, 32)                                                               \
	FIELD(uint32_t, vl2, 96, 32)                                                               \
	FIELD(uint32_t, vl3, 128, 32)                                                              \
	FIELD(uint32_t, vl4, 160, 32)                                                              \
	FIELD(uint32_t, vl5, 192, 32)                                                              \
	FIELD(uint32_t, vl6, 224, 32)                                                              \
	FIELD(uint32_t, vl7, 256, 32)                                                              \
	FIELD(uint32_t, vl8, 288, 32)                                                              \
	FIELD(uint32_t, vl9, 320, 32)                                                              \
	FIELD(uint32_t, vl10, 352, 32)                                                             \
	FIELD(uint32_t, vl11, 384, 32)                                                             \
	FIELD(uint32_t, vl12, 416, 32)                                                             \
	FIELD(uint32_t, vl13, 448, 32)                                                             \
	FIELD(uint32_t, vl14, 480, 32)                                                             \
	FIELD(uint32_t, vl15, 512, 32)

ATTRIBUTE_STRUCT(port_vl_counters_32, PORT_VL_COUNTERS_32_FIELDS)

/* PortVLXmitFlowCtlUpdateErrors. */
#define PORT_VL_UPDATE_ERRORS_FIELDS(FIELD)                                                        \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint8_t, vl0, 32, 2)                                                                 \
	FIELD(uint8_t, vl1, 34, 2)                                                                 \
	FIELD(uint8_t, vl2, 36, 2)                                                                 \
	FIELD(uint8_t, vl3, 38, 2)                                                                 \
	FIELD(uint8_t, vl4, 40, 2)                                                                 \
	FIELD(uint8_t, vl5, 42, 2)                                                                 \
	FIELD(uint8_t, vl6, 44, 2)                                                                 \
	FIELD(uint8_t, vl7, 46, 2)                                                                 \
	FIELD(uint8_t, vl8, 48, 2)                                                                 \
	FIELD(uint8_t, vl9, 50, 2)                                                                 \
	FIELD(uint8_t, vl10, 52, 2)                                                                \
	FIELD(uint8_t, vl11, 54, 2)                                                                \
	FIELD(uint8_t, vl12, 56, 2)                                                                \
	FIELD(uint8_t, vl13, 58, 2)                                                                \
	FIELD(uint8_t, vl14, 60, 2)                                                                \
	FIELD(uint8_t, vl15, 62, 2)

ATTRIBUTE_STRUCT(port_vl_update_errors, PORT_VL_UPDATE_ERRORS_FIELDS)

/* PortVLXmitTimeCong: the data VLs. */
#define PORT_VL_XMIT_TIME_CONG_FIELDS(FIELD)                                                       \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, vl0, 32, 32)                                                               \
	FIELD(uint32_t, vl1, 64, 32)                                                               \
	FIELD(uint32_t, vl2, 96, 32)                                                               \
	FIELD(uint32_t, vl3, 128, 32)                                                              \
	FIELD(uint32_t, vl4, 160, 32)                                                              \
	FIELD(uint32_t, vl5, 192, 32)                                                              \
	FIELD(uint32_t, vl6, 224, 32)                                                              \
	FIELD(uint32_t, vl7, 256, 32)                                                              \
	FIELD(uint32_t, vl8, 288, 32)                                                              \
	FIELD(uint32_t, vl9, 320, 32)                                                              \
	FIELD(uint32_t, vl10, 352, 32)                                                             \
	FIELD(uint32_t, vl11, 384, 32)                                                             \
	FIELD(uint32_t, vl12, 416, 32)                                                             \
	FIELD(uint32_t, vl13, 448, 32)                                                             \
	FIELD(uint32_t, vl14, 480, 32)

ATTRIBUTE_STRUCT(port_vl_xmit_time_cong, PORT_VL_XMIT_TIME_CONG_FIELDS)

#define PORT_RCV_CON_CTRL_FIELDS(FIELD)                                                            \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, rcv_fecn, 32, 32)                                                          \
	FIELD(uint32_t, rcv_becn, 64, 32)

ATTRIBUTE_STRUCT(port_rcv_con_ctrl, PORT_RCV_CON_CTRL_FIELDS)

#define PORT_XMIT_CON_CTRL_FIELDS(FIELD)                                                           \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint16_t, counter_select, 16, 16)                                                    \
	FIELD(uint32_t, xmit_time_cong, 32, 32)

ATTRIBUTE_STRUCT(port_xmit_con_ctrl, PORT_XMIT_CON_CTRL_FIELDS)

enum { PHYSICAL_LANES_MAX = 12 };

/* PortExtendedSpeedsCounters. CounterSelect bits are 0 .. 37 in this order. */
#define PORT_EXTENDED_SPEEDS_FIELDS(FIELD)                                                         \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint64_t, counter_select, 64, 64)                                                    \
	FIELD(uint16_t, sync_header_errors, 128, 16)                                               \
	FIELD(uint16_t, unknown_blocks, 144, 16)                                                   \
	FIELD(uint16_t, error_detection_lane0, 160, 16)                                            \
	FIELD(uint16_t, error_detection_lane1, 176, 16)                                            \
	FIELD(uint16_t, error_detection_lane2, 192, 16)                                            \
	FIELD(uint16_t, error_detection_lane3, 208, 16)                                            \
	FIELD(uint16_t, error_detection_lane4, 224, 16)                                            \
	FIELD(uint16_t, error_detection_lane5, 240, 16)                                            \
	FIELD(uint16_t, error_detection_lane6, 256, 16)                                            \
	FIELD(uint16_t, error_detection_lane7, 272, 16)                                            \
	FIELD(uint16_t, error_detection_lane8, 288, 16)                                            \
	FIELD(uint16_t, error_detection_lane9, 304, 16)                                            \
	FIELD(uint16_t, error_detection_lane10, 320, 16)                                           \
	FIELD(uint16_t, error_detection_lane11, 336, 16)                                           \
	FIELD(uint32_t, fec_correctable_lane0, 352, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane1, 384, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane2, 416, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane3, 448, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane4, 480, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane5, 512, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane6, 544, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane7, 576, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane8, 608, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane9, 640, 32)                                            \
	FIELD(uint32_t, fec_correctable_lane10, 672, 32)                                           \
	FIELD(uint32_t, fec_correctable_lane11, 704, 32)                                           \
	FIELD(uint32_t, fec_uncorrectable_lane0, 736, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane1, 768, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane2, 800, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane3, 832, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane4, 864, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane5, 896, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane6, 928, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane7, 960, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane8, 992, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_lane9, 1024, 32)                                         \
	FIELD(uint32_t, fec_uncorrectable_lane10, 1056, 32)                                        \
	FIELD(uint32_t, fec_uncorrectable_lane11, 1088, 32)

ATTRIBUTE_STRUCT(port_extended_speeds, PORT_EXTENDED_SPEEDS_FIELDS)

/* The same attribute while the link corrects errors by a Reed-Solomon code. CounterSelect bits are
 * 0 .. 25 up to the lanes, then 38 .. 40. */
#define PORT_EXTENDED_SPEEDS_RSFEC_FIELDS(FIELD)                                                   \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint64_t, counter_select, 64, 64)                                                    \
	FIELD(uint16_t, sync_header_errors, 128, 16)                                               \
	FIELD(uint16_t, unknown_blocks, 144, 16)                                                   \
	FIELD(uint16_t, error_detection_lane0, 160, 16)                                            \
	FIELD(uint16_t, error_detection_lane1, 176, 16)                                            \
	FIELD(uint16_t, error_detection_lane2, 192, 16)                                            \
	FIELD(uint16_t, error_detection_lane3, 208, 16)                                            \
	FIELD(uint16_t, error_detection_lane4, 224, 16)                                            \
	FIELD(uint16_t, error_detection_lane5, 240, 16)                                            \
	FIELD(uint16_t, error_detection_lane6, 256, 16)                                            \
	FIELD(uint16_t, error_detection_lane7, 272, 16)                                            \
	FIELD(uint16_t, error_detection_lane8, 288, 16)                                            \
	FIELD(uint16_t, error_detection_lane9, 304, 16)                                            \
	FIELD(uint16_t, error_detection_lane10, 320, 16)                                           \
	FIELD(uint16_t, error_detection_lane11, 336, 16)                                           \
	FIELD(uint32_t, fec_correctable_symbols_lane0, 352, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane1, 384, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane2, 416, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane3, 448, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane4, 480, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane5, 512, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane6, 544, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane7, 576, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane8, 608, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane9, 640, 32)                                    \
	FIELD(uint32_t, fec_correctable_symbols_lane10, 672, 32)                                   \
	FIELD(uint32_t, fec_correctable_symbols_lane11, 704, 32)                                   \
	FIELD(uint32_t, fec_correctable_blocks, 1120, 32)                                          \
	FIELD(uint32_t, fec_uncorrectable_blocks, 1152, 32)                                        \
	FIELD(uint32_t, fec_corrected_symbols, 1184, 32)

ATTRIBUTE_STRUCT(port_extended_speeds_rsfec, PORT_EXTENDED_SPEEDS_RSFEC_FIELDS)

enum { SAMPLE_COUNTERS = 15 };

enum sample_status { SAMPLE_DONE = 0, SAMPLE_STARTING = 1, SAMPLE_RUNNING = 2 };

/* The counters that can be sampled: CounterSelect of PortSamplesControl. Those of a VL have its
 * number in the bits of SAMPLE_VL_MASK. */
enum sample_counter {
	SAMPLE_NOTHING = 0,
	SAMPLE_XMIT_DATA = 1,
	SAMPLE_RCV_DATA = 2,
	SAMPLE_XMIT_PACKETS = 3,
	SAMPLE_RCV_PACKETS = 4,
	SAMPLE_XMIT_WAIT = 5,
	SAMPLE_VL_XMIT_DATA = 0x4001,
	SAMPLE_VL_RCV_DATA = 0x4002,
	SAMPLE_VL_XMIT_PACKETS = 0x4003,
	SAMPLE_VL_RCV_PACKETS = 0x4004,
	SAMPLE_LOCAL_PHYSICAL_ERRORS = 0x4005,
	SAMPLE_MALFORMED_PACKET_ERRORS = 0x4006,
	SAMPLE_BUFFER_OVERRUN_ERRORS = 0x4007,
	SAMPLE_DLID_MAPPING_ERRORS = 0x4008,
	SAMPLE_VL_MAPPING_ERRORS = 0x4009,
	SAMPLE_LOOPING_ERRORS = 0x400a,
	SAMPLE_INACTIVE_DISCARDS = 0x400b,
	SAMPLE_NEIGHBOR_MTU_DISCARDS = 0x400c,
	SAMPLE_SWITCH_LIFETIME_DISCARDS = 0x400d,
	SAMPLE_SWITCH_HOQ_DISCARDS = 0x400e,
	SAMPLE_OP_RCV_PACKETS = 0x400f,
	SAMPLE_OP_RCV_DATA = 0x4010,
	SAMPLE_XMIT_FLOW_PACKETS = 0x4011,
	SAMPLE_RCV_FLOW_PACKETS = 0x4012,
	SAMPLE_VL_OP_PACKETS = 0x4013,
	SAMPLE_VL_OP_DATA = 0x4014,
	SAMPLE_VL_XMIT_FLOW_CTL_UPDATE_ERRORS = 0x4015,
	SAMPLE_VL_XMIT_WAIT = 0x4016,
	SAMPLE_SW_PORT_VL_CONGESTION = 0x4030,
};

enum { SAMPLE_VL_MASK = 0x0f00, SAMPLE_VL_SHIFT = 8 };

/* Bits of PortSamplesControl.OptionMask: the optional counters that the port has. */
enum {
	OPTION_VL_XMIT_DATA = 2,       /* the first of those that have a SAMPLE_ value: */
	OPTION_VL_XMIT_WAIT = 23,      /* .. the last, in the order of the values */
	OPTION_UNICAST_XMIT_PKTS = 24, /* then unicast and multicast, both directions */
	OPTION_MULTICAST_RCV_PKTS = 27,
	OPTION_EXTENDED_SPEEDS = 28,
	OPTION_SW_PORT_VL_CONGESTION = 48, /* then the attributes 0x31 .. 0x37 */
	OPTION_RCV_DATA_SL = 56,
};

#define PORT_SAMPLES_CONTROL_FIELDS(FIELD)                                                         \
	FIELD(uint8_t, op_code, 0, 8)                                                              \
	FIELD(uint8_t, port_select, 8, 8)                                                          \
	FIELD(uint8_t, tick, 16, 8)                                                                \
	FIELD(uint8_t, counter_width, 29, 3)                                                       \
	FIELD(uint8_t, counter_mask0, 34, 3)                                                       \
	FIELD(uint8_t, counter_mask1, 37, 3)                                                       \
	FIELD(uint8_t, counter_mask2, 40, 3)                                                       \
	FIELD(uint8_t, counter_mask3, 43, 3)                                                       \
	FIELD(uint8_t, counter_mask4, 46, 3)                                                       \
	FIELD(uint8_t, counter_mask5, 49, 3)                                                       \
	FIELD(uint8_t, counter_mask6, 52, 3)                                                       \
	FIELD(uint8_t, counter_mask7, 55, 3)                                                       \
	FIELD(uint8_t, counter_mask8, 58, 3)                                                       \
	FIELD(uint8_t, counter_mask9, 61, 3)                                                       \
	FIELD(uint8_t, counter_mask10, 65, 3)                                                      \
	FIELD(uint8_t, counter_mask11, 68, 3)                                                      \
	FIELD(uint8_t, counter_mask12, 71, 3)                                                      \
	FIELD(uint8_t, counter_mask13, 74, 3)                                                      \
	FIELD(uint8_t, counter_mask14, 77, 3)                                                      \
	FIELD(uint8_t, sample_mechanisms, 80, 8)                                                   \
	FIELD(uint8_t, sample_status, 94, 2)                                                       \
	FIELD(uint64_t, option_mask, 96, 64)                                                       \
	FIELD(uint64_t, vendor_mask, 160, 64)                                                      \
	FIELD(uint32_t, sample_start, 224, 32)                                                     \
	FIELD(uint32_t, sample_interval, 256, 32)                                                  \
	FIELD(uint16_t, tag, 288, 16)                                                              \
	FIELD(uint16_t, counter_select0, 304, 16)                                                  \
	FIELD(uint16_t, counter_select1, 320, 16)                                                  \
	FIELD(uint16_t, counter_select2, 336, 16)                                                  \
	FIELD(uint16_t, counter_select3, 352, 16)                                                  \
	FIELD(uint16_t, counter_select4, 368, 16)                                                  \
	FIELD(uint16_t, counter_select5, 384, 16)                                                  \
	FIELD(uint16_t, counter_select6, 400, 16)                                                  \
	FIELD(uint16_t, counter_select7, 416, 16)                                                  \
	FIELD(uint16_t, counter_select8, 432, 16)                                                  \
	FIELD(uint16_t, counter_select9, 448, 16)                                                  \
	FIELD(uint16_t, counter_select10, 464, 16)                                                 \
	FIELD(uint16_t, counter_select11, 480, 16)                                                 \
	FIELD(uint16_t, counter_select12, 496, 16)                                                 \
	FIELD(uint16_t, counter_select13, 512, 16)                                                 \
	FIELD(uint16_t, counter_select14, 528, 16)                                                 \
	FIELD(uint64_t, samples_only_option_mask, 576, 64)

ATTRIBUTE_STRUCT(port_samples_control, PORT_SAMPLES_CONTROL_FIELDS)

#define PORT_SAMPLES_RESULT_FIELDS(FIELD)                                                          \
	FIELD(uint16_t, tag, 0, 16)                                                                \
	FIELD(uint8_t, sample_status, 30, 2)                                                       \
	FIELD(uint32_t, counter0, 32, 32)                                                          \
	FIELD(uint32_t, counter1, 64, 32)                                                          \
	FIELD(uint32_t, counter2, 96, 32)                                                          \
	FIELD(uint32_t, counter3, 128, 32)                                                         \
	FIELD(uint32_t, counter4, 160, 32)                                                         \
	FIELD(uint32_t, counter5, 192, 32)                                                         \
	FIELD(uint32_t, counter6, 224, 32)                                                         \
	FIELD(uint32_t, counter7, 256, 32)                                                         \
	FIELD(uint32_t, counter8, 288, 32)                                                         \
	FIELD(uint32_t, counter9, 320, 32)                                                         \
	FIELD(uint32_t, counter10, 352, 32)                                                        \
	FIELD(uint32_t, counter11, 384, 32)                                                        \
	FIELD(uint32_t, counter12, 416, 32)                                                        \
	FIELD(uint32_t, counter13, 448, 32)                                                        \
	FIELD(uint32_t, counter14, 480, 32)

ATTRIBUTE_STRUCT(port_samples_result, PORT_SAMPLES_RESULT_FIELDS)

enum { SAMPLES_EXTENDED_WIDTH_64 = 2 };

#define PORT_SAMPLES_RESULT_EXTENDED_FIELDS(FIELD)                                                 \
	FIELD(uint16_t, tag, 0, 16)                                                                \
	FIELD(uint8_t, sample_status, 30, 2)                                                       \
	FIELD(uint8_t, extended_width, 32, 2)                                                      \
	FIELD(uint64_t, counter0, 64, 64)                                                          \
	FIELD(uint64_t, counter1, 128, 64)                                                         \
	FIELD(uint64_t, counter2, 192, 64)                                                         \
	FIELD(uint64_t, counter3, 256, 64)                                                         \
	FIELD(uint64_t, counter4, 320, 64)                                                         \
	FIELD(uint64_t, counter5, 384, 64)                                                         \
	FIELD(uint64_t, counter6, 448, 64)                                                         \
	FIELD(uint64_t, counter7, 512, 64)                                                         \
	FIELD(uint64_t, counter8, 576, 64)                                                         \
	FIELD(uint64_t, counter9, 640, 64)                                                         \
	FIELD(uint64_t, counter10, 704, 64)                                                        \
	FIELD(uint64_t, counter11, 768, 64)                                                        \
	FIELD(uint64_t, counter12, 832, 64)                                                        \
	FIELD(uint64_t, counter13, 896, 64)                                                        \
	FIELD(uint64_t, counter14, 960, 64)

ATTRIBUTE_STRUCT(port_samples_result_extended, PORT_SAMPLES_RESULT_EXTENDED_FIELDS)

#endif
