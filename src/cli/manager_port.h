/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of one port of a host, for a subnet manager in this process. */
#ifndef SOFTIB_CLI_MANAGER_PORT_H
#define SOFTIB_CLI_MANAGER_PORT_H

#include <stdint.h>
#include "base/attributes.h"
#include "cli/mad_engine.h"

struct manager_port {
	struct mad_engine_port mads;
	int issm; /* descriptor of the issm device: IsSM is set while it is open; -1: closed */
	struct mad_agent_identity directed, lid_routed, administration;
};

/* port_guid 0: the first port. Prints the error and returns -errno. */
MUST_USE int manager_port_open(const char *fabric, const char *host, uint64_t port_guid,
			       struct manager_port *ret_port);
void manager_port_close(struct manager_port *port);

#endif
