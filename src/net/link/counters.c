/* SPDX-License-Identifier: Apache-2.0 */
/* Drop reasons, and the port counters that they belong to (vol 1, chapter 16; management 6.1). */
#include "net/link/counters.h"

#define COUNTER(member) offsetof(struct link_counters, member)

enum { NOT_COUNTED = -1 };

/* clang-format off */
static const struct {
	const char *name;
	int counter; /* offset in struct link_counters */
} reasons[DROP_REASON_COUNT] = {
	[DROP_NONE]          = {"none",          NOT_COUNTED},
	[DROP_MALFORMED]     = {"malformed",     COUNTER(receive_errors)},
	[DROP_PORT_INACTIVE] = {"port inactive", COUNTER(transmit_discards)},
	[DROP_NO_ROUTE]      = {"no route",      COUNTER(receive_switch_relay_errors)},
	[DROP_LOOPING]       = {"looping",       COUNTER(receive_switch_relay_errors)},
	[DROP_HOP_LIMIT]     = {"hop limit",     COUNTER(receive_switch_relay_errors)},
	[DROP_VL_MAPPING]    = {"VL mapping",    COUNTER(receive_switch_relay_errors)},
	[DROP_MTU]           = {"MTU",           COUNTER(transmit_discards)},
	[DROP_LIFETIME]      = {"lifetime",      COUNTER(transmit_discards)},
	[DROP_HEAD_OF_QUEUE] = {"head of queue", COUNTER(transmit_discards)},
	[DROP_PKEY_INBOUND]  = {"P_Key inbound", COUNTER(receive_constraint_errors)},
	[DROP_PKEY_OUTBOUND] = {"P_Key outbound", COUNTER(transmit_constraint_errors)},
	[DROP_VL15]          = {"VL15 dropped",  COUNTER(vl15_dropped)},
	[DROP_NO_LISTENER]   = {"no listener",   NOT_COUNTED},
	[DROP_NO_FRAME]      = {"no memory",     COUNTER(transmit_discards)},
	[DROP_VCRC]          = {"VCRC",          COUNTER(receive_errors)},
	[DROP_ICRC]          = {"ICRC",          COUNTER(receive_errors)},
	[DROP_OVERRUN]       = {"buffer overrun", COUNTER(receive_errors)},
	[DROP_FAULT]         = {"fault on the link", NOT_COUNTED},
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

void port_count_drop(struct port *port, enum drop_reason reason)
{
	int offset = counter_of(port, reason);

	port->counters.drops[reason]++;
	if (offset != NOT_COUNTED)
		++*(uint64_t *)((char *)&port->counters + offset);
}

void port_count_offloaded_transmit(struct port *port, uint8_t sl, uint64_t packets, uint64_t words)
{
	port->counters.transmit_words_by_sl[sl & 15] += words;
	port->counters.transmit_words += words;
	port->counters.transmit_packets += packets;
	port->counters.unicast_transmit_packets += packets;
}

void port_count_offloaded_receive(struct port *port, uint8_t sl, uint64_t packets, uint64_t words)
{
	port->counters.receive_words_by_sl[sl & 15] += words;
	port->counters.receive_words += words;
	port->counters.receive_packets += packets;
	port->counters.unicast_receive_packets += packets;
}
