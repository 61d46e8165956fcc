/* SPDX-License-Identifier: Apache-2.0 */
/* The UD zcopies of this process to the reader of one ring (runtime/zcopy/ud_zcopy.h), as part of
 * the channel. */
#ifndef SOFTIB_RUNTIME_ZCOPY_UD_ZCOPY_STATE_H
#define SOFTIB_RUNTIME_ZCOPY_UD_ZCOPY_STATE_H

#include <stdint.h>
#include "base/list.h"
#include "base/time.h"

struct completion_ring;
struct ud_zcopy;

/* A receiver that made its sender wait gets copies; so many the first time. */
enum { UD_ZCOPY_COPIES_MIN = 64 };

/* The UD zcopies in the ring of a channel, oldest first. Positions are free-running: head (the
 * oldest whose request is open), taken_back (zcopies before it have their payload in the ring),
 * tail. */
struct ud_zcopies {
	struct ud_zcopy *zcopies; /* NULL: none was ever sent */
	uint32_t head, taken_back, tail;
	uint32_t copies_left; /* datagrams to be sent as copies, since zcopies were taken back */
	uint32_t copies_next; /* copies_left of the next time */
	uint32_t returned;    /* zcopies that ended since then */
	/* When the last datagram was posted: its completion queue, how far the program had polled
	 * it, and how far we had read from the peer. */
	const struct completion_ring *ring;
	uint32_t ring_head;
	uint64_t in_head;
	time_ns since;	  /* when a look first found no progress; 0: there was progress */
	struct list link; /* in process_runtime.lending while there are any */
};

static inline void ud_zcopies_init(struct ud_zcopies *zcopies)
{
	*zcopies = (struct ud_zcopies){.copies_next = UD_ZCOPY_COPIES_MIN};
	list_init(&zcopies->link);
}

#endif
