/* SPDX-License-Identifier: Apache-2.0 */
/* The congestion control agent of a node (vol 1, annex A10): what it was told, and its key. */
#ifndef SOFTIB_MGMT_AGENTS_CONGESTION_AGENT_H
#define SOFTIB_MGMT_AGENTS_CONGESTION_AGENT_H

#include "mgmt/agents/gs_agent.h"
#include "wire/congestion.h"

/* Of an end port: a switch's port 0, each port of an adapter or router. */
struct congestion_agent {
	struct congestion_key_info key;
	time_ns lease_ends_at;	      /* TIME_NEVER: nobody without the key knocked */
	struct class_port_info traps; /* where they go */
	time_ns trap_due_at;	      /* none before */
	/* Switches, which say the rest port by port. */
	struct switch_congestion_setting setting;
	struct switch_port_congestion ports[]; /* by number */
};

/* NULL: no memory. */
struct congestion_agent *congestion_agent_of(struct port *port);

/* CC_Key: any Get passes, a Set needs the key. A violation is counted, told by trap 0 and gets no
 * answer. */
MUST_USE bool congestion_key_admits(const struct gs_request *request);
gs_handler congestion_key_info_get, congestion_key_info_set;

gs_handler congestion_switch_setting_get, congestion_switch_setting_set;
gs_handler congestion_switch_ports_get, congestion_switch_ports_set;
gs_handler congestion_adapter_setting_get, congestion_adapter_setting_set;
gs_handler congestion_table_get, congestion_table_set;

#endif
