/* SPDX-License-Identifier: Apache-2.0 */
/* What answers MADs on every node: the subnet management agent and those of the general services,
 * one implementation for adapters, switches and routers. */
#ifndef SOFTIB_MGMT_AGENTS_NODE_AGENTS_H
#define SOFTIB_MGMT_AGENTS_NODE_AGENTS_H

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
 * repressed, samples. Sparse: a quiet fabric has none of them. */
struct agent_memory {
	struct list leases;
	time_ns leases_due_at;
	struct list traps;	 /* of the end ports that have something to tell */
	struct list class_traps; /* of general service classes */
	time_ns traps_due_at;	 /* the first of them */
	uint32_t trap_sequence;
	struct list samples;
	time_ns samples_due_at;
	struct list redirects;
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

/*
 * A request of any other class that came to QP1 of this port: performance management, and small or
 * refusing answers for the classes of which a node has little to say. AGENT_FOR_SM: a response.
 * At an adapter whoever registered for a class comes first, unless gsa_is_first().
 */
enum agent_verdict gsa_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *request,
			       struct mad_message *ret_answer);
bool gsa_is_first(uint8_t management_class);

enum congestion_switch { CONGESTION_CONTROL_OFF, CONGESTION_CONTROL_ON };

/* What a manager of congestion control might set on this node, or nothing: for fabrics that have no
 * such manager. -ENOMEM. */
MUST_USE int agent_control_congestion(const struct agent_environment *environment,
				      struct node *node, enum congestion_switch to);

/* From now on whoever asks this port for anything of this class is sent to another LID and QP; LID
 * 0: no more. -ENOMEM. */
MUST_USE int agent_redirect(struct agent_memory *memory, const struct port *port,
			    uint8_t management_class, uint16_t lid, uint32_t qpn);

/* Leases that end, samples that begin and end: call it when agent_deadline() has come. */
void agent_run(const struct agent_environment *environment, time_ns now);

/*
 * Traps. The fabric reports what happened, then sends what agent_take_traps() gives it whenever
 * agent_deadline() has come: from ret_traps[].port (port 0 of a switch), LID routed to
 * message.address.lid on VL15, or from QP1 if message.address.qpn is not QP0. A trap is repeated
 * until the manager represses it; repeats and new ones keep the distance that
 * PortInfo.SubnetTimeOut asks for.
 */
struct agent_trap {
	struct port *port;
	struct mad_message message;
};

/* A port of the node changed its state, and not by a Set: marks PortStateChange and makes trap 128
 * at a switch. */
void agent_link_changed(struct agent_memory *memory, struct node *node, time_ns now);
/* Traps 129 and 130: errors of the port have reached PortInfo.LocalPhyErrors or OverrunErrors. */
void agent_link_integrity(struct agent_memory *memory, struct port *port, time_ns now);
void agent_buffer_overrun(struct agent_memory *memory, struct port *port, time_ns now);
/* Trap 131: no flow control packet came in time. */
void agent_flow_control_watchdog(struct agent_memory *memory, struct port *port, time_ns now);
/* CapabilityMask of the port changed (a manager came or went): trap 144. */
void agent_capability_changed(struct agent_memory *memory, struct port *port, time_ns now);
/* Something else changed locally, by the bits of ChangeFlags in wire/notice.h: trap 144. */
void agent_local_change(struct agent_memory *memory, struct port *port, time_ns now,
			uint16_t change_flags);
/* NodeDescription changed: trap 144 of every end port. */
void agent_description_changed(struct agent_memory *memory, struct node *node, time_ns now);
/* SystemImageGUID changed: trap 145 of every end port. */
void agent_system_image_changed(struct agent_memory *memory, struct node *node, time_ns now);

/* What a packet that came under a wrong key said of itself. */
struct agent_violation {
	uint32_t count; /* of those that are told at once; 0: it is one */
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t key; /* P_Key or Q_Key */
	bool has_source_qpn;
	uint32_t source_qpn; /* DETH has it; 0 if there is none */
	uint32_t destination_qpn;
	bool has_grh;
	struct gid sgid, dgid; /* 0 without a GRH */
};

/* Counts in PortInfo and makes trap 257 at an end port; at an external port of a switch that
 * enforces partitions, counts at port 0 and makes trap 259. */
void agent_pkey_violation(struct agent_memory *memory, struct port *port, time_ns now,
			  const struct agent_violation *violation);
/* The same for the Q_Key of a QP of this port: trap 258. */
void agent_qkey_violation(struct agent_memory *memory, struct port *port, time_ns now,
			  const struct agent_violation *violation);

unsigned agent_take_traps(struct agent_memory *memory, time_ns now, unsigned traps_max,
			  struct agent_trap ret_traps[]);
/* Of traps, leases and samples. */
time_ns agent_deadline(const struct agent_memory *memory);

#endif
