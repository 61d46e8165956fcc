/* SPDX-License-Identifier: Apache-2.0 */
/* This process's exported rkeys, by which its peers access its memory (ipc/rma_area.h). */
#ifndef SOFTIB_RUNTIME_RMA_RKEY_EXPORT_H
#define SOFTIB_RUNTIME_RMA_RKEY_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct adapter;
struct process_runtime;
struct channel;
struct rkey_export;

/* Takes ownership of the file. Without a valid file everything goes by packets. */
MUST_USE int rkey_export_open(struct rkey_export *rkey_export, int file);
void rkey_export_close(struct rkey_export *rkey_export);

/* Before a second thread starts, or a fork: moves shared pages back into private memory and shares
 * no more. Lock held. */
void rkey_export_end_sharing(struct process_runtime *runtime);

/* Exports the adapter's keys from now on. */
void rkey_export_watch(struct adapter *adapter);

/* Return when no access that the peer, or any peer, began before the call reaches what was revoked
 * before it: the access has ended, or was cut off (runtime/rma/hazard_wait.h). Lock held. */
void rkey_export_wait_for(struct channel *channel);
void rkey_export_wait_for_all(struct process_runtime *runtime);

#endif
