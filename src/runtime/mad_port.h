/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP0 and QP1 of a port of this program's host, for management programs. An open port is a socket
 * of its own to softibd, readable when and only when a message waits. Agents are registered with
 * softibd by the control socket and named by their number within the port.
 */
#ifndef SOFTIB_RUNTIME_MAD_PORT_H
#define SOFTIB_RUNTIME_MAD_PORT_H

#include <stdint.h>
#include "base/attributes.h"
#include "ipc/mad_agent.h"

/* A non-blocking, close-on-exec descriptor, or -errno: -ENODEV when the host has no such port. */
MUST_USE int mad_port_open(const char *adapter, unsigned port_number);

/* -EINVAL: no such class, version or kind; -EBUSY: another agent of the port has it; -EBADF: not an
 * open port; -ENOMEM: too many agents. */
MUST_USE int mad_port_register(int port, const struct mad_agent_options *options,
			       struct mad_agent_identity *ret_identity);
/* -EINVAL: no such agent. */
MUST_USE int mad_port_unregister(int port, uint32_t agent_id);

/* Sends one whole MAD of a raw agent. -EAGAIN, -ECONNRESET. */
MUST_USE int mad_port_send(int port, uint32_t agent_id, const struct mad_message *message);
/* The next MAD for any raw agent of the port. -EAGAIN: none. */
MUST_USE int mad_port_receive(int port, uint32_t *ret_agent_id, struct mad_message *ret_message);

#endif
