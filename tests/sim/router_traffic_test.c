/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable connections and datagrams between hosts of two subnets by a router, also when links lose
 * packets (transport 8.12). Tables are written by hand: the managers of two subnets are tested
 * elsewhere. */
#include "fabric_flow.h"

#include "fabric/routers.h"
#include "fabric/topology/subnets.h"

static void configure(struct sim *sim)
{
	unsigned subnet = 0;

	for (uint32_t index = 0; index < sim->fabric.node_count; index++) {
		struct node *node = sim->fabric.by_index[index];

		if (!node_is_switch(node))
			continue;
		node->switch_info.linear_fdb_top = 100;
		for (unsigned number = 1; number <= node->port_count; number++) {
			struct port *port = node->ports[number].peer;

			node->lft[number] = (uint8_t)number;
			node->ports[number].info.port_state = PORT_ACTIVE;
			port->info.port_state = PORT_ACTIVE;
			port->info.lid = (uint16_t)number;
			port->info.gid_prefix = SUBNET_PREFIX(subnet);
			if (node_is_adapter(port->node))
				sim->fabric.owner.port_changed(sim->fabric.owner.context, port);
		}
		subnet++;
	}
	routers_note_change(&sim->fabric);
}

static void routed_up(struct sim *sim, uint64_t seed)
{
	struct topology_error error;

	assert_int_equal(sim_init(sim, "routed:2x2", seed, &error), 0);
	configure(sim);
}

static struct address_vector address_of(const struct flow_end *peer, bool uses_router_lid)
{
	const struct port *port = &peer->host->node->ports[1];

	return (struct address_vector){
		.dlid = uses_router_lid ? 3 : port->info.lid,
		.port_number = 1,
		.is_global = true,
		.hop_limit = uses_router_lid ? 64 : 1,
		.dgid = gid_from(port->info.gid_prefix, port->guid),
	};
}

static void routed_flow(struct flow *flow, struct sim *sim, const char *from, const char *to,
			bool uses_router_lid, uint64_t seed)
{
	memset(flow, 0, sizeof(*flow));
	flow->sim = sim;
	flow->seed = seed;
	flow_end_init(&flow->from, sim_find_host(sim, from));
	flow_end_init(&flow->to, sim_find_host(sim, to));
	flow_end_connect_by(&flow->from, &flow->to, address_of(&flow->to, uses_router_lid), 0);
	flow_end_connect_by(&flow->to, &flow->from, address_of(&flow->from, uses_router_lid), 0);
}

static void test_connection_crosses_a_router(void **state)
{
	(void)state;
	/* With the router's LID from a path record, and with the peer's own LID. */
	for (unsigned uses_router_lid = 0; uses_router_lid < 2; uses_router_lid++) {
		struct sim sim;
		struct flow flow;

		routed_up(&sim, 1);
		routed_flow(&flow, &sim, "h1", "h4", uses_router_lid, 1);
		for (unsigned i = 0; i < 20; i++)
			flow_post(&flow);
		sim_settle(&sim);
		flow_check(&flow);
		assert_int_equal(flow.received, 20);
		assert_int_equal(flow.sent, 20);
		assert_true(fabric_is_idle(&sim.fabric));
		flow_release(&flow);
		sim_release(&sim);
	}
}

static void test_connection_across_a_router_survives_faults(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct sim sim;
		struct flow flow;

		routed_up(&sim, seed);
		routed_flow(&flow, &sim, "h2", "h3", true, seed);
		const struct sim_faults faults = {
			.drop = 10, .corrupt = 10, .duplicate = 20, .reorder = 20};

		assert_int_equal(sim_set_faults(&sim, &faults), 0);
		for (unsigned i = 0; i < 40; i++)
			flow_post(&flow);
		sim_run_until(&sim, sim.now + SECONDS(60));
		flow_check(&flow);
		if (flow.received != 40 || flow.sent != 40)
			fail_msg("seed %llu: received %u, sent %u", (unsigned long long)seed,
				 flow.received, flow.sent);
		flow_release(&flow);
		sim_release(&sim);
	}
}

/* The credits of both subnets' links are whole afterwards. */
static void test_router_gives_credits_back(void **state)
{
	struct sim sim;
	struct flow flow;
	char violation[VIOLATION_BYTES];

	(void)state;
	routed_up(&sim, 7);
	routed_flow(&flow, &sim, "h1", "h3", true, 7);
	for (unsigned i = 0; i < FLOW_MESSAGES_MAX; i++)
		flow_post(&flow);
	sim_settle(&sim);
	flow_check(&flow);
	assert_int_equal(flow.received, FLOW_MESSAGES_MAX);
	if (!check_credits(&sim.fabric, violation))
		fail_msg("%s", violation);
	flow_release(&flow);
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connection_crosses_a_router),
		cmocka_unit_test(test_connection_across_a_router_survives_faults),
		cmocka_unit_test(test_router_gives_credits_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
