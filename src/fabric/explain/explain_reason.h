/* SPDX-License-Identifier: Apache-2.0 */
/* Why a packet is dropped, in words: the table and its entry. */
#ifndef SOFTIB_FABRIC_EXPLAIN_EXPLAIN_REASON_H
#define SOFTIB_FABRIC_EXPLAIN_EXPLAIN_REASON_H

#include "fabric/explain/explain.h"
#include "net/link/port.h"

/* The packet has the header that it has at this port. */
void explain_reason(enum drop_reason reason, const struct port *port,
		    const struct explain_packet *packet, char ret_text[static EXPLAIN_TEXT_BYTES]);

#endif
