/* SPDX-License-Identifier: Apache-2.0 */
/* Alternate paths that softibd's connection manager loads into queue pairs of this process: what a
 * peer asked for by LAP, or granted by APR (vol 1, 12.8 and 17.2.8). */
#ifndef SOFTIB_HOST_ALTERNATE_PATHS_H
#define SOFTIB_HOST_ALTERNATE_PATHS_H

#include "base/time.h"
#include "net/transport/address.h"

struct attachment;
struct ring_record;

/* Of RECORD_ALTERNATE_PATH. */
struct alternate_path {
	struct address_vector address;
	uint16_t pkey_index;
	uint8_t timeout;
};

/* Loads it and says whether that was possible. The attachment's lock is held. */
void alternate_path_receive(struct attachment *attachment, time_ns now,
			    const struct ring_record *record);

#endif
