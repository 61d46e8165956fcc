/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of the performance agent with the counters of single virtual lanes, of an opcode,
 * of congestion and of the lanes of an extended speed (management 6.1). */
#include "mgmt/agents/counter_attribute.h"

#include "net/link/fec.h"
#include "wire/performance.h"

#define VL_OP_PACKETS(vl)	  DETAIL_COUNTER(opcode.vl_packets[vl])
#define VL_OP_WORDS(vl)		  DETAIL_COUNTER(opcode.vl_words[vl])
#define VL_UPDATE_ERRORS(vl)	  DETAIL_COUNTER(vl_update_errors[vl])
#define VL_WAIT(vl)		  DETAIL_COUNTER(vl_transmit_wait[vl])
#define VL_CONGESTION(vl)	  DETAIL_COUNTER(vl_congestion[vl])
#define VL_CONGESTED(vl)	  DETAIL_COUNTER(vl_transmit_time_congested[vl])
#define SL_FECN(sl)		  DETAIL_COUNTER(sl_receive_fecn[sl])
#define SL_BECN(sl)		  DETAIL_COUNTER(sl_receive_becn[sl])
#define OP_RCV(field)		  offsetof(struct port_op_rcv_counters, field)
#define RCV_CON_CTRL(field)	  offsetof(struct port_rcv_con_ctrl, field)
#define XMIT_CON_CTRL(field)	  offsetof(struct port_xmit_con_ctrl, field)
#define EXTENDED_SPEEDS(field)	  offsetof(struct port_extended_speeds, field)
#define EXTENDED_SPEEDS_RS(field) offsetof(struct port_extended_speeds_rsfec, field)

/* clang-format off */
static const struct shown_counter op_rcv_counters[] = {
	{DETAIL_COUNTER(opcode.packets), OP_RCV(op_rcv_packets), 32, 0},
	{DETAIL_COUNTER(opcode.words),   OP_RCV(op_rcv_data),    32, 1},
};

static const struct shown_counter rcv_con_ctrl_counters[] = {
	{DETAIL_COUNTER(receive_fecn), RCV_CON_CTRL(rcv_fecn), 32, 0},
	{DETAIL_COUNTER(receive_becn), RCV_CON_CTRL(rcv_becn), 32, 1},
};

static const struct shown_counter xmit_con_ctrl_counters[] = {
	{DETAIL_COUNTER(transmit_time_congested), XMIT_CON_CTRL(xmit_time_cong), 32, 0},
};

static const struct shown_counter vl_op_packets_counters[] = {
	COUNTER_ROWS_16(VL_OP_PACKETS, port_vl_counters_16, vl, 16)
};
static const struct shown_counter vl_op_data_counters[] = {
	COUNTER_ROWS_16(VL_OP_WORDS, port_vl_counters_32, vl, 32)
};
static const struct shown_counter vl_update_errors_counters[] = {
	COUNTER_ROWS_16(VL_UPDATE_ERRORS, port_vl_update_errors, vl, 2)
};
static const struct shown_counter vl_xmit_wait_counters[] = {
	COUNTER_ROWS_16(VL_WAIT, port_vl_counters_16, vl, 16)
};
static const struct shown_counter vl_congestion_counters[] = {
	COUNTER_ROWS_16(VL_CONGESTION, port_vl_counters_16, vl, 16)
};
static const struct shown_counter sl_rcv_fecn_counters[] = {
	COUNTER_ROWS_16(SL_FECN, port_data_by_sl, sl, 32)
};
static const struct shown_counter sl_rcv_becn_counters[] = {
	COUNTER_ROWS_16(SL_BECN, port_data_by_sl, sl, 32)
};

/* VL15 is never congested. */
static const struct shown_counter vl_xmit_time_cong_counters[] = {
	{VL_CONGESTED(0), offsetof(struct port_vl_xmit_time_cong, vl0), 32, 0},
	{VL_CONGESTED(1), offsetof(struct port_vl_xmit_time_cong, vl1), 32, 1},
	{VL_CONGESTED(2), offsetof(struct port_vl_xmit_time_cong, vl2), 32, 2},
	{VL_CONGESTED(3), offsetof(struct port_vl_xmit_time_cong, vl3), 32, 3},
	{VL_CONGESTED(4), offsetof(struct port_vl_xmit_time_cong, vl4), 32, 4},
	{VL_CONGESTED(5), offsetof(struct port_vl_xmit_time_cong, vl5), 32, 5},
	{VL_CONGESTED(6), offsetof(struct port_vl_xmit_time_cong, vl6), 32, 6},
	{VL_CONGESTED(7), offsetof(struct port_vl_xmit_time_cong, vl7), 32, 7},
	{VL_CONGESTED(8), offsetof(struct port_vl_xmit_time_cong, vl8), 32, 8},
	{VL_CONGESTED(9), offsetof(struct port_vl_xmit_time_cong, vl9), 32, 9},
	{VL_CONGESTED(10), offsetof(struct port_vl_xmit_time_cong, vl10), 32, 10},
	{VL_CONGESTED(11), offsetof(struct port_vl_xmit_time_cong, vl11), 32, 11},
	{VL_CONGESTED(12), offsetof(struct port_vl_xmit_time_cong, vl12), 32, 12},
	{VL_CONGESTED(13), offsetof(struct port_vl_xmit_time_cong, vl13), 32, 13},
	{VL_CONGESTED(14), offsetof(struct port_vl_xmit_time_cong, vl14), 32, 14},
};

static const struct shown_counter extended_speeds_counters[] = {
	{DETAIL_COUNTER(lanes.sync_header_errors), EXTENDED_SPEEDS(sync_header_errors), 16, 0},
	{DETAIL_COUNTER(lanes.unknown_blocks),     EXTENDED_SPEEDS(unknown_blocks),     16, 1},
	{DETAIL_COUNTER(lanes.errors[0]), EXTENDED_SPEEDS(error_detection_lane0), 16, 2},
	{DETAIL_COUNTER(lanes.errors[1]), EXTENDED_SPEEDS(error_detection_lane1), 16, 3},
	{DETAIL_COUNTER(lanes.errors[2]), EXTENDED_SPEEDS(error_detection_lane2), 16, 4},
	{DETAIL_COUNTER(lanes.errors[3]), EXTENDED_SPEEDS(error_detection_lane3), 16, 5},
	{DETAIL_COUNTER(lanes.errors[4]), EXTENDED_SPEEDS(error_detection_lane4), 16, 6},
	{DETAIL_COUNTER(lanes.errors[5]), EXTENDED_SPEEDS(error_detection_lane5), 16, 7},
	{DETAIL_COUNTER(lanes.errors[6]), EXTENDED_SPEEDS(error_detection_lane6), 16, 8},
	{DETAIL_COUNTER(lanes.errors[7]), EXTENDED_SPEEDS(error_detection_lane7), 16, 9},
	{DETAIL_COUNTER(lanes.errors[8]), EXTENDED_SPEEDS(error_detection_lane8), 16, 10},
	{DETAIL_COUNTER(lanes.errors[9]), EXTENDED_SPEEDS(error_detection_lane9), 16, 11},
	{DETAIL_COUNTER(lanes.errors[10]), EXTENDED_SPEEDS(error_detection_lane10), 16, 12},
	{DETAIL_COUNTER(lanes.errors[11]), EXTENDED_SPEEDS(error_detection_lane11), 16, 13},
	{DETAIL_COUNTER(lanes.correctable[0]), EXTENDED_SPEEDS(fec_correctable_lane0), 32, 14},
	{DETAIL_COUNTER(lanes.correctable[1]), EXTENDED_SPEEDS(fec_correctable_lane1), 32, 15},
	{DETAIL_COUNTER(lanes.correctable[2]), EXTENDED_SPEEDS(fec_correctable_lane2), 32, 16},
	{DETAIL_COUNTER(lanes.correctable[3]), EXTENDED_SPEEDS(fec_correctable_lane3), 32, 17},
	{DETAIL_COUNTER(lanes.correctable[4]), EXTENDED_SPEEDS(fec_correctable_lane4), 32, 18},
	{DETAIL_COUNTER(lanes.correctable[5]), EXTENDED_SPEEDS(fec_correctable_lane5), 32, 19},
	{DETAIL_COUNTER(lanes.correctable[6]), EXTENDED_SPEEDS(fec_correctable_lane6), 32, 20},
	{DETAIL_COUNTER(lanes.correctable[7]), EXTENDED_SPEEDS(fec_correctable_lane7), 32, 21},
	{DETAIL_COUNTER(lanes.correctable[8]), EXTENDED_SPEEDS(fec_correctable_lane8), 32, 22},
	{DETAIL_COUNTER(lanes.correctable[9]), EXTENDED_SPEEDS(fec_correctable_lane9), 32, 23},
	{DETAIL_COUNTER(lanes.correctable[10]), EXTENDED_SPEEDS(fec_correctable_lane10), 32, 24},
	{DETAIL_COUNTER(lanes.correctable[11]), EXTENDED_SPEEDS(fec_correctable_lane11), 32, 25},
	{DETAIL_COUNTER(lanes.uncorrectable[0]), EXTENDED_SPEEDS(fec_uncorrectable_lane0), 32, 26},
	{DETAIL_COUNTER(lanes.uncorrectable[1]), EXTENDED_SPEEDS(fec_uncorrectable_lane1), 32, 27},
	{DETAIL_COUNTER(lanes.uncorrectable[2]), EXTENDED_SPEEDS(fec_uncorrectable_lane2), 32, 28},
	{DETAIL_COUNTER(lanes.uncorrectable[3]), EXTENDED_SPEEDS(fec_uncorrectable_lane3), 32, 29},
	{DETAIL_COUNTER(lanes.uncorrectable[4]), EXTENDED_SPEEDS(fec_uncorrectable_lane4), 32, 30},
	{DETAIL_COUNTER(lanes.uncorrectable[5]), EXTENDED_SPEEDS(fec_uncorrectable_lane5), 32, 31},
	{DETAIL_COUNTER(lanes.uncorrectable[6]), EXTENDED_SPEEDS(fec_uncorrectable_lane6), 32, 32},
	{DETAIL_COUNTER(lanes.uncorrectable[7]), EXTENDED_SPEEDS(fec_uncorrectable_lane7), 32, 33},
	{DETAIL_COUNTER(lanes.uncorrectable[8]), EXTENDED_SPEEDS(fec_uncorrectable_lane8), 32, 34},
	{DETAIL_COUNTER(lanes.uncorrectable[9]), EXTENDED_SPEEDS(fec_uncorrectable_lane9), 32, 35},
	{DETAIL_COUNTER(lanes.uncorrectable[10]), EXTENDED_SPEEDS(fec_uncorrectable_lane10), 32, 36},
	{DETAIL_COUNTER(lanes.uncorrectable[11]), EXTENDED_SPEEDS(fec_uncorrectable_lane11), 32, 37},
};

static const struct shown_counter extended_speeds_rsfec_counters[] = {
	{DETAIL_COUNTER(lanes.sync_header_errors), EXTENDED_SPEEDS_RS(sync_header_errors), 16, 0},
	{DETAIL_COUNTER(lanes.unknown_blocks),     EXTENDED_SPEEDS_RS(unknown_blocks),     16, 1},
	{DETAIL_COUNTER(lanes.errors[0]), EXTENDED_SPEEDS_RS(error_detection_lane0), 16, 2},
	{DETAIL_COUNTER(lanes.errors[1]), EXTENDED_SPEEDS_RS(error_detection_lane1), 16, 3},
	{DETAIL_COUNTER(lanes.errors[2]), EXTENDED_SPEEDS_RS(error_detection_lane2), 16, 4},
	{DETAIL_COUNTER(lanes.errors[3]), EXTENDED_SPEEDS_RS(error_detection_lane3), 16, 5},
	{DETAIL_COUNTER(lanes.errors[4]), EXTENDED_SPEEDS_RS(error_detection_lane4), 16, 6},
	{DETAIL_COUNTER(lanes.errors[5]), EXTENDED_SPEEDS_RS(error_detection_lane5), 16, 7},
	{DETAIL_COUNTER(lanes.errors[6]), EXTENDED_SPEEDS_RS(error_detection_lane6), 16, 8},
	{DETAIL_COUNTER(lanes.errors[7]), EXTENDED_SPEEDS_RS(error_detection_lane7), 16, 9},
	{DETAIL_COUNTER(lanes.errors[8]), EXTENDED_SPEEDS_RS(error_detection_lane8), 16, 10},
	{DETAIL_COUNTER(lanes.errors[9]), EXTENDED_SPEEDS_RS(error_detection_lane9), 16, 11},
	{DETAIL_COUNTER(lanes.errors[10]), EXTENDED_SPEEDS_RS(error_detection_lane10), 16, 12},
	{DETAIL_COUNTER(lanes.errors[11]), EXTENDED_SPEEDS_RS(error_detection_lane11), 16, 13},
	{DETAIL_COUNTER(lanes.correctable[0]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane0), 32, 14},
	{DETAIL_COUNTER(lanes.correctable[1]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane1), 32, 15},
	{DETAIL_COUNTER(lanes.correctable[2]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane2), 32, 16},
	{DETAIL_COUNTER(lanes.correctable[3]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane3), 32, 17},
	{DETAIL_COUNTER(lanes.correctable[4]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane4), 32, 18},
	{DETAIL_COUNTER(lanes.correctable[5]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane5), 32, 19},
	{DETAIL_COUNTER(lanes.correctable[6]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane6), 32, 20},
	{DETAIL_COUNTER(lanes.correctable[7]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane7), 32, 21},
	{DETAIL_COUNTER(lanes.correctable[8]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane8), 32, 22},
	{DETAIL_COUNTER(lanes.correctable[9]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane9), 32, 23},
	{DETAIL_COUNTER(lanes.correctable[10]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane10), 32, 24},
	{DETAIL_COUNTER(lanes.correctable[11]), EXTENDED_SPEEDS_RS(fec_correctable_symbols_lane11), 32, 25},
	{DETAIL_COUNTER(lanes.correctable_blocks), EXTENDED_SPEEDS_RS(fec_correctable_blocks), 32, 38},
	{DETAIL_COUNTER(lanes.uncorrectable_blocks), EXTENDED_SPEEDS_RS(fec_uncorrectable_blocks), 32, 39},
	{DETAIL_COUNTER(lanes.corrected_symbols), EXTENDED_SPEEDS_RS(fec_corrected_symbols), 32, 40},
};
/* clang-format on */

static const struct counter_attribute pma_op_rcv_attribute = {
	COUNTER_ATTRIBUTE(port_op_rcv_counters, op_rcv_counters), .has_op_code = true};
static const struct counter_attribute pma_vl_op_packets_attribute = {
	COUNTER_ATTRIBUTE(port_vl_counters_16, vl_op_packets_counters), .has_op_code = true};
static const struct counter_attribute pma_vl_op_data_attribute = {
	COUNTER_ATTRIBUTE(port_vl_counters_32, vl_op_data_counters), .has_op_code = true};
static const struct counter_attribute pma_vl_update_errors_attribute = {
	COUNTER_ATTRIBUTE(port_vl_update_errors, vl_update_errors_counters)};
static const struct counter_attribute pma_vl_xmit_wait_attribute = {
	COUNTER_ATTRIBUTE(port_vl_counters_16, vl_xmit_wait_counters)};
static const struct counter_attribute vl_congestion_attribute = {
	COUNTER_ATTRIBUTE(port_vl_counters_16, vl_congestion_counters)};
static const struct counter_attribute pma_rcv_con_ctrl_attribute = {
	COUNTER_ATTRIBUTE(port_rcv_con_ctrl, rcv_con_ctrl_counters)};
static const struct counter_attribute pma_sl_rcv_fecn_attribute = {
	COUNTER_ATTRIBUTE(port_data_by_sl, sl_rcv_fecn_counters)};
static const struct counter_attribute pma_sl_rcv_becn_attribute = {
	COUNTER_ATTRIBUTE(port_data_by_sl, sl_rcv_becn_counters)};
static const struct counter_attribute pma_xmit_con_ctrl_attribute = {
	COUNTER_ATTRIBUTE(port_xmit_con_ctrl, xmit_con_ctrl_counters)};
static const struct counter_attribute pma_vl_xmit_time_cong_attribute = {
	COUNTER_ATTRIBUTE(port_vl_xmit_time_cong, vl_xmit_time_cong_counters)};
static const struct counter_attribute extended_speeds_attribute = {
	COUNTER_ATTRIBUTE(port_extended_speeds, extended_speeds_counters)};
static const struct counter_attribute extended_speeds_rsfec_attribute = {
	COUNTER_ATTRIBUTE(port_extended_speeds_rsfec, extended_speeds_rsfec_counters)};

COUNTER_HANDLER(pma_op_rcv)
COUNTER_HANDLER(pma_vl_op_packets)
COUNTER_HANDLER(pma_vl_op_data)
COUNTER_HANDLER(pma_vl_update_errors)
COUNTER_HANDLER(pma_vl_xmit_wait)
COUNTER_HANDLER(pma_rcv_con_ctrl)
COUNTER_HANDLER(pma_sl_rcv_fecn)
COUNTER_HANDLER(pma_sl_rcv_becn)
COUNTER_HANDLER(pma_xmit_con_ctrl)
COUNTER_HANDLER(pma_vl_xmit_time_cong)

/* Adapters and routers relay nothing, so they do not have this attribute. */
enum mad_status pma_vl_congestion(const struct gs_request *request, uint8_t *ret_data)
{
	if (!node_is_switch(request->node))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	return counter_attribute_serve(request, &vl_congestion_attribute, ret_data);
}

static bool corrects_by_reed_solomon(const struct port *port)
{
	return port->extended.fec_mode_active == FEC_REED_SOLOMON ||
	       port->extended.fec_mode_active == FEC_LOW_LATENCY_REED_SOLOMON;
}

/* The layout depends on the error correction of the link. Links may differ, so the layout for all
 * ports is the one without Reed-Solomon counters. */
enum mad_status pma_extended_speeds(const struct gs_request *request, uint8_t *ret_data)
{
	struct port_extended_speeds asked;

	port_extended_speeds_decode(request->data, &asked);

	bool is_rsfec = counter_port_exists(request->node, asked.port_select) &&
			corrects_by_reed_solomon(&request->node->ports[asked.port_select]);

	return counter_attribute_serve(
		request, is_rsfec ? &extended_speeds_rsfec_attribute : &extended_speeds_attribute,
		ret_data);
}
