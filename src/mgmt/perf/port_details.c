/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that are read of one port when somebody asks (management 6.1). */
#include "mgmt/perf/port_details.h"

#include <inttypes.h>
#include <string.h>
#include "mgmt/perf/perf_report.h"
#include "wire/performance.h"

enum { STRUCT_WORDS_MAX = 32 };

static const struct detail {
	uint16_t attribute_id;
	const char *name;
	const struct attribute_layout *layout;
} details_known[PORT_DETAILS_COUNT] = {
	{ATTRIBUTE_PORT_RCV_ERROR_DETAILS, "rcv_error_details", &port_rcv_error_details_layout},
	{ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS, "xmit_discard_details",
	 &port_xmit_discard_details_layout},
	{ATTRIBUTE_PORT_FLOW_CTL_COUNTERS, "flow_ctl_counters", &port_flow_ctl_counters_layout},
	{ATTRIBUTE_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS, "vl_xmit_flow_ctl_update_errors",
	 &port_vl_update_errors_layout},
	{ATTRIBUTE_PORT_VL_XMIT_WAIT_COUNTERS, "vl_xmit_wait", &port_vl_counters_16_layout},
	{ATTRIBUTE_SW_PORT_VL_CONGESTION, "sw_port_vl_congestion", &port_vl_counters_16_layout},
	{ATTRIBUTE_PORT_RCV_CON_CTRL, "rcv_con_ctrl", &port_rcv_con_ctrl_layout},
	{ATTRIBUTE_PORT_SL_RCV_FECN, "sl_rcv_fecn", &port_data_by_sl_layout},
	{ATTRIBUTE_PORT_SL_RCV_BECN, "sl_rcv_becn", &port_data_by_sl_layout},
	{ATTRIBUTE_PORT_XMIT_CON_CTRL, "xmit_con_ctrl", &port_xmit_con_ctrl_layout},
	{ATTRIBUTE_PORT_VL_XMIT_TIME_CONG, "vl_xmit_time_cong", &port_vl_xmit_time_cong_layout},
	{ATTRIBUTE_PORT_XMIT_DATA_SL, "xmit_data_sl", &port_data_by_sl_layout},
	{ATTRIBUTE_PORT_RCV_DATA_SL, "rcv_data_sl", &port_data_by_sl_layout},
};

/* Any of their structs. */
union detail_values {
	uint64_t words[STRUCT_WORDS_MAX];
	struct port_rcv_error_details rcv_errors;
	struct port_xmit_discard_details discards;
	struct port_flow_ctl_counters flow_ctl;
	struct port_vl_update_errors update_errors;
	struct port_vl_counters_16 by_vl;
	struct port_rcv_con_ctrl rcv_con_ctrl;
	struct port_data_by_sl by_sl;
	struct port_xmit_con_ctrl xmit_con_ctrl;
	struct port_vl_xmit_time_cong time_cong;
};

void port_details_begin(struct port_details *details, const char *port)
{
	*details = (struct port_details){.is_wanted = true};
	snprintf(details->port, sizeof(details->port), "%s", port);
}

uint16_t port_details_attribute(unsigned index)
{
	return details_known[index].attribute_id;
}

void port_details_take(struct port_details *details, unsigned index, uint8_t port_number,
		       uint16_t status, const uint8_t data[static PERFORMANCE_DATA_BYTES])
{
	struct port_counters head;

	/* PortSelect is at the same place in all attributes. */
	port_counters_decode(data, &head);
	if (status != MAD_STATUS_OK || head.port_select != port_number) {
		details->answers[index].state = PORT_DETAIL_REFUSED;
		return;
	}
	details->answers[index].state = PORT_DETAIL_READ;
	memcpy(details->answers[index].data, data, PERFORMANCE_DATA_BYTES);
}

static bool is_counter(const struct attribute_field *field)
{
	return strcmp(field->name, "op_code") != 0 && strcmp(field->name, "port_select") != 0 &&
	       strcmp(field->name, "counter_select") != 0;
}

static void write_attribute(const struct detail *detail, const uint8_t *data, FILE *file)
{
	union detail_values values = {.words = {0}};
	const char *separator = "";

	attribute_decode(detail->layout, data, &values);
	fprintf(file, "\"%s\":{", detail->name);
	for (size_t i = 0; i < detail->layout->field_count; i++) {
		const struct attribute_field *field = &detail->layout->fields[i];

		if (!is_counter(field))
			continue;
		fprintf(file, "%s\"%s\":%" PRIu64, separator, field->name,
			attribute_field_value(field, &values));
		separator = ",";
	}
	fputc('}', file);
}

void port_details_write(const struct port_details *details, FILE *file)
{
	const char *separator = "";

	fputs("{\"port\":", file);
	perf_report_write_text(details->port, file);
	fprintf(file, ",\"is_found\":%s,\"attributes\":{", details->is_found ? "true" : "false");
	for (unsigned i = 0; i < PORT_DETAILS_COUNT; i++) {
		if (details->answers[i].state != PORT_DETAIL_READ)
			continue;
		fputs(separator, file);
		write_attribute(&details_known[i], details->answers[i].data, file);
		separator = ",";
	}
	fputc('}', file);
	if (details->sampling.state != PORT_SAMPLING_UNASKED) {
		fputs(",\"sample\":", file);
		port_sampling_write(&details->sampling, file);
	}
	fputc('}', file);
}
