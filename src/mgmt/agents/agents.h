/* SPDX-License-Identifier: Apache-2.0 */
/* The agents that answer MADs on a node: the subnet management agent and those of the general
 * services. One implementation serves adapters, switches and routers. There is no node_agents.c:
 * sma.c, gs_agents.c, sma_notices.c and traps.c implement these functions. */
#ifndef SOFTIB_MGMT_AGENTS_AGENTS_H
#define SOFTIB_MGMT_AGENTS_AGENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "mgmt/mad/mad_message.h"
#include "wire/subnet_attributes.h"

struct node;
struct notice;
struct port;

/* State that the agents of one fabric keep between MADs: running M_Key leases, traps that are not
 * repressed yet, samples. A quiet fabric has none. */
struct agent_memory {
	struct list leases;
	time_ns leases_due_at;
	struct list traps;    /* of end ports with traps to send */
	time_ns traps_due_at; /* of the first trap */
	uint32_t trap_sequence;
	struct hash_table samples;	  /* by node */
	struct timer_queue sample_timers; /* of samples that have not ended */
	struct list redirects;
	struct list gsi_rates;
	struct hash_table node_logs; /* by node */
	struct list identifications; /* nodes with their LEDs on */
	time_ns identify_due_at;
	/* Optional: sees each notice that an end port raises for the manager. */
	void (*notice_raised)(void *context, struct port *port, const struct notice *notice);
	void *notice_context;
	struct hash_table trap_addresses; /* of general service classes, by node, port and class */
	struct hash_table io_units;	  /* by node: mgmt/agents/io_unit.h */
	time_ns io_units_due_at;
	struct hash_table baseboards; /* by node: mgmt/agents/baseboard.h */
	time_ns baseboards_due_at;
};

void agent_memory_init(struct agent_memory *memory);
void agent_memory_release(struct agent_memory *memory);
/* Call it before the node is destroyed. */
void agent_memory_forget(struct agent_memory *memory, const struct node *node);

enum node_power { NODE_POWER_OFF, NODE_POWER_ON };

/* Callbacks into the fabric. Each function may be NULL. */
struct agent_environment {
	/* A table or the PortInfo of the port changed. port->info.client_reregister is 1 if the
	 * manager asked for reregistration; the function that passes it on to the port's programs
	 * sets it back to 0. */
	void (*port_changed)(void *context, struct port *port);
	void (*paths_changed)(void *context); /* forwarding, port states or partitions */
	/* Set(PortInfo) wrote Polling, Sleep or Disabled. For PortState Down it is the port's
	 * LinkDownDefaultState (management 2.7). */
	void (*set_link)(void *context, struct port *port, enum physical_state physical);
	/* Adds offloaded traffic to the counters of this node; called before they are read. */
	void (*refresh_counters)(void *context, struct node *node);
	/* The baseboard switched the node on or off: its links come up or fall. */
	void (*set_power)(void *context, struct node *node, enum node_power power);
	/* A segment of an SNMP message for this port's node arrived (management 6.4). */
	void (*snmp_received)(void *context, struct port *port, const struct mad_message *message);
	void *context;
	struct agent_memory *memory; /* NULL: leases never expire, and there are no traps */
};

enum agent_verdict {
	AGENT_ANSWERED, /* send ret_answer back */
	AGENT_CONSUMED, /* nothing to send (TrapRepress, M_Key violation) */
	AGENT_FOR_SM, /* a response, trap or SMInfo request for a manager or another client on this
			 port */
};

/* Takes an SMP of either class that arrived at this node by port_number. At a switch 0 is its own
 * port 0. At an adapter port_number is the port, also for SMPs that a manager on the same port
 * sent; 0 is taken as 1 there. */
enum agent_verdict sma_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *request,
			       struct mad_message *ret_answer);

/* Takes a request of any other class that came to QP1 of this port. AGENT_FOR_SM: a response. At an
 * adapter, programs that registered for the class come first, unless gsa_is_first(mad). A request
 * that is a part of an RMPP transfer gets no response: no agent takes such requests. */
enum agent_verdict gsa_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *request,
			       struct mad_message *ret_answer);
bool gsa_is_first(const uint8_t request[static MAD_BYTES]);

/* The port redirects the request or is busy, or the I/O controller is off: send ret_answer back,
 * whoever serves the class. gsa_receive() asks this itself (mgmt/agents/redirects.h). */
MUST_USE bool gsi_turns_away(const struct agent_environment *environment, const struct port *port,
			     time_ns now, const struct mad_message *request,
			     struct mad_message *ret_answer);

enum congestion_switch { CONGESTION_CONTROL_OFF, CONGESTION_CONTROL_ON };

/* Configures congestion control of this node as a congestion control manager would, or turns it
 * off: for fabrics without such a manager. -ENOMEM. */
MUST_USE int agent_control_congestion(const struct agent_environment *environment,
				      struct node *node, enum congestion_switch to);

/* Runs leases, samples, baseboards, I/O units and identify. Call it when agent_deadline() has come.
 */
void agent_run(const struct agent_environment *environment, time_ns now);

/*
 * A trap to send. The fabric reports events, and sends the traps of agent_take_traps() whenever
 * agent_deadline() has come: from ret_traps[].port (port 0 of a switch), LID routed to
 * message.address.lid on VL15, or from QP1 if message.address.qpn is not QP0. A trap is repeated
 * until the manager represses it. Repeats and new traps keep the distance of PortInfo.SubnetTimeOut
 * (management 5.3).
 */
struct agent_trap {
	struct port *port;
	struct mad_message message;
};

/* A port of the node changed its state, and not by a Set. At a switch, sets PortStateChange and
 * raises trap 128. */
void agent_link_changed(struct agent_memory *memory, struct node *node, time_ns now);
/* Traps 129 and 130: errors of the port reached the threshold PortInfo.LocalPhyErrors or
 * OverrunErrors. */
void agent_link_integrity(struct agent_memory *memory, struct port *port, time_ns now);
void agent_buffer_overrun(struct agent_memory *memory, struct port *port, time_ns now);
/* Trap 131: no flow control packet arrived in time. */
void agent_flow_control_watchdog(struct agent_memory *memory, struct port *port, time_ns now);
/* Trap 144: CapabilityMask of the port changed, for example because a manager started or ended. */
void agent_capability_changed(struct agent_memory *memory, struct port *port, time_ns now);
/* Trap 144: another local change, given by the bits of ChangeFlags in wire/notice.h. */
void agent_local_change(struct agent_memory *memory, struct port *port, time_ns now,
			uint16_t change_flags);
/* Trap 144 of every end port: NodeDescription changed. */
void agent_description_changed(struct agent_memory *memory, struct node *node, time_ns now);
/* Trap 145 of every end port: SystemImageGUID changed. */
void agent_system_image_changed(struct agent_memory *memory, struct node *node, time_ns now);

/* The headers of a packet with a wrong key. */
struct agent_violation {
	uint32_t count; /* how many violations are reported at once; 0: one */
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t key; /* P_Key or Q_Key */
	bool has_source_qpn;
	uint32_t source_qpn; /* from the DETH; 0 without one */
	uint32_t destination_qpn;
	bool has_grh;
	struct gid sgid, dgid; /* 0 without a GRH */
};

/* At an end port, counts in PortInfo and raises trap 257. At an external port of a switch that
 * enforces partitions, counts at port 0 and raises trap 259 (management 5.2). */
void agent_pkey_violation(struct agent_memory *memory, struct port *port, time_ns now,
			  const struct agent_violation *violation);
/* A Q_Key violation at a QP of this port: counts it and raises trap 258. */
void agent_qkey_violation(struct agent_memory *memory, struct port *port, time_ns now,
			  const struct agent_violation *violation);

unsigned agent_take_traps(struct agent_memory *memory, time_ns now, unsigned traps_max,
			  struct agent_trap ret_traps[]);
/* The earliest deadline of traps, leases, samples and baseboards. */
time_ns agent_deadline(const struct agent_memory *memory);

#endif
