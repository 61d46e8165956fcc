/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet manager at work: a client of QP0 on the port it runs on. */
#ifndef SOFTIB_DAEMON_MANAGERS_SM_RUNNER_H
#define SOFTIB_DAEMON_MANAGERS_SM_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/mad/mad_dispatch.h"
#include "host/control.h"
#include "mgmt/mad/mad_message.h"

struct runtime_folder;
struct sa_runner;
struct sm;
struct sm_settings;

struct sm_runner {
	struct sm *sm; /* NULL: none runs here */
	struct mad_dispatch *dispatch;
	struct mad_client client;
	char lids_path[CONTROL_PATH_BYTES + 16];      /* where LIDs are remembered; "": nowhere */
	char neighbors_path[CONTROL_PATH_BYTES + 16]; /* with a secret: who is behind which port */
	time_ns prune_interval;			      /* for its SA */
	struct sa_runner *sa; /* is told what the manager tells; may be NULL */
	bool has_unsent;      /* a MAD that found no room in the fabric */
	struct mad_message unsent;
	time_ns reacts_since;  /* to the trap that came then; 0: to none */
	uint32_t change_count; /* of the manager, before that */
	bool reaction_is_over;
	time_ns reaction; /* the last one that changed anything: until tables were written and
			     reports sent */
};

/* On the first adapter port of the fabric that has a cable. -ENODEV: there is none. */
MUST_USE int sm_runner_start(struct sm_runner *runner, struct mad_dispatch *dispatch,
			     const struct sm_settings *settings,
			     const struct runtime_folder *folder);
/* On this adapter port, for a subnet with this GID prefix (0: link-local). It remembers no LIDs. */
MUST_USE int sm_runner_start_on(struct sm_runner *runner, struct mad_dispatch *dispatch,
				const struct sm_settings *settings, struct port *port,
				uint64_t gid_prefix);
void sm_runner_stop(struct sm_runner *runner);

/* Sends what the manager has to say. Returns whether it said anything. */
bool sm_runner_run(struct sm_runner *runner, time_ns now);
time_ns sm_runner_deadline(const struct sm_runner *runner);

#endif
