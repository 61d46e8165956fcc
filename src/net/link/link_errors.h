/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link errors of a port: counts of broken packets against the thresholds of PortInfo, and the
 * action when one is exceeded (vol 1, chapter 7, error detection; vol 2, link error recovery).
 */
#ifndef SOFTIB_NET_LINK_LINK_ERRORS_H
#define SOFTIB_NET_LINK_LINK_ERRORS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct port;

/* Part of a port's state. */
struct link_errors {
	uint16_t level;	    /* rises with bad packets, falls with good ones */
	uint8_t recoveries; /* in a row, with no good link between them */
	uint8_t overruns;   /* in a row */
	uint8_t watchdogs;  /* in a row */
};

enum link_error_action {
	LINK_ERROR_NONE,
	LINK_ERROR_RECOVER,	  /* LocalPhyErrors exceeded: trap 129, retrained, stays up */
	LINK_ERROR_FALL,	  /* recovery did not help: the link goes down */
	LINK_ERROR_OVERRUN,	  /* OverrunErrors exceeded: trap 130 */
	LINK_ERROR_WATCHDOG,	  /* no flow control packet in time: trap 131, retrained */
	LINK_ERROR_WATCHDOG_FALL, /* and training did not help */
};

/* A packet with a bad VCRC came in. Counts it and returns the action. */
MUST_USE enum link_error_action port_note_bad_packet(struct port *port);

/* A packet came in for which there is no buffer. */
MUST_USE enum link_error_action port_note_overrun(struct port *port);

/* No flow control packet came in time. */
MUST_USE enum link_error_action port_note_watchdog(struct port *port);

/* A good packet came in. */
void port_note_good_packet(struct port *port);

/* Whether a good packet would change any of these counts. */
static inline bool link_errors_linger(const struct link_errors *errors)
{
	return errors->level || errors->recoveries || errors->overruns;
}

#endif
