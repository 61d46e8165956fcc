/* SPDX-License-Identifier: Apache-2.0 */
/* A subnet manager and its subnet administration on a port of a host, run as one engine. */
#include "cli/manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/manager_port.h"
#include "launch/text_file.h"
#include "mgmt/sa/sa.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/subnet.h"

enum { WINDOW = 128, STATE_BYTES_MAX = 4 << 20 };

#define LEAVING_TIME SECONDS(5)

struct manager {
	const struct manager_options *options;
	struct manager_port port;
	struct sm *sm;
	struct sa *sa;
	time_ns leaves_until; /* 0: not asked to end */
	char neighbors_path[512];
};

static void told_line(void *context, enum sm_event event, const char *line)
{
	const struct manager *manager = context;
	char stamp[16];
	time_t now = time(NULL);
	struct tm parts;

	strftime(stamp, sizeof(stamp), "%H:%M:%S", localtime_r(&now, &parts));
	printf("%s %s: %s%s\n", stamp, manager->port.mads.host.name,
	       event == SM_EVENT_WARNING ? "warning: " : "", line);
	fflush(stdout);
}

static void told_trap(void *context, time_ns now, const struct notice *notice, uint16_t source_lid)
{
	const struct manager *manager = context;

	(void)source_lid;
	sa_notice(manager->sa, now, notice);
}

/* With an M_Key per port: the neighbor of each port, from the file that all managers with the
 * secret share. */
static void load_neighbors(const struct manager *manager)
{
	size_t length;
	char *text;

	if (!manager->options->mkeys.has_secret ||
	    text_file_read(manager->neighbors_path, STATE_BYTES_MAX, &text, &length) != 0)
		return;
	if (sm_neighbors_remember(manager->sm, text))
		fprintf(stderr, "softib sm: ignored invalid lines of %s\n",
			manager->neighbors_path);
	free(text);
}

static void save_neighbors(const struct manager *manager)
{
	char *text = sm_neighbors_text(manager->sm);
	int error = text ? text_file_write(manager->neighbors_path, text) : 0;

	if (error)
		fprintf(stderr, "softib sm: cannot write %s: %s\n", manager->neighbors_path,
			strerror(-error));
	free(text);
}

static void told_state(void *context, time_ns now, enum sm_state state)
{
	const struct manager *manager = context;

	(void)now;
	/* The previous master may have found new neighbors. */
	if (state == SM_MASTER || state == SM_DISCOVERING)
		load_neighbors(manager);
	if (state != SM_MASTER)
		sa_stop_serving(manager->sa);
}

static void save_lids(const struct manager *manager)
{
	const char *path = manager->options->state_path;
	char *text = sm_lids_text(manager->sm);
	int error = text ? text_file_write(path, text) : -ENOMEM;

	if (error)
		fprintf(stderr, "softib sm: cannot write %s: %s\n", path, strerror(-error));
	free(text);
}

static void told_sweep(void *context, time_ns now)
{
	const struct manager *manager = context;

	sa_subnet_changed(manager->sa, now, sm_subnet(manager->sm));
	if (manager->options->state_path && sm_subnet(manager->sm)->lids_changed)
		save_lids(manager);
	save_neighbors(manager);
}

static void groups_changed(void *context, uint16_t mlid)
{
	const struct manager *manager = context;

	sm_multicast_changed(manager->sm, mlid);
}

static void told_reregistration(void *context, time_ns now, const struct subnet_port *port)
{
	const struct manager *manager = context;

	sa_reregistration_asked(manager->sa, now, port->guid);
}

static void ask_reregistration(void *context, uint64_t port_guid)
{
	const struct manager *manager = context;

	sm_ask_reregistration(manager->sm, port_guid);
}

static uint8_t path_sl(void *context, uint16_t pkey, uint64_t service_id)
{
	const struct manager *manager = context;

	return sm_path_sl(manager->sm, pkey, service_id);
}

static void own_sm_info(void *context, struct sm_info *ret_info)
{
	const struct manager *manager = context;

	sm_info_now(manager->sm, ret_info);
}

static void load_lids(struct manager *manager)
{
	const char *path = manager->options->state_path;
	char *text;
	size_t length;
	uint32_t ignored_count;
	int error = text_file_read(path, STATE_BYTES_MAX, &text, &length);

	if (error && error != -ENOENT)
		fprintf(stderr, "softib sm: cannot read %s: %s\n", path, strerror(-error));
	if (error)
		return;
	ignored_count = sm_lids_remember(manager->sm, text, length);
	if (ignored_count)
		fprintf(stderr, "softib sm: ignored %u invalid lines of %s\n", ignored_count, path);
	free(text);
}

static int create(struct manager *manager)
{
	const struct manager_options *options = manager->options;
	struct sm_options sm_options = {
		.port_guid = manager->port.mads.host.port_guid,
		.port_number = manager->port.mads.host.port_number,
		.agent_number = manager->port.directed.number,
		.priority = options->priority,
		.sweep_interval = options->sweep_interval,
		.poll_interval = options->poll_interval,
		.timeout = options->timeout,
		.smps_max = WINDOW,
		.lmc = options->lmc,
		.mkey = options->mkeys.key,
		.has_mkey_secret = options->mkeys.has_secret,
		.mkey_protect_bits = options->mkeys.protection_level,
		.mkey_lease_period = options->mkeys.lease_period,
		.sm_key = options->sm_key,
		.routing_engine = options->engine,
		.routing_hints = {.tables_text = options->tables_text,
				  .tables_bytes = options->tables_bytes},
		.partitions = options->partitions,
		.part_enforce = options->part_enforce,
		.qos = options->qos,
		.owner = {.trap = told_trap,
			  .reregistration_asked = told_reregistration,
			  .sweep_finished = told_sweep,
			  .state_changed = told_state,
			  .log = told_line,
			  .context = manager},
	};
	int error;

	memcpy(sm_options.mkey_secret, options->mkeys.secret, sizeof(sm_options.mkey_secret));
	error = sm_create(&sm_options, &manager->sm);
	if (error)
		return error;

	const struct sa_options sa_options = {
		.port_guid = manager->port.mads.host.port_guid,
		.agent_number = manager->port.administration.number,
		.sm_key = sm_key(manager->sm),
		.hides_mkeys = sm_key(manager->sm) == SM_KEY_DEFAULT,
		.groups = sm_multicast_groups(manager->sm),
		.prune_interval = options->prune_interval,
		.owner = {.multicast_changed = groups_changed,
			  .path_sl = path_sl,
			  .ask_reregistration = ask_reregistration,
			  .sm_info = own_sm_info,
			  .context = manager},
	};

	error = sa_create(&sa_options, &manager->sa);
	if (error)
		sm_destroy(manager->sm);
	else if (options->state_path)
		load_lids(manager);
	if (!error)
		load_neighbors(manager);
	return error;
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	const struct manager *manager = context;

	if (message->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION)
		sa_receive(manager->sa, now, message);
	else
		sm_receive(manager->sm, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	const struct manager *manager = context;
	unsigned count = sm_transmit(manager->sm, now, messages_max, ret_messages);

	return count ? count : sa_transmit(manager->sa, now, messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	const struct manager *manager = context;
	time_ns earlier = time_earlier(sm_deadline(manager->sm), sa_deadline(manager->sa));

	return manager->leaves_until ? time_earlier(earlier, manager->leaves_until) : earlier;
}

static bool is_up_once(void *context, time_ns now)
{
	const struct manager *manager = context;
	struct sm_status status;

	(void)now;
	sm_status(manager->sm, &status);
	return manager->options->is_once && status.subnet_is_up;
}

/* Hands over to a standby, if there is one. */
static bool leave(void *context, time_ns now)
{
	struct manager *manager = context;

	if (!manager->leaves_until) {
		manager->leaves_until = now + LEAVING_TIME;
		sm_leave(manager->sm, now);
	}
	return sm_is_leaving_done(manager->sm) || now >= manager->leaves_until;
}

int manager_run(const struct manager_options *options)
{
	struct manager manager = {.options = options};
	const struct mad_engine engine = {
		.context = &manager,
		.receive = receive,
		.transmit = transmit,
		.deadline = deadline,
		.is_done = is_up_once,
		.leave = leave,
	};
	int error = manager_port_open(options->fabric, options->host, options->port_guid,
				      &manager.port);

	if (error)
		return EXIT_FAILURE;
	snprintf(manager.neighbors_path, sizeof(manager.neighbors_path), "%s/neighbors",
		 manager.port.mads.host.folder);
	error = create(&manager);
	if (error) {
		fprintf(stderr, "softib sm: %s\n", strerror(-error));
		manager_port_close(&manager.port);
		return EXIT_FAILURE;
	}
	error = mad_engine_run(&manager.port.mads, &engine);
	if (!error)
		told_line(&manager, SM_EVENT_NOTE, "ends");
	sa_destroy(manager.sa);
	sm_destroy(manager.sm);
	manager_port_close(&manager.port);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
