/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of one port (management 6.1). */
#include "mgmt/perf/port_sampling.h"

#include <inttypes.h>
#include <string.h>
#include "mgmt/perf/perf_counters.h"

enum { TRIES = 50 };

/* Before an agent that is not ready is asked again. */
#define PAUSE MILLISECONDS(20)

/* The order of counts[] and of the counters of a result. */
enum { XMIT_DATA, RCV_DATA, XMIT_PACKETS, RCV_PACKETS, XMIT_WAIT };

void port_sampling_begin(struct port_sampling *sampling, time_ns length, uint16_t tag)
{
	*sampling = (struct port_sampling){
		.state = PORT_SAMPLING_CONTROL, .length = length, .tag = tag, .tries_left = TRIES};
}

bool port_sampling_is_over(const struct port_sampling *sampling)
{
	return sampling->state < PORT_SAMPLING_CONTROL || sampling->state >= PORT_SAMPLING_DONE;
}

static uint32_t ticks(const struct port_sampling *sampling)
{
	time_ns count = sampling->tick ? sampling->length / sampling->tick : 0;

	return count ? (uint32_t)count : 1;
}

void port_sampling_ask(const struct port_sampling *sampling, uint8_t port_number,
		       struct port_sampling_request *ret_request)
{
	struct port_samples_control control = {.port_select = port_number};

	*ret_request = (struct port_sampling_request){
		.method = MAD_GET, .attribute_id = ATTRIBUTE_PORT_SAMPLES_CONTROL};
	if (sampling->state == PORT_SAMPLING_RESULT_EXTENDED)
		ret_request->attribute_id = ATTRIBUTE_PORT_SAMPLES_RESULT_EXTENDED;
	if (sampling->state == PORT_SAMPLING_RESULT)
		ret_request->attribute_id = ATTRIBUTE_PORT_SAMPLES_RESULT;
	if (sampling->state == PORT_SAMPLING_START) {
		ret_request->method = MAD_SET;
		control.sample_interval = ticks(sampling);
		control.tag = sampling->tag;
		control.counter_select0 = SAMPLE_XMIT_DATA;
		control.counter_select1 = SAMPLE_RCV_DATA;
		control.counter_select2 = SAMPLE_XMIT_PACKETS;
		control.counter_select3 = SAMPLE_RCV_PACKETS;
		control.counter_select4 = SAMPLE_XMIT_WAIT;
	}
	/* A result has no PortSelect. */
	if (ret_request->attribute_id == ATTRIBUTE_PORT_SAMPLES_CONTROL)
		port_samples_control_encode(&control, ret_request->data);
}

static void enter(struct port_sampling *sampling, enum port_sampling_state state, time_ns due_at)
{
	sampling->state = state;
	sampling->due_at = due_at;
}

/* Asks again later, beginning with this request. */
static void wait(struct port_sampling *sampling, time_ns now, enum port_sampling_state state)
{
	if (sampling->tries_left-- > 1)
		enter(sampling, state, now + PAUSE);
	else
		enter(sampling, PORT_SAMPLING_BUSY, now);
}

/* A node takes one sample at a time, and a Set meanwhile changes nothing. */
static void take_control(struct port_sampling *sampling, time_ns now, const uint8_t *data)
{
	struct port_samples_control control;

	port_samples_control_decode(data, &control);
	/* The byte time of a 2.5 Gb/s lane. */
	sampling->tick = (time_ns)(control.tick + 1) * 4;
	if (sampling->state == PORT_SAMPLING_CONTROL && control.sample_status == SAMPLE_DONE)
		enter(sampling, PORT_SAMPLING_START, now);
	else if (sampling->state == PORT_SAMPLING_START && control.tag == sampling->tag)
		enter(sampling, PORT_SAMPLING_RESULT_EXTENDED,
		      now + ticks(sampling) * sampling->tick);
	else
		wait(sampling, now, PORT_SAMPLING_CONTROL);
}

static void take_extended(struct port_sampling *sampling, const uint8_t *data,
			  struct port_samples_result *ret_head)
{
	struct port_samples_result_extended result;

	port_samples_result_extended_decode(data, &result);
	ret_head->tag = result.tag;
	ret_head->sample_status = result.sample_status;
	sampling->counts[XMIT_DATA] = result.counter0;
	sampling->counts[RCV_DATA] = result.counter1;
	sampling->counts[XMIT_PACKETS] = result.counter2;
	sampling->counts[RCV_PACKETS] = result.counter3;
	sampling->counts[XMIT_WAIT] = result.counter4;
}

static void take_basic(struct port_sampling *sampling, const uint8_t *data,
		       struct port_samples_result *ret_head)
{
	port_samples_result_decode(data, ret_head);
	sampling->counts[XMIT_DATA] = ret_head->counter0;
	sampling->counts[RCV_DATA] = ret_head->counter1;
	sampling->counts[XMIT_PACKETS] = ret_head->counter2;
	sampling->counts[RCV_PACKETS] = ret_head->counter3;
	sampling->counts[XMIT_WAIT] = ret_head->counter4;
}

static void take_result(struct port_sampling *sampling, time_ns now, const uint8_t *data)
{
	struct port_samples_result head = {0};

	if (sampling->state == PORT_SAMPLING_RESULT_EXTENDED)
		take_extended(sampling, data, &head);
	else
		take_basic(sampling, data, &head);
	if (head.tag != sampling->tag)
		enter(sampling, PORT_SAMPLING_BUSY, now);
	else if (head.sample_status != SAMPLE_DONE)
		wait(sampling, now, sampling->state);
	else
		enter(sampling, PORT_SAMPLING_DONE, now);
}

void port_sampling_take(struct port_sampling *sampling, time_ns now, uint16_t status,
			const uint8_t data[static PERFORMANCE_DATA_BYTES])
{
	if (status & MAD_STATUS_BUSY) {
		wait(sampling, now, sampling->state);
		return;
	}
	switch (sampling->state) {
	case PORT_SAMPLING_CONTROL:
	case PORT_SAMPLING_START:
		if (status == MAD_STATUS_OK)
			take_control(sampling, now, data);
		else
			enter(sampling, PORT_SAMPLING_REFUSED, now);
		break;
	case PORT_SAMPLING_RESULT_EXTENDED:
		if (status == MAD_STATUS_OK)
			take_result(sampling, now, data);
		else
			enter(sampling, PORT_SAMPLING_RESULT, now);
		break;
	case PORT_SAMPLING_RESULT:
		if (status == MAD_STATUS_OK)
			take_result(sampling, now, data);
		else
			enter(sampling, PORT_SAMPLING_REFUSED, now);
		break;
	case PORT_SAMPLING_UNASKED:
	case PORT_SAMPLING_DONE:
	case PORT_SAMPLING_REFUSED:
	case PORT_SAMPLING_BUSY:
	case PORT_SAMPLING_SILENT:
		break;
	}
}

void port_sampling_fail(struct port_sampling *sampling)
{
	sampling->state = PORT_SAMPLING_SILENT;
}

static const char *state_name(enum port_sampling_state state)
{
	switch (state) {
	case PORT_SAMPLING_DONE:
		return "done";
	case PORT_SAMPLING_REFUSED:
		return "refused";
	case PORT_SAMPLING_BUSY:
		return "busy";
	case PORT_SAMPLING_SILENT:
		return "silent";
	case PORT_SAMPLING_UNASKED:
	case PORT_SAMPLING_CONTROL:
	case PORT_SAMPLING_START:
	case PORT_SAMPLING_RESULT_EXTENDED:
	case PORT_SAMPLING_RESULT:
		break;
	}
	return "none";
}

/* JSON's integers are signed, and an agent may answer anything. */
static void write_number(const char *name, double value, FILE *file)
{
	fprintf(file, ",\"%s\":%" PRIu64, name, value < 9e18 ? (uint64_t)value : INT64_MAX);
}

void port_sampling_write(const struct port_sampling *sampling, FILE *file)
{
	const uint64_t *counts = sampling->counts;
	double length = (double)(ticks(sampling) * sampling->tick);
	double xmit_bytes = (double)counts[XMIT_DATA] * PERF_WORD_BYTES;
	double rcv_bytes = (double)counts[RCV_DATA] * PERF_WORD_BYTES;

	fprintf(file, "{\"state\":\"%s\"", state_name(sampling->state));
	if (sampling->state == PORT_SAMPLING_DONE) {
		write_number("length_us", length / 1e3, file);
		write_number("xmit_bytes", xmit_bytes, file);
		write_number("rcv_bytes", rcv_bytes, file);
		write_number("xmit_packets", (double)counts[XMIT_PACKETS], file);
		write_number("rcv_packets", (double)counts[RCV_PACKETS], file);
		write_number("xmit_wait", (double)counts[XMIT_WAIT], file);
		write_number("xmit_bytes_per_second", xmit_bytes / length * 1e9, file);
		write_number("rcv_bytes_per_second", rcv_bytes / length * 1e9, file);
		write_number("wait_percent",
			     (double)counts[XMIT_WAIT] * (double)sampling->tick / length * 100,
			     file);
	}
	fputc('}', file);
}
