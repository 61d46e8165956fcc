/* SPDX-License-Identifier: Apache-2.0 */
/* The header checks: packets that are dropped before any engine sees them, and the counters
 * (transport 5.1, 6.2, 10.3, 10.4). */
#include "net/transport/admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

static struct packet good(uint8_t opcode)
{
	return (struct packet){
		.lrh = {.slid = 1, .dlid = 2},
		.bth = {.opcode = opcode, .pkey = 0xffff, .destination_qpn = 0x102},
		.deth = {.qkey = 0x11111111, .source_qpn = 0x101},
		.packet_count = 1,
	};
}

static enum admission admit(const struct packet *packet)
{
	return admission_check(&pair.b.qp, packet);
}

static void test_only_the_type_s_own_opcodes_are_admitted(void **state)
{
	static const struct {
		enum qp_type type;
		unsigned transport;
	} types[] = {{QP_RC, TRANSPORT_RC},
		     {QP_UC, TRANSPORT_UC},
		     {QP_UD, TRANSPORT_UD},
		     {QP_XRC_INI, TRANSPORT_XRC},
		     {QP_XRC_TGT, TRANSPORT_XRC}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		struct endpoint_options options = endpoint_options_default(types[i].type);

		rc_pair_connect_with(&pair, &options);
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			struct packet packet = good((uint8_t)opcode);
			enum admission expected = ADMITTED;

			if ((opcode & 0xe0) != types[i].transport)
				expected = DROP_WRONG_TRANSPORT;
			else if (!opcode_info((uint8_t)opcode)->name)
				expected = DROP_RESERVED_OPCODE;
			else if (types[i].type == (opcode_info((uint8_t)opcode)->is_response
							   ? QP_XRC_TGT
							   : QP_XRC_INI))
				expected = DROP_NO_SUCH_HALF;
			assert_int_equal(admit(&packet), expected);
		}
		rc_pair_release(&pair);
	}
}

static void test_states_take_requests_and_responses_as_the_table_says(void **state)
{
	static const struct {
		enum qp_state state;
		bool requests, responses;
	} states[] = {
		{QP_RESET, false, false}, {QP_INIT, false, false}, {QP_RTR, true, false},
		{QP_RTS, true, true},	  {QP_SQD, true, true},	   {QP_SQE, true, false},
		{QP_ERROR, false, false},
	};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (unsigned i = 0; i < ARRAY_COUNT(states); i++) {
		struct packet request = good(OPCODE_SEND_ONLY);
		struct packet response = good(OPCODE_ACKNOWLEDGE);

		pair.b.qp.state = states[i].state;
		assert_int_equal(admit(&request), states[i].requests ? ADMITTED : DROP_WRONG_STATE);
		assert_int_equal(admit(&response),
				 states[i].responses ? ADMITTED : DROP_WRONG_STATE);
	}
	rc_pair_release(&pair);
}

static void test_pkey_must_match_the_entry_in_use(void **state)
{
	static const struct {
		uint16_t own, packet;
		bool matches;
	} keys[] = {
		{0xffff, 0xffff, true},	 {0xffff, 0x7fff, true},  {0x7fff, 0xffff, true},
		{0x7fff, 0x7fff, false}, {0x8001, 0xffff, false}, {0x8000, 0x8000, false},
	};
	unsigned violations = 0;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (unsigned i = 0; i < ARRAY_COUNT(keys); i++) {
		struct packet packet = good(OPCODE_SEND_ONLY);

		pair.b.port.pkeys[0] = keys[i].own;
		packet.bth.pkey = keys[i].packet;
		assert_int_equal(admit(&packet), keys[i].matches ? ADMITTED : DROP_BAD_PKEY);
		violations += !keys[i].matches;
		assert_int_equal(pair.b.port.pkey_violations, violations);
	}
	/* The counter stops at its largest value. */
	pair.b.port.pkey_violations = 0xffff;

	struct packet packet = good(OPCODE_SEND_ONLY);

	assert_int_equal(admit(&packet), DROP_BAD_PKEY);
	assert_int_equal(pair.b.port.pkey_violations, 0xffff);
	rc_pair_release(&pair);
}

static void test_connection_listens_to_its_peer_only(void **state)
{
	struct packet packet = good(OPCODE_SEND_ONLY);

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	packet.lrh.slid = 3;
	assert_int_equal(admit(&packet), DROP_WRONG_SOURCE);
	packet = good(OPCODE_SEND_ONLY);
	packet.has_grh = true;
	assert_int_equal(admit(&packet), DROP_WRONG_SOURCE);
	rc_pair_release(&pair);
}

static void test_global_connection_checks_both_gids(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);
	struct packet packet = good(OPCODE_SEND_ONLY);

	(void)state;
	options.is_global = true;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(admit(&packet), DROP_WRONG_SOURCE);
	packet.has_grh = true;
	packet.grh.sgid = pair.a.port.gids[0];
	packet.grh.dgid = pair.b.port.gids[0];
	assert_int_equal(admit(&packet), ADMITTED);
	packet.grh.sgid.bytes[15] ^= 4;
	assert_int_equal(admit(&packet), DROP_WRONG_SOURCE);
	packet.grh.sgid.bytes[15] ^= 4;
	packet.grh.dgid.bytes[15] ^= 4;
	assert_int_equal(admit(&packet), DROP_WRONG_SOURCE);
	/* A port of another subnet still answers to its link-local name. */
	pair.b.port.gid_prefix = 0x2001000000000000;
	pair.b.port.gids[0] = gid_from(pair.b.port.gid_prefix, 2);
	packet.grh.dgid = gid_from(GID_PREFIX_LINK_LOCAL, 2);
	assert_int_equal(admit(&packet), ADMITTED);
	/* And a whole message goes through. */
	pair.b.port.gids[0] = gid_from(GID_PREFIX_LINK_LOCAL, 2);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 600);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static unsigned told_count[2];
static uint32_t told_qpn;

static void count_told(const struct qp *qp, const struct packet *packet, enum violated_key key)
{
	told_count[key]++;
	told_qpn = qp->qpn;
	assert_int_equal(packet->bth.destination_qpn, qp->qpn);
}

/* PortInfo's counters and traps 257 and 258 are outside the queue pair. */
static void test_owner_is_told_of_each_wrong_key(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_UD);
	struct packet packet = good(TRANSPORT_UD | OPCODE_SEND_ONLY);

	(void)state;
	rc_pair_connect_with(&pair, &options);
	pair.b.environment.key_violation = count_told;
	packet.bth.destination_qpn = pair.b.qp.qpn;
	assert_int_equal(admit(&packet), ADMITTED);
	assert_int_equal(told_count[VIOLATED_PKEY] + told_count[VIOLATED_QKEY], 0);
	packet.deth.qkey++;
	assert_int_equal(admit(&packet), DROP_BAD_QKEY);
	packet.bth.pkey ^= 1;
	assert_int_equal(admit(&packet), DROP_BAD_PKEY);
	assert_int_equal(told_count[VIOLATED_PKEY], 1);
	assert_int_equal(told_count[VIOLATED_QKEY], 1);
	assert_int_equal(told_qpn, pair.b.qp.qpn);
	rc_pair_release(&pair);
}

static void test_datagram_needs_the_qkey(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_UD);
	struct packet packet = good(TRANSPORT_UD | OPCODE_SEND_ONLY);

	(void)state;
	rc_pair_connect_with(&pair, &options);
	packet.lrh.slid = 77; /* from anybody */
	assert_int_equal(admit(&packet), ADMITTED);
	packet.deth.qkey++;
	assert_int_equal(admit(&packet), DROP_BAD_QKEY);
	assert_int_equal(pair.b.port.qkey_violations, 1);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_type_s_own_opcodes_are_admitted),
		cmocka_unit_test(test_states_take_requests_and_responses_as_the_table_says),
		cmocka_unit_test(test_pkey_must_match_the_entry_in_use),
		cmocka_unit_test(test_connection_listens_to_its_peer_only),
		cmocka_unit_test(test_global_connection_checks_both_gids),
		cmocka_unit_test(test_datagram_needs_the_qkey),
		cmocka_unit_test(test_owner_is_told_of_each_wrong_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
