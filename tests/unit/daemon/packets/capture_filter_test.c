/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of captures: what each kind lets through, how they combine, and invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "daemon/packets/capture_filter.h"
#include "wire/mad.h"
#include "wire/packet.h"
#include "wire/pkey.h"

static uint8_t bytes[512];
static size_t byte_count;

static void make_packet(uint8_t opcode, uint32_t qpn, uint32_t source_qpn, uint8_t mad_class)
{
	static uint8_t payload[MAD_BYTES];
	struct packet packet = {
		.lrh = {.dlid = 5, .slid = 3},
		.bth = {.opcode = opcode, .pkey = PKEY_DEFAULT_FULL, .destination_qpn = qpn},
		.deth = {.qkey = QKEY_GSI, .source_qpn = source_qpn},
		.packet_count = 1,
	};

	payload[0] = 1;
	payload[1] = mad_class;
	packet_set_payload(&packet, payload, sizeof(payload));
	byte_count = packet_encode(&packet, bytes);
}

static bool matches(const char *request_text)
{
	struct capture_filter filter;
	char reason[128];
	json_t *request = json_loads(request_text, 0, NULL);

	assert_non_null(request);
	assert_int_equal(capture_filter_read(request, &filter, reason, sizeof(reason)), 0);
	json_decref(request);
	return capture_filter_matches(&filter, bytes, byte_count);
}

static void test_no_filter_lets_everything_through(void **state)
{
	(void)state;
	make_packet(TRANSPORT_RC | OPCODE_SEND_ONLY, 17, 0, 0);
	assert_true(matches("{}"));
	assert_true(matches("{\"lids\":[],\"opcodes\":[]}"));
}

static void test_lids_match_either_end(void **state)
{
	(void)state;
	make_packet(TRANSPORT_RC | OPCODE_SEND_ONLY, 17, 0, 0);
	assert_true(matches("{\"lids\":[3]}"));
	assert_true(matches("{\"lids\":[5]}"));
	assert_true(matches("{\"lids\":[9,5]}"));
	assert_false(matches("{\"lids\":[4]}"));
}

static void test_queue_pairs_match_destination_and_known_source(void **state)
{
	(void)state;
	make_packet(TRANSPORT_UD | OPCODE_SEND_ONLY, 17, 23, 0);
	assert_true(matches("{\"qpns\":[17]}"));
	assert_true(matches("{\"qpns\":[23]}"));
	assert_false(matches("{\"qpns\":[18]}"));
	make_packet(TRANSPORT_RC | OPCODE_SEND_ONLY, 17, 23, 0);
	assert_false(matches("{\"qpns\":[23]}"));
}

static void test_opcodes_match_by_name_beginning_and_number(void **state)
{
	(void)state;
	make_packet(TRANSPORT_RC | OPCODE_READ_RESPONSE_ONLY, 17, 0, 0);
	assert_true(matches("{\"opcodes\":[\"RC_READ_RESPONSE_ONLY\"]}"));
	assert_true(matches("{\"opcodes\":[\"rc_read\"]}"));
	assert_true(matches("{\"opcodes\":[\"RC\"]}"));
	assert_true(matches("{\"opcodes\":[\"UD\",\"0x10\"]}"));
	assert_true(matches("{\"opcodes\":[\"16\"]}"));
	assert_false(matches("{\"opcodes\":[\"RC_SEND\"]}"));
	assert_false(matches("{\"opcodes\":[\"UC\"]}"));
}

static void test_classes_match_mads_only(void **state)
{
	(void)state;
	make_packet(TRANSPORT_UD | OPCODE_SEND_ONLY, QPN_GSI, QPN_GSI, MAD_CLASS_PERFORMANCE);
	assert_true(matches("{\"mad_classes\":[\"performance\"]}"));
	assert_true(matches("{\"mad_classes\":[\"any\"]}"));
	assert_true(matches("{\"mad_classes\":[\"0x04\"]}"));
	assert_false(matches("{\"mad_classes\":[\"sa\"]}"));
	make_packet(TRANSPORT_UD | OPCODE_SEND_ONLY, 17, QPN_GSI, MAD_CLASS_PERFORMANCE);
	assert_false(matches("{\"mad_classes\":[\"any\"]}"));
	make_packet(TRANSPORT_RC | OPCODE_SEND_ONLY, QPN_GSI, 0, MAD_CLASS_PERFORMANCE);
	assert_false(matches("{\"mad_classes\":[\"any\"]}"));
}

static void test_filters_of_several_kinds_must_all_match(void **state)
{
	(void)state;
	make_packet(TRANSPORT_UD | OPCODE_SEND_ONLY, 17, 23, 0);
	assert_true(matches("{\"lids\":[3],\"qpns\":[17],\"opcodes\":[\"UD\"]}"));
	assert_false(matches("{\"lids\":[3],\"qpns\":[17],\"opcodes\":[\"RC\"]}"));
	assert_false(matches("{\"lids\":[1],\"qpns\":[17],\"opcodes\":[\"UD\"]}"));
}

static void test_packets_cut_short_never_match_what_they_lack(void **state)
{
	(void)state;
	make_packet(TRANSPORT_UD | OPCODE_SEND_ONLY, QPN_GSI, QPN_GSI, MAD_CLASS_PERFORMANCE);
	for (byte_count = 0; byte_count < LRH_BYTES + BTH_BYTES; byte_count++) {
		assert_false(matches("{\"qpns\":[1]}"));
		assert_false(matches("{\"mad_classes\":[\"any\"]}"));
	}
	byte_count = LRH_BYTES + BTH_BYTES + DETH_BYTES + 1;
	assert_false(matches("{\"mad_classes\":[\"any\"]}"));
}

static void test_what_is_no_filter_is_refused(void **state)
{
	static const char *const requests[] = {
		"{\"lids\":[65536]}",	     "{\"lids\":[-1]}",	       "{\"lids\":[\"x\"]}",
		"{\"qpns\":[16777216]}",     "{\"opcodes\":[\"XX\"]}", "{\"opcodes\":[\"RC_SEN\"]}",
		"{\"opcodes\":[\"256\"]}",   "{\"opcodes\":[\"\"]}",   "{\"opcodes\":[1]}",
		"{\"mad_classes\":[\"x\"]}",
	};

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(requests); index++) {
		struct capture_filter filter;
		char reason[128] = "";
		json_t *request = json_loads(requests[index], 0, NULL);

		assert_non_null(request);
		assert_int_equal(capture_filter_read(request, &filter, reason, sizeof(reason)),
				 -EINVAL);
		assert_string_not_equal(reason, "");
		json_decref(request);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_filter_lets_everything_through),
		cmocka_unit_test(test_lids_match_either_end),
		cmocka_unit_test(test_queue_pairs_match_destination_and_known_source),
		cmocka_unit_test(test_opcodes_match_by_name_beginning_and_number),
		cmocka_unit_test(test_classes_match_mads_only),
		cmocka_unit_test(test_filters_of_several_kinds_must_all_match),
		cmocka_unit_test(test_packets_cut_short_never_match_what_they_lack),
		cmocka_unit_test(test_what_is_no_filter_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
