/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and links as one machine with a step function: packets and time go in, packets for attached
 * adapters come out. fabric_step() and fabric_deadline() are in step.c.
 */
#ifndef SOFTIB_FABRIC_FABRIC_H
#define SOFTIB_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "fabric/fabric_state.h"
#include "fabric/inject.h"
#include "fabric/walk.h"
#include "net/link/port.h"
#include "net/node/node.h"

enum { FABRIC_FRAMES_MAX = 32768 };

MUST_USE int fabric_init(struct fabric *fabric, const struct fabric_owner *owner);
void fabric_release(struct fabric *fabric);

/* The caller keeps names and GUIDs unique. */
MUST_USE int fabric_add_node(struct fabric *fabric, enum node_type type, unsigned port_count,
			     uint64_t node_guid, const char *name, const char *description,
			     struct node **ret_node);
/* Connects two ports with a cable: physical LinkUp, PortState Init on both sides, width and speed
 * negotiated down to the lesser end. */
MUST_USE int fabric_connect(struct fabric *fabric, struct port *a, struct port *b);
/* Pulls the cable or plugs it in. */
void fabric_set_cable(struct fabric *fabric, struct port *port, bool is_up, time_ns now);

struct node *fabric_find_guid(const struct fabric *fabric, uint64_t node_guid);
struct node *fabric_find_name(const struct fabric *fabric, const char *name);
/* The adapter with this index (from 0) of a host; NULL if there is none. */
struct node *fabric_find_adapter(const struct fabric *fabric, const char *host,
				 uint32_t adapter_index);

/* Moves packets until nothing can move or the budget is used up. Returns whether work is left that
 * needs no time to pass. */
bool fabric_step(struct fabric *fabric, time_ns now, unsigned frame_budget);
/* When time alone lets something move (lifetimes, pacing); TIME_NEVER: it does not. */
time_ns fabric_deadline(const struct fabric *fabric);
/* The endpoint of this port has room again. */
void fabric_endpoint_ready(struct fabric *fabric, struct port *port);
/* Whether no packet is inside. */
bool fabric_is_idle(const struct fabric *fabric);

#endif
