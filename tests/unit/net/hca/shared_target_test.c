/* SPDX-License-Identifier: Apache-2.0 */
/* XRC targets of shared domains: how they are leased, returned and asked for, and what is reported
 * meanwhile. */
#include <errno.h>
#include "adapter_pair.h"
#include "net/hca/shared_target.h"

enum { SHARED_QPN = 0x8000 };

static struct adapter_pair pair;
static struct hca *hca;
static struct xrcd *xrcd;

static void begin(void)
{
	adapter_pair_init(&pair);
	hca = &pair.adapters[1].hca;
	assert_int_equal(xrcd_open(hca, NULL, XRCD_CREATE, &xrcd), 0);
	xrcd->id = 5;
}

static void end(void)
{
	assert_int_equal(xrcd_close(xrcd), 0);
	assert_int_equal(hca->qp_count, 0);
	adapter_pair_release(&pair);
}

/* A target as another process would have it: in RTR, towards adapter 0. */
static struct target_state state_in_rtr(void)
{
	return (struct target_state){
		.attributes = {.port_number = 1,
			       .path_mtu_code = MTU_CODE_1024,
			       .destination_qpn = FIRST_QPN,
			       .access = ACCESS_REMOTE_WRITE,
			       .address = {.dlid = FIRST_LID, .port_number = 1}},
		.state = QP_RTR,
	};
}

static struct packet send_only(uint32_t psn)
{
	return (struct packet){
		.lrh = {.slid = FIRST_LID, .dlid = FIRST_LID + 1},
		.bth = {.opcode = TRANSPORT_XRC | OPCODE_SEND_ONLY,
			.pkey = 0xffff,
			.destination_qpn = SHARED_QPN,
			.migrated = true,
			.psn = psn_from(psn)},
		.xrc_srqn = 1,
		.packet_count = 1,
	};
}

static struct qp_object *add(void)
{
	struct qp_object *object;

	assert_int_equal(shared_target_add(xrcd, SHARED_QPN, &object), 0);
	return object;
}

static void test_one_that_is_away_takes_no_packet(void **state)
{
	const struct packet packet = send_only(0);

	(void)state;
	begin();

	struct qp_object *object = add();

	assert_true(object->is_away);
	assert_ptr_equal(xrcd_target(xrcd, SHARED_QPN), object);
	hca_receive(hca, pair.now, 1, &packet);
	assert_int_equal(hca->drops[HCA_DROP_TARGET_AWAY], 1);
	assert_null(hca_ready_first(hca));
	end();
}

static void test_the_number_is_nobody_elses(void **state)
{
	struct qp_object *object;

	(void)state;
	begin();
	add();
	assert_int_equal(shared_target_add(xrcd, SHARED_QPN, &object), -EEXIST);
	end();
}

/* The request names a queue that is not here: it is refused, and softibd hears of it when the
 * target is returned. */
static void test_it_serves_goes_and_says_what_happened(void **state)
{
	const struct target_state coming = state_in_rtr();
	const struct packet packet = send_only(0);
	struct target_parting parting;

	(void)state;
	begin();

	struct qp_object *object = add();

	shared_target_install(object, &coming);
	assert_false(object->is_away);
	assert_true(shared_target_may_go(object));
	shared_target_receive(object, pair.now, 1, &packet);
	assert_false(shared_target_may_go(object));
	assert_int_equal(object->qp.state, QP_ERROR);
	assert_int_equal(pair.adapters[1].event_count, 0);
	carry_packets(&pair);
	assert_true(shared_target_may_go(object));
	shared_target_part(object, &parting);
	assert_int_equal(parting.taken_count, 1);
	assert_int_equal(parting.events, 1u << QP_EVENT_ESTABLISHED | 1u << QP_EVENT_REQUEST_ERROR |
						 1u << QP_EVENT_LAST_REQUEST_REACHED);
	assert_int_equal(parting.state.state, QP_ERROR);
	assert_true(object->is_away);
	assert_true(list_is_empty(&hca->borrowed));
	end();
}

/* A peer sent a packet before it heard that the target was returned. The return did not count, and
 * the report that came with it is made again. */
static void test_a_packet_behind_its_going_calls_it_back(void **state)
{
	const struct target_state coming = state_in_rtr();
	const struct packet late = send_only(100); /* a gap: answered, not executed */
	struct target_parting parting;

	(void)state;
	begin();

	struct qp_object *object = add();

	shared_target_install(object, &coming);
	object->untold_events = 1u << QP_EVENT_MIGRATED;
	shared_target_part(object, &parting);
	assert_int_equal(parting.taken_count, 0);
	shared_target_receive(object, pair.now, 1, &late);
	assert_false(object->is_away);
	carry_packets(&pair);
	shared_target_part(object, &parting);
	assert_int_equal(parting.taken_count, 1);
	assert_true(parting.events & 1u << QP_EVENT_MIGRATED);
	end();
}

static void test_a_pin_keeps_it_and_a_recall_does_not_wait(void **state)
{
	const struct target_state coming = state_in_rtr();

	(void)state;
	begin();

	struct qp_object *object = add();

	shared_target_install(object, &coming);
	object->qp.responder.inbound = INBOUND_SEND;
	assert_false(shared_target_may_go(object));
	object->is_recalled = true;
	assert_true(shared_target_may_go(object));
	object->pin_count++;
	assert_false(shared_target_may_go(object));
	object->pin_count--;
	end();
}

static void test_what_makes_no_sense_is_lost(void **state)
{
	struct target_state coming = state_in_rtr();

	(void)state;
	begin();

	struct qp_object *object = add();

	coming.attributes.port_number = 99;
	shared_target_install(object, &coming);
	assert_int_equal(object->qp.state, QP_ERROR);
	shared_target_install(object, NULL);
	assert_int_equal(object->qp.state, QP_ERROR);
	end();
}

/* A target that a consumer has opened keeps the domain open; one that came only for its queues does
 * not. */
static void test_an_open_one_keeps_the_domain(void **state)
{
	int context;

	(void)state;
	begin();

	struct qp_object *object = add();

	shared_target_adopt(object, &context);
	assert_int_equal(xrcd_close(xrcd), -EBUSY);
	assert_int_equal(qp_object_destroy(object), 0);
	end();
}

static void test_one_made_here_can_be_shared_later(void **state)
{
	const struct qp_options options = {
		.type = QP_XRC_TGT, .xrcd = NULL, .qpn = SHARED_QPN, .context = &pair};
	struct qp_options with_domain = options;
	struct target_parting parting;
	struct qp_object *object;

	(void)state;
	begin();
	with_domain.xrcd = xrcd;
	assert_int_equal(qp_object_create(hca, &with_domain, &object), 0);
	assert_int_equal(object->qp.qpn, SHARED_QPN);
	shared_target_begin(object);
	assert_true(shared_target_may_go(object));
	shared_target_part(object, &parting);
	assert_int_equal(parting.state.state, QP_RESET);
	shared_target_install(object, &parting.state);
	assert_int_equal(object->qp.state, QP_RESET);
	assert_int_equal(qp_object_destroy(object), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_is_away_takes_no_packet),
		cmocka_unit_test(test_the_number_is_nobody_elses),
		cmocka_unit_test(test_it_serves_goes_and_says_what_happened),
		cmocka_unit_test(test_a_packet_behind_its_going_calls_it_back),
		cmocka_unit_test(test_a_pin_keeps_it_and_a_recall_does_not_wait),
		cmocka_unit_test(test_what_makes_no_sense_is_lost),
		cmocka_unit_test(test_an_open_one_keeps_the_domain),
		cmocka_unit_test(test_one_made_here_can_be_shared_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
