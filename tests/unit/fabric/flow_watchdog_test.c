/* SPDX-License-Identifier: Apache-2.0 */
/* A port that gets no flow control packets retrains the link, sends a trap, and takes the link down
 * when that does not help (transport 8.4). */
#include "rig.h"

#include "fabric/link_faults.h"
#include "fabric/movement.h"
#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"
#include "wire/notice.h"
#include "wire/smp.h"

#define PATIENCE MICROSECONDS(1600)

enum { BLOCKS_PER_FRAME = 17, FRAME_BYTES = 1024 };

static const struct fault_settings lossy = {.loses_flow_control = true};

/* Host 1 sends to host 2 until it has no credits. Returns how many frames arrived. */
static unsigned send_what_goes(struct rig *rig, time_ns now)
{
	unsigned before = rig->delivered_count;

	rig->room = RIG_FRAMES_MAX;
	for (;;) {
		struct frame *frame = rig_data_frame(rig, 1, 2, FRAME_BYTES);

		if (!fabric_inject(&rig->fabric, rig_host(rig, 1), frame, now)) {
			frame_give_back(&rig->fabric.frames, frame);
			break;
		}
		rig_run(rig, now);
		if (rig->delivered_count == RIG_FRAMES_MAX)
			break;
	}
	unsigned count = rig->delivered_count - before;

	for (unsigned i = 0; i < rig->delivered_count; i++)
		frame_give_back(&rig->fabric.frames, rig->delivered[i]);
	rig->delivered_count = 0;
	return count;
}

static void test_credits_run_out_and_come_back_with_training(void **state)
{
	struct rig rig;
	struct port *host;

	(void)state;
	rig_star(&rig, "star:2");
	host = rig_host(&rig, 1);
	assert_int_equal(faults_set(&rig.fabric, host->peer, &lossy, 1, 0), 0);
	assert_int_equal(send_what_goes(&rig, 0), VL_BUFFER_BLOCKS / BLOCKS_PER_FRAME);
	assert_int_equal(send_what_goes(&rig, PATIENCE - 1), 0);
	assert_int_equal(host->counters.link_error_recovery, 0);
	rig_run(&rig, PATIENCE);
	assert_int_equal(host->counters.link_error_recovery, 1);
	/* The watchdog of every data VL. */
	assert_int_equal(host->details->vl_update_errors[0], 1);
	assert_int_equal(host->details->vl_update_errors[7], 1);
	assert_null(host->peer->details);
	assert_true(port_is_active(host));
	/* Waiting frames leave as far as the new credits allow. */
	assert_true(rig.delivered_count > 0);
	/* The other direction was never affected. */
	assert_int_equal(host->peer->counters.link_error_recovery, 0);
	rig_release(&rig);
}

static void test_training_that_does_not_help_ends_with_the_link(void **state)
{
	struct rig rig;
	struct port *host;

	(void)state;
	rig_star(&rig, "star:2");
	host = rig_host(&rig, 1);
	assert_int_equal(faults_set(&rig.fabric, host->peer, &lossy, 1, 0), 0);
	for (unsigned round = 1; round <= 3; round++) {
		rig_run(&rig, round * PATIENCE);
		assert_int_equal(host->counters.link_error_recovery, round);
		assert_int_equal(host->counters.link_downed, 0);
	}
	rig_run(&rig, 4 * PATIENCE);
	assert_int_equal(host->counters.link_downed, 1);
	assert_int_equal(host->peer->counters.link_downed, 1);
	/* The link trains again, and waits for its manager. */
	assert_int_equal(host->info.port_state, PORT_INIT);
	rig_release(&rig);
}

static void test_link_that_is_mended_goes_on_at_once(void **state)
{
	struct rig rig;
	struct port *host;

	(void)state;
	rig_star(&rig, "star:2");
	host = rig_host(&rig, 1);
	assert_int_equal(faults_set(&rig.fabric, host->peer, &lossy, 1, 0), 0);
	(void)send_what_goes(&rig, 0);
	faults_clear(&rig.fabric, host->peer, 100);
	assert_false(host->peer->flow_control_is_lost);
	rig_run(&rig, 100);
	assert_true(rig.delivered_count + send_what_goes(&rig, 100) > 0);
	rig_run(&rig, 10 * PATIENCE);
	assert_int_equal(host->counters.link_error_recovery, 0);
	assert_int_equal(fabric_deadline(&rig.fabric), TIME_NEVER);
	rig_release(&rig);
}

/* The port sends trap 131 with its own LID and number. */
static void test_manager_hears_of_it_by_trap_131(void **state)
{
	struct rig rig;
	struct port *host;
	struct agent_trap trap;
	struct notice notice;
	struct port_error_details details;

	(void)state;
	rig_star(&rig, "star:2");
	host = rig_host(&rig, 1);
	host->info.master_sm_lid = 2;
	assert_int_equal(faults_set(&rig.fabric, host->peer, &lossy, 1, 0), 0);
	rig.fabric.now = PATIENCE;
	fabric_link_error(&rig.fabric, host, port_note_watchdog(host));
	assert_int_equal(agent_take_traps(&rig.fabric.agent_memory, PATIENCE, 1, &trap), 1);
	assert_ptr_equal(trap.port, host);
	notice_decode(trap.message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.trap_number, TRAP_FLOW_CONTROL_WATCHDOG);
	port_error_details_decode(notice.details, &details);
	assert_int_equal(details.lid, host->info.lid);
	assert_int_equal(details.port_number, 1);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_credits_run_out_and_come_back_with_training),
		cmocka_unit_test(test_training_that_does_not_help_ends_with_the_link),
		cmocka_unit_test(test_link_that_is_mended_goes_on_at_once),
		cmocka_unit_test(test_manager_hears_of_it_by_trap_131),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
