/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that a management program registered on an open port: its requests with retries and
 * timeouts, its RMPP, the MADs that it receives (modelled on Linux's MAD layer,
 * management 8.3). */
#ifndef SOFTIB_DAEMON_MAD_MAD_AGENTS_H
#define SOFTIB_DAEMON_MAD_MAD_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "daemon/mad/mad_dispatch.h"
#include "ipc/mad_agent.h"
#include "mgmt/mad/rmpp_engine.h"

struct mad_file;
struct mad_request;

/* Lies inside the object that it wakes. */
struct mad_timer {
	struct timer timer;
	void (*expire)(struct mad_timer *timer, time_ns now);
};

struct mad_agent {
	struct mad_client client;
	struct mad_file *file;
	uint32_t id; /* unique within its file */
	enum mad_agent_kind kind;
	struct list requests;	   /* outstanding requests, sent or not */
	struct list unsent;	   /* requests that found no room in the fabric */
	struct list stalled_link;  /* mad_files.stalled */
	struct rmpp *rmpp;	   /* agents of MAD_AGENT_RMPP only */
	uint32_t received_charged; /* bytes of messages that have arrived in part */
	struct mad_timer rmpp_timer;
	bool has_unsent_segment;
	struct mad_message unsent_segment;
};

MUST_USE int mad_agent_create(struct mad_file *file, uint32_t id, struct port *port,
			      const struct mad_agent_options *options,
			      struct mad_agent **ret_agent);
void mad_agent_destroy(struct mad_agent *agent);

/* Sends a program's message: header and MAD, or a whole RMPP message. */
void mad_agent_send(struct mad_agent *agent, const struct mad_port_header *header,
		    const uint8_t *bytes, size_t byte_count, time_ns now);

/* Sends the MADs that found no room. Returns whether none is left. */
bool mad_agent_retry(struct mad_agent *agent, time_ns now);

/* For daemon/mad/mad_requests.c. */

struct mad_files;

MUST_USE int mad_timer_reserve(struct mad_files *files);
void mad_timer_release(struct mad_files *files, struct mad_timer *timer);
/* mad_files_run() calls mad_agent_retry() from now on. */
void mad_agent_stall(struct mad_agent *agent);

#endif
