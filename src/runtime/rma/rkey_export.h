/* SPDX-License-Identifier: Apache-2.0 */
/* This process's exposure: what it lets its peers know, so that they can act on its memory
 * (ipc/rma_area.h). */
#ifndef SOFTIB_RUNTIME_RMA_RKEY_EXPORT_H
#define SOFTIB_RUNTIME_RMA_RKEY_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct adapter;
struct process_runtime;
struct channel;
struct rkey_export;

/* The file becomes the exposure's; without it (or with a bad one) everything goes by packets. */
MUST_USE int rkey_export_open(struct rkey_export *rkey_export, int file);
void rkey_export_close(struct rkey_export *rkey_export);

/* Before a second thread begins, or a fork: pages that peers have too are the program's own again,
 * for good. Lock held. */
void rkey_export_end_sharing(struct process_runtime *runtime);

/* Keys of the adapter are published from now on. */
void rkey_export_watch(struct adapter *adapter);

/* Returns when the peer is not in the middle of something that it began before the call. Lock held.
 */
void rkey_export_wait_for(const struct channel *channel);

#endif
