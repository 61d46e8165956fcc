/* SPDX-License-Identifier: Apache-2.0 */
/* The owners of the raw queue pairs of an adapter's port. Raw packets name no queue pair, so a port
 * has at most one of each kind (vol 1, chapter 10). */
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
/* Takes a RECORD_RAW_RELEASED. Returns false if the record is invalid. Releasing a queue pair of
 * another client does nothing. */
MUST_USE bool raw_take_record(struct client *client, const struct ring_record *record);
/* The client ended: releases its raw queue pairs. */
void raw_client_gone(const struct client *client);

/* The owner of the port's queue pair for raw packets of this frame's kind; NULL: none. */
struct client *raw_owner(const struct endpoint *endpoint, const struct frame *frame);

#endif
