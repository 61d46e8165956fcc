/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with records that their readers have not been shown, and queue pairs that waited for a
 * channel or a flow. */
#ifndef SOFTIB_RUNTIME_CHANNEL_QUEUES_H
#define SOFTIB_RUNTIME_CHANNEL_QUEUES_H

struct attachment;
struct channel;
struct flow;
struct list;

/* The channel has records that are not published. */
void publish_later(struct attachment *attachment, struct channel *channel);
/* Publishes all of them, and wakes the readers that sleep. */
void publish_all(struct attachment *attachment);

/* Queue pairs, by ready_link, may transmit again. */
void waiting_wake(struct list *waiting);
/* Those of a flow; for flow_table's callbacks. */
void waiting_wake_flow(void *context, struct flow *flow);

#endif
