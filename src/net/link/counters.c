/* SPDX-License-Identifier: Apache-2.0 */
/* Drop reasons, and the port counters that they belong to (vol 1, chapter 16; management 6.1). */
#include "net/link/counters.h"

#define COUNTER(member) offsetof(struct link_counters, member)

enum { NOT_COUNTED = -1 };

/* clang-format off */
static const struct {
	const char *name;
	int counter; /* offset in struct link_counters */
	int detail;  /* the part of that counter, if a port has one besides drops[] */
} reasons[DROP_REASON_COUNT] = {
	[DROP_NONE]          = {"none",              NOT_COUNTED, NOT_COUNTED},
	[DROP_MALFORMED]     = {"malformed",         COUNTER(receive_errors), COUNTER(receive_malformed_packets)},
	[DROP_PORT_INACTIVE] = {"port inactive",     COUNTER(transmit_discards), NOT_COUNTED},
	[DROP_NO_ROUTE]      = {"no route",          COUNTER(receive_switch_relay_errors), NOT_COUNTED},
	[DROP_LOOPING]       = {"looping",           COUNTER(receive_switch_relay_errors), NOT_COUNTED},
	[DROP_HOP_LIMIT]     = {"hop limit",         COUNTER(receive_switch_relay_errors), NOT_COUNTED},
	[DROP_VL_MAPPING]    = {"VL mapping",        COUNTER(receive_switch_relay_errors), NOT_COUNTED},
	[DROP_MTU]           = {"MTU",               COUNTER(transmit_discards), NOT_COUNTED},
	[DROP_LIFETIME]      = {"lifetime",          COUNTER(transmit_discards), COUNTER(transmit_lifetime_discards)},
	[DROP_HEAD_OF_QUEUE] = {"head of queue",     COUNTER(transmit_discards), NOT_COUNTED},
	[DROP_PKEY_INBOUND]  = {"P_Key inbound",     COUNTER(receive_constraint_errors), NOT_COUNTED},
	[DROP_PKEY_OUTBOUND] = {"P_Key outbound",    COUNTER(transmit_constraint_errors), NOT_COUNTED},
	[DROP_VL15]          = {"VL15 dropped",      COUNTER(vl15_dropped), NOT_COUNTED},
	[DROP_NO_LISTENER]   = {"no listener",       NOT_COUNTED, NOT_COUNTED},
	[DROP_NO_FRAME]      = {"no memory",         COUNTER(transmit_discards), NOT_COUNTED},
	[DROP_VCRC]          = {"VCRC",              COUNTER(receive_errors), COUNTER(receive_physical_errors)},
	[DROP_ICRC]          = {"ICRC",              COUNTER(receive_errors), COUNTER(receive_physical_errors)},
	[DROP_OVERRUN]       = {"buffer overrun",    COUNTER(receive_errors), NOT_COUNTED},
	[DROP_FAULT]         = {"fault on the link", NOT_COUNTED, NOT_COUNTED},
	[DROP_RECEIVER_FULL] = {"receiver full",     NOT_COUNTED, NOT_COUNTED},
};
/* clang-format on */

const char *drop_reason_name(enum drop_reason reason)
{
	return reason < DROP_REASON_COUNT ? reasons[reason].name : "unknown";
}

static int counter_of(const struct port *port, enum drop_reason reason)
{
	/* An adapter relays nothing: it discards a packet that has no VL on the way out. */
	if (reason == DROP_VL_MAPPING && port->kind == PORT_OF_ADAPTER)
		return COUNTER(transmit_discards);
	return reasons[reason].counter;
}

static void count(struct port *port, int offset)
{
	if (offset != NOT_COUNTED)
		++*(uint64_t *)((char *)&port->counters + offset);
}

void port_count_drop(struct port *port, enum drop_reason reason)
{
	port->counters.drops[reason]++;
	count(port, counter_of(port, reason));
	count(port, reasons[reason].detail);
}

static void count_level(struct level_counters levels[], const struct offloaded_packets *passed)
{
	levels[passed->sl & 15].sl_words += passed->words;
	levels[passed->vl & 15].vl_words += passed->words;
	levels[passed->vl & 15].vl_packets += passed->packets;
}

void port_count_offloaded_transmit(struct port *port, const struct offloaded_packets *sent)
{
	count_level(port->counters.transmit_levels, sent);
	port->counters.transmit_words += sent->words;
	port->counters.transmit_packets += sent->packets;
	port->counters.unicast_transmit_packets += sent->packets;
}

void port_count_offloaded_receive(struct port *port, const struct offloaded_packets *received)
{
	count_level(port->counters.receive_levels, received);
	port->counters.receive_words += received->words;
	port->counters.receive_packets += received->packets;
	port->counters.unicast_receive_packets += received->packets;
}
