/* SPDX-License-Identifier: Apache-2.0 */
/* The initiator's connection to an SRP target: queue pair, completion queue, received units, and
 * the region that the target reads and writes. One thread uses it. */
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
	CONNECTION_ARRIVALS = 16, /* of one srp_connection_poll() */
};

struct srp_connection {
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	struct ibv_mr *region; /* of received */
	uint8_t (*received)[SRP_RSP_BYTES_MAX];
	struct ibv_mr *data; /* the region of the commands' data */
};

/* A unit that arrived, until srp_connection_repost(). */
struct srp_received {
	uint32_t index;
	uint32_t byte_count;
};

/* Connects, and logs in. The target may read and write the data from now on. Returns 0 or a
 * negative errno; *ret_problem then says more. */
MUST_USE int srp_connection_open(struct srp_connection *connection,
				 const struct srp_target_text *target, void *data,
				 size_t data_byte_count, int timeout_ms,
				 struct srp_initiator *ret_initiator, const char **ret_problem);
/* The target can touch the data no more. */
void srp_connection_close(struct srp_connection *connection);

/* Sends a unit; its bytes are copied. */
MUST_USE int srp_connection_send(struct srp_connection *connection, const uint8_t *unit,
				 size_t byte_count);
/* Takes the units that have arrived. Returns how many; a negative errno: the connection has ended.
 */
MUST_USE int srp_connection_poll(struct srp_connection *connection,
				 struct srp_received ret_received[static CONNECTION_ARRIVALS]);
/* The next arrival makes completions->fd readable, until srp_connection_disarm(). An arrival before
 * this call does not. */
MUST_USE int srp_connection_arm(struct srp_connection *connection);
void srp_connection_disarm(struct srp_connection *connection);
/* The unit has been read. */
MUST_USE int srp_connection_repost(struct srp_connection *connection, uint32_t index);

time_ns srp_clock_now(void);
/* The timeout for poll(2); -1: none. */
int srp_milliseconds_until(time_ns deadline);

#endif
