/* SPDX-License-Identifier: Apache-2.0 */
/* The initiator's connection to an SRP target: queue pair, completion queue, received units. It has
 * no lock: one thread at a time waits, and its owner's lock covers sending. */
#ifndef SOFTIB_IO_NBDKIT_SRP_CONNECTION_H
#define SOFTIB_IO_NBDKIT_SRP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>
#include "base/attributes.h"
#include "io/srp/initiator.h"
#include "io/srp/target_text.h"

enum {
	CONNECTION_RECEIVES = SRP_INITIATOR_REQUESTS_MAX + 8,
	CONNECTION_ARRIVALS = 16, /* of one srp_connection_wait() */
};

struct srp_connection {
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	struct ibv_mr *region; /* of received */
	uint8_t (*received)[SRP_RSP_BYTES_MAX];
};

/* A unit that arrived, until srp_connection_repost(). */
struct srp_received {
	uint32_t index;
	uint32_t byte_count;
};

/* Connects, and logs in. Returns 0 or a negative errno; *ret_problem then says more. */
MUST_USE int srp_connection_open(struct srp_connection *connection,
				 const struct srp_target_text *target, int timeout_ms,
				 struct srp_initiator *ret_initiator, const char **ret_problem);
void srp_connection_close(struct srp_connection *connection);

/* Sends a unit; its bytes are copied. */
MUST_USE int srp_connection_send(struct srp_connection *connection, const uint8_t *unit,
				 size_t byte_count);
/* Waits for units. Returns how many; a negative errno: the connection has ended. */
MUST_USE int srp_connection_wait(struct srp_connection *connection,
				 struct srp_received ret_received[static CONNECTION_ARRIVALS]);
/* Ends the connection, which wakes srp_connection_wait(). */
void srp_connection_break(struct srp_connection *connection);
/* The unit has been read. */
MUST_USE int srp_connection_repost(struct srp_connection *connection, uint32_t index);

uint64_t srp_clock_ns(void);

#endif
