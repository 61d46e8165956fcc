/* SPDX-License-Identifier: Apache-2.0 */
/* A class_client of mgmt/sa on a port of a host: its agents, and what it knows of the port. */
#ifndef SOFTIB_CLI_CLASS_SESSION_H
#define SOFTIB_CLI_CLASS_SESSION_H

#include "base/attributes.h"
#include "cli/mad_engine.h"
#include "mgmt/sa/class_client.h"

/* Registers agents of the client's class and of the SA's, and fills in the options of a client that
 * stays out of partitions without the port. The port stays where it is while the client is used.
 * Prints the error and returns -errno. */
MUST_USE int class_session_register(struct mad_engine_port *port,
				    const struct mad_agent_options *agent,
				    struct class_client_options *ret_options);

/* The same with agents that the port has already. */
void class_session_fill(struct mad_engine_port *port, uint32_t agent_number,
			uint32_t sa_agent_number, struct class_client_options *ret_options);

/* Tells the client its port's SA and GID. Returns the port's own key of the default partition. */
uint16_t class_session_set_port(const struct mad_engine_port *port, struct class_client *client);

#endif
