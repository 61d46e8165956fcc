/* SPDX-License-Identifier: Apache-2.0 */
/* XRC leases: targets that softibd leases to this process. Records of the rings to softibd take,
 * return and refuse them. runtime/xrc/shared_domains.h has the domains. The caller of every
 * function holds the lock of the process runtime. */
#ifndef SOFTIB_RUNTIME_XRC_LEASED_TARGETS_H
#define SOFTIB_RUNTIME_XRC_LEASED_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "ipc/protocol.h"

struct adapter;
struct process_runtime;
struct qp_object;
struct ring_record;

/* A record of the down ring about a target. */
void xrc_leases_receive(struct process_runtime *runtime, const struct ring_record *record);
/* Returns the idle targets, and sets give_back_at to the time of the next look. */
void xrc_leases_return_idle(struct process_runtime *runtime, time_ns now);

/* Returns this target, idle or not. false: the ring has no room now. */
MUST_USE bool xrc_lease_return(struct adapter *adapter, struct qp_object *object);
/* Sends a record of one word, now or when the ring has room. */
void xrc_leases_say(struct adapter *adapter, enum record_kind kind, uint32_t word);

#endif
