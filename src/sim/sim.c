/* SPDX-License-Identifier: Apache-2.0 */
/* A whole fabric in virtual time: runs hosts and managers that have work, and finds the next
 * deadline. */
#include "sim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/transport_view.h"
#include "net/link/lane_tables.h"
#include "net/link/link_rate.h"
#include "net/link/port_queues.h"
#include "sim/sim_manager.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	QPN_FIRST = 1024,
	QPN_COUNT = 1024,
	PACKETS_PER_TURN = 16,
	FRAMES_PER_STEP = 4096,
};

#define STARVED_FOR MICROSECONDS(1)

static bool deliver(void *context, struct port *port, struct frame *frame)
{
	struct sim *sim = context;
	struct sim_host *host = port->endpoint;
	struct packet packet;

	if (frame->vl == VL_MANAGEMENT) {
		sim_manager_receive(sim, port, frame);
	} else if (sim->programs.receive &&
		   sim->programs.receive(sim->programs.context, port, frame)) {
		/* consumed by the programs */
	} else if (packet_decode(frame->bytes, frame->byte_count, 1, &packet) == PACKET_OK) {
		hca_receive(&host->hca, sim->now, port->number, &packet);
		sim_wake_host(host);
	}
	frame_give_back(&sim->fabric.frames, frame);
	return true;
}

static void port_has_room(void *context, struct port *port)
{
	struct sim *sim = context;

	sim_wake_host(port->endpoint);
	if (sim->programs.port_has_room)
		sim->programs.port_has_room(sim->programs.context, port);
}

static void port_changed(void *context, struct port *port)
{
	struct sim_host *host = port->endpoint;
	struct port_view view;

	(void)context;
	if (!host) /* the topology is still being built */
		return;
	transport_view_of(port, &view);
	hca_port_update(&host->hca, &view, port->info.client_reregister);
	sim_wake_host(host);
}

static void gone(void *context, struct frame *frame, enum drop_reason reason)
{
	struct sim *sim = context;

	if (sim->programs.gone)
		sim->programs.gone(sim->programs.context, frame, reason);
}

static void paths_changed(void *context)
{
	((struct sim *)context)->path_changes++;
}

static void count_event(void *context, const struct hca_event *event)
{
	((struct sim_host *)context)->event_counts[event->type]++;
}

static void ignore_notification(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
}

static int add_host(struct sim *sim, struct node *node)
{
	struct sim_host *host = &sim->hosts[sim->host_count];
	const struct hca_owner owner = {
		.event = count_event, .cq_notify = ignore_notification, .context = host};
	int error = hca_init(&host->hca, &hca_limits_default, &owner, node->info.node_guid,
			     node->port_count);

	if (error)
		return error;
	sim->host_count++;
	host->sim = sim;
	host->node = node;
	list_init(&host->awake_link);
	for (unsigned number = 1; number <= node->port_count; number++) {
		node->ports[number].endpoint = host;
		port_changed(sim, &node->ports[number]);
	}
	memset(host->event_counts, 0, sizeof(host->event_counts));
	error = timer_queue_reserve(&sim->host_timers, sim->host_count);
	return error ? error : hca_add_qpns(&host->hca, QPN_FIRST, QPN_COUNT);
}

static int add_hosts(struct sim *sim)
{
	sim->hosts = calloc(sim->fabric.node_count, sizeof(*sim->hosts));
	if (!sim->hosts)
		return -ENOMEM;
	for (uint32_t index = 0; index < sim->fabric.node_count; index++) {
		struct node *node = sim->fabric.by_index[index];
		int error = node->info.node_type == NODE_CA ? add_host(sim, node) : 0;

		if (error)
			return error;
	}
	return 0;
}

int sim_init(struct sim *sim, const char *topology, uint64_t seed, struct topology_error *ret_error)
{
	return sim_init_with_lanes(sim, topology, seed, 0, ret_error);
}

int sim_init_with_lanes(struct sim *sim, const char *topology, uint64_t seed,
			unsigned data_vl_count, struct topology_error *ret_error)
{
	const struct fabric_owner owner = {
		.deliver = deliver,
		.port_has_room = port_has_room,
		.port_changed = port_changed,
		.paths_changed = paths_changed,
		.gone = gone,
		.context = sim,
	};

	*sim = (struct sim){.random = random_seeded(seed)};
	list_init(&sim->awake);
	timer_queue_init(&sim->host_timers);

	int error = fabric_init(&sim->fabric, &owner);

	if (error)
		return error;
	sim->fabric.vl_cap = vl_code_of(data_vl_count);
	if (strchr(topology, '\n'))
		error = topology_parse(&sim->fabric, topology, strlen(topology), ret_error);
	else
		error = topology_generate(&sim->fabric, topology, ret_error);
	if (!error)
		error = add_hosts(sim);
	if (error)
		sim_release(sim);
	return error;
}

void sim_release(struct sim *sim)
{
	for (uint32_t index = 0; index < sim->manager_count; index++)
		sm_destroy(sim->managers[index].sm);
	free(sim->managers);
	for (uint32_t index = 0; index < sim->host_count; index++)
		hca_release(&sim->hosts[index].hca);
	free(sim->hosts);
	timer_queue_release(&sim->host_timers);
	fabric_release(&sim->fabric);
	*sim = (struct sim){0};
}

bool sim_inject(struct sim_host *host, struct port *port, struct frame *frame)
{
	struct sim *sim = host->sim;
	uint32_t inside_before = sim->fabric.frames_inside;
	uint32_t wire_bytes = frame_wire_bytes(frame->byte_count);

	if (host->discards_until || !time_watchdog_step(sim) ||
	    !fabric_inject(&sim->fabric, port, frame, sim->now))
		return false;
	if (unlikely(sim->fabric.frames_inside == inside_before)) {
		host->discards_until = sim->now + port_static_rate_interval(port, 0, wire_bytes);
		host->discards_at = port;
		sim_wake_host(host);
	}
	return true;
}

static void end_discarding(struct sim_host *host)
{
	struct sim *sim = host->sim;

	host->discards_until = 0;
	if (sim->programs.port_has_room)
		sim->programs.port_has_room(sim->programs.context, host->discards_at);
}

/* False: the port has no room. */
static bool inject_held(struct sim_host *host)
{
	if (host->held && !sim_inject(host, &host->node->ports[host->held_port_number], host->held))
		return false;
	host->held = NULL;
	return true;
}

/* Sends one packet of the queue pair that is first in turn. */
static bool transmit_one(struct sim_host *host)
{
	struct sim *sim = host->sim;
	struct qp *qp = hca_ready_first(&host->hca);
	struct qp_route route;
	struct packet packet;

	if (!qp)
		return false;
	if (!qp_next_route(qp, sim->now, &route)) {
		hca_ready_remove(&host->hca, qp);
		return true;
	}

	struct frame *frame = frame_take(&sim->fabric.frames);

	if (!frame) {
		host->is_starved = true;
		return false;
	}
	if (qp_transmit(qp, sim->now, 1, 1, &packet) == 0) {
		frame_give_back(&sim->fabric.frames, frame);
		return true;
	}
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->static_rate = route.static_rate;
	frame->source_qpn = qp->qpn;
	/* Moves it behind the others, so that queue pairs take turns. */
	hca_ready_remove(&host->hca, qp);
	hca_ready_add(&host->hca, qp);
	host->held = frame;
	host->held_port_number = route.port_number;
	return inject_held(host);
}

static bool run_host(struct sim_host *host)
{
	struct sim *sim = host->sim;
	unsigned count = 0;

	host->is_starved = false;
	if (host->discards_until && host->discards_until <= sim->now)
		end_discarding(host);
	if (hca_deadline(&host->hca) <= sim->now)
		hca_expire(&host->hca, sim->now);
	while (count < PACKETS_PER_TURN && inject_held(host) && transmit_one(host))
		count++;
	if (sim->programs.host_ran)
		sim->programs.host_ran(sim->programs.context, host);

	time_ns deadline = hca_deadline(&host->hca);

	if (host->is_starved)
		deadline = time_earlier(deadline, sim->now + STARVED_FOR);
	if (host->discards_until)
		deadline = time_earlier(deadline, host->discards_until);
	if (deadline == TIME_NEVER)
		timer_queue_cancel(&sim->host_timers, &host->timer);
	else
		timer_queue_arm(&sim->host_timers, &host->timer, deadline);
	return count != 0;
}

void sim_wake_host(struct sim_host *host)
{
	if (!list_is_linked(&host->awake_link))
		list_append(&host->sim->awake, &host->awake_link);
}

/* Runs every host that is awake now once. A host that did something stays awake. A host whose port
 * is full is woken by the port. */
static bool run_awake(struct sim *sim)
{
	bool is_busy = false;
	struct timer *timer;

	while ((timer = timer_queue_pop(&sim->host_timers, sim->now)))
		sim_wake_host(container_of(timer, struct sim_host, timer));

	struct list *last = list_is_empty(&sim->awake) ? NULL : sim->awake.previous;

	while (last) {
		struct list *link = list_pop(&sim->awake);
		struct sim_host *host = container_of(link, struct sim_host, awake_link);

		if (run_host(host)) {
			is_busy = true;
			sim_wake_host(host);
		}
		if (link == last)
			break;
	}
	return is_busy;
}

static void settle(struct sim *sim)
{
	bool is_busy = true;

	while (is_busy && time_watchdog_step(sim)) {
		is_busy = sim_managers_run(sim);
		if (sim->programs.run)
			sim->programs.run(sim->programs.context, sim->now);
		is_busy |= run_awake(sim);
		/* Packets that moved may have woken hosts. */
		is_busy |= fabric_has_work(&sim->fabric);
		is_busy |= fabric_step(&sim->fabric, sim->now, FRAMES_PER_STEP);
		is_busy |= !list_is_empty(&sim->awake) || sim_managers_have_received(sim);
	}
}

void sim_settle(struct sim *sim)
{
	/* A caller may have posted requests at any host. */
	for (uint32_t index = 0; index < sim->host_count; index++)
		sim_wake_host(&sim->hosts[index]);
	settle(sim);
}

time_ns sim_deadline(const struct sim *sim)
{
	time_ns deadline = fabric_deadline(&sim->fabric);

	for (uint32_t index = 0; index < sim->manager_count; index++)
		deadline = time_earlier(deadline, sm_deadline(sim->managers[index].sm));
	if (sim->programs.deadline)
		deadline = time_earlier(deadline, sim->programs.deadline(sim->programs.context));
	return time_earlier(deadline, timer_queue_deadline(&sim->host_timers));
}

/* Advances the clock to the next deadline; false: there is none up to end. */
static bool advance(struct sim *sim, time_ns end)
{
	settle(sim);

	time_ns deadline = sim_deadline(sim);

	if (deadline == TIME_NEVER || deadline > end || time_watchdog_has_tripped(&sim->watchdog))
		return false;
	/* A deadline that is past and was not served must not stop the clock. */
	if (deadline > sim->now)
		time_watchdog_rest(&sim->watchdog);
	sim->now = deadline > sim->now ? deadline : sim->now + 1;
	return true;
}

void sim_run_until(struct sim *sim, time_ns end)
{
	sim_settle(sim);
	while (sim->now <= end && advance(sim, end))
		continue;
	if (time_watchdog_has_tripped(&sim->watchdog))
		return;
	if (sim->now < end) {
		sim->now = end;
		time_watchdog_rest(&sim->watchdog);
	}
	settle(sim);
}

bool sim_run_until_quiet(struct sim *sim, time_ns end)
{
	sim_settle(sim);
	while (sim->now <= end && advance(sim, end))
		continue;
	return sim_deadline(sim) == TIME_NEVER && !time_watchdog_has_tripped(&sim->watchdog);
}

static bool all_are_up(const struct sim *sim)
{
	struct sm_status status;

	for (uint32_t index = 0; index < sim->manager_count; index++) {
		sm_status(sim->managers[index].sm, &status);
		if (!status.subnet_is_up)
			return false;
	}
	return true;
}

bool sim_bring_up(struct sim *sim, time_ns end)
{
	while (sim->now <= end) {
		settle(sim);
		if (all_are_up(sim))
			return true;
		if (!advance(sim, end))
			return false;
	}
	return false;
}

struct sim_host *sim_find_host(struct sim *sim, const char *name)
{
	for (uint32_t index = 0; index < sim->host_count; index++)
		if (strcmp(sim->hosts[index].node->host, name) == 0)
			return &sim->hosts[index];
	return NULL;
}
