/* SPDX-License-Identifier: Apache-2.0 */
/* Which program has the raw queue pairs of an adapter's port: raw packets name no queue pair, so
 * there is at most one of each kind (vol 1, chapter 10). */
#ifndef SOFTIB_DAEMON_PACKETS_RAW_OWNERS_H
#define SOFTIB_DAEMON_PACKETS_RAW_OWNERS_H

#include <stdbool.h>
#include "base/attributes.h"
#include "daemon/core/host_table.h"

struct client;
struct frame;
struct ring_record;

/* -EBUSY: a program, maybe this client, has the queue pair. */
MUST_USE int raw_claim(struct client *client, struct endpoint *endpoint, enum raw_kind kind);
/* RECORD_RAW_RELEASED; false: it makes no sense. What the client does not have stays as it is. */
MUST_USE bool raw_take_record(struct client *client, const struct ring_record *record);
/* It ended: whatever it has is free. */
void raw_client_gone(const struct client *client);

/* Who has the port's queue pair for packets of this frame's kind, which is raw; NULL: nobody. */
struct client *raw_owner(const struct endpoint *endpoint, const struct frame *frame);

#endif
