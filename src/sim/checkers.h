/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of every fabric after every step. */
#ifndef SOFTIB_SIM_CHECKERS_H
#define SOFTIB_SIM_CHECKERS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/attributes.h"

struct fabric;

enum { VIOLATION_BYTES = 160 };

/* Receive buffers hold the frames that are inside, no more than fit, and nothing when the fabric is
 * idle. Every sender has the limit that its receiver granted, or granted last if a flow control
 * packet is under way. FCTBS, FCCL, ABR and the frames on the cable agree on every link and VL. */
MUST_USE bool check_credits(const struct fabric *fabric,
			    char ret_violation[static VIOLATION_BYTES]);

/* The tables lead from every active end port to every other one, without a loop. */
MUST_USE bool check_routes(struct fabric *fabric, char ret_violation[static VIOLATION_BYTES]);

/* No two end ports have a LID in common. */
MUST_USE bool check_lids(const struct fabric *fabric, char ret_violation[static VIOLATION_BYTES]);

#endif
