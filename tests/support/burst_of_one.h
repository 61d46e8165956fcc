/* SPDX-License-Identifier: Apache-2.0 */
/* A receive burst of one message (net/transport/fast/rx_burst.h), for tests that check after each
 * message. */
#ifndef SOFTIB_TESTS_SUPPORT_BURST_OF_ONE_H
#define SOFTIB_TESTS_SUPPORT_BURST_OF_ONE_H

#include "net/transport/fast/rx_burst.h"

/* The packet came by this port; byte_count counts its headers too. */
static inline bool receive_burst_of_one(struct qp *qp, time_ns now, uint8_t port_number,
					const uint8_t *packet, uint32_t byte_count)
{
	struct rx_burst burst =
		rx_burst_begin(qp, now, port_number, &packet_source_fabric, packet, byte_count, 1);
	const bool is_taken =
		burst.count_max && rx_burst_take(&burst, packet + burst.arrival.payload_offset);

	rx_burst_end(&burst);
	return is_taken;
}

#endif
