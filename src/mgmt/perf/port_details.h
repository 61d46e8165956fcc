/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that the performance manager reads of one port when somebody asks: errors and discards
 * by reason, counters by VL and SL, flow control, congestion (management 6.1). */
#ifndef SOFTIB_MGMT_PERF_PORT_DETAILS_H
#define SOFTIB_MGMT_PERF_PORT_DETAILS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "mgmt/perf/perf_nodes.h"
#include "mgmt/perf/port_sampling.h"
#include "wire/mad.h"

enum { PORT_DETAILS_COUNT = 13 };

enum port_detail_state {
	PORT_DETAIL_UNASKED,
	PORT_DETAIL_READ,
	PORT_DETAIL_REFUSED, /* the agent does not have it */
	PORT_DETAIL_SILENT,
};

struct port_details {
	bool is_wanted;			 /* in this sweep or the next */
	char port[PERF_PORT_NAME_BYTES]; /* "h1:1"; "": never asked */
	bool is_found;			 /* the subnet has this port, and its agent answers */
	struct {
		enum port_detail_state state;
		uint8_t data[PERFORMANCE_DATA_BYTES];
	} answers[PORT_DETAILS_COUNT];
	struct port_sampling sampling;
};

/* Forgets the answers for those of this port. */
void port_details_begin(struct port_details *details, const char *port);

uint16_t port_details_attribute(unsigned index);
/* A status other than 0 refuses. An answer for another port is refused too. */
void port_details_take(struct port_details *details, unsigned index, uint8_t port_number,
		       uint16_t status, const uint8_t data[static PERFORMANCE_DATA_BYTES]);

/* Writes a JSON object: {"port": "h1:1", "is_found": true, "attributes": {...}, "sample": {...}}.
 */
void port_details_write(const struct port_details *details, FILE *file);

#endif
