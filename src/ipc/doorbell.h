/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells: descriptors that one process sleeps on and others ring.
 *
 * A doorbell is a pipe. Whether a write may block is a property of the open file, and passing a
 * descriptor shares the open file. So every holder gets an open file of its own, and no holder can
 * make another one's write block.
 */
#ifndef SOFTIB_IPC_DOORBELL_H
#define SOFTIB_IPC_DOORBELL_H

#include "base/attributes.h"

/* A descriptor, or -errno. Close-on-exec; never blocks. */
MUST_USE int doorbell_make(void);
/* Another open file of the doorbell, to be given away. A descriptor, or -errno. */
MUST_USE int doorbell_copy(int doorbell);

/* Never blocks: a full pipe rings already. */
void doorbell_ring(int doorbell);
/* Takes the rings that came so far. */
void doorbell_silence(int doorbell);

#endif
