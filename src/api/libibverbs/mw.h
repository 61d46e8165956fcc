/* SPDX-License-Identifier: Apache-2.0 */
/* Memory windows, and the work requests that bind and invalidate them. */
#ifndef SOFTIB_API_LIBIBVERBS_MW_H
#define SOFTIB_API_LIBIBVERBS_MW_H

#include <stdbool.h>
#include <infiniband/verbs.h>

struct send_request;

/* Whether a BIND_MW request is one that can be tried: of type 2, which programs bind themselves,
 * with a key that has the window's index, and with a region. */
bool mw_request_is_valid(const struct ibv_send_wr *wr);

/* What BIND_MW and LOCAL_INV say beyond id, opcode, flags and the key to invalidate. */
void mw_build_request(const struct ibv_send_wr *wr, struct send_request *ret_request);

#endif
