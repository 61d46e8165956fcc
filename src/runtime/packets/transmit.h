/* SPDX-License-Identifier: Apache-2.0 */
/* Transmits packets: from the ready queue pairs into the rings of their flows. */
#ifndef SOFTIB_RUNTIME_PACKETS_TRANSMIT_H
#define SOFTIB_RUNTIME_PACKETS_TRANSMIT_H

#include <stdbool.h>
#include "base/time.h"
#include "ipc/protocol.h"
#include "wire/mtu.h"

struct adapter;
struct qp;

enum {
	/* A record with the largest train, and once more for the unused end of a ring. */
	TRANSMIT_RECORD_BYTES = 64 + PACKET_HEADER_BYTES_MAX + TRAIN_BYTES_MAX,
	TRANSMIT_ROOM_BYTES = 2 * TRANSMIT_RECORD_BYTES,
};

/* Lets the ready queue pairs of an adapter transmit. Returns whether one did. */
bool transmit_adapter(struct adapter *adapter, time_ns now);
/* A queue pair has been told its peer: asks for their ring before the first message has to wait for
 * it. */
void transmit_prepare(struct adapter *adapter, struct qp *qp, time_ns now);
/* A queue pair is about to stop: its pending responses, and packets that wait for a flow to be
 * resolved, are relayed. An adapter would have acknowledged at once. */
void transmit_last_answers(struct adapter *adapter, struct qp *qp, time_ns now);
/* For the queue pairs' environment: whether the last packet of this queue pair lies unread in a
 * ring whose reader is alive. */
bool transmit_is_underway(const struct qp *qp, time_ns now);

#endif
