/* SPDX-License-Identifier: Apache-2.0 */
/* The node and the port that a request on the control socket names. */
#ifndef SOFTIB_DAEMON_CONTROL_REQUEST_NODE_H
#define SOFTIB_DAEMON_CONTROL_REQUEST_NODE_H

#include <jansson.h>
#include "daemon/commands.h"

struct daemon;
struct port;

/* By the fields "node" (a host: its first adapter; a node's name, description or GUID) and "port"
 * (without it: port 0 of a switch, port 1 of any other node). NULL with an error in the reply. */
struct port *request_port(const struct daemon *daemon, const json_t *request,
			  struct reply *ret_reply);

#endif
