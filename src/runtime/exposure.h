/* SPDX-License-Identifier: Apache-2.0 */
/* A process gives its exported rkeys (ipc/rma_area.h) to a peer by its own act; softibd passes them
 * on. The peer fetches them (runtime/direct_channels.h). */
#ifndef SOFTIB_RUNTIME_EXPOSURE_H
#define SOFTIB_RUNTIME_EXPOSURE_H

struct channel;
struct process_runtime;

/* A queue pair is connected to one of the peer's, or streams datagrams to it: the peer may map our
 * shared pages from now on. */
void exposure_give(struct process_runtime *runtime, struct channel *channel);

#endif
