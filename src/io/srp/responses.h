/* SPDX-License-Identifier: Apache-2.0 */
/* SRP_RSP with its response data and sense data. */
#ifndef SOFTIB_IO_SRP_RESPONSES_H
#define SOFTIB_IO_SRP_RESPONSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "io/srp/information_units.h"

enum {
	SRP_RESPONSE_DATA_BYTES = 4,
	SRP_SENSE_BYTES_MAX = 252,
	SRP_RSP_BYTES_MAX = SRP_RSP_BYTES + SRP_RESPONSE_DATA_BYTES + SRP_SENSE_BYTES_MAX,
};

struct srp_response {
	struct srp_rsp rsp; /* flags and lengths of sense and response data: set by the encoder */
	bool has_response_code;
	uint8_t response_code;
	uint32_t sense_byte_count;
	uint8_t sense[SRP_SENSE_BYTES_MAX];
};

/* Returns how many bytes it wrote. */
size_t srp_response_encode(const struct srp_response *response,
			   uint8_t ret_bytes[static SRP_RSP_BYTES_MAX]);
/* Checks every length. Sense data beyond SRP_SENSE_BYTES_MAX are cut. */
MUST_USE bool srp_response_decode(const uint8_t *bytes, size_t byte_count,
				  struct srp_response *ret_response);

#endif
