/* SPDX-License-Identifier: Apache-2.0 */
/* MADs of an agent that are not on the wire yet, or that wait for an answer: sending, retries,
 * timeouts (modelled on Linux's MAD layer, abi 8.3). */
#ifndef SOFTIB_DAEMON_MAD_MAD_REQUESTS_H
#define SOFTIB_DAEMON_MAD_MAD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/mad/mad_agents.h"
#include "ipc/mad_header.h"

/* A MAD that is not on the wire yet, or that waits for an answer. */
struct mad_request {
	struct list link;	 /* agent->requests */
	struct list unsent_link; /* agent->unsent */
	struct mad_timer timer;
	struct mad_agent *agent;
	struct mad_port_header header;
	struct mad_message message; /* for RMPP its first bytes */
	uint32_t rmpp_bytes;	    /* of the whole message */
	uint32_t tries_left;
	bool waits_for_answer;
	bool is_rmpp;
};

/* The caller arms the timer. rmpp_bytes: of the whole message; 0: it is one MAD. -EEXIST: a request
 * with this transaction id is outstanding. -ENOBUFS: the process has too many. */
MUST_USE int mad_request_make(struct mad_agent *agent, const struct mad_port_header *header,
			      const struct mad_message *message, uint32_t rmpp_bytes,
			      struct mad_request **ret_request);
void mad_request_destroy(struct mad_request *request);

/* Sends the MAD now, or as soon as there is room. */
void mad_request_send(struct mad_request *request, time_ns now);
/* The MAD is on the wire: starts to wait for the answer, if there will be one. */
void mad_request_sent(struct mad_request *request, time_ns now);
void mad_request_wait(struct mad_request *request, time_ns now);
/* Reports this errno to the program and destroys the request. */
void mad_request_fail(struct mad_request *request, int status);

/* Reports a failed request as Linux does: its header, and the header of the MAD. */
void mad_request_report(struct mad_agent *agent, const struct mad_port_header *header,
			const uint8_t *mad, int status);

/* The agent's request that a response answers; NULL: none. */
struct mad_request *mad_request_find(const struct mad_agent *agent, const uint8_t *mad);

#endif
