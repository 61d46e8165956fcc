/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets of a program may go past the fabric, straight to the destination's process. */
#ifndef SOFTIB_DAEMON_PACKETS_FLOW_RESOLVER_H
#define SOFTIB_DAEMON_PACKETS_FLOW_RESOLVER_H

#include "ipc/protocol.h"

struct client;
struct daemon_core;

/* Decides whether packets with this destination, P_Key and SL go by the fabric or by a direct
 * ring. */
void flow_resolve(struct client *client, const struct resolve_request *request,
		  struct resolve_answer *ret_answer);

/* FLOW_GRACE_NS after the paths changed: walks the paths of all direct rings again, and after as
 * long again tells the receivers what their peers may not send any more. */
void flows_check_grants(struct daemon_core *core);

#endif
