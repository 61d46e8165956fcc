/* SPDX-License-Identifier: Apache-2.0 */
/* SRP_RSP: response data come first, then sense data (T10 SRP r16a, 6.9). */
#include "io/srp/responses.h"

#include <string.h>

size_t srp_response_encode(const struct srp_response *response,
			   uint8_t ret_bytes[static SRP_RSP_BYTES_MAX])
{
	struct srp_rsp rsp = response->rsp;
	uint8_t *end = ret_bytes + SRP_RSP_BYTES;

	rsp.opcode = SRP_RSP;
	rsp.response_bytes = 0;
	rsp.sense_bytes = 0;
	if (response->has_response_code) {
		rsp.flags |= SRP_RSP_HAS_RESPONSE;
		rsp.response_bytes = SRP_RESPONSE_DATA_BYTES;
		memset(end, 0, SRP_RESPONSE_DATA_BYTES);
		end[SRP_RESPONSE_DATA_BYTES - 1] = response->response_code;
		end += SRP_RESPONSE_DATA_BYTES;
	}
	if (response->sense_byte_count) {
		assert(response->sense_byte_count <= SRP_SENSE_BYTES_MAX);
		rsp.flags |= SRP_RSP_HAS_SENSE;
		rsp.sense_bytes = response->sense_byte_count;
		memcpy(end, response->sense, response->sense_byte_count);
		end += response->sense_byte_count;
	}
	srp_rsp_encode(&rsp, ret_bytes);
	return (size_t)(end - ret_bytes);
}

bool srp_response_decode(const uint8_t *bytes, size_t byte_count, struct srp_response *ret_response)
{
	struct srp_rsp rsp;

	if (byte_count < SRP_RSP_BYTES || bytes[0] != SRP_RSP)
		return false;
	srp_rsp_decode(bytes, &rsp);
	/* The lengths hold only where the flag says so. */
	if (!(rsp.flags & SRP_RSP_HAS_RESPONSE))
		rsp.response_bytes = 0;
	if (!(rsp.flags & SRP_RSP_HAS_SENSE))
		rsp.sense_bytes = 0;
	byte_count -= SRP_RSP_BYTES;
	if (rsp.response_bytes > byte_count || rsp.sense_bytes > byte_count - rsp.response_bytes)
		return false;
	if (rsp.response_bytes && rsp.response_bytes < SRP_RESPONSE_DATA_BYTES)
		return false;
	*ret_response = (struct srp_response){.rsp = rsp};
	bytes += SRP_RSP_BYTES;
	if (rsp.response_bytes) {
		ret_response->has_response_code = true;
		ret_response->response_code = bytes[SRP_RESPONSE_DATA_BYTES - 1];
	}
	bytes += rsp.response_bytes;
	ret_response->sense_byte_count =
		rsp.sense_bytes < SRP_SENSE_BYTES_MAX ? rsp.sense_bytes : SRP_SENSE_BYTES_MAX;
	memcpy(ret_response->sense, bytes, ret_response->sense_byte_count);
	return true;
}
