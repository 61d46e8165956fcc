/* SPDX-License-Identifier: Apache-2.0 */
/* What a round of the express lane (host/express_lane.h) takes from a direct ring, and
 * acknowledges. */
#ifndef SOFTIB_HOST_EXPRESS_RECORDS_H
#define SOFTIB_HOST_EXPRESS_RECORDS_H

#include <stdbool.h>
#include "base/time.h"

struct attachment;
struct channel;

/* Returns whether there was anything to take. */
bool express_records_take(struct attachment *attachment, struct channel *channel, time_ns now);

#endif
