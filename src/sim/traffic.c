/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a simulated fabric: starts, paces and stops flows, and counts what arrived. */
#include "sim/traffic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/connections.h"
#include "sim/loads.h"
#include "wire/grh.h"

enum { FLOWS_PER_TURN = 32 };

static bool is_load(const struct flow *flow)
{
	return flow->options->service == FLOW_LOAD || flow->options->service == FLOW_MULTICAST;
}

static struct sim_host *find_host(struct traffic *traffic, const struct scenario_flow *options,
				  const char *name, struct scenario_error *ret_error)
{
	struct sim_host *host = sim_find_host(traffic->sim, name);

	if (!host) {
		ret_error->line = options->line;
		snprintf(ret_error->reason, sizeof(ret_error->reason), "there is no host %s", name);
	}
	return host;
}

/* Sets the time between messages from the rate. */
static void set_interval(struct flow *flow)
{
	uint64_t parts = (uint64_t)flow->options->message_bytes * 8 * SECONDS(1);

	flow->has_rate = flow->options->bits_per_second && flow->options->message_bytes;
	if (!flow->has_rate)
		return;
	flow->interval = parts / flow->options->bits_per_second;
	flow->interval_rest = parts % flow->options->bits_per_second;
}

static int flow_init(struct traffic *traffic, struct flow *flow,
		     const struct scenario_flow *options, time_ns end,
		     struct scenario_error *ret_error)
{
	flow->traffic = traffic;
	flow->options = options;
	flow->index = (uint32_t)(flow - traffic->flows);
	flow->start = traffic->begins_at + options->start;
	flow->stop = options->stop ? traffic->begins_at + options->stop : end;
	flow->next_at = flow->start;
	set_interval(flow);
	list_init(&flow->load.link);
	flow->latencies = calloc(1, sizeof(*flow->latencies));
	if (!flow->latencies)
		return -ENOMEM;
	flow->from = find_host(traffic, options, options->from, ret_error);
	if (options->service != FLOW_MULTICAST)
		flow->to = find_host(traffic, options, options->to, ret_error);
	if (!flow->from || (options->service != FLOW_MULTICAST && !flow->to))
		return -EINVAL;
	wheel_event_init(&flow->timer, 0);
	event_wheel_arm(&traffic->timers, &flow->timer, flow->start);
	return is_load(flow) ? load_init(flow, ret_error) : connection_init(flow, ret_error);
}

static int make_rooms(struct traffic *traffic, const struct scenario *scenario)
{
	uint32_t host_count = traffic->sim->host_count;

	for (uint32_t i = 0; i < scenario->flow_count; i++)
		if (scenario->flows[i].message_bytes > traffic->memory_bytes)
			traffic->memory_bytes = scenario->flows[i].message_bytes;
	traffic->memory_bytes += GRH_BYTES; /* the GRH in front of a datagram */
	traffic->memory = calloc(1, traffic->memory_bytes);
	traffic->flows = calloc(scenario->flow_count + 1u, sizeof(*traffic->flows));
	traffic->loads = calloc(host_count + 1u, sizeof(*traffic->loads));
	traffic->connections = calloc(host_count + 1u, sizeof(*traffic->connections));
	if (!traffic->memory || !traffic->flows || !traffic->loads || !traffic->connections)
		return -ENOMEM;
	for (uint32_t i = 0; i < host_count; i++) {
		list_init(&traffic->loads[i]);
		list_init(&traffic->connections[i]);
	}
	return event_wheel_reserve(&traffic->timers, scenario->flow_count);
}

int traffic_init(struct traffic *traffic, struct sim *sim, const struct scenario *scenario,
		 time_ns begins_at, struct scenario_error *ret_error)
{
	*traffic = (struct traffic){
		.sim = sim,
		.begins_at = begins_at,
		.measured_from = begins_at + scenario->warmup,
	};

	int error = event_wheel_init(&traffic->timers);

	if (!error)
		error = make_rooms(traffic, scenario);

	for (uint32_t i = 0; !error && i < scenario->flow_count; i++) {
		traffic->flow_count++;
		error = flow_init(traffic, &traffic->flows[i], &scenario->flows[i],
				  begins_at + scenario->duration, ret_error);
	}
	traffic->next_at = error ? TIME_NEVER : event_wheel_deadline(&traffic->timers);
	return error;
}

void traffic_release(struct traffic *traffic)
{
	for (uint32_t i = 0; i < traffic->flow_count; i++) {
		connection_release(&traffic->flows[i]);
		free(traffic->flows[i].latencies);
	}
	event_wheel_release(&traffic->timers);
	free(traffic->flows);
	free(traffic->loads);
	free(traffic->connections);
	free(traffic->memory);
	*traffic = (struct traffic){0};
}

int traffic_refuse(const struct flow *flow, const char *reason, struct scenario_error *ret_error)
{
	ret_error->line = flow->options->line;
	snprintf(ret_error->reason, sizeof(ret_error->reason), "%s: %.180s", flow->options->name,
		 reason);
	return -EINVAL;
}

void traffic_message_arrived(struct flow *flow, uint32_t byte_count, time_ns sent_at,
			     bool ends_message)
{
	time_ns now = flow->traffic->sim->now;

	flow->received += ends_message;
	if (now < flow->traffic->measured_from)
		return;
	flow->measured_bytes += byte_count;
	flow->measured_messages += ends_message;
	if (ends_message && sent_at >= flow->traffic->measured_from)
		latencies_add(flow->latencies, now - sent_at);
}

static void send(struct flow *flow)
{
	if (is_load(flow))
		loads_send(flow->traffic, flow->from);
	else
		connection_send(flow);
}

/* The remainder of a nanosecond is carried over to the next message. */
static void set_next(struct flow *flow)
{
	flow->next_at += flow->interval;
	flow->carry += flow->interval_rest;
	if (flow->carry >= flow->options->bits_per_second) {
		flow->carry -= flow->options->bits_per_second;
		flow->next_at++;
	}
}

static void flow_run(struct flow *flow, time_ns now)
{
	flow->is_running = now >= flow->start && now < flow->stop;
	if (now >= flow->stop)
		return;
	while (flow->has_rate && flow->next_at <= now) {
		flow->due++;
		set_next(flow);
	}
	send(flow);
	event_wheel_arm(&flow->traffic->timers, &flow->timer,
			flow->has_rate ? time_earlier(flow->next_at, flow->stop) : flow->stop);
}

static struct flow *flow_of(const struct wheel_due *due)
{
	struct wheel_event *event = container_of(due->timer, struct wheel_event, timer);

	return container_of(event, struct flow, timer);
}

static void run(void *context, time_ns now)
{
	struct traffic *traffic = context;
	struct wheel_due due[FLOWS_PER_TURN];
	unsigned count;

	if (traffic->next_at > now)
		return;
	while ((count = event_wheel_take(&traffic->timers, now, FLOWS_PER_TURN, due)))
		for (unsigned i = 0; i < count; i++)
			flow_run(flow_of(&due[i]), now);
	traffic->next_at = event_wheel_deadline(&traffic->timers);
}

static time_ns deadline(const void *context)
{
	return ((const struct traffic *)context)->next_at;
}

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	return loads_receive(context, port, frame);
}

static void host_ran(void *context, struct sim_host *host)
{
	connections_poll(context, host);
}

static void port_has_room(void *context, struct port *port)
{
	loads_send(context, port->endpoint);
}

static void gone(void *context, struct frame *frame, enum drop_reason reason)
{
	(void)context;
	((struct flow *)frame->source)->drops[reason]++;
}

struct sim_programs traffic_programs(struct traffic *traffic)
{
	return (struct sim_programs){
		.receive = receive,
		.host_ran = host_ran,
		.port_has_room = port_has_room,
		.gone = gone,
		.run = run,
		.deadline = deadline,
		.context = traffic,
	};
}
