/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with records that their readers have not been shown, and queue pairs that waited for a
 * channel or a flow. */
#ifndef SOFTIB_RUNTIME_CHANNEL_QUEUES_H
#define SOFTIB_RUNTIME_CHANNEL_QUEUES_H

struct process_runtime;
struct channel;
struct flow;
struct list;

/* The channel has records that are not published. */
void publish_later(struct process_runtime *runtime, struct channel *channel);
/* Publishes all of them, and wakes the readers that sleep. */
void publish_all(struct process_runtime *runtime);

/* Queue pairs, by ready_link, may transmit again. */
void waiting_wake(struct list *waiting);
/* Those of a flow; for flow_table's callbacks. */
void waiting_wake_flow(void *context, struct flow *flow);

#endif
