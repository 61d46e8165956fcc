/* SPDX-License-Identifier: Apache-2.0 */
/* M_Keys of a manager: a key per port (C14-62.1.1.12), protection levels (C14-62.1.1.13), leases
 * and their renewal, reports of violations (management 2.3, 3.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "fake_fabric.h"
#include "mgmt/mad/smp_request.h"
#include "mgmt/sm/mkeys.h"
#include "net/link/link.h"
#include "wire/smp.h"

enum { RING = 4, LEASE_SECONDS = 30 };

static struct fake_fabric fabric;
static struct node *switches[RING], *hosts[RING];

static const struct sm_options with_secret = {.has_mkey_secret = true,
					      .mkey_secret = "fifteen letters"};

static int setup(void **state)
{
	(void)state;
	fake_init(&fabric);
	fake_add_ring(&fabric, RING, 5, switches, hosts);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_release(&fabric);
	return 0;
}

static void expect_up(void)
{
	struct sm_status status;

	sm_status(fabric.sm, &status);
	assert_true(status.subnet_is_up);
	fake_assert_all_active(&fabric);
	fake_assert_all_reachable(&fabric);
}

static void start(const struct sm_options *options)
{
	fake_start_sm(&fabric, hosts[0], options);
	fake_run_for(&fabric, MILLISECONDS(10));
	expect_up();
}

static struct port *end_port(struct node *node)
{
	return &node->ports[node_is_switch(node) ? 0 : 1];
}

/* A Get or Set(PortInfo) of another sender with this key. Returns whether it was answered. */
static bool ask_as_stranger(struct port *port, enum mad_method method, uint64_t mkey,
			    struct port_info *ret_info)
{
	const struct smp_request request = {
		.method = method, .attribute_id = ATTRIBUTE_PORT_INFO, .mkey = mkey};
	const struct directed_route route = {0};
	struct mad_message message, answer;

	smp_request_make(&request, &route, &message);
	port_info_encode(&port->info, smp_data(message.bytes));
	/* LID routed, from host 2. */
	message.bytes[1] = MAD_CLASS_SUBNET_LID;
	message.address.lid = hosts[2]->ports[1].info.lid;
	if (sma_receive(&fabric.environment, port->node, port->number, fabric.now, &message,
			&answer) != AGENT_ANSWERED)
		return false;
	port_info_decode(smp_data(answer.bytes), ret_info);
	return true;
}

static void test_every_port_has_a_key_of_its_own(void **state)
{
	(void)state;
	start(&with_secret);
	for (unsigned i = 0; i < fabric.node_count; i++) {
		uint64_t mkey = end_port(fabric.nodes[i])->info.mkey;

		assert_int_not_equal(mkey, 0);
		assert_int_equal(mkey, mkey_of(fabric.sm, end_port(fabric.nodes[i])->guid));
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(end_port(fabric.nodes[k])->info.mkey, mkey);
	}
}

static void test_keys_come_from_the_secret_alone(void **state)
{
	struct sm_options other = with_secret;
	uint64_t key;

	(void)state;
	start(&with_secret);
	key = end_port(hosts[3])->info.mkey;
	sm_destroy(fabric.sm);
	fake_start_sm(&fabric, hosts[1], &with_secret);
	assert_int_equal(mkey_of(fabric.sm, end_port(hosts[3])->guid), key);
	assert_int_not_equal(sm_key(fabric.sm), key);
	sm_destroy(fabric.sm);
	other.mkey_secret[0] ^= 1;
	fake_start_sm(&fabric, hosts[1], &other);
	assert_int_not_equal(mkey_of(fabric.sm, end_port(hosts[3])->guid), key);
}

/* Level 0 shows the key, level 1 hides it, levels 2 and 3 answer only requests with the key. No
 * level lets a foreign sender write. The manager works at each level, through sweeps of everything.
 */
static void test_manager_works_at_every_protection_level(void **state)
{
	(void)state;
	for (uint8_t level = 0; level <= 3; level++) {
		struct sm_options options = with_secret;
		struct port *port = end_port(hosts[3]);
		struct port_info info = {0};

		if (level) {
			teardown(NULL);
			setup(NULL);
			port = end_port(hosts[3]);
		}
		options.mkey_protect_bits = level;
		start(&options);
		assert_int_equal(port->info.mkey_protect_bits, level);
		assert_int_equal(end_port(switches[1])->info.mkey_protect_bits, level);
		assert_int_equal(ask_as_stranger(port, MAD_GET, 7, &info), level < 2);
		assert_int_equal(info.mkey, level == 0 ? port->info.mkey : 0);
		assert_false(ask_as_stranger(port, MAD_SET, 7, &info));
		assert_true(ask_as_stranger(port, MAD_GET, port->info.mkey, &info));
		sm_request_sweep(fabric.sm, fabric.now);
		fake_run_for(&fabric, SECONDS(2));
		expect_up();
		fake_cut(&fabric, &switches[1]->ports[2]);
		fake_run_for(&fabric, SECONDS(4));
		fake_mend(&fabric, &switches[1]->ports[2]);
		fake_run_for(&fabric, SECONDS(4));
		expect_up();
	}
}

/* Each port of an adapter accepts its own key only, and is reached by its own link. */
static void test_both_ports_of_an_adapter_are_managed(void **state)
{
	struct node *pair = fake_add(&fabric, NODE_CA, 2, FAKE_CA_GUID + 0x800);
	struct sm_options options = with_secret;

	(void)state;
	options.mkey_protect_bits = 2;
	fake_connect(switches[0], 4, pair, 1);
	fake_connect(switches[1], 4, pair, 2);
	start(&options);
	assert_int_not_equal(pair->ports[1].info.mkey, pair->ports[2].info.mkey);
	assert_int_equal(pair->ports[2].info.mkey, mkey_of(fabric.sm, pair->ports[2].guid));
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run_for(&fabric, SECONDS(2));
	expect_up();
	assert_int_equal(pair->ports[1].info.mkey_violations, 0);
	assert_int_equal(pair->ports[2].info.mkey_violations, 0);
}

/* At level 2 a host answers only requests with its key. The manager finds the key although the host
 * is on another port now. */
static void test_guarded_host_on_another_port_is_found(void **state)
{
	struct sm_options options = with_secret;
	struct port *host = end_port(hosts[3]);
	uint16_t lid;

	(void)state;
	options.mkey_protect_bits = 2;
	options.sweep_interval = SECONDS(1);
	start(&options);
	lid = host->info.lid;
	fake_cut(&fabric, host);
	fake_run_for(&fabric, SECONDS(2));
	switches[3]->ports[3].peer = NULL;
	host->peer = &switches[0]->ports[5];
	switches[0]->ports[5].peer = host;
	fake_mend(&fabric, host);
	fake_run_for(&fabric, SECONDS(20));
	expect_up();
	assert_int_equal(host->info.lid, lid);
}

/* A new manager that has the file of neighbors; and one without it, which waits for the leases. */
static void test_new_manager_finds_guarded_nodes_by_what_it_was_told(void **state)
{
	struct sm_options options = with_secret;
	char *neighbors;

	(void)state;
	options.mkey_protect_bits = 3;
	options.mkey_lease_period = LEASE_SECONDS;
	options.sweep_interval = SECONDS(1);
	start(&options);
	neighbors = sm_neighbors_text(fabric.sm);
	assert_non_null(neighbors);
	assert_null(sm_neighbors_text(fabric.sm));
	sm_destroy(fabric.sm);
	fake_start_sm(&fabric, hosts[0], &options);
	assert_int_equal(sm_neighbors_remember(fabric.sm, neighbors), 0);
	fake_run_for(&fabric, MILLISECONDS(10));
	expect_up();
	assert_int_equal(end_port(switches[2])->info.mkey_violations, 0);
	free(neighbors);
	sm_destroy(fabric.sm);
	fake_start_sm(&fabric, hosts[0], &options);
	fake_run_for(&fabric, SECONDS(5));
	assert_int_not_equal(end_port(switches[0])->info.mkey_violations, 0);
	/* One hop further with each lease. */
	fake_run_for(&fabric, SECONDS(5 * LEASE_SECONDS));
	expect_up();
}

static uint64_t wrong_key_sets(struct port *port, unsigned count)
{
	struct port_info info;

	for (unsigned i = 0; i < count; i++)
		assert_false(ask_as_stranger(port, MAD_SET, 7, &info));
	return port->info.mkey_violations;
}

/* Every third of the period, although nothing else makes this manager sweep. Traps are lost here,
 * so no TrapRepress carries the key. */
static void test_sweeps_renew_leases(void **state)
{
	struct sm_options options = with_secret;

	(void)state;
	options.mkey_lease_period = LEASE_SECONDS;
	options.mkey_protect_bits = 1;
	start(&options);
	hosts[3]->ports[1].info.capability_mask &= ~(uint32_t)CAPABILITY_TRAP;
	switches[3]->ports[0].info.capability_mask &= ~(uint32_t)CAPABILITY_TRAP;
	for (unsigned i = 0; i < 20; i++) {
		wrong_key_sets(end_port(hosts[3]), 1);
		wrong_key_sets(end_port(switches[3]), 1);
		fake_run_for(&fabric, SECONDS(LEASE_SECONDS) / 2);
		assert_int_equal(end_port(hosts[3])->info.mkey_protect_bits, 1);
		assert_int_equal(end_port(switches[3])->info.mkey_protect_bits, 1);
	}
}

static void test_protection_is_restored_after_a_lease_ran_out(void **state)
{
	struct sm_options options = with_secret;

	(void)state;
	options.mkey_lease_period = LEASE_SECONDS;
	options.mkey_protect_bits = 1;
	start(&options);
	hosts[3]->ports[1].info.capability_mask &= ~(uint32_t)CAPABILITY_TRAP;
	fabric.silent = hosts[3];
	wrong_key_sets(end_port(hosts[3]), 1);
	fake_run_for(&fabric, SECONDS(LEASE_SECONDS + 1));
	assert_int_equal(end_port(hosts[3])->info.mkey_protect_bits, 0);
	fabric.silent = NULL;
	fake_run_for(&fabric, SECONDS(LEASE_SECONDS));
	assert_int_equal(end_port(hosts[3])->info.mkey_protect_bits, 1);
	expect_up();
}

static unsigned refusal_line_count;
static char last_line[256];

static void count_refusals(void *context, enum sm_event event, const char *line)
{
	(void)context;
	if (event != SM_EVENT_WARNING || !strstr(line, "wrong M_Key"))
		return;
	refusal_line_count++;
	snprintf(last_line, sizeof(last_line), "%s", line);
}

/* Trap 256: one log line per port and minute names sender and request; all violations are counted.
 * The TrapRepress has the port's own key, so the trap is not repeated. */
static void test_strangers_requests_are_reported(void **state)
{
	struct sm_options options = with_secret;
	struct sm_status status;
	uint64_t trap_count;

	(void)state;
	options.mkey_protect_bits = 1;
	options.owner.log = count_refusals;
	refusal_line_count = 0;
	start(&options);
	for (unsigned i = 0; i < 5; i++) {
		wrong_key_sets(end_port(hosts[3]), 1);
		fake_run_for(&fabric, SECONDS(2));
	}
	sm_status(fabric.sm, &status);
	assert_true(status.has_mkeys && status.has_mkey_per_port);
	assert_int_equal(status.mkey_refusal_count, 5);
	assert_int_equal(status.mkey_refusal_source, end_port(hosts[2])->guid);
	assert_int_equal(refusal_line_count, 1);
	assert_non_null(strstr(last_line, hosts[2]->description));
	assert_non_null(strstr(last_line, "Set of attribute 0x0015"));
	trap_count = fabric.trap_count;
	fake_run_for(&fabric, SECONDS(60));
	assert_int_equal(fabric.trap_count, trap_count);
	wrong_key_sets(end_port(hosts[3]), 1);
	fake_run_for(&fabric, SECONDS(2));
	assert_int_equal(refusal_line_count, 2);
}

static void test_protection_without_a_key_is_none(void **state)
{
	const struct sm_options options = {.mkey_protect_bits = 3, .mkey_lease_period = 9};
	const struct sm_options too_much = {.mkey = 1, .mkey_protect_bits = 4};
	struct sm *sm;

	(void)state;
	start(&options);
	assert_int_equal(end_port(hosts[3])->info.mkey_protect_bits, 0);
	assert_int_equal(end_port(hosts[3])->info.mkey_lease_period, 0);
	assert_true(sm_create(&too_much, &sm) < 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_port_has_a_key_of_its_own),
		TEST(test_keys_come_from_the_secret_alone),
		TEST(test_manager_works_at_every_protection_level),
		TEST(test_both_ports_of_an_adapter_are_managed),
		TEST(test_guarded_host_on_another_port_is_found),
		TEST(test_new_manager_finds_guarded_nodes_by_what_it_was_told),
		TEST(test_sweeps_renew_leases),
		TEST(test_protection_is_restored_after_a_lease_ran_out),
		TEST(test_strangers_requests_are_reported),
		TEST(test_protection_without_a_key_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
