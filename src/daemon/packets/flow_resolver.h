/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets of a program may go past the fabric, straight to the destination's process. */
#ifndef SOFTIB_DAEMON_PACKETS_FLOW_RESOLVER_H
#define SOFTIB_DAEMON_PACKETS_FLOW_RESOLVER_H

#include "ipc/protocol.h"

struct client;

/* Decides whether packets with this destination, P_Key and SL go by the fabric or by a direct
 * ring. */
void flow_resolve(struct client *client, const struct resolve_request *request,
		  struct resolve_answer *ret_answer);

#endif
