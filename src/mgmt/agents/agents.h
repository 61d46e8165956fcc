/* SPDX-License-Identifier: Apache-2.0 */
/* What answers MADs on every node: subnet management and performance agents, one implementation for
 * adapters, switches and routers. */
#ifndef SOFTIB_MGMT_AGENTS_AGENTS_H
#define SOFTIB_MGMT_AGENTS_AGENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/subnet_attributes.h"

struct node;
struct port;

/* What the agents of one fabric remember between MADs: M_Key leases that run, traps that nobody has
 * repressed. Sparse: a quiet fabric has neither. */
struct agent_memory {
	struct list leases;
	struct list traps; /* one per node at most */
	uint32_t trap_sequence;
};

void agent_memory_init(struct agent_memory *memory);
void agent_memory_release(struct agent_memory *memory);
/* The node is about to go away. */
void agent_memory_forget(struct agent_memory *memory, const struct node *node);

/* What an agent asks of the fabric it lives in. Each function may be NULL: nobody wants to know. */
struct agent_environment {
	/* A table or PortInfo of the port. port->info.client_reregister is 1 if the manager asked
	 * for that; whoever passes it on to the port's programs sets it back to 0. */
	void (*port_changed)(void *context, struct port *port);
	void (*paths_changed)(void *context); /* forwarding, states, partitions */
	/* PortInfo asked for Polling, Sleep or Disabled; Down is the port's default of these. */
	void (*set_link)(void *context, struct port *port, enum physical_state physical);
	/* Offloaded traffic is added to the counters of this node before they are read. */
	void (*refresh_counters)(void *context, struct node *node);
	void *context;
	struct agent_memory *memory; /* NULL: leases never expire, no traps */
};

enum agent_verdict {
	AGENT_ANSWERED, /* ret_answer goes back */
	AGENT_CONSUMED, /* nothing to send (TrapRepress, M_Key violation) */
	AGENT_FOR_SM,	/* a response, trap, or SMInfo request for a manager (or another client) on
			   this port */
};

/* A MAD of class Subn (either route) that reached its end at this node by port_number. At a switch
 * 0 means its own port 0; at an adapter port_number is the port, also for what a manager on that
 * very port sent (0 is taken as 1). */
enum agent_verdict sma_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *request,
			       struct mad_message *ret_answer);

/* The same for class Performance on QP1. */
enum agent_verdict pma_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *request,
			       struct mad_message *ret_answer);

/*
 * Traps. The fabric reports what happened, then sends what agent_take_traps() gives it whenever
 * agent_traps_deadline() has come: from ret_traps[].port (port 0 of a switch), LID routed to
 * message.address.lid on VL15. A trap is repeated until the manager represses it; repeats and new
 * ones keep the distance that PortInfo.SubnetTimeOut asks for.
 */
struct agent_trap {
	struct port *port;
	struct mad_message message;
};

/* A port of the node changed its state, and not by a Set: marks PortStateChange and makes trap 128
 * at a switch. */
void agent_link_changed(struct agent_memory *memory, struct node *node, time_ns now);
/* CapabilityMask of the port changed (a manager came or went): trap 144. */
void agent_capability_changed(struct agent_memory *memory, struct port *port, time_ns now);
unsigned agent_take_traps(struct agent_memory *memory, time_ns now, unsigned traps_max,
			  struct agent_trap ret_traps[]);
time_ns agent_traps_deadline(const struct agent_memory *memory);

#endif
