/* SPDX-License-Identifier: Apache-2.0 */
/* States and control packets of managers: every state, control and sender; polling (management
 * 3.1). Covers: mgmt/sm/polling.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake_fabric.h"
#include "mgmt/mad/smp_request.h"
#include "mgmt/sm/sweep.h"
#include "wire/smp.h"

enum { OWN_GUID = 0x500, HANDOVER = 1, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER };

static struct sm *make_sm(uint64_t sm_key)
{
	const struct sm_options options = {
		.port_guid = OWN_GUID, .port_number = 1, .priority = 5, .sm_key = sm_key};
	struct sm *sm;

	assert_int_equal(sm_create(&options, &sm), 0);
	return sm;
}

/* Sends Set(SMInfo) and returns the status of the response, which shows the state after the Set. */
static unsigned control(struct sm *sm, uint32_t modifier, const struct sm_info *sender)
{
	const struct smp_request request = {.method = MAD_SET,
					    .attribute_id = ATTRIBUTE_SM_INFO,
					    .attribute_modifier = modifier};
	const struct directed_route here = {0};
	struct mad_message message, answers[64];
	struct mad_header header;
	struct sm_info info;

	smp_request_make(&request, &here, &message);
	sm_info_encode(sender, smp_data(message.bytes));
	sm->outbox_count = 0;
	sm_receive(sm, 1, &message);
	assert_int_equal(sm->outbox_count, 1);
	answers[0] = sm->outbox[0];
	sm->outbox_count = 0;
	assert_true(mad_header_decode(answers[0].bytes, MAD_BYTES, &header));
	assert_int_equal(header.method, MAD_GET_RESPONSE);
	sm_info_decode(smp_data(answers[0].bytes), &info);
	assert_int_equal(info.guid, OWN_GUID);
	assert_int_equal(info.sm_state, sm->state);
	return header.status;
}

/* The next state; -1: refused. Rows: NotActive, Discovering, Standby, Master (management 3.1). */
static int expected(enum sm_state state, uint32_t modifier, enum sm_state sender)
{
	static const int from_master[4][6] = {
		/*                AM 0, HANDOVER,      ACK, DISABLE,     STANDBY,  DISCOVER */
		[SM_NOT_ACTIVE] = {-1, -1, -1, -1, SM_STANDBY, -1},
		[SM_DISCOVERING] = {-1, SM_DISCOVERING, -1, -1, -1, -1},
		[SM_STANDBY] = {-1, SM_MASTER, SM_STANDBY, SM_NOT_ACTIVE, -1, SM_DISCOVERING},
		[SM_MASTER] = {-1, SM_MASTER, -1, -1, -1, -1},
	};

	if (modifier > DISCOVER)
		return -1;
	if (modifier == ACKNOWLEDGE && sender == SM_STANDBY)
		return from_master[state][ACKNOWLEDGE];
	return sender == SM_MASTER ? from_master[state][modifier] : -1;
}

static void test_every_control_in_every_state_from_every_sender(void **state)
{
	(void)state;
	for (unsigned own = SM_NOT_ACTIVE; own <= SM_MASTER; own++) {
		for (uint32_t modifier = 0; modifier <= 7; modifier++) {
			for (unsigned other = SM_NOT_ACTIVE; other <= SM_MASTER; other++) {
				const struct sm_info sender = {
					.guid = 0x900, .priority = 9, .sm_state = (uint8_t)other};
				struct sm *sm = make_sm(0);
				int next = expected((enum sm_state)own, modifier,
						    (enum sm_state)other);

				sm->state = (enum sm_state)own;

				unsigned status = control(sm, modifier, &sender);

				assert_int_equal(status, next < 0 ? MAD_STATUS_BAD_FIELD : 0);
				assert_int_equal(sm->state, next < 0 ? (int)own : next);
				sm_destroy(sm);
			}
		}
	}
}

static void test_control_with_another_sm_key_is_refused(void **state)
{
	struct sm_info sender = {.guid = 0x900, .sm_key = 2, .sm_state = SM_MASTER};
	struct sm *sm = make_sm(1);

	(void)state;
	sm->state = SM_STANDBY;
	assert_int_equal(control(sm, HANDOVER, &sender), MAD_STATUS_BAD_FIELD);
	sender.sm_key = 0;
	assert_int_equal(control(sm, HANDOVER, &sender), 0);
	assert_int_equal(sm->state, SM_MASTER);
	sm_destroy(sm);
}

/* Higher priority wins, then the lower GUID (management 3.1). */
static void test_order_of_managers(void **state)
{
	const struct sm_info a = {.guid = 5, .priority = 3}, b = {.guid = 4, .priority = 3},
			     c = {.guid = 9, .priority = 4};

	(void)state;
	assert_true(election_is_better(&b, &a));
	assert_false(election_is_better(&a, &b));
	assert_true(election_is_better(&c, &b));
	assert_false(election_is_better(&a, &a));
}

static struct mad_message take_poll(struct sm *sm, time_ns now)
{
	struct mad_message message;

	assert_int_equal(sm_transmit(sm, now, 1, &message), 1);
	assert_int_equal(message.bytes[3], MAD_GET);
	assert_int_equal(get_be16(message.bytes + 16), ATTRIBUTE_SM_INFO);
	return message;
}

static void answer(struct sm *sm, time_ns now, const struct mad_message *poll,
		   const struct sm_info *info)
{
	struct mad_message message;

	smp_answer_make(poll, MAD_STATUS_OK, &message);
	memset(smp_data(message.bytes), 0, SMP_DATA_BYTES);
	sm_info_encode(info, smp_data(message.bytes));
	sm_receive(sm, now, &message);
}

/* Responses keep a standby quiet. Four polls without a response, or with the response of a manager
 * that is not master, do not. */
static void test_standby_polls_until_the_master_is_silent(void **state)
{
	const struct sm_info handing = {.guid = 0x900, .priority = 9, .sm_state = SM_MASTER};
	struct sm_info master = handing;
	struct sm *sm = make_sm(0);
	time_ns now = SECONDS(1);

	(void)state;
	sm->state = SM_NOT_ACTIVE;
	sm->has_work = false;
	assert_int_equal(control(sm, STANDBY, &handing), 0);
	assert_int_equal(sm->state, SM_STANDBY);
	for (unsigned i = 0; i < 10; i++) {
		struct mad_message poll;

		now = sm_deadline(sm);
		poll = take_poll(sm, now);
		answer(sm, now, &poll, &master);
		assert_int_equal(sm->state, SM_STANDBY);
	}
	/* The standby waits for a higher standby. */
	master.sm_state = SM_STANDBY;
	for (unsigned i = 0; i < 6; i++) {
		struct mad_message poll;

		now = sm_deadline(sm);
		poll = take_poll(sm, now);
		answer(sm, now, &poll, &master);
	}
	assert_int_equal(sm->state, SM_STANDBY);
	master.sm_state = SM_NOT_ACTIVE;
	for (unsigned i = 0; i < 4; i++) {
		struct mad_message poll;

		assert_int_equal(sm->state, SM_STANDBY);
		now = sm_deadline(sm);
		poll = take_poll(sm, now);
		answer(sm, now, &poll, &master);
	}
	assert_int_equal(sm->state, SM_DISCOVERING);
	sm_destroy(sm);
}

static void test_activity_counter_moves_with_every_packet(void **state)
{
	const struct sm_info sender = {.guid = 0x900, .sm_state = SM_MASTER};
	struct sm *sm = make_sm(0);
	struct mad_message messages[4];
	uint32_t before;

	(void)state;
	(void)sm_transmit(sm, 0, 4, messages);
	before = sm->counts.act;
	assert_true(before > 0);
	sm->state = SM_NOT_ACTIVE;
	(void)control(sm, DISCOVER, &sender);
	sm->outbox_count = 1;
	(void)sm_transmit(sm, 1, 4, messages);
	assert_true(sm->counts.act > before);
	sm_destroy(sm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_control_in_every_state_from_every_sender),
		cmocka_unit_test(test_control_with_another_sm_key_is_refused),
		cmocka_unit_test(test_order_of_managers),
		cmocka_unit_test(test_standby_polls_until_the_master_is_silent),
		cmocka_unit_test(test_activity_counter_moves_with_every_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
