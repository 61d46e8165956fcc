/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP0 and QP1 of a port of this program's host, for management programs: an open port is a socket
 * of its own to softibd, readable when and only when a message waits. Agents are registered with
 * softibd by way of the control socket and named by their number within the port.
 */
#ifndef SOFTIB_HOST_MAD_PORT_H
#define SOFTIB_HOST_MAD_PORT_H

#include <stdint.h>
#include "base/attributes.h"
#include "host/mad_header.h"

enum { MAD_PORT_AGENTS_MAX = 32 };

enum mad_agent_kind {
	MAD_AGENT_SINGLE,    /* MADs one by one; softibd repeats requests and says when they time
				out, and drops answers that nothing waits for */
	MAD_AGENT_RMPP,	     /* the same, and softibd cuts and joins RMPP messages */
	MAD_AGENT_USER_RMPP, /* the program does its own RMPP */
	MAD_AGENT_RAW,	     /* the program does its own transactions: softibd repeats nothing and
				passes on all that has the agent's number */
};

struct mad_agent_options {
	uint8_t management_class; /* 0: none, only answers to what it sends */
	uint8_t class_version;
	uint32_t oui;	     /* vendor classes of range 2 */
	uint64_t methods[2]; /* that it gets unasked */
	enum mad_agent_kind kind;
};

struct mad_agent_identity {
	uint32_t id;	 /* within the open port, below MAD_PORT_AGENTS_MAX */
	uint32_t number; /* the upper half of the transaction ids of its requests */
};

/* A non-blocking, close-on-exec descriptor, or -errno: -ENODEV when the host has no such port. */
MUST_USE int mad_port_open(const char *adapter, unsigned port_number);

/* -EINVAL: no such class, version or kind for it; -EBUSY: another agent of the port has it; -EBADF:
 * not an open port; -ENOMEM: too many agents. */
MUST_USE int mad_port_register(int port, const struct mad_agent_options *options,
			       struct mad_agent_identity *ret_identity);
/* -EINVAL: no such agent. */
MUST_USE int mad_port_unregister(int port, uint32_t agent_id);

/* One MAD of a raw agent, header and all. -EAGAIN, -ECONNRESET. */
MUST_USE int mad_port_send(int port, uint32_t agent_id, const struct mad_message *message);
/* The next MAD for any raw agent of the port. -EAGAIN: none. */
MUST_USE int mad_port_receive(int port, uint32_t *ret_agent_id, struct mad_message *ret_message);

#endif
