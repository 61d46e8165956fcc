/* SPDX-License-Identifier: Apache-2.0 */
/* This process's exposure: what it lets its peers know, so that they can act on its memory
 * (ipc/rma_area.h). */
#ifndef SOFTIB_RUNTIME_RMA_RKEY_EXPORT_H
#define SOFTIB_RUNTIME_RMA_RKEY_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct adapter;
struct attachment;
struct channel;
struct exposure;

/* The file becomes the exposure's; without it (or with a bad one) everything goes by packets. */
MUST_USE int exposure_open(struct exposure *exposure, int file);
void exposure_close(struct exposure *exposure);

/* Before a second thread begins, or a fork: pages that peers have too are the program's own again,
 * for good. Lock held. */
void exposure_end_sharing(struct attachment *attachment);

/* Keys of the adapter are published from now on. */
void exposure_watch(struct adapter *adapter);

/* Returns when the peer is not in the middle of something that it began before the call. Lock held.
 */
void exposure_wait_for(const struct channel *channel);

#endif
