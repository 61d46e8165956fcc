/* SPDX-License-Identifier: Apache-2.0 */
/* The target's answer to SRP_LOGIN_REQ, which is the private data of a connection request. */
#ifndef SOFTIB_IO_SRP_LOGIN_H
#define SOFTIB_IO_SRP_LOGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "io/srp/information_units.h"

/* The target port, and what it offers to every initiator. */
struct srp_login_terms {
	uint64_t target_extension;
	uint64_t target_guid;
	uint32_t request_limit;
	uint32_t it_iu_bytes_max;
	uint32_t ti_iu_bytes_max;
};

/* True: accepted, with ret_rsp; false: refused, with ret_rej. ret_req holds what was decoded; a
 * login that is too short leaves it zero. */
MUST_USE bool srp_login_judge(const struct srp_login_terms *terms, const uint8_t *bytes,
			      size_t byte_count, struct srp_login_req *ret_req,
			      struct srp_login_rsp *ret_rsp, struct srp_login_rej *ret_rej);
const char *srp_login_reject_text(uint32_t reason);

#endif
