/* SPDX-License-Identifier: Apache-2.0 */
/* A target that moves from one owner to another in the middle of a message exchange, and states
 * that no target can have. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/target_state.h"
#include "support/rc_pair.h"

/* a is the initiator. b is the target, which moves to another queue pair of the same number. */
static struct rc_pair pair;
static struct receive_queue queue;

static void connect_xrc(void)
{
	const struct endpoint_options initiator = endpoint_options_default(QP_XRC_INI);
	const struct endpoint_options target = endpoint_options_default(QP_XRC_TGT);

	rc_pair_init(&pair, &initiator, &target);
	assert_int_equal(receive_queue_init(&queue, &pair.b.pd, 16, 2), 0);
	pair.b.xrc_queues[0] = &queue;
	rc_pair_bring_up(&pair);
}

static void disconnect(void)
{
	rc_pair_release(&pair);
	receive_queue_release(&queue);
}

/* Replaces the target by a fresh queue pair. */
static void replace_target(void)
{
	const struct qp_capabilities none = {0};
	uint32_t qpn = pair.b.qp.qpn;

	qp_release(&pair.b.qp);
	assert_int_equal(
		qp_init(&pair.b.qp, &pair.b.environment, QP_XRC_TGT, qpn, NULL, &none, NULL, false),
		0);
}

static void hand_over(void)
{
	struct target_state state;
	struct qp_ports ports = endpoint_ports(&pair.b);

	assert_true(target_is_idle(&pair.b.qp));
	target_state_take(&pair.b.qp, &state);
	replace_target();
	assert_int_equal(target_state_install(&pair.b.qp, &ports, &state), 0);
}

static uint8_t *expect_message(uint32_t byte_count)
{
	uint8_t *bytes = area_take(&pair.b.inbox, byte_count);
	const struct sge sge = area_sge(&pair.b.inbox, bytes, byte_count);
	const struct receive_request request = {.wr_id = 1, .sge_count = 1, .sges = &sge};

	assert_int_equal(receive_queue_post(&queue, &request), 0);
	return bytes;
}

static void test_a_conversation_goes_on_where_it_was(void **state)
{
	(void)state;
	connect_xrc();
	for (unsigned i = 0; i < 5; i++) {
		uint8_t *received = expect_message(600);
		const uint8_t *sent = post_send(&pair, &pair.a, 600);

		run_until_idle(&pair);
		expect_completion(&pair.a, COMPLETION_SUCCESS);
		expect_received(&pair.b, COMPLETION_SUCCESS);
		assert_memory_equal(received, sent, 600);
		hand_over();
	}
	assert_int_equal(pair.b.qp.responder.msn, 5);
	disconnect();
}

/* The next owner knows the answers of the last one. */
static void test_a_repeated_atomic_is_not_done_again(void **state)
{
	uint64_t word;

	(void)state;
	connect_xrc();
	wire_lose(&pair.b_to_a, 0);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 7, 0);
	run_until(&pair, pair.now + MICROSECONDS(1));
	hand_over();
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	memcpy(&word, pair.b.window.bytes, sizeof(word));
	assert_int_equal(word, 7);
	disconnect();
}

static void test_in_the_middle_of_a_message_it_is_not_idle(void **state)
{
	(void)state;
	connect_xrc();
	expect_message(600);
	wire_lose(&pair.a_to_b, 1);
	wire_lose(&pair.a_to_b, 2);
	post_send(&pair, &pair.a, 600);
	run_until(&pair, pair.now + MICROSECONDS(1));
	assert_false(target_is_idle(&pair.b.qp));
	disconnect();
}

static void test_one_that_is_lost_is_in_error(void **state)
{
	(void)state;
	connect_xrc();
	target_state_lose(&pair.b.qp);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_RETRY_EXCEEDED);
	disconnect();
}

/* Each byte of a state with each of some values: refused, or installed without harm. */
static void test_any_bytes_are_a_state_or_refused(void **state)
{
	static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	struct target_state good, bad;

	(void)state;
	connect_xrc();

	struct qp_ports ports = endpoint_ports(&pair.b);

	target_state_take(&pair.b.qp, &good);
	for (size_t i = 0; i < sizeof(good); i++) {
		for (unsigned j = 0; j < sizeof(values); j++) {
			memcpy(&bad, &good, sizeof(bad));
			((uint8_t *)&bad)[i] = values[j];

			int error = target_state_install(&pair.b.qp, &ports, &bad);

			assert_true(error == 0 || error == -EINVAL);
		}
	}
	assert_int_equal(target_state_install(&pair.b.qp, &ports, &good), 0);
	expect_message(10);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	disconnect();
}

static void expect_refused(void (*spoil)(struct target_state *state))
{
	struct qp_ports ports = endpoint_ports(&pair.b);
	struct target_state state;

	target_state_take(&pair.b.qp, &state);
	spoil(&state);
	assert_int_equal(target_state_install(&pair.b.qp, &ports, &state), -EINVAL);
}

static void without_port(struct target_state *state)
{
	state->attributes.port_number = 0;
}

static void foreign_port(struct target_state *state)
{
	state->attributes.port_number = 2;
}

static void no_such_state(struct target_state *state)
{
	state->state = QP_ERROR + 1;
}

static void too_many_saved(struct target_state *state)
{
	state->saved_count = TARGET_SAVED_MAX + 1;
}

static void armed_without_path(struct target_state *state)
{
	state->attributes.path_migration = PATH_ARMED;
}

static void test_states_that_can_not_be_are_refused(void **state)
{
	(void)state;
	connect_xrc();
	expect_refused(without_port);
	expect_refused(foreign_port);
	expect_refused(no_such_state);
	expect_refused(too_many_saved);
	expect_refused(armed_without_path);
	disconnect();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_conversation_goes_on_where_it_was),
		cmocka_unit_test(test_a_repeated_atomic_is_not_done_again),
		cmocka_unit_test(test_in_the_middle_of_a_message_it_is_not_idle),
		cmocka_unit_test(test_one_that_is_lost_is_in_error),
		cmocka_unit_test(test_any_bytes_are_a_state_or_refused),
		cmocka_unit_test(test_states_that_can_not_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
