/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a completion event.
 *
 * A sleeping program is woken by its helper thread, which is itself woken by the peer: two wake-ups
 * for one message. What comes soon is cheaper to wait for: as long as events have come soon lately,
 * the program looks for a while itself before it sleeps.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DATA_EVENT_WAIT_H
#define SOFTIB_API_LIBIBVERBS_DATA_EVENT_WAIT_H

#include <stdbool.h>
#include "base/attributes.h"

struct verbs_channel;

/* Waits until the channel has an event, and returns with its event queue locked. -errno (-EAGAIN on a
 * non-blocking descriptor) without it. */
MUST_USE int event_wait(struct verbs_channel *channel);

/* A CQ of the channel was armed, with the adapter's lock held: whoever gets the event will look for
 * it before sleeping, so that the helper need not. */
bool event_wait_will_look(const struct verbs_channel *channel);

#endif
