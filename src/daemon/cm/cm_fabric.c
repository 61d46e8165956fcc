/* SPDX-License-Identifier: Apache-2.0 */
/* Connection management of the whole fabric: a connection manager per host, and the turn that runs
 * them. */
#include "daemon/cm/cm_fabric.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/cm/cm_channel.h"
#include "daemon/cm/cm_command_socket.h"
#include "daemon/cm/cm_host.h"
#include "daemon/cm/cm_multicast.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/ipoib_port.h"
#include "daemon/core/daemon_core.h"
#include "daemon/core/log.h"
#include "net/node/node.h"

void cm_fabric_init(struct cm_fabric *fabric, struct daemon_core *core, struct mad_dispatch *mads)
{
	*fabric = (struct cm_fabric){.core = core, .mads = mads};
	list_init(&fabric->hosts);
	list_init(&fabric->ready);
	list_init(&fabric->programs);
	list_init(&fabric->ended);
	list_init(&fabric->closed_channels);
	list_init(&fabric->unwritten);
	timer_queue_init(&fabric->timers);
}

void cm_fabric_release(struct cm_fabric *fabric)
{
	for (struct list *link; (link = list_first(&fabric->programs));)
		cm_program_end(container_of(link, struct cm_program, link), NULL);
	cm_programs_release_ended(fabric);
	for (struct list *link; (link = list_first(&fabric->hosts));) {
		struct cm_host *host = container_of(link, struct cm_host, link);

		host->host->cm = NULL;
		cm_host_destroy(host);
	}
	timer_queue_release(&fabric->timers);
	if (fabric->machine)
		freeifaddrs(fabric->machine);
	*fabric = (struct cm_fabric){.core = fabric->core, .mads = fabric->mads};
}

int cm_fabric_bring_up(struct cm_fabric *fabric)
{
	const struct host_table *hosts = &fabric->core->hosts;

	if (fabric->is_up)
		return 0;

	int error = timer_queue_reserve(&fabric->timers, hosts->host_count);

	for (uint32_t index = 0; index < hosts->host_count && !error; index++) {
		error = cm_host_create(fabric, hosts->hosts[index], &hosts->hosts[index]->cm);
		if (error)
			log_line("can't start the connection manager of host %s: %s",
				 hosts->hosts[index]->name, strerror(-error));
	}
	if (error) {
		cm_fabric_release(fabric);
		cm_fabric_init(fabric, fabric->core, fabric->mads);
		return error;
	}
	fabric->is_up = true;
	list_for_each (link, &fabric->hosts)
		cm_host_wake(container_of(link, struct cm_host, link));
	return 0;
}

bool cm_fabric_run(struct cm_fabric *fabric)
{
	time_ns now = fabric->core->loop.now;
	struct list later;
	bool is_busy = false;

	cm_programs_release_ended(fabric);
	for (struct timer *timer; (timer = timer_queue_pop(&fabric->timers, now));)
		cm_host_wake(container_of(timer, struct cm_host, timer));
	list_init(&later);
	for (struct list *link; (link = list_pop(&fabric->ready));) {
		struct cm_host *host = container_of(link, struct cm_host, ready_link);

		if (!cm_host_run(host, now))
			continue;
		is_busy = true;
		if (!list_is_linked(link))
			list_append(&later, link);
	}
	for (struct list *link; (link = list_pop(&later));)
		list_append(&fabric->ready, link);
	return is_busy;
}

void cm_fabric_publish(struct cm_fabric *fabric)
{
	cm_channels_flush(fabric);
}

time_ns cm_fabric_deadline(const struct cm_fabric *fabric)
{
	if (!list_is_empty(&fabric->ready) || !list_is_empty(&fabric->ended) ||
	    !list_is_empty(&fabric->unwritten))
		return 0;
	return timer_queue_deadline(&fabric->timers);
}

static struct cm_port *port_of(const struct cm_fabric *fabric, const struct port *port)
{
	const struct endpoint *endpoint = port->endpoint;

	if (!fabric->is_up || !endpoint || !endpoint->adapter->host->cm)
		return NULL;
	return cm_host_find_port(endpoint->adapter->host->cm, endpoint);
}

void cm_fabric_receive_ip(struct cm_fabric *fabric, struct port *port, const struct frame *frame)
{
	struct cm_port *found = port_of(fabric, port);

	if (!found)
		return;
	ipoib_port_receive(&found->ip, frame, fabric->core->loop.now);
	cm_host_wake(found->host);
}

void cm_fabric_port_changed(struct cm_fabric *fabric, struct port *port)
{
	struct cm_port *found = port_of(fabric, port);

	if (!found)
		return;
	ipoib_port_changed(&found->ip);
	if (port->info.client_reregister) {
		ipoib_port_restart(&found->ip);
		cm_groups_rejoin(found);
	}
	cm_host_wake(found->host);
}
