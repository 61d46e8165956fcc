/* SPDX-License-Identifier: Apache-2.0 */
/* The port that a request on the control socket names. */
#ifndef SOFTIB_DAEMON_CONTROL_NAMED_PORT_H
#define SOFTIB_DAEMON_CONTROL_NAMED_PORT_H

#include <jansson.h>
#include "base/attributes.h"

struct daemon;
struct port;
struct reply;

enum { NAME_SHOWN = 64 }; /* bytes of a name in an error message */

/* The port number under port_key of the node under node_key: a host (its first adapter), a node's
 * name, description or GUID. Without a number it is the management port. NULL with an error in the
 * reply. */
MUST_USE struct port *named_port_find(const struct daemon *daemon, const json_t *request,
				      const char *node_key, const char *port_key,
				      struct reply *ret_reply);

#endif
