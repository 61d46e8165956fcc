/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in SA: a client of QP1 on the port of the built-in manager. */
#include "daemon/managers/sa_runner.h"

#include "daemon/managers/sm_runner.h"
#include "fabric/routers.h"
#include "mgmt/sa/sa.h"
#include "mgmt/sm/sm.h"
#include "net/link/port.h"
#include "wire/sa_mad.h"

enum { MADS_PER_TURN = 256 };

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	sa_receive(container_of(client, struct sa_runner, client)->sa, now, message);
}

static void register_class(struct mad_client *client)
{
	static const enum mad_method methods[] = {
		MAD_GET, MAD_SET, MAD_GET_TABLE, MAD_GET_TRACE_TABLE, MAD_GET_MULTI, MAD_DELETE};
	struct mad_registration *registration =
		&client->registrations[client->registration_count++];

	registration->management_class = MAD_CLASS_SUBNET_ADMINISTRATION;
	registration->class_version = SA_CLASS_VERSION;
	for (unsigned i = 0; i < ARRAY_COUNT(methods); i++)
		mad_registration_add_method(registration, methods[i]);
}

static void multicast_changed(void *context, uint16_t mlid)
{
	const struct sa_runner *runner = context;

	sm_multicast_changed(runner->sm, mlid);
}

static void ask_reregistration(void *context, uint64_t port_guid)
{
	const struct sa_runner *runner = context;

	sm_ask_reregistration(runner->sm, port_guid);
}

static uint8_t path_sl(void *context, uint16_t pkey, uint64_t service_id)
{
	const struct sa_runner *runner = context;

	return sm_path_sl(runner->sm, pkey, service_id);
}

/* Routers exchange prefixes among themselves; no MAD reports them. */
static uint64_t router_to(void *context, uint64_t gid_prefix)
{
	const struct sa_runner *runner = context;
	const struct port *router =
		routers_towards(runner->dispatch->fabric, runner->client.port, gid_prefix);

	return router ? router->guid : 0;
}

static void own_sm_info(void *context, struct sm_info *ret_info)
{
	const struct sa_runner *runner = context;

	sm_info_now(runner->sm, ret_info);
}

int sa_runner_start(struct sa_runner *runner, struct mad_dispatch *dispatch,
		    struct sm_runner *manager)
{
	struct port *port = manager->client.port;
	struct sm *sm = manager->sm;
	int error;

	*runner = (struct sa_runner){
		.sm = sm, .dispatch = dispatch, .client = {.port = port, .receive = receive}};
	register_class(&runner->client);
	error = mad_client_add(dispatch, &runner->client);
	if (error)
		return error;

	const struct sa_options options = {
		.port_guid = port->guid,
		.agent_number = runner->client.agent_number,
		.sm_key = sm_key(sm),
		.hides_mkeys = sm_key(sm) == SM_KEY_DEFAULT,
		.owner = {.multicast_changed = multicast_changed,
			  .path_sl = path_sl,
			  .router_to = router_to,
			  .ask_reregistration = ask_reregistration,
			  .sm_info = own_sm_info,
			  .context = runner},
		.groups = sm_multicast_groups(sm),
		.prune_interval = manager->prune_interval,
	};

	error = sa_create(&options, &runner->sa);
	if (error)
		mad_client_remove(dispatch, &runner->client);
	else
		manager->sa = runner;
	return error;
}

void sa_runner_stop(struct sa_runner *runner)
{
	if (!runner->sa)
		return;
	mad_client_remove(runner->dispatch, &runner->client);
	sa_destroy(runner->sa);
	runner->sa = NULL;
}

bool sa_runner_run(struct sa_runner *runner, time_ns now)
{
	unsigned sent_count = 0;

	while (runner->sa && sent_count < MADS_PER_TURN) {
		if (!runner->unsent_count) {
			runner->unsent_first = 0;
			runner->unsent_count =
				sa_transmit(runner->sa, now, SA_RUNNER_BATCH, runner->unsent);
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

time_ns sa_runner_deadline(const struct sa_runner *runner)
{
	if (!runner->sa)
		return TIME_NEVER;
	return runner->unsent_count ? 0 : sa_deadline(runner->sa);
}

void sa_runner_reregistration_asked(struct sa_runner *runner, time_ns now, uint64_t port_guid)
{
	if (runner->sa)
		sa_reregistration_asked(runner->sa, now, port_guid);
}

void sa_runner_sweep_finished(struct sa_runner *runner, time_ns now)
{
	if (runner->sa)
		sa_subnet_changed(runner->sa, now, sm_subnet(runner->sm));
}

void sa_runner_state_changed(struct sa_runner *runner, enum sm_state state)
{
	if (runner->sa && state != SM_MASTER)
		sa_stop_serving(runner->sa);
}

void sa_runner_trap(struct sa_runner *runner, time_ns now, const struct notice *notice)
{
	if (runner->sa)
		sa_notice(runner->sa, now, notice);
}
