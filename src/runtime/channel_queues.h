/* SPDX-License-Identifier: Apache-2.0 */
/* The list of channels with unpublished records, and the queue pairs that wait for a channel or a
 * flow. */
#ifndef SOFTIB_RUNTIME_CHANNEL_QUEUES_H
#define SOFTIB_RUNTIME_CHANNEL_QUEUES_H

struct process_runtime;
struct channel;
struct flow;
struct list;

/* The channel has records that are not published. */
void publish_later(struct process_runtime *runtime, struct channel *channel);
/* Publishes the records of all these channels, and wakes the readers that sleep. */
void publish_all(struct process_runtime *runtime);

/* The queue pairs in this list (by ready_link) may transmit again. */
void waiting_wake(struct list *waiting);
/* waiting_wake for the queue pairs of a flow; a callback for flow_table. */
void waiting_wake_flow(void *context, struct flow *flow);

#endif
