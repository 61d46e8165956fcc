/* SPDX-License-Identifier: Apache-2.0 */
/* The whole opcode table, all 256 codes, against a second transcription of the specification's rows
 * (transport 2.1, 2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/attributes.h"
#include "wire/opcode.h"

/* Headers after the BTH in wire order; NULL where the transport has no such operation. */
struct row {
	uint8_t code;
	const char *name;
	const char *rc;
	const char *uc;
	const char *rd;
	const char *xrc;
	bool takes_receive;
};

/* clang-format off */
static const struct row rows[] = {
	{0x00, "SEND_FIRST", "P", "P", "RDETH DETH P", "XRCETH P", true},
	{0x01, "SEND_MIDDLE", "P", "P", "RDETH DETH P", "XRCETH P", false},
	{0x02, "SEND_LAST", "P", "P", "RDETH DETH P", "XRCETH P", false},
	{0x03, "SEND_LAST_IMMEDIATE", "ImmDt P", "ImmDt P", "RDETH DETH ImmDt P", "XRCETH ImmDt P", false},
	{0x04, "SEND_ONLY", "P", "P", "RDETH DETH P", "XRCETH P", true},
	{0x05, "SEND_ONLY_IMMEDIATE", "ImmDt P", "ImmDt P", "RDETH DETH ImmDt P", "XRCETH ImmDt P", true},
	{0x06, "WRITE_FIRST", "RETH P", "RETH P", "RDETH DETH RETH P", "XRCETH RETH P", false},
	{0x07, "WRITE_MIDDLE", "P", "P", "RDETH DETH P", "XRCETH P", false},
	{0x08, "WRITE_LAST", "P", "P", "RDETH DETH P", "XRCETH P", false},
	{0x09, "WRITE_LAST_IMMEDIATE", "ImmDt P", "ImmDt P", "RDETH DETH ImmDt P", "XRCETH ImmDt P", true},
	{0x0a, "WRITE_ONLY", "RETH P", "RETH P", "RDETH DETH RETH P", "XRCETH RETH P", false},
	{0x0b, "WRITE_ONLY_IMMEDIATE", "RETH ImmDt P", "RETH ImmDt P", "RDETH DETH RETH ImmDt P", "XRCETH RETH ImmDt P", true},
	{0x0c, "READ_REQUEST", "RETH", NULL, "RDETH DETH RETH", "XRCETH RETH", false},
	{0x0d, "READ_RESPONSE_FIRST", "AETH P", NULL, "RDETH AETH P", "AETH P", false},
	{0x0e, "READ_RESPONSE_MIDDLE", "P", NULL, "RDETH P", "P", false},
	{0x0f, "READ_RESPONSE_LAST", "AETH P", NULL, "RDETH AETH P", "AETH P", false},
	{0x10, "READ_RESPONSE_ONLY", "AETH P", NULL, "RDETH AETH P", "AETH P", false},
	{0x11, "ACKNOWLEDGE", "AETH", NULL, "RDETH AETH", "AETH", false},
	{0x12, "ATOMIC_ACKNOWLEDGE", "AETH AtomicAckETH", NULL, "RDETH AETH AtomicAckETH", "AETH AtomicAckETH", false},
	{0x13, "COMPARE_SWAP", "AtomicETH", NULL, "RDETH DETH AtomicETH", "XRCETH AtomicETH", false},
	{0x14, "FETCH_ADD", "AtomicETH", NULL, "RDETH DETH AtomicETH", "XRCETH AtomicETH", false},
	{0x15, "RESYNC", NULL, NULL, "RDETH DETH", NULL, false},
	{0x16, "SEND_LAST_INVALIDATE", "IETH P", NULL, NULL, "XRCETH IETH P", false},
	{0x17, "SEND_ONLY_INVALIDATE", "IETH P", NULL, NULL, "XRCETH IETH P", true},
	{0x1c, "FLUSH", "FETH RETH", NULL, "RDETH DETH FETH RETH", "XRCETH FETH RETH", false},
	{0x1d, "ATOMIC_WRITE", "RETH P", NULL, "RDETH DETH RETH P", "XRCETH RETH P", false},
};

/* clang-format on */

static const struct row *row_of(unsigned code)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].code == code)
			return &rows[i];
	return NULL;
}

/* The row of the table, in the notation of the rows above. */
static void describe(const struct opcode_info *info, size_t text_bytes, char *ret_text)
{
	snprintf(ret_text, text_bytes, "%s%s%s%s%s%s%s%s%s%s%s", info->has_rdeth ? " RDETH" : "",
		 info->has_xrceth ? " XRCETH" : "", info->has_deth ? " DETH" : "",
		 info->has_feth ? " FETH" : "", info->has_reth ? " RETH" : "",
		 info->has_atomic_eth ? " AtomicETH" : "", info->has_aeth ? " AETH" : "",
		 info->has_atomic_ack_eth ? " AtomicAckETH" : "",
		 info->has_immediate ? " ImmDt" : "", info->has_ieth ? " IETH" : "",
		 info->has_payload ? " P" : "");
}

static unsigned bytes_of(const char *headers)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} sizes[] = {{"RDETH", 4}, {"DETH", 8},	      {"XRCETH", 4}, {"FETH", 4},
		     {"RETH", 16}, {"AtomicETH", 28}, {"AETH", 4},   {"AtomicAckETH", 8},
		     {"ImmDt", 4}, {"IETH", 4},	      {"P", 0}};
	unsigned bytes = 0;

	while (*headers) {
		size_t length = strcspn(headers, " ");
		bool is_known = false;

		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
			if (strlen(sizes[i].name) == length &&
			    !strncmp(sizes[i].name, headers, length)) {
				bytes += sizes[i].bytes;
				is_known = true;
			}
		assert_true(is_known);
		headers += length;
		headers += *headers == ' ';
	}
	return bytes;
}

static void expect_entry(unsigned code, const char *transport, const char *operation,
			 const char *headers)
{
	const struct opcode_info *info = opcode_info((uint8_t)code);
	char name[64];
	char text[120];

	if (!headers) {
		assert_null(info->name);
		assert_int_equal(info->kind, OPCODE_KIND_NONE);
		assert_int_equal(info->eth_bytes, 0);
		assert_false(info->has_payload);
		return;
	}
	snprintf(name, sizeof(name), "%s_%s", transport, operation);
	assert_string_equal(info->name, name);
	describe(info, sizeof(text), text);
	assert_string_equal(text + 1, headers);
	assert_int_equal(info->eth_bytes, bytes_of(headers));
	assert_true(info->kind != OPCODE_KIND_NONE);
}

static void test_every_code_has_the_headers_of_its_row(void **state)
{
	(void)state;
	for (unsigned low = 0; low < 0x20; low++) {
		const struct row *row = row_of(low);
		const struct row none = {.name = ""};

		if (!row)
			row = &none;
		expect_entry(TRANSPORT_RC | low, "RC", row->name, row->rc);
		expect_entry(TRANSPORT_UC | low, "UC", row->name, row->uc);
		expect_entry(TRANSPORT_RD | low, "RD", row->name, row->rd);
		expect_entry(TRANSPORT_XRC | low, "XRC", row->name, row->xrc);
		expect_entry(TRANSPORT_UD | low, "UD", row->name,
			     low == 4	? "DETH P"
			     : low == 5 ? "DETH ImmDt P"
					: NULL);
		expect_entry(0xc0 | low, "", "", NULL);
		expect_entry(0xe0 | low, "", "", NULL);
		if (low)
			expect_entry(TRANSPORT_CNP | low, "", "", NULL);
	}
	assert_string_equal(opcode_info(TRANSPORT_CNP)->name, "CNP");
	assert_int_equal(opcode_info(TRANSPORT_CNP)->kind, OPCODE_KIND_CONGESTION);
	assert_int_equal(opcode_info(TRANSPORT_CNP)->eth_bytes, 0);
}

static void test_positions_follow_from_the_names(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 256; code++) {
		const struct opcode_info *info = opcode_info((uint8_t)code);

		if (!info->name)
			continue;

		bool is_first = strstr(info->name, "_FIRST");
		bool is_middle = strstr(info->name, "_MIDDLE");
		bool is_last = strstr(info->name, "_LAST");

		assert_int_equal(info->starts_message, !is_middle && !is_last);
		assert_int_equal(info->ends_message, !is_middle && !is_first);
	}
}

static void test_receives_and_responses_are_marked(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 256; code++) {
		const struct opcode_info *info = opcode_info((uint8_t)code);
		const struct row *row = row_of(code & 0x1f);

		if (!info->name || code == TRANSPORT_CNP)
			continue;
		assert_int_equal(info->takes_receive, row->takes_receive);
		assert_int_equal(info->is_response, (code & 0x1f) >= 0x0d && (code & 0x1f) <= 0x12);
		assert_int_equal(opcode_transport((uint8_t)code), code & 0xe0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_the_headers_of_its_row),
		cmocka_unit_test(test_positions_follow_from_the_names),
		cmocka_unit_test(test_receives_and_responses_are_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
