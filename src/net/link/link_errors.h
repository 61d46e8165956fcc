/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a port makes of packets that the link broke: error counts against the thresholds of
 * PortInfo, and what follows when they are reached (vol 1, chapter 7, error detection; vol 2, link
 * error recovery).
 */
#ifndef SOFTIB_NET_LINK_LINK_ERRORS_H
#define SOFTIB_NET_LINK_LINK_ERRORS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct port;

/* Part of a port's state. */
struct link_errors {
	uint16_t level;	    /* grows with bad packets, shrinks with good ones */
	uint8_t recoveries; /* in a row, with no whole link between them */
	uint8_t overruns;   /* in a row */
	uint8_t watchdogs;  /* in a row */
};

enum link_error_action {
	LINK_ERROR_NONE,
	LINK_ERROR_RECOVER,  /* LocalPhyErrors reached: trap 129, the link is trained anew and stays
				up */
	LINK_ERROR_FALL,     /* and that has not helped: the link goes down */
	LINK_ERROR_OVERRUN,  /* OverrunErrors reached: trap 130 */
	LINK_ERROR_WATCHDOG, /* no flow control packet in time: trap 131, the link is trained anew
			      */
	LINK_ERROR_WATCHDOG_FALL, /* and that has not helped */
};

/* A packet with a bad VCRC came in. Counts, and says what has to be done. */
MUST_USE enum link_error_action port_note_bad_packet(struct port *port);

/* A packet for which there is no buffer came in. */
MUST_USE enum link_error_action port_note_overrun(struct port *port);

/* No flow control packet came in time. */
MUST_USE enum link_error_action port_note_watchdog(struct port *port);

/* A good packet came in. */
void port_note_good_packet(struct port *port);

/* Whether anything is left that good packets would make up for. */
static inline bool link_errors_linger(const struct link_errors *errors)
{
	return errors->level || errors->recoveries || errors->overruns;
}

#endif
