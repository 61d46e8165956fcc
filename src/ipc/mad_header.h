/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 64 bytes in front of each message on the socket of an open port: agent, status and address.
 * Laid out as Linux's user MAD, so that libibumad passes its callers' buffers on unchanged: host
 * order up to the length, then big-endian except for the P_Key index (management 8.3).
 */
#ifndef SOFTIB_IPC_MAD_HEADER_H
#define SOFTIB_IPC_MAD_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/mad/mad_message.h"

enum {
	MAD_PORT_HEADER_BYTES = 64,
	/* The shortest MAD that can be sent: up to the end of an RMPP header. */
	MAD_PORT_MAD_BYTES_MIN = 36,
	/* One segment; longer messages are RMPP messages. */
	MAD_PORT_SINGLE_BYTES = MAD_PORT_HEADER_BYTES + MAD_BYTES,
	MAD_PORT_BYTES_MAX = 1 << 26,
};

struct mad_port_header {
	uint32_t agent_id;
	uint32_t status; /* to the program: 0, or the errno that ended its request */
	uint32_t timeout_ms;
	uint32_t retries;
	uint32_t byte_count;	    /* to the program: of the message with this header */
	struct mad_address address; /* without its pkey */
	uint16_t pkey_index;	    /* raw agents: the P_Key itself */
};

void mad_port_header_encode(const struct mad_port_header *header,
			    uint8_t ret_bytes[static MAD_PORT_HEADER_BYTES]);
MUST_USE bool mad_port_header_decode(const uint8_t *bytes, size_t byte_count,
				     struct mad_port_header *ret_header);

#endif
