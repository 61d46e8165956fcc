/* SPDX-License-Identifier: Apache-2.0 */
/* XRC targets that softibd lends to this process: taken, given back and refused by records of the
 * rings to it. runtime/xrc/shared_domains.h has the domains. The attachment's lock is held in all
 * of it.
 */
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
/* Gives back what is idle, and says in give_back_at when to look again. */
void xrc_leases_return_idle(struct process_runtime *runtime, time_ns now);

/* This one, idle or not. false: no room now. */
MUST_USE bool xrc_lease_return(struct adapter *adapter, struct qp_object *object);
/* A record of one word, now or when the ring has room. */
void xrc_leases_say(struct adapter *adapter, enum record_kind kind, uint32_t word);

#endif
