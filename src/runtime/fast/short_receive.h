/* SPDX-License-Identifier: Apache-2.0 */
/* Takes short messages from a direct ring in a poll round (poll_round.c) and acknowledges them: see
 * short_receive.c. */
#ifndef SOFTIB_RUNTIME_FAST_SHORT_RECEIVE_H
#define SOFTIB_RUNTIME_FAST_SHORT_RECEIVE_H

#include <stdbool.h>
#include "base/time.h"

struct process_runtime;
struct channel;

/* Returns whether there was anything to take. */
bool short_receive_take(struct process_runtime *runtime, struct channel *channel, time_ns now);

#endif
