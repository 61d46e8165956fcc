/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the SRP login (T10 SRP r16a, 6.2 to 6.4). */
#include "io/srp/login.h"

enum { FORMATS = SRP_BUFFER_FORMAT_DIRECT | SRP_BUFFER_FORMAT_INDIRECT };

static bool is_acceptable(const struct srp_login_terms *terms, const struct srp_login_req *req,
			  uint32_t *ret_reason)
{
	if (req->target_extension != terms->target_extension ||
	    req->target_guid != terms->target_guid) {
		*ret_reason = SRP_REJECT_CANNOT_ASSOCIATE;
		return false;
	}
	if (req->it_iu_bytes > terms->it_iu_bytes_max || req->it_iu_bytes < SRP_IU_BYTES_MIN) {
		*ret_reason = SRP_REJECT_IU_TOO_LARGE;
		return false;
	}
	if (req->required_buffer_formats & ~FORMATS) {
		*ret_reason = SRP_REJECT_BUFFER_FORMAT;
		return false;
	}
	if ((req->flags & SRP_MULTICHANNEL_ACTION) != SRP_MULTICHANNEL_SINGLE) {
		*ret_reason = SRP_REJECT_MULTICHANNEL;
		return false;
	}
	return true;
}

bool srp_login_judge(const struct srp_login_terms *terms, const uint8_t *bytes, size_t byte_count,
		     struct srp_login_req *ret_req, struct srp_login_rsp *ret_rsp,
		     struct srp_login_rej *ret_rej)
{
	uint32_t reason = SRP_REJECT_NO_CHANNEL;

	*ret_req = (struct srp_login_req){0};
	/* CM pads the private data with zeros, so more bytes than a login has are usual. */
	if (byte_count >= SRP_LOGIN_REQ_BYTES && bytes[0] == SRP_LOGIN_REQ) {
		srp_login_req_decode(bytes, ret_req);
		if (is_acceptable(terms, ret_req, &reason)) {
			*ret_rsp =
				(struct srp_login_rsp){.opcode = SRP_LOGIN_RSP,
						       .request_limit_delta = terms->request_limit,
						       .tag = ret_req->tag,
						       .it_iu_bytes_max = terms->it_iu_bytes_max,
						       .ti_iu_bytes_max = terms->ti_iu_bytes_max,
						       .buffer_formats = FORMATS,
						       .flags = SRP_CHANNELS_NONE};
			return true;
		}
	}
	*ret_rej = (struct srp_login_rej){.opcode = SRP_LOGIN_REJ,
					  .reason = reason,
					  .tag = ret_req->tag,
					  .buffer_formats = FORMATS};
	return false;
}

const char *srp_login_reject_text(uint32_t reason)
{
	switch (reason) {
	case SRP_REJECT_NO_CHANNEL:
		return "unable to establish a channel";
	case SRP_REJECT_NO_RESOURCES:
		return "insufficient resources";
	case SRP_REJECT_IU_TOO_LARGE:
		return "requested information units do not fit";
	case SRP_REJECT_CANNOT_ASSOCIATE:
		return "no such target port";
	case SRP_REJECT_BUFFER_FORMAT:
		return "unsupported format of data buffers";
	case SRP_REJECT_MULTICHANNEL:
		return "several channels are not supported";
	case SRP_REJECT_CHANNEL_LIMIT:
		return "too many channels";
	default:
		return "unknown reason";
	}
}
