/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine, whole: every pair of states, every type, every attribute missing or too many
 * (transport 6.1).
 * Covers: net/transport/qp_transitions.c */
#include "support/rc_pair.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/mtu.h"

static struct endpoint endpoint;

enum { BIT_COUNT = 26 };

/* The specification's tables a second time, as letters: the required and the optional attributes of
 * each transition. p P_Key index, n port, a access, q Q_Key, v address, m path MTU, d destination
 * QPN, r receive PSN, s send PSN, t timeout, y retry count, w RNR retry, i initiator depth, x
 * responder resources, l alternate path, g migration, z min RNR timer, c current state, e drained
 * notify, k rate limit. */
struct row {
	enum qp_state from, to;
	enum qp_type type;
	const char *required, *optional;
};

static const struct row rows[] = {
	{QP_RESET, QP_INIT, QP_RC, "pna", ""},
	{QP_RESET, QP_INIT, QP_UC, "pna", ""},
	{QP_RESET, QP_INIT, QP_UD, "pnq", ""},
	{QP_INIT, QP_INIT, QP_RC, "", "pna"},
	{QP_INIT, QP_INIT, QP_UC, "", "pna"},
	{QP_INIT, QP_INIT, QP_UD, "", "pnq"},
	{QP_INIT, QP_RTR, QP_RC, "vmdrxz", "lap"},
	{QP_INIT, QP_RTR, QP_UC, "vmdr", "lap"},
	{QP_INIT, QP_RTR, QP_UD, "", "pq"},
	{QP_RTR, QP_RTS, QP_RC, "stywi", "calgzk"},
	{QP_RTR, QP_RTS, QP_UC, "s", "calgk"},
	{QP_RTR, QP_RTS, QP_UD, "s", "cqk"},
	{QP_RTS, QP_RTS, QP_RC, "", "calgzk"},
	{QP_RTS, QP_RTS, QP_UC, "", "calgk"},
	{QP_RTS, QP_RTS, QP_UD, "", "cqk"},
	{QP_RTS, QP_SQD, QP_RC, "", "e"},
	{QP_RTS, QP_SQD, QP_UC, "", "e"},
	{QP_RTS, QP_SQD, QP_UD, "", "e"},
	{QP_SQD, QP_RTS, QP_RC, "", "calgz"},
	{QP_SQD, QP_RTS, QP_UC, "", "calg"},
	{QP_SQD, QP_RTS, QP_UD, "", "cq"},
	{QP_SQD, QP_SQD, QP_RC, "", "nvtywixlapzg"},
	{QP_SQD, QP_SQD, QP_UC, "", "vlapg"},
	{QP_SQD, QP_SQD, QP_UD, "", "pq"},
	{QP_SQE, QP_RTS, QP_UC, "", "ca"},
	{QP_SQE, QP_RTS, QP_UD, "", "cq"},
	{QP_RESET, QP_INIT, QP_XRC_INI, "pna", ""},
	{QP_RESET, QP_INIT, QP_XRC_TGT, "pna", ""},
	{QP_INIT, QP_INIT, QP_XRC_INI, "", "pna"},
	{QP_INIT, QP_INIT, QP_XRC_TGT, "", "pna"},
	{QP_INIT, QP_RTR, QP_XRC_INI, "vmdr", "lap"},
	{QP_INIT, QP_RTR, QP_XRC_TGT, "vmdrxz", "lap"},
	{QP_RTR, QP_RTS, QP_XRC_INI, "stywi", "calgk"},
	{QP_RTR, QP_RTS, QP_XRC_TGT, "st", "calgz"},
	{QP_RTS, QP_RTS, QP_XRC_INI, "", "calgk"},
	{QP_RTS, QP_RTS, QP_XRC_TGT, "", "calgz"},
	{QP_RTS, QP_SQD, QP_XRC_INI, "", "e"},
	{QP_RTS, QP_SQD, QP_XRC_TGT, "", "e"},
	{QP_SQD, QP_RTS, QP_XRC_INI, "", "calg"},
	{QP_SQD, QP_RTS, QP_XRC_TGT, "", "calgz"},
	{QP_SQD, QP_SQD, QP_XRC_INI, "", "nvtywilapg"},
	{QP_SQD, QP_SQD, QP_XRC_TGT, "", "nvtxlapzg"},
	{QP_RESET, QP_INIT, QP_RAW_IPV6, "n", ""},
	{QP_RESET, QP_INIT, QP_RAW_ETHERTYPE, "n", ""},
	{QP_INIT, QP_INIT, QP_RAW_IPV6, "", ""},
	{QP_INIT, QP_INIT, QP_RAW_ETHERTYPE, "", ""},
	{QP_INIT, QP_RTR, QP_RAW_IPV6, "", ""},
	{QP_INIT, QP_RTR, QP_RAW_ETHERTYPE, "", ""},
	{QP_RTR, QP_RTS, QP_RAW_IPV6, "", "sc"},
	{QP_RTR, QP_RTS, QP_RAW_ETHERTYPE, "", "sc"},
	{QP_RTS, QP_RTS, QP_RAW_IPV6, "", "c"},
	{QP_RTS, QP_RTS, QP_RAW_ETHERTYPE, "", "c"},
	{QP_RTS, QP_SQD, QP_RAW_IPV6, "", "e"},
	{QP_RTS, QP_SQD, QP_RAW_ETHERTYPE, "", "e"},
	{QP_SQD, QP_RTS, QP_RAW_IPV6, "", "c"},
	{QP_SQD, QP_RTS, QP_RAW_ETHERTYPE, "", "c"},
	{QP_SQD, QP_SQD, QP_RAW_IPV6, "", ""},
	{QP_SQD, QP_SQD, QP_RAW_ETHERTYPE, "", ""},
	{QP_SQE, QP_RTS, QP_RAW_IPV6, "", "c"},
	{QP_SQE, QP_RTS, QP_RAW_ETHERTYPE, "", "c"},
};

static uint32_t letter_bit(char letter)
{
	static const struct {
		char letter;
		uint32_t bit;
	} letters[] = {
		{'p', QP_HAS_PKEY_INDEX},      {'n', QP_HAS_PORT},
		{'a', QP_HAS_ACCESS},	       {'q', QP_HAS_QKEY},
		{'v', QP_HAS_ADDRESS},	       {'m', QP_HAS_PATH_MTU},
		{'d', QP_HAS_DESTINATION_QPN}, {'r', QP_HAS_RQ_PSN},
		{'s', QP_HAS_SQ_PSN},	       {'t', QP_HAS_TIMEOUT},
		{'y', QP_HAS_RETRY_COUNT},     {'w', QP_HAS_RNR_RETRY},
		{'i', QP_HAS_INITIATOR_DEPTH}, {'x', QP_HAS_RESPONDER_RESOURCES},
		{'l', QP_HAS_ALTERNATE_PATH},  {'g', QP_HAS_PATH_MIGRATION},
		{'z', QP_HAS_MIN_RNR_TIMER},   {'c', QP_HAS_CURRENT_STATE},
		{'e', QP_HAS_DRAINED_NOTIFY},  {'k', QP_HAS_RATE_LIMIT},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(letters); i++)
		if (letters[i].letter == letter)
			return letters[i].bit;
	fail_msg("no attribute %c", letter);
	return 0;
}

static uint32_t letters_mask(const char *letters)
{
	uint32_t mask = 0;

	for (; *letters; letters++)
		mask |= letter_bit(*letters);
	return mask;
}

/* RESET and ERROR can be entered from every state with the state attribute alone. */
static bool find_row(enum qp_state from, enum qp_state to, enum qp_type type, struct row *ret_row)
{
	if ((to == QP_RESET || to == QP_ERROR)) {
		*ret_row = (struct row){from, to, type, "", ""};
		return true;
	}
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].from == from && rows[i].to == to && rows[i].type == type) {
			*ret_row = rows[i];
			return true;
		}
	return false;
}

static struct qp_attributes good_values(enum qp_state from, enum qp_state to)
{
	return (struct qp_attributes){
		.state = to,
		.current_state = from,
		.port_number = 1,
		.path_mtu_code = MTU_1024,
		.address = {.dlid = 3, .port_number = 1},
		.alternate_address = {.dlid = 4, .port_number = 1},
		.responder_resources = 3,
		.initiator_depth = 3,
		.retry_count = 7,
		.rnr_retry = 7,
		.timeout = 31,
		.min_rnr_timer = 31,
		.destination_qpn = 0xffffff,
		.qkey = 5,
		.access = ACCESS_REMOTE_READ,
	};
}

/* A queue pair in this state, by the transitions that lead there. */
static void bring_to(enum qp_type type, enum qp_state state)
{
	struct endpoint_options options = endpoint_options_default(type);

	endpoint_init(&endpoint, &options, 1);
	if (state == QP_RESET)
		return;
	endpoint_to_init(&endpoint);
	if (state == QP_INIT)
		return;
	endpoint_to_rtr(&endpoint, &endpoint);
	if (state == QP_RTR)
		return;
	endpoint_to_rts(&endpoint);
	if (state == QP_SQE)
		/* RC never gets into this state; the table must not let it out either. */
		endpoint.qp.state = QP_SQE;
	else if (state != QP_RTS)
		assert_int_equal(endpoint_set_state(&endpoint, 0, state), 0);
}

static int try_modify(enum qp_type type, enum qp_state from, enum qp_state to, uint32_t mask)
{
	struct qp_attributes values = good_values(from, to);

	bring_to(type, from);

	int error = endpoint_modify(&endpoint, 0, &values, mask);

	assert_int_equal(endpoint.qp.state, error ? from : to);
	endpoint_release(&endpoint);
	return error;
}

static void check_attributes(const struct row *row)
{
	uint32_t required = letters_mask(row->required) | QP_HAS_STATE;
	uint32_t optional = letters_mask(row->optional);

	assert_int_equal(try_modify(row->type, row->from, row->to, required), 0);
	assert_int_equal(try_modify(row->type, row->from, row->to, required | optional), 0);
	for (unsigned i = 1; i < BIT_COUNT; i++) {
		uint32_t bit = 1u << i;
		int expected = (required | optional) & bit ? 0 : -EINVAL;

		if (required & bit)
			assert_int_equal(try_modify(row->type, row->from, row->to, required & ~bit),
					 -EINVAL);
		else
			assert_int_equal(try_modify(row->type, row->from, row->to, required | bit),
					 expected);
	}
}

static void check_transition(enum qp_type type, enum qp_state from, enum qp_state to)
{
	struct row row;

	if (find_row(from, to, type, &row)) {
		check_attributes(&row);
		return;
	}
	for (unsigned i = 0; i < BIT_COUNT; i++)
		assert_int_equal(try_modify(type, from, to, QP_HAS_STATE | 1u << i), -EINVAL);
}

static void test_every_transition_takes_exactly_its_attributes(void **state)
{
	static const enum qp_type types[] = {QP_RC,	 QP_UC,	      QP_UD,	       QP_XRC_INI,
					     QP_XRC_TGT, QP_RAW_IPV6, QP_RAW_ETHERTYPE};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++)
		for (enum qp_state from = QP_RESET; from <= QP_ERROR; from++)
			for (enum qp_state to = QP_RESET; to <= QP_ERROR; to++)
				check_transition(types[i], from, to);
}

static void test_states_beyond_the_last_are_refused(void **state)
{
	struct qp_attributes values = {.state = (enum qp_state)7};

	(void)state;
	bring_to(QP_RC, QP_RTS);
	assert_int_equal(endpoint_modify(&endpoint, 0, &values, QP_HAS_STATE), -EINVAL);
	values.state = (enum qp_state)0x7fffffff;
	assert_int_equal(endpoint_modify(&endpoint, 0, &values, QP_HAS_STATE), -EINVAL);
	endpoint_release(&endpoint);
}

static void expect_refused(enum qp_state from, enum qp_state to, const char *letters,
			   const struct qp_attributes *values)
{
	struct qp_attributes before, after;

	bring_to(QP_RC, from);
	qp_query(&endpoint.qp, &before);
	assert_int_equal(
		endpoint_modify(&endpoint, 0, values, QP_HAS_STATE | letters_mask(letters)),
		-EINVAL);
	qp_query(&endpoint.qp, &after);
	/* Nothing changes. */
	assert_int_equal(before.state, to == from ? from : before.state);
	assert_memory_equal(&before, &after, sizeof(before));
	endpoint_release(&endpoint);
}

static void test_values_out_of_range_are_refused(void **state)
{
	(void)state;

#define REFUSE(from, to, letters, member, value)                                                   \
	do {                                                                                       \
		struct qp_attributes values = good_values(from, to);                               \
		values.member = value;                                                             \
		expect_refused(from, to, letters, &values);                                        \
	} while (0)
	REFUSE(QP_RESET, QP_INIT, "pna", port_number, 0);
	REFUSE(QP_RESET, QP_INIT, "pna", port_number, 2);
	REFUSE(QP_RESET, QP_INIT, "pna", pkey_index, PORT_PKEYS_MAX);
	REFUSE(QP_RESET, QP_INIT, "pna", access, 1u << 10);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", path_mtu_code, 0);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", path_mtu_code, 6);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", min_rnr_timer, 32);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", responder_resources, 17);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", destination_qpn, 0x1000000);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", address.dlid, 0xc000);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", address.port_number, 2);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", address.sl, 16);
	REFUSE(QP_INIT, QP_RTR, "vmdrxz", address.source_path_bits, 1);
	REFUSE(QP_RTR, QP_RTS, "stywi", timeout, 32);
	REFUSE(QP_RTR, QP_RTS, "stywi", retry_count, 8);
	REFUSE(QP_RTR, QP_RTS, "stywi", rnr_retry, 8);
	REFUSE(QP_RTR, QP_RTS, "stywi", initiator_depth, 17);
	REFUSE(QP_RTR, QP_RTS, "stywic", current_state, QP_RTS);
	REFUSE(QP_RTS, QP_RTS, "g", path_migration, 3);
#undef REFUSE
}

static void test_mtu_above_the_port_s_is_refused(void **state)
{
	struct qp_attributes values = good_values(QP_INIT, QP_RTR);

	(void)state;
	bring_to(QP_RC, QP_INIT);
	endpoint.port.mtu_code = MTU_512;
	assert_int_equal(
		endpoint_modify(&endpoint, 0, &values, QP_HAS_STATE | letters_mask("vmdrxz")),
		-EINVAL);
	values.path_mtu_code = MTU_512;
	assert_int_equal(
		endpoint_modify(&endpoint, 0, &values, QP_HAS_STATE | letters_mask("vmdrxz")), 0);
	endpoint_release(&endpoint);
}

static void test_global_address_needs_a_gid_of_ours(void **state)
{
	struct qp_attributes values = good_values(QP_INIT, QP_RTR);

	(void)state;
	values.address.is_global = true;
	values.address.sgid_index = PORT_GIDS_MAX;
	expect_refused(QP_INIT, QP_RTR, "vmdrxz", &values);
}

static void test_psns_are_cut_to_24_bits(void **state)
{
	struct qp_attributes values = good_values(QP_RTR, QP_RTS);

	(void)state;
	bring_to(QP_RC, QP_RTR);
	values.sq_psn.value = 0x5000001;
	assert_int_equal(
		endpoint_modify(&endpoint, 0, &values, QP_HAS_STATE | letters_mask("stywi")), 0);
	qp_query(&endpoint.qp, &values);
	assert_int_equal(values.sq_psn.value, 1);
	endpoint_release(&endpoint);
}

static void test_without_a_state_the_state_stays(void **state)
{
	struct qp_attributes values = good_values(QP_RTS, QP_RTS);

	(void)state;
	bring_to(QP_RC, QP_RTS);
	assert_int_equal(endpoint_modify(&endpoint, 0, &values, QP_HAS_MIN_RNR_TIMER), 0);
	qp_query(&endpoint.qp, &values);
	assert_int_equal(values.state, QP_RTS);
	assert_int_equal(values.min_rnr_timer, 31);
	endpoint_release(&endpoint);
}

static void test_reset_forgets_everything(void **state)
{
	static struct rc_pair pair;
	struct qp_attributes values;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.a, 8);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	rc_pair_transmit(&pair);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RESET), 0);
	expect_no_completion(&pair.a);
	expect_nothing_received(&pair.a);
	assert_int_equal(qp_deadline(&pair.a.qp), TIME_NEVER);
	qp_query(&pair.a.qp, &values);
	assert_int_equal(values.destination_qpn, 0);
	/* And the queue pair can be used again. */
	assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_RESET), 0);
	qp_wire_release(&pair.a_to_b);
	endpoint_to_init(&pair.a);
	endpoint_to_init(&pair.b);
	endpoint_to_rtr(&pair.a, &pair.b);
	endpoint_to_rtr(&pair.b, &pair.a);
	endpoint_to_rts(&pair.a);
	post_receive(&pair, &pair.b, 8);
	post_send(&pair, &pair.a, 8);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_an_idle_queue_drains_at_once(void **state)
{
	struct qp_attributes values = {.state = QP_SQD, .drained_notify = true};

	(void)state;
	bring_to(QP_RC, QP_RTS);
	assert_int_equal(
		endpoint_modify(&endpoint, 0, &values, QP_HAS_STATE | QP_HAS_DRAINED_NOTIFY), 0);
	expect_event(&endpoint, QP_EVENT_DRAINED);
	qp_query(&endpoint.qp, &values);
	assert_false(values.is_draining);
	endpoint_release(&endpoint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_transition_takes_exactly_its_attributes),
		cmocka_unit_test(test_states_beyond_the_last_are_refused),
		cmocka_unit_test(test_values_out_of_range_are_refused),
		cmocka_unit_test(test_mtu_above_the_port_s_is_refused),
		cmocka_unit_test(test_global_address_needs_a_gid_of_ours),
		cmocka_unit_test(test_psns_are_cut_to_24_bits),
		cmocka_unit_test(test_without_a_state_the_state_stays),
		cmocka_unit_test(test_reset_forgets_everything),
		cmocka_unit_test(test_an_idle_queue_drains_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
