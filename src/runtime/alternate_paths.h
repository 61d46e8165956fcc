/* SPDX-License-Identifier: Apache-2.0 */
/* Alternate paths that softibd's connection manager loads into queue pairs of this process: a peer
 * asked for the path by LAP, or granted it by APR (vol 1, 12.8 and 17.2.8). */
#ifndef SOFTIB_RUNTIME_ALTERNATE_PATHS_H
#define SOFTIB_RUNTIME_ALTERNATE_PATHS_H

#include "base/time.h"
#include "ipc/alternate_path.h"

struct process_runtime;
struct ring_record;

/* Loads the path and tells softibd whether that was possible. The runtime's lock is held. */
void alternate_path_receive(struct process_runtime *runtime, time_ns now,
			    const struct ring_record *record);

#endif
