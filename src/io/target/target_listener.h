/* SPDX-License-Identifier: Apache-2.0 */
/* Where initiators connect: a service ID, and the login in the connection request. */
#ifndef SOFTIB_IO_TARGET_TARGET_LISTENER_H
#define SOFTIB_IO_TARGET_TARGET_LISTENER_H

#include <stdint.h>
#include <rdma/rdma_cma.h>
#include "base/attributes.h"
#include "io/srp/login.h"
#include "io/target/target_channel.h"

struct target_listener {
	struct srp_target *target;
	struct srp_login_terms terms;
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
};

/* Listens on all ports of the host. Returns 0 or a negative errno. */
MUST_USE int target_listener_open(struct target_listener *listener, struct srp_target *target,
				  uint64_t target_extension, uint64_t target_guid,
				  uint64_t service_id);
void target_listener_close(struct target_listener *listener);
/* Takes one event of connection management; the descriptor is readable. Returns 0, or a negative
 * errno where there will be no more events. */
MUST_USE int target_listener_take_event(struct target_listener *listener);

#endif
