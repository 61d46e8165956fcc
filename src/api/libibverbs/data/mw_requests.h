/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests that bind and invalidate memory windows. */
#ifndef SOFTIB_API_LIBIBVERBS_DATA_MW_REQUESTS_H
#define SOFTIB_API_LIBIBVERBS_DATA_MW_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct send_request;

/* Whether a BIND_MW request names a type 2 window (type 1 windows are bound by ibv_bind_mw) and a
 * region. */
bool mw_request_is_valid(const struct ibv_send_wr *wr);

/* The fields of BIND_MW and LOCAL_INV beyond id, opcode, flags and the key to invalidate. */
void mw_build_request(const struct ibv_send_wr *wr, struct send_request *ret_request);

/* The program chooses only the tag, the low 8 bits of the key. The index is the window's own,
 * whatever the program wrote to mw->rkey or asks for. */
void mw_set_binding(const struct ibv_mw *mw, uint32_t asked_key,
		    const struct ibv_mw_bind_info *info, struct send_request *ret_request);

#endif
