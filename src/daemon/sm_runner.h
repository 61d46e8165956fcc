/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet manager at work: its MADs as packets of QP0 on the port it runs on. */
#ifndef SOFTIB_DAEMON_SM_RUNNER_H
#define SOFTIB_DAEMON_SM_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"

struct fabric;
struct frame;
struct port;
struct sm;

struct sm_runner {
	struct sm *sm; /* NULL: none runs here */
	struct fabric *fabric;
	struct port *port;
	uint32_t psn;
	bool has_unsent; /* a MAD that found no room in the fabric */
	struct mad_message unsent;
};

/* On the first adapter port of the fabric that has a cable. -ENODEV: there is none. */
MUST_USE int sm_runner_start(struct sm_runner *runner, struct fabric *fabric);
void sm_runner_stop(struct sm_runner *runner);

/* Sends what the manager has to say. Returns whether it said anything. */
bool sm_runner_run(struct sm_runner *runner, time_ns now);
/* A packet for QP0 of this port; ignored where no manager runs. */
void sm_runner_receive(struct sm_runner *runner, const struct port *port, const struct frame *frame,
		       time_ns now);
time_ns sm_runner_deadline(const struct sm_runner *runner);

#endif
