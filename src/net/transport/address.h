/* SPDX-License-Identifier: Apache-2.0 */
/* Address vectors: the path to a port (vol 1, chapter 11; transport 7.5). */
#ifndef SOFTIB_NET_TRANSPORT_ADDRESS_H
#define SOFTIB_NET_TRANSPORT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/gid.h"

struct address_vector {
	uint16_t dlid;
	uint8_t sl;
	uint8_t source_path_bits;
	uint8_t static_rate; /* rate code, 0 = port rate */
	uint8_t port_number;
	bool is_global;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint32_t flow_label;
	struct gid dgid;
};

#endif
