/* SPDX-License-Identifier: Apache-2.0 */
/* Compares error counts with the thresholds of PortInfo (vol 1, chapter 7). */
#include "net/link/link_errors.h"

#include "net/link/port.h"

enum {
	BAD_PACKET_LEVEL = 4, /* one bad packet counts as much as this many good ones */
	RECOVERIES_MAX = 3,   /* in a row, before the link goes down */
};

enum link_error_action port_note_bad_packet(struct port *port)
{
	struct link_errors *errors = &port->errors;

	port->counters.symbol_errors++;
	errors->level = (uint16_t)(errors->level + BAD_PACKET_LEVEL);
	/* The threshold counts packets, and an error is more than that: 0 allows none. */
	if (errors->level <= port->info.local_phy_errors * BAD_PACKET_LEVEL)
		return LINK_ERROR_NONE;
	errors->level = 0;
	port->counters.local_link_integrity_errors++;
	if (++errors->recoveries <= RECOVERIES_MAX) {
		port->counters.link_error_recovery++;
		return LINK_ERROR_RECOVER;
	}
	errors->recoveries = 0;
	return LINK_ERROR_FALL;
}

enum link_error_action port_note_overrun(struct port *port)
{
	struct link_errors *errors = &port->errors;

	if (++errors->overruns <= port->info.overrun_errors)
		return LINK_ERROR_NONE;
	errors->overruns = 0;
	port->counters.excessive_buffer_overruns++;
	return LINK_ERROR_OVERRUN;
}

enum link_error_action port_note_watchdog(struct port *port)
{
	struct link_errors *errors = &port->errors;

	if (++errors->watchdogs <= RECOVERIES_MAX) {
		port->counters.link_error_recovery++;
		return LINK_ERROR_WATCHDOG;
	}
	errors->watchdogs = 0;
	return LINK_ERROR_WATCHDOG_FALL;
}

void port_note_good_packet(struct port *port)
{
	struct link_errors *errors = &port->errors;

	errors->overruns = 0;
	if (errors->level)
		errors->level--;
	if (errors->level == 0)
		errors->recoveries = 0;
}
