/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in SA: a client of QP1 on the port of the built-in manager. */
#ifndef SOFTIB_DAEMON_MANAGERS_SA_RUNNER_H
#define SOFTIB_DAEMON_MANAGERS_SA_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/mad/mad_dispatch.h"
#include "mgmt/mad/mad_message.h"
#include "wire/notice.h"
#include "wire/subnet_attributes.h"

struct sa;
struct sm;
struct sm_runner;

enum { SA_RUNNER_BATCH = 32 };

struct sa_runner {
	struct sa *sa; /* NULL: not started */
	struct sm *sm; /* the manager of its subnet */
	struct mad_dispatch *dispatch;
	struct mad_client client;
	struct mad_message unsent[SA_RUNNER_BATCH]; /* MADs that found no room in the fabric */
	unsigned unsent_first, unsent_count;
};

/* Starts on the port of this manager, which reports its events to the SA. -EBUSY: another client is
 * the SA of this port. */
MUST_USE int sa_runner_start(struct sa_runner *runner, struct mad_dispatch *dispatch,
			     struct sm_runner *manager);
void sa_runner_stop(struct sa_runner *runner);

/* Sends the MADs that are due. Returns whether there were any. */
bool sa_runner_run(struct sa_runner *runner, time_ns now);
time_ns sa_runner_deadline(const struct sa_runner *runner);

/* Events of the manager: see struct sm_owner. */
void sa_runner_reregistration_asked(struct sa_runner *runner, time_ns now, uint64_t port_guid);
void sa_runner_sweep_finished(struct sa_runner *runner, time_ns now);
void sa_runner_state_changed(struct sa_runner *runner, enum sm_state state);
void sa_runner_trap(struct sa_runner *runner, time_ns now, const struct notice *notice);

#endif
