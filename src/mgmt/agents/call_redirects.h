/* SPDX-License-Identifier: Apache-2.0 */
/* Redirection of communication management: the answers to REQ and SIDR_REQ of a port that redirects
 * them (management 7.1). Its messages are Sends, so the status of the MAD can't say it. */
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

#endif
