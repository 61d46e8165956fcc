/* SPDX-License-Identifier: Apache-2.0 */
/* A performance manager with scripted agents. */
#include "perf_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "wire/class_port_info.h"
#include "wire/pkey.h"

enum { MANAGER_HOST = 2, TURNS_MAX = 100000, TICK_1_US = 249 };

void perf_fixture_start(struct perf_fixture *fixture, const struct perf_options *options)
{
	struct perf_options all = {.agent_number = 50, .sa_agent_number = 51};

	memset(fixture, 0, sizeof(*fixture));
	sa_fixture_start(&fixture->sa);
	for (unsigned i = 0; i < PERF_FIXTURE_LIDS; i++) {
		fixture->agents[i].capability_mask =
			PERFORMANCE_ALL_PORT_SELECT | PERFORMANCE_EXTENDED_WIDTH |
			PERFORMANCE_XMIT_WAIT | PERFORMANCE_QP1_DROPPED;
		fixture->agents[i].capability_mask2 = PERFORMANCE_ADDITIONAL_EXTENDED;
	}
	if (options) {
		all = *options;
		all.agent_number = 50;
		all.sa_agent_number = 51;
	}
	assert_int_equal(perf_manager_init(&fixture->manager, &all), 0);
	perf_manager_set_port(
		&fixture->manager,
		&(struct perf_own_port){.sm_lid = 1,
					.pkey = PKEY_DEFAULT_FULL,
					.gid = fixture_gid(&fixture->sa, MANAGER_HOST)});
}

void perf_fixture_stop(struct perf_fixture *fixture)
{
	perf_manager_release(&fixture->manager);
	sa_fixture_stop(&fixture->sa);
}

static uint64_t narrowed(uint64_t value, unsigned bit_count)
{
	uint64_t maximum = (1ull << bit_count) - 1;

	return value < maximum ? value : maximum;
}

static void answer_basic(struct perf_agent *agent, bool is_set, uint8_t *data)
{
	struct port_counters asked, values = {0};

	port_counters_decode(data, &asked);

	struct port_counters_extended *kept = &agent->counters[asked.port_select % 9];

	if (is_set && asked.counter_select & SELECT_SYMBOL_ERROR)
		kept->symbol_error = 0;
	if (is_set && asked.counter_select & SELECT_XMIT_DATA)
		kept->xmit_data = 0;
	values.port_select = (uint8_t)(asked.port_select + agent->names_wrong_port);
	values.symbol_error = (uint16_t)narrowed(kept->symbol_error, 16);
	values.link_downed = (uint8_t)narrowed(kept->link_downed, 8);
	values.xmit_discards = (uint16_t)narrowed(kept->xmit_discards, 16);
	values.xmit_data = (uint32_t)narrowed(kept->xmit_data, 32);
	values.rcv_data = (uint32_t)narrowed(kept->rcv_data, 32);
	values.xmit_packets = (uint32_t)narrowed(kept->xmit_packets, 32);
	values.rcv_packets = (uint32_t)narrowed(kept->rcv_packets, 32);
	values.xmit_wait = (uint32_t)narrowed(kept->xmit_wait, 32);
	port_counters_encode(&values, data);
}

static void answer_extended(struct perf_agent *agent, bool is_set, uint8_t *data)
{
	struct port_counters_extended asked;

	port_counters_extended_decode(data, &asked);
	for (unsigned i = 0; is_set && i < PERF_FIXTURE_PORTS; i++) {
		if (asked.port_select != i && asked.port_select != PORT_SELECT_ALL)
			continue;
		if (asked.counter_select & 1)
			agent->counters[i].xmit_data = 0;
		if (asked.counter_select2 & 1)
			agent->counters[i].symbol_error = 0;
	}

	struct port_counters_extended values = agent->counters[asked.port_select % 9];

	values.port_select = (uint8_t)(asked.port_select + agent->names_wrong_port);
	port_counters_extended_encode(&values, data);
}

static uint16_t answer_data(struct perf_agent *agent, const struct mad_header *header,
			    uint8_t *data)
{
	const struct class_port_info info = {
		.base_version = 1,
		.class_version = 1,
		.capability_mask = agent->capability_mask,
		.capability_mask2 = agent->capability_mask2,
		.redirect_lid = agent->redirect_lid,
		.redirect_gid_prefix = agent->redirect_guid ? GID_PREFIX_LINK_LOCAL : 0,
		.redirect_gid_guid = agent->redirect_guid};
	const struct port_samples_control control = {.port_select = data[1], .tick = TICK_1_US};
	bool is_set = header->method == MAD_SET;
	bool is_redirected = agent->redirect_lid || agent->redirect_guid;

	if (agent->refusal)
		return agent->refusal;
	if (header->attribute_id == ATTRIBUTE_CLASS_PORT_INFO || is_redirected) {
		class_port_info_encode(&info, data);
		return is_redirected && header->attribute_id != ATTRIBUTE_CLASS_PORT_INFO
			       ? MAD_STATUS_REDIRECT
			       : MAD_STATUS_OK;
	}
	if (header->attribute_id == ATTRIBUTE_PORT_SAMPLES_CONTROL) {
		port_samples_control_encode(&control, data);
		return MAD_STATUS_OK;
	}
	agent->get_count += !is_set;
	agent->set_count += is_set;
	if (is_set)
		agent->last_set_select = data[1];
	if (header->attribute_id == ATTRIBUTE_PORT_COUNTERS)
		answer_basic(agent, is_set, data);
	else if (header->attribute_id == ATTRIBUTE_PORT_COUNTERS_EXTENDED)
		answer_extended(agent, is_set, data);
	else
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	return MAD_STATUS_OK;
}

static void answer(struct perf_fixture *fixture, struct mad_message *message)
{
	struct mad_header header;

	assert_true(mad_header_decode(message->bytes, MAD_BYTES, &header));
	assert_in_range(message->address.lid, 1, PERF_FIXTURE_LIDS - 1);
	assert_int_equal(message->address.qpn, QPN_GSI);
	assert_int_equal(message->address.qkey, QKEY_GSI);
	assert_int_equal(header.class_version, 1);

	struct perf_agent *agent = &fixture->agents[message->address.lid];

	if (agent->is_silent)
		return;
	if (agent->busy_left) {
		agent->busy_left--;
		header.status = MAD_STATUS_BUSY;
	} else {
		header.status =
			answer_data(agent, &header, message->bytes + PERFORMANCE_DATA_OFFSET);
	}
	header.method = MAD_GET_RESPONSE;
	mad_header_encode(&header, message->bytes);
	perf_manager_receive(&fixture->manager, fixture->sa.now, message);
}

static bool talk(struct perf_fixture *fixture)
{
	struct mad_message messages[64];
	unsigned count = perf_manager_transmit(&fixture->manager, fixture->sa.now, 64, messages);
	bool is_busy = count > 0;

	if (fixture->manager.transactions.busy_count > fixture->under_way_max)
		fixture->under_way_max = fixture->manager.transactions.busy_count;
	for (unsigned i = 0; i < count; i++) {
		if (messages[i].bytes[MAD_CLASS_OFFSET] == MAD_CLASS_PERFORMANCE) {
			answer(fixture, &messages[i]);
		} else if (!fixture->sa_is_silent) {
			messages[i].address.lid = fixture_lid(&fixture->sa, MANAGER_HOST);
			sa_receive(fixture->sa.sa, fixture->sa.now, &messages[i]);
		}
	}
	while (fixture_next_message(&fixture->sa, &messages[0])) {
		messages[0].address.lid = 1;
		perf_manager_receive(&fixture->manager, fixture->sa.now, &messages[0]);
		is_busy = true;
	}
	return is_busy;
}

void perf_fixture_run(struct perf_fixture *fixture)
{
	for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
		if (talk(fixture))
			continue;
		if (perf_manager_is_idle(&fixture->manager))
			return;

		time_ns deadline = perf_manager_deadline(&fixture->manager);

		assert_true(deadline != TIME_NEVER);
		if (deadline > fixture->sa.now)
			fixture->sa.now = deadline;
	}
	fail_msg("the sweep does not end");
}

void perf_fixture_sweep(struct perf_fixture *fixture)
{
	uint64_t number = perf_manager_next_sweep(&fixture->manager);

	perf_manager_ask_sweep(&fixture->manager);
	perf_fixture_run(fixture);
	assert_int_equal(fixture->manager.last.number, number);
}

void perf_fixture_pass_time(struct perf_fixture *fixture, time_ns duration)
{
	fixture->sa.now += duration;
}

struct perf_port *perf_fixture_port(struct perf_fixture *fixture, uint16_t lid, uint8_t number)
{
	struct perf_nodes *nodes = &fixture->manager.nodes;

	for (uint32_t i = 0; i < nodes->port_count; i++)
		if (nodes->ports[i].lid == lid && nodes->ports[i].number == number)
			return &nodes->ports[i];
	fail_msg("the manager does not know port %u of LID %u", number, lid);
	return NULL;
}

bool perf_fixture_has_event(const struct perf_fixture *fixture, enum perf_event_kind kind,
			    const char *port)
{
	const struct perf_event *event;

	for (unsigned i = 0; (event = perf_events_at(&fixture->manager.events, i)) != NULL; i++)
		if (event->kind == kind && strncmp(event->port, port, strlen(port)) == 0)
			return true;
	return false;
}
