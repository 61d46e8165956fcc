/* SPDX-License-Identifier: Apache-2.0 */
/* Hundreds of random fabrics, random failures and several managers, from seeds. At the end there is
 * one master, everything that is connected is Active, every pair of adapters exchanges packets, and
 * there is no credit loop. SOFTIB_SEEDS=N runs N seeds; SOFTIB_SEED=N only that one. */
#include "manager_proofs.h"

static struct rig rig;

static unsigned number_from(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* Removes and restores links while time goes on. */
static void shake(unsigned round_count)
{
	for (unsigned round = 0; round < round_count; round++) {
		struct node *node =
			rig.fabric.by_index[random_below(&rig.random, rig.fabric.node_count)];
		struct port *port = &node->ports[1 + random_below(&rig.random, node->port_count)];

		rig_run(&rig, rig.now + MILLISECONDS(random_below(&rig.random, 900)));
		if (port->peer)
			fabric_set_cable(&rig.fabric, port, port->cable_is_down, rig.now);
	}
}

/* Links that lose, corrupt, delay or repeat MADs for a while. */
static void make_some_links_bad(void)
{
	for (uint32_t i = 0; i < rig.fabric.node_count; i++) {
		struct port *port = &rig.fabric.by_index[i]->ports[1];
		struct fault_settings settings = {.includes_mads = true};

		if (!port->peer || random_below(&rig.random, 4))
			continue;
		switch (random_below(&rig.random, 3)) {
		case 0:
			settings.drop = FAULT_CERTAIN / 10 * (uint32_t)random_below(&rig.random, 6);
			break;
		case 1:
			settings.duplicate = FAULT_CERTAIN / 2;
			break;
		default:
			settings.delay = MILLISECONDS(random_below(&rig.random, 100));
		}
		assert_int_equal(faults_set(&rig.fabric, port, &settings, rig.seed, rig.now), 0);
	}
}

static void make_all_links_good(void)
{
	const struct fault_settings none = {0};

	for (uint32_t i = 0; i < rig.fabric.node_count; i++) {
		struct node *node = rig.fabric.by_index[i];

		for (unsigned k = 1; k <= node->port_count; k++) {
			struct port *port = &node->ports[k];

			if (!port->peer)
				continue;
			if (port->faults)
				assert_int_equal(
					faults_set(&rig.fabric, port, &none, rig.seed, rig.now), 0);
			if (port->cable_is_down)
				fabric_set_cable(&rig.fabric, port, true, rig.now);
		}
	}
}

/* Logs only when one seed runs alone. */
static void told_line(void *context, enum sm_event event, const char *line)
{
	(void)event;
	if (getenv("SOFTIB_SEED"))
		printf("%8.3f s: manager %u: %s\n", (double)rig.now / 1e9,
		       *(const unsigned *)context, line);
}

static void start_managers(unsigned host_count)
{
	static const char *const engines[] = {"minhop", "updn", "lash",	  "dnup", "ftree",
					      "sssp",	"nue",	"dfsssp", "updn", "random"};
	struct sm_options options = {.sweep_interval = SECONDS(1),
				     .poll_interval = MILLISECONDS(500),
				     .routing_engine = engines[rig.seed % ARRAY_COUNT(engines)]};
	static const unsigned numbers[] = {1, 2, 3, 4};
	unsigned manager_count = 1 + (unsigned)random_below(&rig.random, 4);

	options.owner.log = told_line;
	for (unsigned i = 0; i < manager_count && i < host_count; i++) {
		struct node *host = rig.fabric.by_index[rig.fabric.node_count - 1 - i];

		options.priority = (uint8_t)random_below(&rig.random, 3);
		options.owner.context = (void *)(uintptr_t)&numbers[i];
		if (host->ports[1].peer)
			rig_start(&rig, host, &options);
		rig_run(&rig, rig.now + MILLISECONDS(random_below(&rig.random, 2000)));
	}
}

static void prove(void)
{
	rig_check(&rig);
	rig_exchange(&rig);
	if (rig_is_promised_no_loops(&rig))
		rig_check_credit_loops(&rig, 8);
}

static void run_seed(uint64_t seed)
{
	unsigned host_count;

	rig_init(&rig, seed);
	host_count = 3 + (unsigned)random_below(&rig.random, 10);
	rig_build_random(&rig, 1 + (unsigned)random_below(&rig.random, 9), host_count);
	start_managers(host_count);
	if (random_below(&rig.random, 3) == 0)
		make_some_links_bad();
	shake((unsigned)random_below(&rig.random, 20));
	if (rig.manager_count > 1 && random_below(&rig.random, 2))
		rig_kill(&rig.managers[random_below(&rig.random, rig.manager_count)]);
	if (!rig.fabric.faults.link_count) {
		rig_run(&rig, rig.now + SECONDS(60));
		prove();
	}
	make_all_links_good();
	rig_run(&rig, rig.now + SECONDS(90));
	prove();
	rig_release(&rig);
}

static void test_random_fabrics_settle_for_every_seed(void **state)
{
	unsigned only = number_from("SOFTIB_SEED", 0);
	unsigned last = only ? only : number_from("SOFTIB_SEEDS", 300);

	(void)state;
	for (uint64_t seed = only ? only : 1; seed <= last; seed++)
		run_seed(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_fabrics_settle_for_every_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
