/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a scenario. */
#include "sim/experiment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "fabric/congestion_control.h"
#include "fabric/link_faults.h"
#include "fabric/topology/port_names.h"
#include "mgmt/routing/engines.h"
#include "net/link/link.h"
#include "net/link/port_queues.h"
#include "sim/checkers.h"
#include "wire/rate.h"

enum { FRAMES_MAX = 1 << 20 };

#define BRING_UP_MAX   SECONDS(100)
#define TREES_MAX      MILLISECONDS(10)
#define SWEEP_INTERVAL SECONDS(1)
#define CHECK_INTERVAL MILLISECONDS(1)

static int PRINTF_LIKE(3, 4)
	refuse(struct scenario_error *ret_error, unsigned line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(ret_error->reason, sizeof(ret_error->reason), format, arguments);
	va_end(arguments);
	ret_error->line = line;
	return -EINVAL;
}

/* -ETIME if virtual time stands still, else the error given. */
static int check_time(const struct experiment *experiment, int error,
		      struct scenario_error *ret_error)
{
	const struct time_watchdog *watchdog = &experiment->sim.watchdog;

	if (!time_watchdog_has_tripped(watchdog))
		return error;
	(void)refuse(ret_error, 0, "%s", watchdog->reason);
	return -ETIME;
}

static int find_ports(struct experiment *experiment, const char *name, unsigned line,
		      struct port_list *ret_list, struct scenario_error *ret_error)
{
	*ret_list = (struct port_list){0};
	if (port_names_add(&experiment->sim.fabric, name, ret_list, ret_error->reason,
			   sizeof(ret_error->reason)) == 0)
		return 0;
	ret_error->line = line;
	port_list_release(ret_list);
	return -EINVAL;
}

static void set_speed(struct port_info *info, uint16_t speed)
{
	bool is_extended = speed >= LINK_SPEED_FDR;

	info->link_speed_supported = info->link_speed_enabled =
		is_extended ? LINK_SPEED_QDR * 2 - 1 : (uint8_t)(speed * 2 - 1);
	info->link_speed_ext_supported = info->link_speed_ext_enabled =
		is_extended && speed < LINK_SPEED_XDR ? (uint8_t)(speed / LINK_SPEED_FDR) : 0;
	info->link_speed_ext2_supported = info->link_speed_ext2_enabled = speed == LINK_SPEED_XDR;
	port_info_show_speeds(info);
}

/* Sets both ends of the cable, which is then trained anew. */
static void set_link(struct experiment *experiment, const struct scenario_setting *setting,
		     struct port *port)
{
	struct port *ends[] = {port, port->peer};

	for (unsigned i = 0; i < ARRAY_COUNT(ends); i++) {
		if (setting->width)
			ends[i]->info.link_width_supported = ends[i]->info.link_width_enabled =
				setting->width;
		if (setting->speed)
			set_speed(&ends[i]->info, setting->speed);
	}
	fabric_set_cable(&experiment->sim.fabric, port, false, experiment->sim.now);
	fabric_set_cable(&experiment->sim.fabric, port, true, experiment->sim.now);
}

static void set_sl_to_vl(const struct scenario_setting *setting, struct port *port)
{
	for (unsigned row = 0; row < port->sl_to_vl_row_count; row++)
		memcpy(port->sl_to_vl[row], setting->sl_to_vl, SL_COUNT);
}

static void set_vl_arbitration(const struct scenario_setting *setting, struct port *port)
{
	enum arbitration_table table = setting->is_high ? TABLE_HIGH : TABLE_LOW;

	for (unsigned i = 0; i < VL_ARBITRATION_ENTRIES; i++) {
		bool is_set = i < setting->entry_count;

		port_arbitration_set(port, table, i, is_set ? setting->entries[i][0] : 0,
				     is_set ? setting->entries[i][1] : 0);
	}
	if (setting->limit >= 0)
		port->info.vl_high_limit = (uint8_t)setting->limit;
}

static void set_lifetime(const struct scenario_setting *setting, struct port *port)
{
	if (setting->head_of_queue_code >= 0)
		port->info.hoq_life = (uint8_t)(setting->head_of_queue_code & 31);
	if (setting->switch_code >= 0)
		port->node->switch_info.life_time_value = (uint8_t)(setting->switch_code & 31);
}

static void apply(struct experiment *experiment, const struct scenario_setting *setting,
		  struct port *port)
{
	switch (setting->kind) {
	case SETTING_LINK:
		set_link(experiment, setting, port);
		break;
	case SETTING_SL_TO_VL:
		set_sl_to_vl(setting, port);
		break;
	case SETTING_VL_ARBITRATION:
		set_vl_arbitration(setting, port);
		break;
	case SETTING_LIFETIME:
		set_lifetime(setting, port);
		break;
	}
}

/* Link settings apply before the manager sees the links, table settings after it has finished. */
static int apply_settings(struct experiment *experiment, bool are_links,
			  struct scenario_error *ret_error)
{
	const struct scenario *scenario = experiment->scenario;

	for (uint32_t i = 0; i < scenario->setting_count; i++) {
		const struct scenario_setting *setting = &scenario->settings[i];
		struct port_list list;

		if ((setting->kind == SETTING_LINK) != are_links)
			continue;

		int error = find_ports(experiment, setting->port, setting->line, &list, ret_error);

		if (error)
			return error;
		for (uint32_t port = 0; port < list.port_count; port++)
			apply(experiment, setting, list.ports[port]);
		port_list_release(&list);
	}
	return 0;
}

static int build(struct experiment *experiment, const char *topology_text,
		 struct scenario_error *ret_error)
{
	const struct scenario *scenario = experiment->scenario;
	struct topology_error error;

	if (sim_init_with_lanes(&experiment->sim,
				topology_text ? topology_text : scenario->topology, scenario->seed,
				scenario->data_vl_count, &error))
		return refuse(ret_error, 0, "topology %.80s: line %u: %.120s", scenario->topology,
			      error.line, error.reason);
	experiment->sim.fabric.is_paced = true;
	experiment->sim.fabric.frames.frame_count_max = FRAMES_MAX;
	return apply_settings(experiment, true, ret_error);
}

static int bring_up(struct experiment *experiment, struct scenario_error *ret_error)
{
	const struct scenario *scenario = experiment->scenario;
	struct sim *sim = &experiment->sim;
	const struct routing_engine *engine =
		routing_engine_find(*scenario->engine ? scenario->engine : NULL);

	if (!engine)
		return refuse(ret_error, 0, "there is no routing engine %s", scenario->engine);
	if (sim->host_count == 0)
		return refuse(ret_error, 0, "the topology has no hosts");

	const struct sm_options options = {
		.sweep_interval = SWEEP_INTERVAL,
		.routing_engine = engine->name,
		.routing_hints = {.lane_count = scenario->data_vl_count},
	};

	if (sim_start_sms(sim, &options))
		return -ENOMEM;
	if (sim->manager_count == 0)
		return refuse(ret_error, 0, "no host has a cable");
	if (!sim_bring_up(sim, BRING_UP_MAX))
		return check_time(experiment, refuse(ret_error, 0, "the subnet does not come up"),
				  ret_error);
	experiment->came_up_at = sim->now;
	return 0;
}

static int start_flows(struct experiment *experiment, struct scenario_error *ret_error)
{
	struct sim *sim = &experiment->sim;
	int error;

	/* The manager needs time to make the trees of the flows' multicast groups. */
	experiment->began_at = sim->now + TREES_MAX;
	error = traffic_init(&experiment->traffic, sim, experiment->scenario, experiment->began_at,
			     ret_error);
	if (!error)
		sim_run_until(sim, experiment->began_at);
	return check_time(experiment, error, ret_error);
}

static int happen(struct experiment *experiment, const struct scenario_event *event,
		  struct scenario_error *ret_error)
{
	struct sim *sim = &experiment->sim;
	struct port_list list;
	int error = find_ports(experiment, event->port, event->line, &list, ret_error);

	if (error)
		return error;
	for (uint32_t i = 0; !error && i < list.port_count; i++) {
		switch (event->kind) {
		case EVENT_LINK_DOWN:
		case EVENT_LINK_UP:
			fabric_set_cable(&sim->fabric, list.ports[i], event->kind == EVENT_LINK_UP,
					 sim->now);
			break;
		case EVENT_FAULT:
			error = faults_set(&sim->fabric, list.ports[i], &event->faults,
					   experiment->scenario->seed, sim->now);
			break;
		case EVENT_FAULT_CLEAR:
			faults_clear(&sim->fabric, list.ports[i], sim->now);
			break;
		}
	}
	port_list_release(&list);
	return error;
}

static int run_until(struct experiment *experiment, time_ns end, struct scenario_error *ret_error)
{
	struct sim *sim = &experiment->sim;
	char violation[VIOLATION_BYTES];

	while (experiment->scenario->checks && sim->now + CHECK_INTERVAL < end) {
		sim_run_until(sim, sim->now + CHECK_INTERVAL);
		if (!check_credits(&sim->fabric, violation))
			return refuse(ret_error, 0, "after %llu ns: %.160s",
				      (unsigned long long)(sim->now - experiment->began_at),
				      violation);
	}
	sim_run_until(sim, end);
	return check_time(experiment, 0, ret_error);
}

int experiment_run(struct experiment *experiment, const struct scenario *scenario,
		   const char *topology_text, struct scenario_error *ret_error)
{
	*experiment = (struct experiment){.scenario = scenario};

	int error = build(experiment, topology_text, ret_error);

	if (!error)
		error = bring_up(experiment, ret_error);
	if (!error)
		error = apply_settings(experiment, false, ret_error);
	if (!error && scenario->controls_congestion)
		error = congestion_control_set(&experiment->sim.fabric, CONGESTION_CONTROL_ON);
	if (!error)
		error = start_flows(experiment, ret_error);
	if (error)
		return error;

	experiment->sim.programs = traffic_programs(&experiment->traffic);
	for (uint32_t i = 0; !error && i < scenario->event_count; i++) {
		time_ns at = experiment->began_at + scenario->events[i].at;

		if (scenario->events[i].at > scenario->duration)
			break;
		error = run_until(experiment, at, ret_error);
		if (!error)
			error = happen(experiment, &scenario->events[i], ret_error);
	}
	if (!error)
		error = run_until(experiment, experiment->began_at + scenario->duration, ret_error);
	experiment->ended_at = experiment->sim.now;
	return error;
}

void experiment_release(struct experiment *experiment)
{
	experiment->sim.programs = (struct sim_programs){0};
	if (experiment->traffic.sim)
		traffic_release(&experiment->traffic);
	if (experiment->sim.hosts)
		sim_release(&experiment->sim);
}
