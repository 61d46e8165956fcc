/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of one port: what its agent counts during an interval that we choose, by
 * PortSamplesControl and PortSamplesResult (management 6.1). */
#ifndef SOFTIB_MGMT_PERF_PORT_SAMPLING_H
#define SOFTIB_MGMT_PERF_PORT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/mad.h"
#include "wire/performance.h"

/* PortXmitData, PortRcvData, PortXmitPkts, PortRcvPkts, PortXmitWait. */
enum { PORT_SAMPLING_COUNTERS = 5 };

/* SampleInterval has 32 bits, and the shortest tick is 4 ns. */
#define PORT_SAMPLING_MAX SECONDS(10)

enum port_sampling_state {
	PORT_SAMPLING_UNASKED,
	PORT_SAMPLING_CONTROL, /* asks for the tick, and whether the agent is free */
	PORT_SAMPLING_START,
	PORT_SAMPLING_RESULT_EXTENDED,
	PORT_SAMPLING_RESULT, /* of an agent without 64-bit results */
	PORT_SAMPLING_DONE,
	PORT_SAMPLING_REFUSED, /* the agent takes no samples */
	PORT_SAMPLING_BUSY,    /* it takes somebody else's */
	PORT_SAMPLING_SILENT,
};

struct port_sampling {
	enum port_sampling_state state;
	time_ns length;
	time_ns tick;
	uint16_t tag;
	unsigned tries_left; /* while the agent is not ready */
	time_ns due_at;	     /* of the next request */
	uint64_t counts[PORT_SAMPLING_COUNTERS];
};

/* The tag tells our sample from those of others. */
void port_sampling_begin(struct port_sampling *sampling, time_ns length, uint16_t tag);
bool port_sampling_is_over(const struct port_sampling *sampling);

struct port_sampling_request {
	enum mad_method method;
	uint16_t attribute_id;
	uint8_t data[PERFORMANCE_DATA_BYTES];
};

void port_sampling_ask(const struct port_sampling *sampling, uint8_t port_number,
		       struct port_sampling_request *ret_request);
void port_sampling_take(struct port_sampling *sampling, time_ns now, uint16_t status,
			const uint8_t data[static PERFORMANCE_DATA_BYTES]);
/* The request was never answered. */
void port_sampling_fail(struct port_sampling *sampling);

/* Writes a JSON object: {"state":"done","length_us":...,"xmit_bytes":...}. */
void port_sampling_write(const struct port_sampling *sampling, FILE *file);

#endif
