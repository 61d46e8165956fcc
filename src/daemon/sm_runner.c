/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet manager at work: a client of QP0 on the port it runs on. */
#include "daemon/sm_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/hosts.h"
#include "daemon/log.h"
#include "daemon/other_subnets.h"
#include "daemon/runtime.h"
#include "daemon/sa_runner.h"
#include "fabric/fabric.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/subnet.h"
#include "wire/smp.h"

enum { MADS_PER_TURN = 64, SM_PRIORITY = 0, SM_WINDOW = 256, LIDS_BYTES_MAX = 4 << 20 };

/* Where the LIDs of a fabric whose softibd died are remembered, in its folder. */
static const char lids_file[] = "guid2lid";

/* Traps tell of the first change at once; the sweep finds those that follow within SubnetTimeOut,
 * when no trap may be sent. The larger the fabric, the rarer, so that an idle one costs next to
 * nothing. */
static time_ns sweep_interval(const struct fabric *fabric)
{
	return MILLISECONDS(200) + MILLISECONDS(1) * fabric->node_count;
}

static struct port *first_adapter_port(const struct fabric *fabric)
{
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = 1;
		     node->info.node_type == NODE_CA && number <= node->port_count; number++) {
			if (node->ports[number].peer)
				return &node->ports[number];
		}
	}
	return NULL;
}

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	sm_receive(container_of(client, struct sm_runner, client)->sm, now, message);
}

/* What a manager takes without having asked: SMInfo, traps, and what represses its own. */
static void register_classes(struct mad_client *client)
{
	static const uint8_t classes[] = {MAD_CLASS_SUBNET_LID, MAD_CLASS_SUBNET_DIRECTED};
	static const enum mad_method methods[] = {MAD_GET, MAD_SET, MAD_TRAP, MAD_TRAP_REPRESS};

	for (unsigned i = 0; i < ARRAY_COUNT(classes); i++) {
		struct mad_registration *registration =
			&client->registrations[client->registration_count++];

		registration->management_class = classes[i];
		registration->class_version = SMP_CLASS_VERSION;
		for (unsigned j = 0; j < ARRAY_COUNT(methods); j++)
			mad_registration_add_method(registration, methods[j]);
	}
}

/* IsSM stays as long as any manager holds the port (daemon/issm.h). */
static void hold_port(struct port *port)
{
	((struct endpoint *)port->endpoint)->sm_count++;
	port->info.capability_mask |= CAPABILITY_IS_SM;
}

/* A file that is half written is not left behind. */
static void save_lids(const struct sm_runner *runner)
{
	int folder = runner->runtime->directory;
	char *text = sm_lids_text(runner->sm);
	int file = openat(folder, "guid2lid.new",
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t length = text ? strlen(text) : 0;
	bool is_written = text && file >= 0 && write(file, text, length) == (ssize_t)length;

	if (file >= 0)
		close(file);
	if (!is_written || renameat(folder, "guid2lid.new", folder, lids_file) != 0)
		log_line("subnet manager: LIDs can't be remembered in %s", lids_file);
	free(text);
}

static void load_lids(struct sm_runner *runner)
{
	int file = openat(runner->runtime->directory, lids_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *text = file >= 0 ? malloc(LIDS_BYTES_MAX) : NULL;
	ssize_t length = text ? read(file, text, LIDS_BYTES_MAX) : 0;
	uint32_t ignored_count = length > 0 ? sm_lids_remember(runner->sm, text, (size_t)length) : 0;

	if (ignored_count)
		log_line("subnet manager: %u lines of %s make no sense", ignored_count, lids_file);
	free(text);
	if (file >= 0)
		close(file);
}

static void told_line(void *context, enum sm_event event, const char *line)
{
	(void)context;
	log_line("subnet manager: %s%s", event == SM_EVENT_WARNING ? "warning: " : "", line);
}

static void sweep_finished(void *context, time_ns now)
{
	const struct sm_runner *runner = context;

	if (runner->runtime && sm_subnet(runner->sm)->lids_changed)
		save_lids(runner);

	if (runner->sa)
		sa_runner_sweep_finished(runner->sa, now);
}

static void state_changed(void *context, time_ns now, enum sm_state state)
{
	const struct sm_runner *runner = context;

	(void)now;
	if (runner->sa)
		sa_runner_state_changed(runner->sa, state);
}

static void trap(void *context, time_ns now, const struct notice *notice, uint16_t source_lid)
{
	const struct sm_runner *runner = context;

	(void)source_lid;
	if (runner->sa)
		sa_runner_trap(runner->sa, now, notice);
}

int sm_runner_start(struct sm_runner *runner, struct mad_dispatch *dispatch,
		    const struct runtime *runtime)
{
	struct port *port = first_adapter_port(dispatch->fabric);

	if (!port)
		return -ENODEV;
	return sm_runner_start_on(runner, dispatch, runtime, port,
				  other_subnets_prefix(dispatch->fabric, port));
}

int sm_runner_start_on(struct sm_runner *runner, struct mad_dispatch *dispatch,
		       const struct runtime *runtime, struct port *port, uint64_t gid_prefix)
{
	*runner = (struct sm_runner){.dispatch = dispatch,
				     .runtime = runtime,
				     .client = {.port = port, .receive = receive}};
	register_classes(&runner->client);

	int error = mad_client_add(dispatch, &runner->client);

	if (error)
		return error;

	struct sm_options options = {.port_guid = port->guid,
				     .port_number = port->number,
				     .priority = SM_PRIORITY,
				     .agent_number = runner->client.agent_number,
				     .window = SM_WINDOW,
				     .gid_prefix = gid_prefix,
				     .owner = {.trap = trap,
					       .sweep_finished = sweep_finished,
					       .state_changed = state_changed,
					       .log = told_line,
					       .context = runner},
				     .sweep_interval = sweep_interval(dispatch->fabric)};

	error = sm_create(&options, &runner->sm);
	if (error)
		mad_client_remove(dispatch, &runner->client);
	else
		hold_port(port);
	if (!error && runtime)
		load_lids(runner);
	return error;
}

void sm_runner_stop(struct sm_runner *runner)
{
	if (!runner->sm)
		return;
	mad_client_remove(runner->dispatch, &runner->client);
	sm_destroy(runner->sm);
	runner->sm = NULL;
}

bool sm_runner_run(struct sm_runner *runner, time_ns now)
{
	if (!runner->sm)
		return false;
	for (unsigned count = 0; count < MADS_PER_TURN; count++) {
		if (!runner->has_unsent && sm_transmit(runner->sm, now, 1, &runner->unsent) == 0)
			return count > 0;
		runner->has_unsent =
			!mad_client_send(runner->dispatch, &runner->client, &runner->unsent, now);
		if (runner->has_unsent)
			return count > 0;
	}
	return true;
}

time_ns sm_runner_deadline(const struct sm_runner *runner)
{
	return runner->sm ? sm_deadline(runner->sm) : TIME_NEVER;
}
