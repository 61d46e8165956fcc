/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of a capture: LIDs, queue pair numbers, opcodes and management classes. */
#include "daemon/packets/capture_filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/mad.h"
#include "wire/opcode.h"
#include "wire/pkey.h"
#include "wire/transport_headers.h"

enum { OPCODE_COUNT = 256, LID_MAX = 0xffff };

/* clang-format off */
static const struct {
	const char *name;
	uint8_t management_class;
} class_names[] = {
	{"smp-lid",      0x01},
	{"smp-directed", 0x81},
	{"sa",           0x03},
	{"performance",  0x04},
	{"baseboard",    0x05},
	{"device",       0x06},
	{"cm",           0x07},
	{"snmp",         0x08},
	{"vendor",       0x09},
	{"congestion",   0x21},
};
/* clang-format on */

static int refuse(char *reason, size_t reason_bytes, const char *what, const char *text)
{
	snprintf(reason, reason_bytes, "%.40s is not a valid %s", text, what);
	return -EINVAL;
}

static int read_numbers(const json_t *array, uint32_t number_max, const char *what,
			struct filter_numbers *ret_numbers, char *reason, size_t reason_bytes)
{
	size_t index;
	const json_t *value;

	json_array_foreach (array, index, value) {
		json_int_t number = json_integer_value(value);
		char text[32];

		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, number);
		if (!json_is_integer(value) || number < 0 || number > number_max)
			return refuse(reason, reason_bytes, what, text);
		if (ret_numbers->count == FILTER_NUMBERS_MAX) {
			snprintf(reason, reason_bytes, "at most %d entries of each kind",
				 FILTER_NUMBERS_MAX);
			return -EINVAL;
		}
		ret_numbers->numbers[ret_numbers->count++] = (uint32_t)number;
	}
	return 0;
}

static bool parse_byte(const char *text, unsigned *ret_byte)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);

	if (!isdigit((unsigned char)text[0]) || *end || number > 255)
		return false;
	*ret_byte = (unsigned)number;
	return true;
}

/* A name selects all opcodes that begin with it: RC, UD_SEND, RC_ATOMIC. */
static int read_opcode(const char *text, struct capture_filter *filter)
{
	size_t length = strlen(text);
	unsigned byte;
	bool is_known = false;

	if (parse_byte(text, &byte)) {
		filter->opcodes[byte] = true;
		return 0;
	}
	for (unsigned code = 0; code < OPCODE_COUNT; code++) {
		const char *name = opcode_info((uint8_t)code)->name;

		if (!name || strncasecmp(name, text, length) != 0 ||
		    (name[length] && name[length] != '_'))
			continue;
		filter->opcodes[code] = true;
		is_known = true;
	}
	return is_known ? 0 : -EINVAL;
}

static int read_class(const char *text, struct capture_filter *filter)
{
	unsigned byte;

	if (parse_byte(text, &byte)) {
		filter->classes[byte] = true;
		return 0;
	}
	if (strcasecmp(text, "any") == 0) {
		memset(filter->classes, true, sizeof(filter->classes));
		return 0;
	}
	for (unsigned index = 0; index < ARRAY_COUNT(class_names); index++) {
		if (strcasecmp(class_names[index].name, text) == 0) {
			filter->classes[class_names[index].management_class] = true;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_names(const json_t *array, const char *what,
		      int (*read)(const char *text, struct capture_filter *filter),
		      struct capture_filter *filter, char *reason, size_t reason_bytes)
{
	size_t index;
	const json_t *value;

	json_array_foreach (array, index, value) {
		const char *text = json_string_value(value);

		if (!text || !*text || read(text, filter) != 0)
			return refuse(reason, reason_bytes, what, text ? text : "that");
	}
	return 0;
}

int capture_filter_read(const json_t *request, struct capture_filter *ret_filter, char *ret_reason,
			size_t reason_bytes)
{
	const json_t *opcodes = json_object_get(request, "opcodes");
	const json_t *classes = json_object_get(request, "mad_classes");
	struct capture_filter filter = {.wants_opcodes = json_array_size(opcodes) != 0,
					.wants_classes = json_array_size(classes) != 0};
	int error = read_numbers(json_object_get(request, "lids"), LID_MAX, "LID", &filter.lids,
				 ret_reason, reason_bytes);

	if (!error)
		error = read_numbers(json_object_get(request, "qpns"), QPN_MAX, "queue pair number",
				     &filter.qpns, ret_reason, reason_bytes);
	if (!error)
		error = read_names(opcodes, "opcode", read_opcode, &filter, ret_reason,
				   reason_bytes);
	if (!error)
		error = read_names(classes, "management class", read_class, &filter, ret_reason,
				   reason_bytes);
	if (!error)
		*ret_filter = filter;
	return error;
}

static bool names_one(const struct filter_numbers *numbers, uint32_t first, uint32_t second)
{
	for (unsigned index = 0; index < numbers->count; index++)
		if (numbers->numbers[index] == first || numbers->numbers[index] == second)
			return true;
	return numbers->count == 0;
}

/* MADs are UD packets between QP0 or QP1, with the class in their second byte. */
static bool is_mad_of(const struct capture_filter *filter, const uint8_t *bth, size_t byte_count)
{
	uint32_t qpn = get_be24(bth + 5);

	if (bth[0] >> 5 != TRANSPORT_UD >> 5 || (qpn != QPN_SMI && qpn != QPN_GSI) ||
	    byte_count < BTH_BYTES + DETH_BYTES + MAD_HEADER_BYTES)
		return false;
	return filter->classes[bth[BTH_BYTES + DETH_BYTES + 1]];
}

bool capture_filter_matches(const struct capture_filter *filter, const uint8_t *bytes,
			    size_t byte_count)
{
	struct lrh lrh;

	if (!lrh_decode(bytes, byte_count, &lrh) || !names_one(&filter->lids, lrh.slid, lrh.dlid))
		return false;
	if (!filter->qpns.count && !filter->wants_opcodes && !filter->wants_classes)
		return true;

	size_t offset = LRH_BYTES + (lrh.lnh == LNH_GLOBAL ? GRH_BYTES : 0);

	if (lrh.lnh < LNH_LOCAL || byte_count < offset + BTH_BYTES)
		return false;

	const uint8_t *bth = bytes + offset;
	uint32_t qpn = get_be24(bth + 5), source_qpn = qpn;

	byte_count -= offset;
	if (opcode_info(bth[0])->has_deth && byte_count >= BTH_BYTES + DETH_BYTES) {
		size_t deth = BTH_BYTES + (opcode_info(bth[0])->has_rdeth ? RDETH_BYTES : 0);

		if (byte_count >= deth + DETH_BYTES)
			source_qpn = get_be24(bth + deth + 5);
	}
	if (!names_one(&filter->qpns, qpn, source_qpn))
		return false;
	if (filter->wants_opcodes && !filter->opcodes[bth[0]])
		return false;
	return !filter->wants_classes || is_mad_of(filter, bth, byte_count);
}
