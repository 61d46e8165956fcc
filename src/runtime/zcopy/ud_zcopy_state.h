/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams of this process that the reader of one ring copies from its memory
 * (runtime/zcopy/ud_zcopy.h), as the channel keeps them. */
#ifndef SOFTIB_RUNTIME_ZCOPY_UD_ZCOPY_STATE_H
#define SOFTIB_RUNTIME_ZCOPY_UD_ZCOPY_STATE_H

#include <stdint.h>
#include "base/list.h"
#include "base/time.h"

struct completion_ring;
struct ud_zcopy;

/* A receiver that let its sender wait is sent copies; so many the first time. */
enum { UD_ZCOPY_COPIES_MIN = 64 };

/* What lies unread in the ring of a channel, oldest first. Positions are free-running: head (oldest
 * that is not reported), taken_back (those before it are no longer lent), tail. */
struct ud_zcopies {
	struct ud_zcopy *zcopies; /* NULL: never lent any */
	uint32_t head, taken_back, tail;
	uint32_t copies_left; /* datagrams that are not lent, since the last were taken back */
	uint32_t copies_next; /* how many the next time */
	uint32_t returned;    /* since then */
	/* When the last datagram was posted: the queue of its completion, how far the program had
	 * read that, and how far we the other end. */
	const struct completion_ring *ring;
	uint32_t ring_head;
	uint64_t in_head;
	time_ns since;	  /* when nothing came back for the first time; 0: something did */
	struct list link; /* in attachment->lending while there are any */
};

static inline void ud_zcopies_init(struct ud_zcopies *zcopies)
{
	*zcopies = (struct ud_zcopies){.copies_next = UD_ZCOPY_COPIES_MIN};
	list_init(&zcopies->link);
}

#endif
