/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a completion event.
 *
 * A sleeping program is woken by its progress thread, which is woken by the peer: two wake-ups for
 * one message. As long as recent events came soon, polling for a while before sleeping is cheaper.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DATA_EVENT_WAIT_H
#define SOFTIB_API_LIBIBVERBS_DATA_EVENT_WAIT_H

#include <stdbool.h>
#include "base/attributes.h"

struct verbs_channel;

/* Waits until the channel has an event, and returns with its event queue locked. -errno (-EAGAIN on
 * a non-blocking descriptor) without it. */
MUST_USE int event_wait(struct verbs_channel *channel);

/* Whether the next wait on this channel will poll before it sleeps, so that the progress thread
 * need not. Called with the adapter's lock held, when a CQ of the channel was armed. */
bool event_wait_will_look(const struct verbs_channel *channel);

#endif
