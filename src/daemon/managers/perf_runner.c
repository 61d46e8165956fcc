/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in performance manager of one subnet. */
#include "daemon/managers/perf_runner.h"

#include "net/link/port.h"

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	perf_manager_receive(&container_of(client, struct perf_runner, client)->manager, now,
			     message);
}

int perf_runner_start(struct perf_runner *runner, struct mad_dispatch *dispatch, struct port *port,
		      time_ns interval)
{
	int error;

	*runner = (struct perf_runner){.dispatch = dispatch,
				       .client = {.port = port, .receive = receive}};
	error = mad_client_add(dispatch, &runner->client);
	if (error)
		return error;

	const struct perf_options options = {
		.agent_number = runner->client.agent_number,
		.sa_agent_number = runner->client.agent_number,
		.interval = interval,
		.thresholds = perf_thresholds_default,
	};

	error = perf_manager_init(&runner->manager, &options);
	if (error)
		mad_client_remove(dispatch, &runner->client);
	return error;
}

void perf_runner_stop(struct perf_runner *runner)
{
	mad_client_remove(runner->dispatch, &runner->client);
	perf_manager_release(&runner->manager);
}

static void refresh_port(struct perf_runner *runner)
{
	const struct port *port = runner->client.port;
	const struct perf_own_port now = {.sm_lid = port->info.master_sm_lid,
					  .sm_sl = port->info.master_sm_sl,
					  .pkey = mad_port_pkey(port),
					  .gid = gid_from(port->info.gid_prefix, port->guid)};

	perf_manager_set_port(&runner->manager, &now);
}

bool perf_runner_run(struct perf_runner *runner, time_ns now, unsigned mads_max)
{
	unsigned sent_count = 0;

	if (perf_runner_deadline(runner) > now)
		return false;
	refresh_port(runner);
	while (sent_count < mads_max) {
		if (!runner->unsent_count) {
			runner->unsent_first = 0;
			runner->unsent_count = perf_manager_transmit(
				&runner->manager, now, PERF_RUNNER_BATCH, runner->unsent);
		}
		if (!runner->unsent_count ||
		    !mad_client_send(runner->dispatch, &runner->client,
				     &runner->unsent[runner->unsent_first], now))
			break;
		runner->unsent_first++;
		runner->unsent_count--;
		sent_count++;
	}
	return sent_count > 0;
}

time_ns perf_runner_deadline(const struct perf_runner *runner)
{
	return runner->unsent_count ? 0 : perf_manager_deadline(&runner->manager);
}
