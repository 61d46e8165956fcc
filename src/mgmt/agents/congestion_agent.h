/* SPDX-License-Identifier: Apache-2.0 */
/* The congestion control agent of a node: its settings and its CC_Key (management 6.5). */
#ifndef SOFTIB_MGMT_AGENTS_CONGESTION_AGENT_H
#define SOFTIB_MGMT_AGENTS_CONGESTION_AGENT_H

#include "mgmt/agents/class_key.h"
#include "mgmt/agents/gs_agent.h"
#include "wire/congestion.h"

/* State of an end port: port 0 of a switch, each port of an adapter or router. */
struct congestion_agent {
	struct class_key key;
	/* Of switches: the setting of the switch, and those of its ports. */
	struct switch_congestion_setting setting;
	struct switch_port_congestion ports[]; /* [port number] */
};

/* Creates the agent's state if there is none. NULL: no memory. */
struct congestion_agent *congestion_agent_of(struct port *port);
/* The checks of a Set whose attribute modifier must be 0, and the state that it changes.
 * MAD_STATUS_BAD_FIELD; MAD_STATUS_BUSY: no memory. */
MUST_USE enum mad_status congestion_agent_begin_set(const struct gs_request *request,
						    struct congestion_agent **ret_agent);

/* The CC_Key check. A violation raises trap 0 and gets no response (management 6.5). */
MUST_USE bool congestion_key_admits(const struct gs_request *request);
gs_handler congestion_key_info_get, congestion_key_info_set;

gs_handler congestion_switch_setting_get, congestion_switch_setting_set;
gs_handler congestion_switch_ports_get, congestion_switch_ports_set;
gs_handler congestion_adapter_setting_get, congestion_adapter_setting_set;
gs_handler congestion_table_get, congestion_table_set;

#endif
