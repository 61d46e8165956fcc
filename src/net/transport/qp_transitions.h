/* SPDX-License-Identifier: Apache-2.0 */
/* The queue pair state machine: transitions and the attributes that each needs or allows (vol 1,
 * chapters 10 and 11; transport 6.1). */
#ifndef SOFTIB_NET_TRANSPORT_QP_TRANSITIONS_H
#define SOFTIB_NET_TRANSPORT_QP_TRANSITIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "net/transport/qp_state.h"

/* Whether the queue pair may go to this state with exactly these attributes (QP_HAS_...). */
bool qp_transitions_allow(const struct qp *qp, enum qp_state to, uint32_t mask);

#endif
