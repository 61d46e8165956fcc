/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a SEND: by type, size, flags, flow, burst and the forms that are allowed. */
#include "runtime/fast/send_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum {
	MTU = 1024,
	RING_TAIL = 6400, /* where the ring's last record ends */
	TURN = 77,
	NEXT_PSN = 500,
	NO_FLOW = 0, /* as the flow's MTU */
	BURST_BYTES = 8,
	BURST_LONG_BYTES = 1000,
};

#define ALL	      SEND_FORMS_ALL
#define ALL_BUT(form) (SEND_FORMS_ALL & ~(1u << (form)))

/* A SEND that fast_may_post accepted, and what it meets. */
struct form_case {
	enum qp_type type;
	uint32_t byte_count;
	uint32_t flags;
	uint32_t flow_mtu;
	uint32_t burst_bytes; /* of the burst that the queue pair is in; 0: none */
	unsigned forms;
	enum send_form expected;
};

static enum send_form choose(const struct form_case *form_case)
{
	static struct channel channel;
	const struct flow flow = {.mtu = form_case->flow_mtu, .channel = &channel};
	const struct sge sge = {0x1000, form_case->byte_count, 5};
	const struct send_request request = {
		.opcode = SEND_SEND, .flags = form_case->flags, .sge_count = 1, .sges = &sge};
	const uint32_t packet_count =
		form_case->byte_count ? (form_case->byte_count + MTU - 1) / MTU : 1;
	const struct send_burst burst = {
		.end = RING_TAIL,
		.turn = TURN,
		.payload_bytes = form_case->burst_bytes,
		.flags = form_case->flags,
		.next_psn = {NEXT_PSN},
		.streak = form_case->burst_bytes ? BURST_POSTS_PAYLOAD : 0,
	};
	const struct send_facts facts = {
		.type = form_case->type,
		.burst = &burst,
		.next_psn = {NEXT_PSN},
		.mtu = MTU,
		.flow = form_case->flow_mtu == NO_FLOW ? NULL : &flow,
		.turn = TURN,
		.forms = form_case->forms,
	};

	channel.out.tail = RING_TAIL;
	return send_form_choose(&facts, &request, packet_count);
}

static void expect_all(const struct form_case *cases, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (choose(&cases[i]) != cases[i].expected)
			fail_msg("case %u: form %d, not %d", i, choose(&cases[i]),
				 cases[i].expected);
}

static void test_size_and_type_choose_the_form(void **state)
{
	static const struct form_case cases[] = {
		/* type, bytes, flags, MTU of the flow, burst, forms, expected */
		{QP_RC, 0, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_RC, 8, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_UC, 8, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_UD, 8, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_RC, ZCOPY_BYTES_MIN - 1, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_RC, ZCOPY_BYTES_MIN, 0, MTU, 0, ALL, FORM_BY_REFERENCE},
		{QP_UD, ZCOPY_BYTES_MIN - 1, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_UD, ZCOPY_BYTES_MIN, 0, MTU, 0, ALL, FORM_BY_REFERENCE},
		{QP_UC, ZCOPY_BYTES_MIN, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_UC, MTU, 0, MTU, 0, ALL, FORM_SHORT},
		{QP_RC, MTU, 0, MTU, 0, ALL, FORM_BY_REFERENCE},
		{QP_RC, MTU + 1, 0, MTU, 0, ALL, FORM_BY_REFERENCE},
		{QP_RC, FAST_ZCOPY_BYTES_MAX, 0, MTU, 0, ALL, FORM_BY_REFERENCE},
		/* Inline bytes are the program's again when the post returns. */
		{QP_RC, ZCOPY_BYTES_MIN, SEND_INLINE, MTU, 0, ALL, FORM_SHORT},
		{QP_UD, ZCOPY_BYTES_MIN, SEND_INLINE, MTU, 0, ALL, FORM_SHORT},
		/* The path is narrower than the queue pair thinks. */
		{QP_RC, ZCOPY_BYTES_MIN, 0, MTU / 2, 0, ALL, FORM_SHORT},
		{QP_RC, MTU / 2 + 1, 0, MTU / 2, 0, ALL, FORM_PACKETS},
		{QP_UD, MTU / 2 + 1, 0, MTU / 2, 0, ALL, FORM_PACKETS},
		{QP_RC, MTU + 1, 0, MTU / 2, 0, ALL, FORM_PACKETS},
		{QP_RC, MTU, 0, 2 * MTU, 0, ALL, FORM_BY_REFERENCE},
		/* Not offloaded: softibd may relay one packet of a connection. */
		{QP_RC, 8, 0, NO_FLOW, 0, ALL, FORM_RELAYED},
		{QP_UC, 8, 0, NO_FLOW, 0, ALL, FORM_RELAYED},
		{QP_RC, MTU, 0, NO_FLOW, 0, ALL, FORM_RELAYED},
		{QP_RC, MTU + 1, 0, NO_FLOW, 0, ALL, FORM_PACKETS},
		{QP_UD, 8, 0, NO_FLOW, 0, ALL, FORM_PACKETS},
		{QP_RC, 8, 0, NO_FLOW, BURST_BYTES, ALL, FORM_RELAYED},
	};

	(void)state;
	expect_all(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_the_next_message_of_a_burst_is_its_payload(void **state)
{
	static const struct form_case cases[] = {
		{QP_RC, 8, 0, MTU, BURST_BYTES, ALL, FORM_PAYLOAD_ONLY},
		{QP_UC, 8, 0, MTU, BURST_BYTES, ALL, FORM_PAYLOAD_ONLY},
		{QP_UD, 8, 0, MTU, BURST_BYTES, ALL, FORM_PAYLOAD_ONLY},
		{QP_RC, 8, SEND_INLINE, MTU, BURST_BYTES, ALL, FORM_PAYLOAD_ONLY},
		{QP_RC, 7, 0, MTU, BURST_BYTES, ALL, FORM_SHORT},
		{QP_RC, 0, 0, MTU, BURST_BYTES, ALL, FORM_SHORT},
		{QP_UC, BURST_LONG_BYTES, 0, MTU, BURST_LONG_BYTES, ALL, FORM_PAYLOAD_ONLY},
		/* By reference is better at this size, if it is possible. */
		{QP_RC, BURST_LONG_BYTES, 0, MTU, BURST_LONG_BYTES, ALL, FORM_BY_REFERENCE},
		{QP_RC, BURST_LONG_BYTES, 0, MTU, BURST_LONG_BYTES, ALL_BUT(FORM_BY_REFERENCE),
		 FORM_PAYLOAD_ONLY},
	};

	(void)state;
	expect_all(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_forms_that_are_off_are_replaced(void **state)
{
	static const struct form_case cases[] = {
		{QP_RC, 8, 0, MTU, 0, ALL_BUT(FORM_SHORT), FORM_PACKETS},
		{QP_RC, 8, 0, MTU, BURST_BYTES, ALL_BUT(FORM_SHORT), FORM_PACKETS},
		{QP_RC, 8, 0, MTU, BURST_BYTES, ALL_BUT(FORM_PAYLOAD_ONLY), FORM_SHORT},
		{QP_RC, MTU, 0, MTU, 0, ALL_BUT(FORM_BY_REFERENCE), FORM_SHORT},
		{QP_RC, MTU + 1, 0, MTU, 0, ALL_BUT(FORM_BY_REFERENCE), FORM_PACKETS},
		{QP_RC, MTU, 0, MTU, 0, ALL_BUT(FORM_SHORT), FORM_BY_REFERENCE},
		{QP_RC, 8, 0, MTU, 0, ALL_BUT(FORM_RELAYED), FORM_SHORT},
		{QP_RC, 8, 0, MTU, 0, 0, FORM_PACKETS},
		{QP_RC, MTU + 1, 0, MTU, 0, 0, FORM_PACKETS},
	};

	(void)state;
	expect_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/* What must hold for every case. relay_send_post sees to the setting for relayed requests. */
static void check(const struct form_case *form_case, enum send_form form)
{
	const bool has_flow = form_case->flow_mtu != NO_FLOW;
	const bool is_single = form_case->byte_count <= MTU;

	assert_true(form < FORM_COUNT);
	assert_true(form == FORM_PACKETS || form == FORM_RELAYED || form_case->forms >> form & 1);
	assert_true(form == FORM_PACKETS || has_flow == (form != FORM_RELAYED));
	assert_true(is_single || form == FORM_PACKETS || form == FORM_BY_REFERENCE);
	if (form == FORM_SHORT || form == FORM_PAYLOAD_ONLY)
		assert_true(form_case->byte_count <= form_case->flow_mtu);
	if (form == FORM_PAYLOAD_ONLY)
		assert_int_equal(form_case->byte_count, form_case->burst_bytes);
	if (form == FORM_BY_REFERENCE) {
		assert_true(form_case->type != QP_UC && !(form_case->flags & SEND_INLINE));
		assert_true(form_case->byte_count >= ZCOPY_BYTES_MIN);
		/* The receiver counts packets by the path's MTU. */
		assert_true(MTU <= form_case->flow_mtu);
	}
}

static void test_every_choice_is_possible(void **state)
{
	static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};
	static const uint32_t sizes[] = {0, 8, 511, 512, 513, 1000, MTU, MTU + 1, 100000};
	static const uint32_t mtus[] = {NO_FLOW, 256, 512, MTU, 4096};
	static const uint32_t bursts[] = {0, BURST_BYTES, BURST_LONG_BYTES};
	static const uint32_t flags[] = {0, SEND_INLINE, SEND_SOLICITED | SEND_SIGNALED};
	const unsigned combinations = 3 * 9 * 5 * 3 * 3;

	(void)state;
	for (unsigned i = 0; i < combinations; i++)
		for (unsigned forms = 0; forms <= ALL; forms++) {
			const struct form_case form_case = {
				.type = types[i % 3],
				.byte_count = sizes[i / 3 % 9],
				.flow_mtu = mtus[i / 27 % 5],
				.burst_bytes = bursts[i / 135 % 3],
				.flags = flags[i / 405],
				.forms = forms,
			};

			/* Only reliable connections have SENDs of several packets here. */
			if (form_case.byte_count > MTU &&
			    (form_case.type != QP_RC || form_case.flags & SEND_INLINE))
				continue;
			check(&form_case, choose(&form_case));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_and_type_choose_the_form),
		cmocka_unit_test(test_the_next_message_of_a_burst_is_its_payload),
		cmocka_unit_test(test_forms_that_are_off_are_replaced),
		cmocka_unit_test(test_every_choice_is_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
