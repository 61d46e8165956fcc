/* SPDX-License-Identifier: Apache-2.0 */
/* Calls (REQ, SIDR_REQ) that a port answers before the host's connection manager: it redirects
 * them, or the I/O controller that they are for is switched off (management 7.1). They are Sends,
 * so no status of a MAD can say it. */
#ifndef SOFTIB_MGMT_AGENTS_CALL_REDIRECTS_H
#define SOFTIB_MGMT_AGENTS_CALL_REDIRECTS_H

#include <stdbool.h>
#include "mgmt/agents/redirects.h"

/* Whether the message is a REQ or SIDR_REQ. */
bool mad_is_call(const uint8_t mad[static MAD_BYTES]);

/* REJ 24 or 25, or SIDR_REP with the status of redirection. false: the redirection lets this call
 * pass. */
MUST_USE bool call_redirect_answer(const struct redirect *redirect, const struct mad_message *call,
				   struct mad_message *ret_answer);

/* REJ 8, or SIDR_REP with "service ID not supported", if the service is one of a controller of this
 * node that is switched off. false: it is not. */
MUST_USE bool call_finds_controller_off(const struct agent_memory *memory, const struct node *node,
					const struct mad_message *call,
					struct mad_message *ret_answer);

#endif
