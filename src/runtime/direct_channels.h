/* SPDX-License-Identifier: Apache-2.0 */
/* Direct channels: rings with other processes, from softibd's naming one to its closing. */
#ifndef SOFTIB_RUNTIME_DIRECT_CHANNELS_H
#define SOFTIB_RUNTIME_DIRECT_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

struct process_runtime;
struct channel;

/* The channel of that id, or a new one that the helper will fetch; NULL when memory is out. */
struct channel *direct_channel_get(struct process_runtime *runtime, uint32_t id);

/* Fetches wanted channels from softibd. Only the helper calls it. Gives the lock up while it asks.
 */
void direct_channels_fetch(struct process_runtime *runtime);

/* Leaves rings whose peer wrote nonsense, and those that softibd closed once they are read. Returns
 * whether there was one. */
bool direct_channels_reap(struct process_runtime *runtime);

#endif
