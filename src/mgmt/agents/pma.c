/* SPDX-License-Identifier: Apache-2.0 */
/* The performance agent: ClassPortInfo, and the attributes with counters that every port has
 * (management 6.1). pma_details.c has those of single lanes, of opcodes and of congestion. */
#include "mgmt/agents/counter_attribute.h"

#include "wire/performance.h"
#include "wire/smp.h"

#define BASIC(field)	    offsetof(struct port_counters, field)
#define EXTENDED(field)	    offsetof(struct port_counters_extended, field)
#define RCV_ERROR(field)    offsetof(struct port_rcv_error_details, field)
#define XMIT_DISCARD(field) offsetof(struct port_xmit_discard_details, field)
#define FLOW_CTL(field)	    offsetof(struct port_flow_ctl_counters, field)

/* clang-format off */
static const struct shown_counter basic_counters[] = {
	{LINK_COUNTER(symbol_errors),                  BASIC(symbol_error),                    16, 0},
	{LINK_COUNTER(link_error_recovery),            BASIC(link_error_recovery),              8, 1},
	{LINK_COUNTER(link_downed),                    BASIC(link_downed),                      8, 2},
	{LINK_COUNTER(receive_errors),                 BASIC(rcv_errors),                      16, 3},
	{LINK_COUNTER(receive_remote_physical_errors), BASIC(rcv_remote_physical_errors),      16, 4},
	{LINK_COUNTER(receive_switch_relay_errors),    BASIC(rcv_switch_relay_errors),         16, 5},
	{LINK_COUNTER(transmit_discards),              BASIC(xmit_discards),                   16, 6},
	{LINK_COUNTER(transmit_constraint_errors),     BASIC(xmit_constraint_errors),           8, 7},
	{LINK_COUNTER(receive_constraint_errors),      BASIC(rcv_constraint_errors),            8, 8},
	{LINK_COUNTER(local_link_integrity_errors),    BASIC(local_link_integrity_errors),      4, 9},
	{LINK_COUNTER(excessive_buffer_overruns),      BASIC(excessive_buffer_overrun_errors),  4, 10},
	{LINK_COUNTER(vl15_dropped),                   BASIC(vl15_dropped),                    16, 11},
	{LINK_COUNTER(transmit_words),                 BASIC(xmit_data),                       32, 12},
	{LINK_COUNTER(receive_words),                  BASIC(rcv_data),                        32, 13},
	{LINK_COUNTER(transmit_packets),               BASIC(xmit_packets),                    32, 14},
	{LINK_COUNTER(receive_packets),                BASIC(rcv_packets),                     32, 15},
	{LINK_COUNTER(transmit_wait),                  BASIC(xmit_wait),                       32, 16},
	{LINK_COUNTER(qp1_dropped),                    BASIC(qp1_dropped),                     16, 17},
};

static const struct shown_counter extended_counters[] = {
	{LINK_COUNTER(transmit_words),                 EXTENDED(xmit_data),                       64, 0},
	{LINK_COUNTER(receive_words),                  EXTENDED(rcv_data),                        64, 1},
	{LINK_COUNTER(transmit_packets),               EXTENDED(xmit_packets),                    64, 2},
	{LINK_COUNTER(receive_packets),                EXTENDED(rcv_packets),                     64, 3},
	{LINK_COUNTER(unicast_transmit_packets),       EXTENDED(unicast_xmit_packets),            64, 4},
	{LINK_COUNTER(unicast_receive_packets),        EXTENDED(unicast_rcv_packets),             64, 5},
	{LINK_COUNTER(multicast_transmit_packets),     EXTENDED(multicast_xmit_packets),          64, 6},
	{LINK_COUNTER(multicast_receive_packets),      EXTENDED(multicast_rcv_packets),           64, 7},
	{LINK_COUNTER(symbol_errors),                  EXTENDED(symbol_error),                    64, 16},
	{LINK_COUNTER(link_error_recovery),            EXTENDED(link_error_recovery),             64, 17},
	{LINK_COUNTER(link_downed),                    EXTENDED(link_downed),                     64, 18},
	{LINK_COUNTER(receive_errors),                 EXTENDED(rcv_errors),                      64, 19},
	{LINK_COUNTER(receive_remote_physical_errors), EXTENDED(rcv_remote_physical_errors),      64, 20},
	{LINK_COUNTER(receive_switch_relay_errors),    EXTENDED(rcv_switch_relay_errors),         64, 21},
	{LINK_COUNTER(transmit_discards),              EXTENDED(xmit_discards),                   64, 22},
	{LINK_COUNTER(transmit_constraint_errors),     EXTENDED(xmit_constraint_errors),          64, 23},
	{LINK_COUNTER(receive_constraint_errors),      EXTENDED(rcv_constraint_errors),           64, 24},
	{LINK_COUNTER(local_link_integrity_errors),    EXTENDED(local_link_integrity_errors),     64, 25},
	{LINK_COUNTER(excessive_buffer_overruns),      EXTENDED(excessive_buffer_overrun_errors), 64, 26},
	{LINK_COUNTER(vl15_dropped),                   EXTENDED(vl15_dropped),                    64, 27},
	{LINK_COUNTER(transmit_wait),                  EXTENDED(xmit_wait),                       64, 28},
	{LINK_COUNTER(qp1_dropped),                    EXTENDED(qp1_dropped),                     64, 29},
};

static const struct shown_counter rcv_error_counters[] = {
	{LINK_COUNTER(receive_physical_errors),   RCV_ERROR(local_physical_errors),   16, 0},
	{LINK_COUNTER(receive_malformed_packets), RCV_ERROR(malformed_packet_errors), 16, 1},
	{LINK_COUNTER(drops[DROP_OVERRUN]),       RCV_ERROR(buffer_overrun_errors),   16, 2},
	{LINK_COUNTER(drops[DROP_NO_ROUTE]),      RCV_ERROR(dlid_mapping_errors),     16, 3},
	{LINK_COUNTER(drops[DROP_VL_MAPPING]),    RCV_ERROR(vl_mapping_errors),       16, 4},
	{LINK_COUNTER(drops[DROP_LOOPING]),       RCV_ERROR(looping_errors),          16, 5},
};

static const struct shown_counter xmit_discard_counters[] = {
	{LINK_COUNTER(drops[DROP_PORT_INACTIVE]), XMIT_DISCARD(inactive_discards),        16, 0},
	{LINK_COUNTER(drops[DROP_MTU]),           XMIT_DISCARD(neighbor_mtu_discards),    16, 1},
	{LINK_COUNTER(transmit_lifetime_discards),      XMIT_DISCARD(switch_lifetime_discards), 16, 2},
	{LINK_COUNTER(drops[DROP_HEAD_OF_QUEUE]), XMIT_DISCARD(switch_hoq_discards),      16, 3},
};

static const struct shown_counter flow_ctl_counters[] = {
	{LINK_COUNTER(transmit_flow_packets), FLOW_CTL(xmit_flow_packets), 32, 0},
	{LINK_COUNTER(receive_flow_packets),  FLOW_CTL(rcv_flow_packets),  32, 1},
};
/* clang-format on */

#define XMIT_SL(sl) LINK_COUNTER(transmit_levels[sl].sl_words)
#define RCV_SL(sl)  LINK_COUNTER(receive_levels[sl].sl_words)

static const struct shown_counter xmit_sl_counters[] = {
	COUNTER_ROWS_16(XMIT_SL, port_data_by_sl, sl, 32)};
static const struct shown_counter rcv_sl_counters[] = {
	COUNTER_ROWS_16(RCV_SL, port_data_by_sl, sl, 32)};

static const struct counter_attribute basic_attribute = {
	.layout = &port_counters_layout,
	.port_select_at = BASIC(port_select),
	.select_at = BASIC(counter_select),
	.select_bits = 16,
	.select2_at = BASIC(counter_select2),
	.select2_bits = 8,
	.counters = basic_counters,
	.counter_count = ARRAY_COUNT(basic_counters),
};

static const struct counter_attribute extended_attribute = {
	.layout = &port_counters_extended_layout,
	.port_select_at = EXTENDED(port_select),
	.select_at = EXTENDED(counter_select),
	.select_bits = 16,
	.select2_at = EXTENDED(counter_select2),
	.select2_bits = 32,
	.counters = extended_counters,
	.counter_count = ARRAY_COUNT(extended_counters),
};

static const struct counter_attribute rcv_error_attribute = {
	COUNTER_ATTRIBUTE(port_rcv_error_details, rcv_error_counters)};
static const struct counter_attribute xmit_discard_attribute = {
	COUNTER_ATTRIBUTE(port_xmit_discard_details, xmit_discard_counters)};
static const struct counter_attribute xmit_sl_attribute = {
	COUNTER_ATTRIBUTE(port_data_by_sl, xmit_sl_counters)};
static const struct counter_attribute rcv_sl_attribute = {
	COUNTER_ATTRIBUTE(port_data_by_sl, rcv_sl_counters)};
static const struct counter_attribute flow_ctl_attribute = {
	COUNTER_ATTRIBUTE(port_flow_ctl_counters, flow_ctl_counters)};

uint64_t *pma_counter(struct port *port, uint16_t extended_offset)
{
	for (size_t i = 0; i < ARRAY_COUNT(extended_counters); i++) {
		if (extended_counters[i].at == extended_offset)
			return counter_in_port(port, &extended_counters[i]);
	}
	return NULL;
}

static COUNTER_HANDLER(basic) static COUNTER_HANDLER(extended) static COUNTER_HANDLER(rcv_error) static COUNTER_HANDLER(
	xmit_discard) static COUNTER_HANDLER(xmit_sl) static COUNTER_HANDLER(rcv_sl) static COUNTER_HANDLER(flow_ctl)

	/* No field is writable: this class sends no traps. */
	static enum mad_status
	class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct class_port_info info = {
		.base_version = MAD_BASE_VERSION,
		.class_version = PERFORMANCE_CLASS_VERSION,
		.capability_mask = PERFORMANCE_ALL_PORT_SELECT | PERFORMANCE_EXTENDED_WIDTH |
				   PERFORMANCE_XMIT_WAIT | PERFORMANCE_RSFEC_COUNTERS |
				   PERFORMANCE_QP1_DROPPED,
		.capability_mask2 = PERFORMANCE_ADDITIONAL_EXTENDED,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
	};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	class_port_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static const struct gs_attribute rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
	{ATTRIBUTE_PORT_SAMPLES_CONTROL, pma_samples_control_get, pma_samples_control_set},
	{ATTRIBUTE_PORT_SAMPLES_RESULT, pma_samples_result_get, NULL},
	{ATTRIBUTE_PORT_COUNTERS, basic, basic},
	{ATTRIBUTE_PORT_RCV_ERROR_DETAILS, rcv_error, rcv_error},
	{ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS, xmit_discard, xmit_discard},
	{ATTRIBUTE_PORT_OP_RCV_COUNTERS, pma_op_rcv, pma_op_rcv},
	{ATTRIBUTE_PORT_FLOW_CTL_COUNTERS, flow_ctl, flow_ctl},
	{ATTRIBUTE_PORT_VL_OP_PACKETS, pma_vl_op_packets, pma_vl_op_packets},
	{ATTRIBUTE_PORT_VL_OP_DATA, pma_vl_op_data, pma_vl_op_data},
	{ATTRIBUTE_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS, pma_vl_update_errors, pma_vl_update_errors},
	{ATTRIBUTE_PORT_VL_XMIT_WAIT_COUNTERS, pma_vl_xmit_wait, pma_vl_xmit_wait},
	{ATTRIBUTE_PORT_COUNTERS_EXTENDED, extended, extended},
	{ATTRIBUTE_PORT_SAMPLES_RESULT_EXTENDED, pma_samples_result_extended_get, NULL},
	{ATTRIBUTE_PORT_EXTENDED_SPEEDS_COUNTERS, pma_extended_speeds, pma_extended_speeds},
	{ATTRIBUTE_SW_PORT_VL_CONGESTION, pma_vl_congestion, pma_vl_congestion},
	{ATTRIBUTE_PORT_RCV_CON_CTRL, pma_rcv_con_ctrl, pma_rcv_con_ctrl},
	{ATTRIBUTE_PORT_SL_RCV_FECN, pma_sl_rcv_fecn, pma_sl_rcv_fecn},
	{ATTRIBUTE_PORT_SL_RCV_BECN, pma_sl_rcv_becn, pma_sl_rcv_becn},
	{ATTRIBUTE_PORT_XMIT_CON_CTRL, pma_xmit_con_ctrl, pma_xmit_con_ctrl},
	{ATTRIBUTE_PORT_VL_XMIT_TIME_CONG, pma_vl_xmit_time_cong, pma_vl_xmit_time_cong},
	{ATTRIBUTE_PORT_XMIT_DATA_SL, xmit_sl, xmit_sl},
	{ATTRIBUTE_PORT_RCV_DATA_SL, rcv_sl, rcv_sl},
};
const struct gs_attributes pma_attributes = {rows, ARRAY_COUNT(rows)};
