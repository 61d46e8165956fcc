/* SPDX-License-Identifier: Apache-2.0 */
/* Partition keys and special local identifiers (vol 1, chapters 4 and 10; transport 8.10, 10.3 to
 * 10.5). */
#ifndef SOFTIB_WIRE_PKEY_H
#define SOFTIB_WIRE_PKEY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PKEY_DEFAULT_FULL = 0xffff,
	PKEY_DEFAULT_LIMITED = 0x7fff,
	PKEY_FULL_MEMBER = 0x8000,
	LID_UNICAST_FIRST = 0x0001,
	LID_UNICAST_LAST = 0xbfff,
	LID_MULTICAST_FIRST = 0xc000,
	LID_MULTICAST_LAST = 0xfffe,
	LID_PERMISSIVE = 0xffff,
	QPN_SMI = 0,
	QPN_GSI = 1,
	QPN_MULTICAST = 0xffffff,
	QPN_MAX = 0xffffff, /* also of SRQs and EE contexts */
};

#define QKEY_GSI 0x80010000u

/* The same base, and at least one of the two a full member (transport 10.3). */
static inline bool pkey_matches(uint16_t a, uint16_t b)
{
	return ((a ^ b) & 0x7fff) == 0 && (a & 0x7fff) != 0 && ((a | b) & PKEY_FULL_MEMBER);
}

/* Whether a member with this entry may send with the key: the same base, and no more than its own
 * membership. */
static inline bool pkey_may_send(uint16_t entry, uint16_t pkey)
{
	return ((entry ^ pkey) & 0x7fff) == 0 && (pkey & 0x7fff) != 0 &&
	       (!(pkey & PKEY_FULL_MEMBER) || (entry & PKEY_FULL_MEMBER));
}

static inline bool lid_is_unicast(uint16_t lid)
{
	return lid >= LID_UNICAST_FIRST && lid <= LID_UNICAST_LAST;
}

static inline bool lid_is_multicast(uint16_t lid)
{
	return lid >= LID_MULTICAST_FIRST && lid <= LID_MULTICAST_LAST;
}

/* Only privileged programs may give a controlled Q_Key to a queue pair (vol 1, chapter 10;
 * transport 10.4). */
static inline bool qkey_is_controlled(uint32_t qkey)
{
	return qkey >> 31;
}

#endif
