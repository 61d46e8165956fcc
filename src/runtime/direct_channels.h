/* SPDX-License-Identifier: Apache-2.0 */
/* Direct channels: rings with other processes, from softibd's offer to the close. */
#ifndef SOFTIB_RUNTIME_DIRECT_CHANNELS_H
#define SOFTIB_RUNTIME_DIRECT_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

struct process_runtime;
struct channel;

/* The channel of that id; NULL: there is none. */
struct channel *direct_channel_find(const struct process_runtime *runtime, uint32_t id);
/* The channel of that id, or a new one that the progress thread will fetch; NULL: out of memory. */
struct channel *direct_channel_get(struct process_runtime *runtime, uint32_t id);

/* The peer on this ring has done so: the progress thread will fetch them. */
void direct_channel_exposed(struct process_runtime *runtime, uint32_t id);

/* Whether there is anything to fetch; needs no lock. */
bool direct_channels_are_due(const struct process_runtime *runtime);
/* Fetches wanted channels, and shared pages, from softibd. Only the progress thread calls it.
 * Releases the lock while it asks. */
void direct_channels_fetch(struct process_runtime *runtime);

/* Closes rings whose peer wrote malformed records, and rings that softibd closed once their records
 * and ACK words are read to the end. Returns whether there was one. */
bool direct_channels_reap(struct process_runtime *runtime);
/* Closes all of them: softibd has ended, and no queue pair is left. */
void direct_channels_drop_all(struct process_runtime *runtime);

#endif
