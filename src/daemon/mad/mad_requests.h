/* SPDX-License-Identifier: Apache-2.0 */
/* MADs of an agent that are not yet on the wire, or to which an answer is waited for: sent,
 * repeated, given up (as Linux's MAD layer does it). */
#ifndef SOFTIB_DAEMON_MAD_MAD_REQUESTS_H
#define SOFTIB_DAEMON_MAD_MAD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/mad/mad_agents.h"
#include "host/mad_header.h"

/* A MAD that is not yet on the wire, or an answer to which is waited for. */
struct mad_request {
	struct list link;	 /* agent->requests */
	struct list unsent_link; /* agent->unsent */
	struct mad_timer timer;
	struct mad_agent *agent;
	struct mad_port_header header;
	struct mad_message message; /* of RMPP: the beginning */
	uint32_t tries_left;
	bool waits_for_answer;
	bool is_rmpp;
};

/* Armed by whoever calls; -EEXIST: one with this transaction id is waited for already. */
MUST_USE int mad_request_make(struct mad_agent *agent, const struct mad_port_header *header,
			      const struct mad_message *message, struct mad_request **ret_request);
void mad_request_destroy(struct mad_request *request);

/* Now, or as soon as there is room. */
void mad_request_send(struct mad_request *request, time_ns now);
/* It is on the wire: its answer is waited for from now on, if there will be one. */
void mad_request_sent(struct mad_request *request, time_ns now);
void mad_request_wait(struct mad_request *request, time_ns now);
/* Tells the program with this errno, and ends it. */
void mad_request_fail(struct mad_request *request, int status);

/* What Linux gives back of a request that failed: its header, and that of the MAD. */
void mad_request_report(struct mad_agent *agent, const struct mad_port_header *header,
			const uint8_t *mad, int status);

/* Which of the agent's requests a response answers; NULL: none. */
struct mad_request *mad_request_find(const struct mad_agent *agent, const uint8_t *mad);

#endif
