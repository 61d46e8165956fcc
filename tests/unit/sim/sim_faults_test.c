/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on all links of a simulated fabric: of every kind, and the same faults from the same
 * seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric/link_faults.h"
#include "sim/sim.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* Sends this many packets from each host to the next, to a queue pair that does not exist. */
static void send_packets(struct sim *sim, unsigned count)
{
	static uint8_t payload[16];

	for (unsigned i = 0; i < count; i++) {
		struct port *from = &sim->hosts[i % sim->host_count].node->ports[1];
		struct port *to = &sim->hosts[(i + 1) % sim->host_count].node->ports[1];
		struct frame *frame = frame_take(&sim->fabric.frames);
		struct packet packet = {
			.lrh = {.dlid = to->info.lid, .slid = from->info.lid},
			.bth = {.opcode = TRANSPORT_UC | OPCODE_SEND_ONLY,
				.pkey = PKEY_DEFAULT_FULL},
			.packet_count = 1,
		};

		assert_non_null(frame);
		packet_set_payload(&packet, payload, sizeof(payload));
		frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
		assert_true(fabric_inject(&sim->fabric, from, frame, sim->now));
		sim_run_until(sim, sim->now + MICROSECONDS(1));
	}
	sim_run_until(sim, sim->now + MILLISECONDS(1));
}

static uint64_t run(const struct sim_faults *faults, uint64_t seed, struct fault_counts *ret_first)
{
	struct sim sim;
	struct topology_error error;
	uint64_t count;

	assert_int_equal(sim_init(&sim, "star:4", seed, &error), 0);
	assert_int_equal(sim_start_sm(&sim, &sim.hosts[0], 0, 0), 0);
	assert_true(sim_bring_up(&sim, SECONDS(10)));
	assert_int_equal(sim_set_faults(&sim, faults), 0);
	assert_int_equal(sim.fabric.faults.link_count, 8);
	send_packets(&sim, 400);
	count = sim_fault_count(&sim);
	*ret_first = sim.hosts[0].node->ports[1].faults->counts;
	assert_true(fabric_is_idle(&sim.fabric));
	sim_release(&sim);
	return count;
}

static void test_each_kind_happens_and_no_other(void **state)
{
	struct fault_counts counts;

	(void)state;
	assert_int_not_equal(run(&(struct sim_faults){.drop = 300}, 1, &counts), 0);
	assert_true(counts.dropped && !counts.corrupted && !counts.duplicated && !counts.reordered);
	assert_int_not_equal(run(&(struct sim_faults){.corrupt = 30}, 1, &counts), 0);
	assert_true(!counts.dropped && counts.corrupted && !counts.duplicated && !counts.reordered);
	assert_int_not_equal(run(&(struct sim_faults){.duplicate = 300}, 1, &counts), 0);
	assert_true(!counts.dropped && !counts.corrupted && counts.duplicated && !counts.reordered);
	assert_int_not_equal(run(&(struct sim_faults){.reorder = 300}, 1, &counts), 0);
	assert_true(!counts.dropped && !counts.corrupted && !counts.duplicated && counts.reordered);
	assert_int_equal(run(&(struct sim_faults){0}, 1, &counts), 0);
}

static void test_the_seed_decides(void **state)
{
	const struct sim_faults faults = {.drop = 100, .duplicate = 100, .reorder = 100};
	struct fault_counts first, again;
	bool differs = false;

	(void)state;
	assert_int_equal(run(&faults, 1, &first), run(&faults, 1, &again));
	assert_memory_equal(&first, &again, sizeof(first));
	for (uint64_t seed = 2; seed < 6; seed++)
		differs |= run(&faults, seed, &again) != run(&faults, 1, &first);
	assert_true(differs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_happens_and_no_other),
		cmocka_unit_test(test_the_seed_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
