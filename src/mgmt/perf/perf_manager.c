/* SPDX-License-Identifier: Apache-2.0 */
/* The performance manager: sweeps in phases (management 6.1). */
#include "mgmt/perf/perf_manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/perf/perf_requests.h"
#include "wire/pkey.h"
#include "wire/performance.h"

enum { TRIES = 4, TABLE_TRIES = 3, ROUNDS = 4, PACE_BURST = 1024, PACE_BATCH = 32 };

#define TIMEOUT	      MILLISECONDS(250)
#define TABLE_TIMEOUT SECONDS(3)
#define TABLES_AGE    SECONDS(60)
/* Before busy agents are asked again. */
#define PAUSE MILLISECONDS(20)

enum table { TABLE_NODES, TABLE_PORTS, TABLE_LINKS };

static const uint16_t table_attributes[PERF_TABLES] = {
	[TABLE_NODES] = SA_NODE_RECORD,
	[TABLE_PORTS] = SA_PORT_INFO_RECORD,
	[TABLE_LINKS] = SA_LINK_RECORD,
};

int perf_manager_init(struct perf_manager *manager, const struct perf_options *options)
{
	const struct sa_client_options sa = {.agent_number = options->sa_agent_number,
					     .requests_max = PERF_TABLES,
					     .timeout = TABLE_TIMEOUT,
					     .tries = TABLE_TRIES};
	const struct mad_transactions_options transactions = {
		.requests_max =
			options->requests_max ? options->requests_max : PERF_REQUESTS_DEFAULT,
		.tries = options->tries ? options->tries : TRIES,
		.timeout = options->timeout ? options->timeout : TIMEOUT,
		.agent_number = options->agent_number,
		.find_path = perf_requests_find_path,
		.context = manager,
	};
	int error;

	*manager = (struct perf_manager){.options = *options};
	if (!manager->options.tables_age)
		manager->options.tables_age = TABLES_AGE;
	if (!manager->options.ports_per_second)
		manager->options.ports_per_second = PERF_PACE_DEFAULT;
	manager->due_at = options->interval ? 0 : TIME_NEVER;
	error = sa_client_init(&manager->sa, &sa);
	if (error)
		return error;
	error = mad_transactions_init(&manager->transactions, &transactions);
	if (error)
		sa_client_release(&manager->sa);
	manager->transactions.pace = MAD_PACE_EAGER;
	return error;
}

static void drop_tables(struct perf_manager *manager)
{
	for (unsigned i = 0; i < PERF_TABLES; i++) {
		free(manager->tables[i].table);
		manager->tables[i].table = NULL;
	}
}

void perf_manager_release(struct perf_manager *manager)
{
	drop_tables(manager);
	perf_nodes_release(&manager->nodes);
	mad_transactions_release(&manager->transactions);
	sa_client_release(&manager->sa);
}

void perf_manager_set_port(struct perf_manager *manager, const struct perf_own_port *port)
{
	manager->port = *port;
	sa_client_set_sa(&manager->sa, port->sm_lid, port->sm_sl, port->pkey);
	sa_client_set_own_gid(&manager->sa, &port->gid);
}

void perf_manager_set_interval(struct perf_manager *manager, time_ns interval)
{
	manager->options.interval = interval;
	manager->due_at = interval ? manager->last.began_at + interval : TIME_NEVER;
}

void perf_manager_ask_sweep(struct perf_manager *manager)
{
	manager->is_asked = true;
	manager->current.is_paced = false;
}

void perf_manager_ask_clear(struct perf_manager *manager)
{
	perf_manager_ask_sweep(manager);
	manager->clears_next = true;
}

void perf_manager_ask_details(struct perf_manager *manager, const char *port)
{
	perf_manager_ask_sweep(manager);
	snprintf(manager->details_next, sizeof(manager->details_next), "%s", port);
	manager->sample_next = 0;
}

void perf_manager_ask_sample(struct perf_manager *manager, const char *port, time_ns length)
{
	assert(length <= PORT_SAMPLING_MAX);
	perf_manager_ask_details(manager, port);
	manager->sample_next = length;
}

bool perf_manager_is_idle(const struct perf_manager *manager)
{
	return manager->phase == PERF_PHASE_IDLE && !manager->is_asked;
}

uint64_t perf_manager_next_sweep(const struct perf_manager *manager)
{
	return manager->last.number + 1 + (manager->phase != PERF_PHASE_IDLE);
}

static void enter(struct perf_manager *manager, enum perf_phase phase)
{
	manager->phase = phase;
	manager->cursor = 0;
	manager->rounds_left = ROUNDS;
	manager->has_owed = false;
}

static void finish_sweep(struct perf_manager *manager, time_ns now, int error)
{
	manager->current.ended_at = now;
	manager->current.error = error;
	manager->last = manager->current;
	enter(manager, PERF_PHASE_IDLE);
}

/* --- The tables of the SA --- */

static void begin_tables(struct perf_manager *manager, time_ns now)
{
	const uint8_t nothing[1] = {0};
	int error = 0;

	enter(manager, PERF_PHASE_TABLES);
	manager->tables_missing = 0;
	manager->tables_error = 0;
	for (uint32_t i = 0; i < PERF_TABLES && !error; i++) {
		error = sa_client_get_table(&manager->sa, table_attributes[i], 0, nothing, 0,
					    (struct mad_purpose){.subject = manager, .detail = i});
		if (!error)
			manager->tables_missing++;
	}
	if (error) {
		sa_client_cancel(&manager->sa, manager);
		finish_sweep(manager, now, error);
	}
}

static void take_tables(struct perf_manager *manager)
{
	struct sa_client_result result;

	while (sa_client_take_result(&manager->sa, &result)) {
		manager->tables[result.purpose.detail] = result;
		manager->tables_missing--;
		/* A subnet may have no links. */
		if (result.outcome != SA_CLIENT_ANSWERED &&
		    !(result.outcome == SA_CLIENT_REFUSED && result.status == SA_STATUS_NO_RECORDS))
			manager->tables_error = -EHOSTUNREACH;
	}
}

static int build_nodes(struct perf_manager *manager)
{
	struct perf_table tables[PERF_TABLES];
	struct perf_nodes nodes;
	int error;

	for (unsigned i = 0; i < PERF_TABLES; i++)
		tables[i] = (struct perf_table){.bytes = manager->tables[i].table,
						.record_count = manager->tables[i].record_count,
						.record_bytes = manager->tables[i].record_bytes};
	error = perf_nodes_build(&nodes, &tables[TABLE_NODES], &tables[TABLE_PORTS],
				 &tables[TABLE_LINKS]);
	if (error)
		return error;
	perf_nodes_adopt(&nodes, &manager->nodes);
	perf_nodes_release(&manager->nodes);
	manager->nodes = nodes;
	return 0;
}

static void end_tables(struct perf_manager *manager, time_ns now)
{
	int error = manager->tables_error;

	if (!error)
		error = build_nodes(manager);
	drop_tables(manager);
	if (!error) {
		manager->tables_at = now;
		manager->tables_are_due = false;
		manager->current.has_tables = true;
	}
	/* Without an answer of the SA the manager goes on with the nodes it knows. */
	if (error && !manager->nodes.port_count)
		finish_sweep(manager, now, error);
	else
		enter(manager, PERF_PHASE_AGENTS);
}

/* --- Sweeps --- */

static bool tables_are_stale(const struct perf_manager *manager, time_ns now)
{
	return !manager->tables_at || manager->tables_are_due ||
	       now - manager->tables_at >= manager->options.tables_age;
}

static void begin_sweep(struct perf_manager *manager, time_ns now)
{
	manager->current = (struct perf_sweep){.number = manager->last.number + 1,
					       .began_at = now,
					       .is_paced = !manager->is_asked};
	manager->is_asked = false;
	manager->clears_all = manager->clears_next;
	manager->clears_next = false;
	if (manager->details_next[0])
		port_details_begin(&manager->details, manager->details_next);
	if (manager->details_next[0] && manager->sample_next)
		port_sampling_begin(
			&manager->details.sampling, manager->sample_next,
			(uint16_t)(manager->options.agent_number << 8 ^ manager->current.number));
	manager->details_next[0] = '\0';
	if (manager->options.interval)
		manager->due_at = now + manager->options.interval;
	for (uint32_t i = 0; i < manager->nodes.node_count; i++) {
		struct perf_node *node = &manager->nodes.nodes[i];

		node->was_silent = node->is_silent;
		node->is_silent = false;
	}
	if (tables_are_stale(manager, now))
		begin_tables(manager, now);
	else
		enter(manager, PERF_PHASE_AGENTS);
}

static bool has_room(const struct perf_manager *manager)
{
	return manager->transactions.busy_count + PERF_REQUESTS_PER_PORT <=
	       manager->transactions.options.requests_max;
}

/* When the sweep may ask for one more batch. */
static time_ns pace_time(const struct perf_manager *manager)
{
	const struct perf_sweep *sweep = &manager->current;

	if (!sweep->is_paced || sweep->asked_count < PACE_BURST)
		return 0;
	return sweep->began_at + (sweep->asked_count - PACE_BURST) / PACE_BATCH * PACE_BATCH *
					 SECONDS(1) / manager->options.ports_per_second;
}

static uint32_t cursor_end(const struct perf_manager *manager)
{
	switch (manager->phase) {
	case PERF_PHASE_AGENTS:
		return manager->nodes.node_count;
	case PERF_PHASE_COUNTERS:
	case PERF_PHASE_CLEARS:
		return manager->nodes.port_count;
	case PERF_PHASE_DETAILS:
		return manager->details.is_wanted && manager->details.is_found ? PORT_DETAILS_COUNT
									       : 0;
	case PERF_PHASE_SAMPLE:
		return manager->details.is_wanted && manager->details.is_found &&
		       !port_sampling_is_over(&manager->details.sampling);
	case PERF_PHASE_IDLE:
	case PERF_PHASE_TABLES:
		break;
	}
	return 0;
}

static void ask_counters(struct perf_manager *manager, struct perf_port *port)
{
	bool is_first_round = manager->rounds_left == ROUNDS;

	if (is_first_round)
		port->clear_mask = 0;
	if (!is_first_round && !port->is_owed)
		return;
	if (port->node->agent == PERF_AGENT_KNOWN && !port->node->is_silent) {
		perf_request_counters(manager, port);
	} else {
		port->is_owed = false;
		port->is_failed = true;
	}
}

static void ask_clear(struct perf_manager *manager, struct perf_port *port)
{
	bool has_all = port->node->capability_mask & PERFORMANCE_ALL_PORT_SELECT;
	bool is_first = port == &manager->nodes.ports[port->node->first_port];

	if (port->node->agent != PERF_AGENT_KNOWN || port->node->is_silent)
		return;
	if (manager->clears_all)
		port->clear_mask = PERF_COUNTERS_ALL;
	if (!manager->clears_all && port->clear_mask)
		perf_request_clear(manager, port, PERF_SELECT_ONE);
	else if (manager->clears_all && !has_all)
		perf_request_clear(manager, port, PERF_SELECT_ONE);
	else if (manager->clears_all && is_first)
		perf_request_clear(manager, port, PERF_SELECT_ALL);
}

static void ask(struct perf_manager *manager)
{
	uint32_t index = manager->cursor++;
	unsigned busy_before = manager->transactions.busy_count;

	switch (manager->phase) {
	case PERF_PHASE_AGENTS:
		if (manager->nodes.nodes[index].agent == PERF_AGENT_UNKNOWN &&
		    !manager->nodes.nodes[index].is_silent &&
		    manager->nodes.nodes[index].port_count)
			perf_request_agent(manager, &manager->nodes.nodes[index]);
		break;
	case PERF_PHASE_COUNTERS:
		ask_counters(manager, &manager->nodes.ports[index]);
		break;
	case PERF_PHASE_CLEARS:
		ask_clear(manager, &manager->nodes.ports[index]);
		break;
	case PERF_PHASE_DETAILS:
		perf_request_detail(manager, manager->details_port, index);
		break;
	case PERF_PHASE_SAMPLE:
		perf_request_sample(manager, manager->details_port);
		break;
	case PERF_PHASE_IDLE:
	case PERF_PHASE_TABLES:
		break;
	}
	manager->current.asked_count += manager->transactions.busy_count != busy_before;
}

static void count_failed(struct perf_manager *manager)
{
	for (uint32_t i = 0; i < manager->nodes.port_count; i++) {
		struct perf_port *port = &manager->nodes.ports[i];

		/* An agent that stayed busy is one that did not answer. */
		manager->current.failed_count += port->is_failed || port->is_owed;
		port->is_owed = false;
	}
}

static void begin_details(struct perf_manager *manager)
{
	char name[PERF_PORT_NAME_BYTES];

	enter(manager, PERF_PHASE_DETAILS);
	for (uint32_t i = 0; manager->details.is_wanted && i < manager->nodes.port_count; i++) {
		struct perf_port *port = &manager->nodes.ports[i];

		perf_port_name(port, name);
		if (port->node->agent == PERF_AGENT_KNOWN && !port->node->is_silent &&
		    strcmp(name, manager->details.port) == 0) {
			manager->details.is_found = true;
			manager->details_port = port;
			return;
		}
	}
}

/* One request and its answer, then a pause until the next one. */
static void end_sample_step(struct perf_manager *manager, time_ns now)
{
	manager->cursor = 0;
	manager->pause_until = manager->details.sampling.due_at;
	if (cursor_end(manager))
		return;
	manager->pause_until = now;
	manager->details.is_wanted = false;
	finish_sweep(manager, now, 0);
}

static void end_round(struct perf_manager *manager, time_ns now)
{
	if (manager->has_owed && --manager->rounds_left) {
		manager->has_owed = false;
		manager->cursor = 0;
		manager->pause_until = now + PAUSE;
		return;
	}
	switch (manager->phase) {
	case PERF_PHASE_AGENTS:
		enter(manager, PERF_PHASE_COUNTERS);
		break;
	case PERF_PHASE_COUNTERS:
		count_failed(manager);
		enter(manager, PERF_PHASE_CLEARS);
		break;
	case PERF_PHASE_CLEARS:
		begin_details(manager);
		break;
	case PERF_PHASE_DETAILS:
		enter(manager, PERF_PHASE_SAMPLE);
		break;
	case PERF_PHASE_SAMPLE:
		end_sample_step(manager, now);
		break;
	case PERF_PHASE_IDLE:
	case PERF_PHASE_TABLES:
		break;
	}
}

/* Whether the phase has reached its end: nothing to ask, nothing under way. */
static bool round_is_over(const struct perf_manager *manager)
{
	return manager->cursor >= cursor_end(manager) &&
	       mad_transactions_is_idle(&manager->transactions);
}

static void advance(struct perf_manager *manager, time_ns now)
{
	if (manager->phase == PERF_PHASE_IDLE && (manager->is_asked || now >= manager->due_at))
		begin_sweep(manager, now);
	if (manager->phase == PERF_PHASE_TABLES && !manager->tables_missing)
		end_tables(manager, now);
	while (manager->phase != PERF_PHASE_IDLE && manager->phase != PERF_PHASE_TABLES &&
	       now >= manager->pause_until) {
		while (manager->cursor < cursor_end(manager) && has_room(manager) &&
		       now >= pace_time(manager))
			ask(manager);
		if (!round_is_over(manager))
			break;
		end_round(manager, now);
	}
}

void perf_manager_receive(struct perf_manager *manager, time_ns now,
			  const struct mad_message *message)
{
	switch (message->bytes[MAD_CLASS_OFFSET]) {
	case MAD_CLASS_SUBNET_ADMINISTRATION:
		sa_client_receive(&manager->sa, now, message);
		break;
	case MAD_CLASS_PERFORMANCE:
		perf_requests_receive(manager, now, message);
		break;
	default:
		break;
	}
}

unsigned perf_manager_transmit(struct perf_manager *manager, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[])
{
	unsigned count;

	mad_transactions_transmit(&manager->transactions, now, 0, NULL);
	perf_requests_take_failed(manager, now);
	take_tables(manager);
	advance(manager, now);
	count = sa_client_transmit(&manager->sa, now, messages_max, ret_messages);
	count += mad_transactions_transmit(&manager->transactions, now, messages_max - count,
					   ret_messages + count);
	manager->current.mad_count += count;
	return count;
}

time_ns perf_manager_deadline(const struct perf_manager *manager)
{
	time_ns deadline = time_earlier(mad_transactions_deadline(&manager->transactions),
					sa_client_deadline(&manager->sa));

	switch (manager->phase) {
	case PERF_PHASE_IDLE:
		return manager->is_asked ? 0 : time_earlier(deadline, manager->due_at);
	case PERF_PHASE_TABLES:
		return manager->tables_missing ? deadline : 0;
	case PERF_PHASE_AGENTS:
	case PERF_PHASE_COUNTERS:
	case PERF_PHASE_CLEARS:
	case PERF_PHASE_DETAILS:
	case PERF_PHASE_SAMPLE:
		break;
	}
	if (round_is_over(manager))
		return manager->pause_until;
	if (manager->cursor < cursor_end(manager) && has_room(manager)) {
		time_ns pace = pace_time(manager);

		deadline = time_earlier(deadline,
					pace > manager->pause_until ? pace : manager->pause_until);
	}
	return deadline;
}
