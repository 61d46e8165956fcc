/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the adapter carries out itself, without the peer: binding a window, local
 * invalidate (vol 1, chapter 10). */
#ifndef SOFTIB_NET_TRANSPORT_LOCAL_OPERATION_H
#define SOFTIB_NET_TRANSPORT_LOCAL_OPERATION_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct qp;
struct send_slot;

/* Executes the request at the cursor. All requests before it are done, so it starts and ends here.
 * false: it failed, and the queue pair is in an error state. */
MUST_USE bool local_operation_execute(struct qp *qp, time_ns now, const struct send_slot *slot);

#endif
