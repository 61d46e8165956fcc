/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the packets of a port as the performance agent shows them (vol 1, chapter 16; management
 * 6.1). */
#ifndef SOFTIB_NET_LINK_COUNTERS_H
#define SOFTIB_NET_LINK_COUNTERS_H

#include <stdint.h>
#include "net/link/port.h"
#include "wire/pkey.h"

/* words: LRH.PktLen, which is what PortXmitData and PortRcvData count. */
static inline void port_count_transmit(struct port *port, uint16_t dlid, uint8_t sl, uint8_t vl,
				       uint32_t words)
{
	struct link_counters *counters = &port->counters;

	counters->transmit_words += words;
	counters->transmit_levels[sl & 15].sl_words += words;
	counters->transmit_levels[vl & 15].vl_words += words;
	counters->transmit_levels[vl & 15].vl_packets++;
	counters->transmit_packets++;
	if (lid_is_multicast(dlid))
		counters->multicast_transmit_packets++;
	else
		counters->unicast_transmit_packets++;
}

static inline void port_count_receive(struct port *port, uint16_t dlid, uint8_t sl, uint8_t vl,
				      uint32_t words)
{
	struct link_counters *counters = &port->counters;

	counters->receive_words += words;
	counters->receive_levels[sl & 15].sl_words += words;
	counters->receive_levels[vl & 15].vl_words += words;
	counters->receive_levels[vl & 15].vl_packets++;
	counters->receive_packets++;
	if (lid_is_multicast(dlid))
		counters->multicast_receive_packets++;
	else
		counters->unicast_receive_packets++;
}

/* Packets of an offloaded flow, which crossed this port without passing through the fabric. */
struct offloaded_packets {
	uint8_t sl, vl;
	uint64_t packets, words;
};

void port_count_offloaded_transmit(struct port *port, const struct offloaded_packets *sent);
void port_count_offloaded_receive(struct port *port, const struct offloaded_packets *received);

#endif
