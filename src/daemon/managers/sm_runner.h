/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet manager: a client of QP0 on the port that it runs on. */
#ifndef SOFTIB_DAEMON_MANAGERS_SM_RUNNER_H
#define SOFTIB_DAEMON_MANAGERS_SM_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/mad/mad_dispatch.h"
#include "ipc/control_socket.h"
#include "mgmt/mad/mad_message.h"

struct fabric;
struct port;
struct runtime_folder;
struct sa_runner;
struct sm;
struct sm_settings;

struct sm_runner {
	struct sm *sm; /* NULL: not started */
	struct mad_dispatch *dispatch;
	struct mad_client client;
	char lids_path[CONTROL_PATH_BYTES + 16];      /* the file that keeps LIDs; "": none */
	char neighbors_path[CONTROL_PATH_BYTES + 16]; /* with an M_Key secret: the file that keeps
							 which node is behind which port */
	time_ns prune_interval;			      /* used by its SA */
	struct sa_runner *sa;			      /* gets the manager's events; may be NULL */
	bool has_unsent;			      /* a MAD that found no room in the fabric */
	struct mad_message unsent;
	time_ns reacts_since;  /* time of the trap that it reacts to; 0: to none */
	uint32_t change_count; /* the manager's changes before that trap */
	bool reaction_is_over;
	time_ns reaction; /* duration of the last reaction that changed anything: until tables were
			     written and reports sent */
};

/* The first adapter port of the fabric that has a cable; NULL: there is none. */
struct port *sm_runner_choose_port(const struct fabric *fabric);

/* Starts on the first adapter port of the fabric that has a cable. -ENODEV: there is none. */
MUST_USE int sm_runner_start(struct sm_runner *runner, struct mad_dispatch *dispatch,
			     const struct sm_settings *settings,
			     const struct runtime_folder *folder);
/* Starts on this adapter port, for a subnet with this GID prefix (0: link-local). It keeps no LIDs
 * in a file. */
MUST_USE int sm_runner_start_on(struct sm_runner *runner, struct mad_dispatch *dispatch,
				const struct sm_settings *settings, struct port *port,
				uint64_t gid_prefix);
void sm_runner_stop(struct sm_runner *runner);

/* Sends the MADs that are due. Returns whether there were any. */
bool sm_runner_run(struct sm_runner *runner, time_ns now);
time_ns sm_runner_deadline(const struct sm_runner *runner);

#endif
