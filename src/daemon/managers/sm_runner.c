/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet manager: a client of QP0 on the port that it runs on. */
#include "daemon/managers/sm_runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/core/host_table.h"
#include "daemon/core/log.h"
#include "daemon/core/runtime_folder.h"
#include "daemon/managers/sa_runner.h"
#include "daemon/managers/sm_policy.h"
#include "fabric/fabric.h"
#include "fabric/topology/subnets.h"
#include "launch/text_file.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/subnet.h"
#include "wire/smp.h"

enum { MADS_PER_TURN = 64, SM_PRIORITY = 0, SM_WINDOW = 256, LIDS_BYTES_MAX = 4 << 20 };

/* The default file for LIDs, in the fabric's folder: LIDs survive a softibd that died. */
static const char lids_file[] = "guid2lid";

/* A trap reports the first change at once; the manager reads the trap's sender again for changes
 * within SubnetTimeOut, when the sender may send no further trap; the sweep finds changes whose
 * traps got lost. Sweeps of a larger fabric are rarer, so that an idle fabric costs next to
 * nothing. */
static time_ns sweep_interval(const struct fabric *fabric)
{
	return MILLISECONDS(200) + MILLISECONDS(1) * fabric->node_count;
}

struct port *sm_runner_choose_port(const struct fabric *fabric)
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

/* Unsolicited MADs that a manager takes: SMInfo, traps, and TrapRepress for its own traps. */
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

/* IsSM stays as long as any manager holds the port (daemon/mad/issm.h). */
static void hold_port(struct port *port)
{
	((struct endpoint *)port->endpoint)->sm_count++;
	port->info.capability_mask |= CAPABILITY_IS_SM;
}

static void save_lids(const struct sm_runner *runner)
{
	char *text = sm_lids_text(runner->sm);
	int error = text ? text_file_write(runner->lids_path, text) : -ENOMEM;

	if (error)
		log_line("subnet manager: can't save LIDs in %s: %s", runner->lids_path,
			 strerror(-error));
	free(text);
}

static void load_lids(struct sm_runner *runner)
{
	char *text;
	size_t length;
	int error = text_file_read(runner->lids_path, LIDS_BYTES_MAX, &text, &length);
	uint32_t ignored_count;

	if (error == -ENOENT)
		return;
	if (error) {
		log_line("subnet manager: %s: %s", runner->lids_path, strerror(-error));
		return;
	}
	ignored_count = sm_lids_remember(runner->sm, text, length);
	if (ignored_count)
		log_line("subnet manager: %u invalid lines in %s", ignored_count,
			 runner->lids_path);
	free(text);
}

/* An absolute path, because softibd changes to the root folder. */
static int find_lids_path(struct sm_runner *runner, const struct sm_settings *settings,
			  const struct runtime_folder *folder)
{
	char working_directory[CONTROL_PATH_BYTES] = "";
	const char *path = settings->state_path;
	int length;

	if (!path)
		length = snprintf(runner->lids_path, sizeof(runner->lids_path), "%s/%s",
				  folder->path, lids_file);
	else if (path[0] == '/' || !getcwd(working_directory, sizeof(working_directory)))
		length = snprintf(runner->lids_path, sizeof(runner->lids_path), "%s", path);
	else
		length = snprintf(runner->lids_path, sizeof(runner->lids_path), "%s/%s",
				  working_directory, path);
	return length < (int)sizeof(runner->lids_path) ? 0 : -ENAMETOOLONG;
}

/* A file beside the LIDs: with it, managers that share the secret find nodes that answer only to
 * their M_Key. */
static void save_neighbors(const struct sm_runner *runner)
{
	char *text = sm_neighbors_text(runner->sm);
	int error = text ? text_file_write(runner->neighbors_path, text) : 0;

	if (error)
		log_line("subnet manager: %s: %s", runner->neighbors_path, strerror(-error));
	free(text);
}

static void load_neighbors(const struct sm_runner *runner)
{
	size_t length;
	char *text;

	if (text_file_read(runner->neighbors_path, LIDS_BYTES_MAX, &text, &length) != 0)
		return;
	if (sm_neighbors_remember(runner->sm, text))
		log_line("subnet manager: invalid lines in %s", runner->neighbors_path);
	free(text);
}

static void log_manager_line(void *context, enum sm_event event, const char *line)
{
	(void)context;
	log_line("subnet manager: %s%s", event == SM_EVENT_WARNING ? "warning: " : "", line);
}

static void sweep_finished(void *context, time_ns now)
{
	const struct sm_runner *runner = context;

	if (runner->lids_path[0] && sm_subnet(runner->sm)->lids_changed)
		save_lids(runner);
	if (runner->neighbors_path[0])
		save_neighbors(runner);
	if (runner->sa)
		sa_runner_sweep_finished(runner->sa, now);
}

static void state_changed(void *context, time_ns now, enum sm_state state)
{
	const struct sm_runner *runner = context;

	(void)now;
	/* The previous master may have found more neighbors. */
	if ((state == SM_MASTER || state == SM_DISCOVERING) && runner->neighbors_path[0])
		load_neighbors(runner);
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

static void reregistration_asked(void *context, time_ns now, const struct subnet_port *port)
{
	const struct sm_runner *runner = context;

	if (runner->sa)
		sa_runner_reregistration_asked(runner->sa, now, port->guid);
}

/* The GID prefix of the subnet that begins at this adapter port; 0, which means link-local, without
 * routers. */
static uint64_t subnet_prefix(const struct fabric *fabric, const struct port *port)
{
	struct subnet_map map;
	uint64_t prefix = 0;

	if (!fabric->routers.count || subnet_map_make(fabric, &map) != 0)
		return 0;
	for (uint32_t subnet = 0; subnet < map.subnet_count; subnet++)
		if (map.first_ports[subnet] == port)
			prefix = SUBNET_PREFIX(subnet);
	subnet_map_release(&map);
	return prefix;
}

int sm_runner_start(struct sm_runner *runner, struct mad_dispatch *dispatch,
		    const struct sm_settings *settings, const struct runtime_folder *folder)
{
	struct port *port = sm_runner_choose_port(dispatch->fabric);
	int error;

	if (!port)
		return -ENODEV;
	error = sm_runner_start_on(runner, dispatch, settings, port,
				   subnet_prefix(dispatch->fabric, port));
	if (error)
		return error;
	error = find_lids_path(runner, settings, folder);
	if (error) {
		log_line("%s: %s", settings->state_path, strerror(-error));
		sm_runner_stop(runner);
		return error;
	}
	load_lids(runner);
	if (settings->mkeys.secret_path) {
		snprintf(runner->neighbors_path, sizeof(runner->neighbors_path), "%s/neighbors",
			 folder->path);
		load_neighbors(runner);
	}
	return 0;
}

static int create(struct sm_runner *runner, const struct sm_settings *settings, uint64_t gid_prefix)
{
	const struct port *port = runner->client.port;
	struct sm_policy policy;
	int error = sm_policy_read(&policy, settings);

	if (error)
		return error;

	struct sm_options options = {
		.port_guid = port->guid,
		.port_number = port->number,
		.priority = SM_PRIORITY,
		.agent_number = runner->client.agent_number,
		.smps_max = SM_WINDOW,
		.gid_prefix = gid_prefix,
		.lmc = settings->lmc,
		.mkey = policy.mkeys.key,
		.mkey_protect_bits = policy.mkeys.protection_level,
		.mkey_lease_period = policy.mkeys.lease_period,
		.routing_engine = settings->engine,
		.partitions = policy.partitions,
		.part_enforce = policy.part_enforce,
		.qos = policy.qos,
		.owner = {.trap = trap,
			  .reregistration_asked = reregistration_asked,
			  .sweep_finished = sweep_finished,
			  .state_changed = state_changed,
			  .log = log_manager_line,
			  .context = runner},
		.sweep_interval = sweep_interval(runner->dispatch->fabric),
	};

	options.has_mkey_secret = policy.mkeys.has_secret;
	memcpy(options.mkey_secret, policy.mkeys.secret, sizeof(options.mkey_secret));
	error = sm_create(&options, &runner->sm);
	if (error)
		log_line("can't start the subnet manager: %s", strerror(-error));
	/* The manager has taken over the contents. */
	free(policy.partitions);
	policy.partitions = NULL;
	sm_policy_release(&policy);
	return error;
}

int sm_runner_start_on(struct sm_runner *runner, struct mad_dispatch *dispatch,
		       const struct sm_settings *settings, struct port *port, uint64_t gid_prefix)
{
	int error;

	*runner = (struct sm_runner){.dispatch = dispatch,
				     .client = {.port = port, .receive = receive}};
	register_classes(&runner->client);
	error = mad_client_add(dispatch, &runner->client);
	if (error) {
		log_line("can't start the subnet manager: %s", strerror(-error));
		return error;
	}
	runner->prune_interval = settings->prune_interval;
	error = create(runner, settings, gid_prefix);
	if (error)
		mad_client_remove(dispatch, &runner->client);
	else
		hold_port(port);
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

/* A reaction ends in the turn after the last one with work, so that the work of that turn counts.
 * Returns whether such a turn is still to come. */
static bool watch_reaction(struct sm_runner *runner, time_ns now)
{
	time_ns since = sm_reacts_since(runner->sm);

	if (since != TIME_NEVER) {
		runner->reacts_since = since;
		runner->reaction_is_over = false;
		return false;
	}
	if (!runner->reacts_since)
		return false;
	if (runner->reaction_is_over && !(runner->sa && runner->sa->unsent_count)) {
		if (sm_change_count(runner->sm) != runner->change_count)
			runner->reaction = now - runner->reacts_since;
		runner->change_count = sm_change_count(runner->sm);
		runner->reacts_since = 0;
		runner->reaction_is_over = false;
		return false;
	}
	runner->reaction_is_over = true;
	return true;
}

static bool send_all(struct sm_runner *runner, time_ns now)
{
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

bool sm_runner_run(struct sm_runner *runner, time_ns now)
{
	if (!runner->sm)
		return false;
	sm_see_own_port(runner->sm, now, runner->client.port->info.port_state);

	bool has_sent = send_all(runner, now);

	return watch_reaction(runner, now) || has_sent;
}

time_ns sm_runner_deadline(const struct sm_runner *runner)
{
	return runner->sm ? sm_deadline(runner->sm) : TIME_NEVER;
}
