/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance manager on a whole fabric: real agents, a real SA, links that lose and duplicate
 * packets, agents that lie, redirect or vanish in the middle of a sweep, counters that others clear
 * or that stick; several seeds. The counters inside the fabric are the oracle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "mgmt/agents/redirects.h"
#include "mgmt/perf/perf_manager.h"
#include "sa_rig.h"
#include "wire/class_port_info.h"
#include "wire/performance.h"
#include "wire/pkey.h"

enum { SEEDS = 8, PERF_AGENT = 500, BATCH = 16, MANAGER_HOST = 1, SWEEP_SECONDS_MAX = 120 };

static struct sa_rig rig;
static struct perf_manager manager;
static struct sim_programs sa_programs; /* of the rig, which come after ours */

/* What happens in this run. */
static struct story {
	uint16_t basic_lid; /* its ClassPortInfo says that it has PortCounters only */
	uint16_t liar_lid;  /* answers for another port */
	uint16_t busy_lid;  /* every second answer is Busy */
	unsigned answer_count;
	unsigned cut_after; /* requests, until a cable is pulled; 0: never */
	struct port *cut_cable;
} story;

static struct port *own_port(void)
{
	return sa_rig_port(&rig, MANAGER_HOST);
}

/* The network between agent and manager, if it were hostile. */
static void distort(struct mad_message *message)
{
	uint8_t *data = message->bytes + PERFORMANCE_DATA_OFFSET;
	uint16_t attribute_id = get_be16(message->bytes + 16);
	struct class_port_info info;

	if (message->bytes[MAD_CLASS_OFFSET] != MAD_CLASS_PERFORMANCE)
		return;
	if (message->address.lid == story.basic_lid && attribute_id == ATTRIBUTE_CLASS_PORT_INFO) {
		class_port_info_decode(data, &info);
		info.capability_mask = 0;
		info.capability_mask2 = 0;
		class_port_info_encode(&info, data);
	}
	if (message->address.lid == story.liar_lid &&
	    attribute_id == ATTRIBUTE_PORT_COUNTERS_EXTENDED)
		data[1]++;
	if (message->address.lid == story.busy_lid && story.answer_count++ % 2)
		put_be16(message->bytes + MAD_STATUS_OFFSET, MAD_STATUS_BUSY);
}

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	struct mad_message message;

	if (port == own_port() && sa_rig_decode(frame, &message) &&
	    get_be32(message.bytes + MAD_TRANSACTION_ID_OFFSET) == PERF_AGENT &&
	    (message.bytes[MAD_METHOD_OFFSET] & MAD_RESPONSE)) {
		distort(&message);
		perf_manager_receive(&manager, rig.sim.now, &message);
		return true;
	}
	return sa_programs.receive(context, port, frame);
}

static void run(void *context, time_ns now)
{
	struct mad_message messages[BATCH];
	unsigned count = perf_manager_transmit(&manager, now, BATCH, messages);

	for (unsigned i = 0; i < count; i++) {
		sa_rig_send(&rig, own_port(), &messages[i]);
		if (story.cut_after && --story.cut_after == 0)
			fabric_set_cable(&rig.sim.fabric, story.cut_cable, false, now);
	}
	sa_programs.run(context, now);
}

static time_ns deadline(const void *context)
{
	return time_earlier(perf_manager_deadline(&manager), sa_programs.deadline(context));
}

static void begin(uint64_t seed, const struct sim_faults *faults)
{
	static const struct sa_rig_programs no_programs = {0};
	const struct perf_options options = {.agent_number = PERF_AGENT,
					     .sa_agent_number = PERF_AGENT,
					     .timeout = MILLISECONDS(100),
					     .tries = 20,
					     .thresholds = perf_thresholds_default};

	printf("seed %llu\n", (unsigned long long)seed);
	story = (struct story){0};
	sa_rig_begin(&rig, seed, 0, &no_programs);
	assert_int_equal(perf_manager_init(&manager, &options), 0);
	perf_manager_set_port(&manager,
			      &(struct perf_own_port){.sm_lid = own_port()->info.master_sm_lid,
						      .pkey = PKEY_DEFAULT_FULL,
						      .gid = gid_from(own_port()->info.gid_prefix,
								      own_port()->guid)});
	sa_programs = rig.sim.programs;
	rig.sim.programs.receive = receive;
	rig.sim.programs.run = run;
	rig.sim.programs.deadline = deadline;
	assert_int_equal(sim_set_faults(&rig.sim, faults), 0);
}

static void end(void)
{
	rig.sim.programs = sa_programs;
	perf_manager_release(&manager);
	sa_rig_end(&rig);
}

static void sweep(void)
{
	perf_manager_ask_sweep(&manager);
	for (unsigned second = 0; second < SWEEP_SECONDS_MAX && !perf_manager_is_idle(&manager);
	     second++)
		sa_rig_run_for(&rig, SECONDS(1));
	assert_true(perf_manager_is_idle(&manager));
}

/* The port of the fabric that the manager's port stands for. */
static struct port *true_port(const struct perf_port *port)
{
	struct fabric *fabric = &rig.sim.fabric;

	for (uint32_t i = 0; i < fabric->node_count; i++)
		if (fabric->by_index[i]->info.node_guid == port->node->guid)
			return &fabric->by_index[i]->ports[port->number];
	fail_msg("the manager has made up a node");
	return NULL;
}

static void expect_all_ports(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rig.sim.fabric.node_count; i++)
		count += rig.sim.fabric.by_index[i]->port_count;
	assert_int_equal(manager.nodes.port_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct perf_port *port = &manager.nodes.ports[i];

		assert_non_null(port->peer);
		assert_ptr_equal(true_port(port)->peer, true_port(port->peer));
	}
}

/* Whatever is lost or comes twice, each error is counted exactly once. */
static void run_losses(uint64_t seed)
{
	struct random random = random_seeded(seed);
	static uint64_t grown[4096];

	memset(grown, 0, sizeof(grown));
	begin(seed, &(struct sim_faults){.drop = 20, .duplicate = 50, .reorder = 20});
	sweep();
	expect_all_ports();
	for (unsigned round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < manager.nodes.port_count; i++) {
			uint64_t errors = random_below(&random, 5);

			true_port(&manager.nodes.ports[i])->counters.symbol_errors += errors;
			grown[i] += errors;
		}
		sweep();
		assert_int_equal(manager.last.failed_count, 0);
		assert_int_equal(manager.last.read_count, manager.nodes.port_count);
	}
	for (uint32_t i = 0; i < manager.nodes.port_count; i++)
		assert_int_equal(manager.nodes.ports[i].history.increments[PERF_SYMBOL_ERROR],
				 grown[i]);
	end();
}

static void test_losses_and_duplicates_change_no_figure(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_losses(seed);
}

static struct perf_port *port_of_host(unsigned host)
{
	for (uint32_t i = 0; i < manager.nodes.port_count; i++)
		if (true_port(&manager.nodes.ports[i]) == sa_rig_port(&rig, host))
			return &manager.nodes.ports[i];
	fail_msg("the manager does not know host %u", host);
	return NULL;
}

static void test_liars_and_busy_agents_hurt_only_themselves(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, &(struct sim_faults){.drop = 20});
		story.liar_lid = sa_rig_port(&rig, 5)->info.lid;
		story.busy_lid = sa_rig_port(&rig, 6)->info.lid;
		sweep();
		assert_int_equal(port_of_host(5)->history.reading_count, 0);
		assert_int_equal(port_of_host(6)->history.reading_count, 1);
		assert_int_equal(manager.last.failed_count, 1);
		story.liar_lid = 0;
		sweep();
		assert_int_equal(port_of_host(5)->history.reading_count, 1);
		end();
	}
}

static void test_jumps_are_not_believed(void **state)
{
	(void)state;
	begin(1, &(struct sim_faults){0});
	sweep();
	sa_rig_port(&rig, 3)->counters.symbol_errors = UINT64_MAX - 5;
	sweep();
	assert_int_equal(port_of_host(3)->history.new_errors, 0);
	assert_int_equal(port_of_host(3)->history.jump_count, 1);
	end();
}

static void test_counters_that_others_clear_go_on(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, &(struct sim_faults){.drop = 20, .duplicate = 50});

		struct link_counters *counters = &sa_rig_port(&rig, 3)->counters;

		counters->symbol_errors = 1000;
		sweep();
		counters->symbol_errors = 7;
		sweep();
		assert_int_equal(port_of_host(3)->history.new_errors, 7);
		assert_int_equal(port_of_host(3)->history.clear_count, 1);
		assert_true(port_of_host(3)->history.lower_bounds >> PERF_SYMBOL_ERROR & 1);
		end();
	}
}

static void test_saturated_counters_are_cleared_and_counted_on(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, &(struct sim_faults){.drop = 20, .duplicate = 50});

		struct link_counters *counters = &sa_rig_port(&rig, 4)->counters;

		story.basic_lid = sa_rig_port(&rig, 4)->info.lid;
		sweep();
		counters->symbol_errors += 70000; /* PortCounters ends at 65,535 */
		sweep();
		assert_int_equal(port_of_host(4)->history.new_errors, 65535);
		assert_true(port_of_host(4)->history.lower_bounds >> PERF_SYMBOL_ERROR & 1);
		assert_int_equal(counters->symbol_errors, 0);
		counters->symbol_errors += 12;
		sweep();
		assert_int_equal(port_of_host(4)->history.new_errors, 65535 + 12);
		assert_int_equal(port_of_host(4)->history.clear_count, 0);
		end();
	}
}

static void test_a_node_that_vanishes_mid_sweep_is_forgotten(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, &(struct sim_faults){.drop = 10});
		sweep();

		uint32_t ports = manager.nodes.port_count;

		story.cut_cable = sa_rig_port(&rig, 7);
		story.cut_after = 1 + (unsigned)(seed * 5);
		sweep();
		/* It had answered before, or it fails alone. */
		assert_true(manager.last.failed_count <= 1);
		sa_rig_run_for(&rig, SECONDS(10)); /* The subnet manager drops it. */
		sweep();
		sweep();
		assert_int_equal(manager.last.failed_count, 0);
		assert_int_equal(manager.nodes.port_count, ports - 1);
		end();
	}
}

static void test_redirected_agents_are_followed_under_loss(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, &(struct sim_faults){.drop = 20, .duplicate = 50});

		const struct redirect redirect = {
			.port = sa_rig_port(&rig, 3),
			.management_class = MAD_CLASS_PERFORMANCE,
			.place = {.redirect_lid = sa_rig_port(&rig, 4)->info.lid,
				  .redirect_qpn = QPN_GSI,
				  .redirect_qkey = QKEY_GSI,
				  .redirect_pkey = PKEY_DEFAULT_FULL},
		};

		assert_int_equal(redirect_set(rig.sim.fabric.agents.memory, &redirect), 0);
		sa_rig_port(&rig, 4)->counters.symbol_errors = 44;
		sweep();
		assert_int_equal(manager.last.failed_count, 0);
		assert_int_equal(port_of_host(3)->history.errors, 44);
		end();
	}
}

static void test_clear_reaches_every_port(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, &(struct sim_faults){.drop = 20, .duplicate = 50});
		sweep();
		for (uint32_t i = 0; i < manager.nodes.port_count; i++)
			true_port(&manager.nodes.ports[i])->counters.symbol_errors = 9;
		perf_manager_ask_clear(&manager);
		sweep();
		for (uint32_t i = 0; i < manager.nodes.port_count; i++)
			assert_int_equal(true_port(&manager.nodes.ports[i])->counters.symbol_errors,
					 0);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_and_duplicates_change_no_figure),
		cmocka_unit_test(test_liars_and_busy_agents_hurt_only_themselves),
		cmocka_unit_test(test_jumps_are_not_believed),
		cmocka_unit_test(test_counters_that_others_clear_go_on),
		cmocka_unit_test(test_saturated_counters_are_cleared_and_counted_on),
		cmocka_unit_test(test_a_node_that_vanishes_mid_sweep_is_forgotten),
		cmocka_unit_test(test_redirected_agents_are_followed_under_loss),
		cmocka_unit_test(test_clear_reaches_every_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
