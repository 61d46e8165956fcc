/* SPDX-License-Identifier: Apache-2.0 */
/* A softibd in the fuzz target's own process: see softibd_rig.h. */
#include "fuzz/softibd_rig.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/core/log.h"
#include "daemon/managers/inactive_ports.h"
#include "fuzz/fuzz.h"

enum { STEPS_MAX = 20000 };

static struct daemon softibd;
static time_ns now;
static char folder[64];

/* Each look at the clock takes a little time, so that nothing waits for ever between two. */
time_ns __wrap_event_loop_clock(void);
time_ns __wrap_event_loop_clock(void)
{
	return now += 100;
}

static void remove_runtime(void)
{
	remove_folder(folder);
}

static void make_runtime(void)
{
	if (folder[0])
		return;
	/* softibd makes hundreds of files, again for each input: a disk would be what is fuzzed. */
	snprintf(folder, sizeof(folder), "/dev/shm/softib-fuzz-XXXXXX");
	MUST_HOLD(mkdtemp(folder));
	MUST_HOLD(setenv("SOFTIB_RUNTIME_DIR", folder, 1) == 0);
	atexit(remove_runtime);
}

struct daemon *rig_start(void)
{
	static const struct daemon_options options = {.fabric_name = "fuzz",
						      .topology = "star:2",
						      .tca_count = 1,
						      .log_path = "/dev/null",
						      .runs_sm = true,
						      .offloads = true};

	make_runtime();
	now = SECONDS(1000);
	MUST_HOLD(daemon_start(&softibd, &options) == 0);
	for (unsigned step = 0; inactive_ports_count(&softibd.core.fabric, NULL); step++) {
		MUST_HOLD(step < STEPS_MAX);
		rig_step(1);
	}
	return &softibd;
}

void rig_stop(void)
{
	/* Threads of softibd close the files of clients (daemon/core/file_closer.h), which may be
	 * the last end of another socket of softibd. */
	for (unsigned quiet_count = 0; quiet_count < 3;) {
		rig_step(1);
		quiet_count = softibd.core.closers.thread_count ? 0 : quiet_count + 1;
	}
	MUST_HOLD(!softibd.core.clients.client_count && !softibd.core.clients.user_count);
	for (unsigned limit = 0; limit < LIMIT_COUNT; limit++)
		MUST_HOLD(!softibd.core.accounts.used[limit]);
	daemon_stop(&softibd);
}

void rig_step(unsigned count)
{
	for (; count; count--) {
		now += MILLISECONDS(1);
		/* Looks at its sockets at once, and not after several rounds. */
		softibd.polling.turns_without_epoll = UINT_MAX - 1;
		daemon_step(&softibd, 0);
	}
}

void rig_pass(time_ns duration)
{
	now += duration;
}

static int connect_to(bool is_operator)
{
	return is_operator ? control_connect_operator("fuzz") : control_connect("fuzz");
}

int rig_connect(bool is_operator)
{
	int socket = connect_to(is_operator);

	if (socket >= 0)
		(void)!fcntl(socket, F_SETFL, O_NONBLOCK);
	return socket;
}

bool rig_send(int socket, const char *text, const int *descriptors, unsigned descriptor_count)
{
	return control_send(socket, text, descriptors, descriptor_count) == 0;
}

bool rig_receive(int socket, struct control_message *ret_message)
{
	return control_receive(socket, 0, ret_message) == 0;
}
