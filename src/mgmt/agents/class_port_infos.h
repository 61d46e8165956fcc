/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo of the general service classes of a port: what Get shows, and the trap address that
 * a manager sets (management 1.6). */
#ifndef SOFTIB_MGMT_AGENTS_CLASS_PORT_INFOS_H
#define SOFTIB_MGMT_AGENTS_CLASS_PORT_INFOS_H

#include "mgmt/agents/gs_agent.h"

/* Get(ClassPortInfo) of the request's class, with this CapabilityMask. */
enum mad_status class_port_info_show(const struct gs_request *request, uint16_t capability_mask,
				     uint8_t *ret_data);
/* Set(ClassPortInfo): only the trap address is writable. TrapLID 0 with a TrapGID: the traps take
 * the way back of the request, which must have come from that GID. MAD_STATUS_BUSY: no memory. */
enum mad_status class_port_info_change(const struct gs_request *request, uint16_t capability_mask,
				       uint8_t *ret_data);

/* Where this class of the port sends its traps. false: nowhere. */
MUST_USE bool class_trap_address(const struct agent_memory *memory, const struct port *port,
				 uint8_t management_class, struct mad_address *ret_address);

/* Drops the trap addresses of the node. NULL: of every node. */
void class_port_infos_forget(struct agent_memory *memory, const struct node *node);

#endif
