/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of any fabric after any step. */
#ifndef SOFTIB_SIM_CHECKERS_H
#define SOFTIB_SIM_CHECKERS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/attributes.h"

struct fabric;

enum { VIOLATION_BYTES = 160 };

/* Receive buffers hold what is inside, no more than fits, and nothing when the fabric is idle;
 * every sender's limit is what its receiver grants, or was when it was told; FCTBS, FCCL, ABR and
 * what is on the cable agree on every link and lane. */
MUST_USE bool check_credits(const struct fabric *fabric,
			    char ret_violation[static VIOLATION_BYTES]);

/* From every active end port the tables lead to every other one, without a loop. */
MUST_USE bool check_routes(struct fabric *fabric, char ret_violation[static VIOLATION_BYTES]);

/* No two end ports have a LID in common. */
MUST_USE bool check_lids(const struct fabric *fabric, char ret_violation[static VIOLATION_BYTES]);

#endif
