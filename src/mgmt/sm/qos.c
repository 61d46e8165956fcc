/* SPDX-License-Identifier: Apache-2.0 */
/* Quality of service: SLs of paths, and VLs of SLs (management 3.6, 9.4). */
#include "mgmt/sm/qos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/subnet/partitions.h"

enum { LINE_BYTES = 512, VL_MAX = 14, VL_DROP = 15, OPERATIONAL_ALL = 5 };

#define SDP_SERVICE_FIRST 0x10000u

struct reader {
	struct qos *qos;
	unsigned line;
	struct policy_error *error;
};

#define fail(reader, ...) policy_error_set((reader)->error, (reader)->line, __VA_ARGS__)

void qos_init(struct qos *qos)
{
	*qos = (struct qos){0};
	for (uint8_t sl = 0; sl < SL_COUNT; sl++)
		qos->sl_to_vl[sl] = sl == SL_COUNT - 1 ? 7 : sl;
}

/* Without blanks at both ends. */
static char *trimmed(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = '\0';
	return text;
}

static bool read_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	end += strspn(end, " \t");
	return end != text && *end == '\0' && !errno && *ret_number <= max && !strchr(text, '-');
}

static bool read_range(char *text, uint64_t max, uint64_t *ret_first, uint64_t *ret_last)
{
	char *dash = strchr(text, '-');

	if (dash)
		*dash = '\0';
	if (!read_number(trimmed(text), max, ret_first))
		return false;
	*ret_last = *ret_first;
	return !dash || (read_number(trimmed(dash + 1), max, ret_last) && *ret_last >= *ret_first);
}

/* "pkey 0x1", "service-id 1-2", "port-num 1-2" */
static int read_condition(struct reader *reader, char *text, struct qos_rule *rule)
{
	char *word = trimmed(text);
	size_t length = strcspn(word, " \t");
	char *rest = trimmed(word + length);
	uint64_t first;
	uint64_t last;

	if (strncmp(word, "pkey", length) == 0 && length == 4) {
		if (!read_number(rest, 0xffff, &first))
			return fail(reader, "'%s' is no P_Key", rest);
		rule->names_pkey = true;
		rule->pkey = first & 0x7fff;
		return 0;
	}
	if (strncmp(word, "service-id", length) == 0 && length == 10) {
		if (!read_range(rest, UINT64_MAX, &first, &last))
			return fail(reader, "'%s' is not a service id", rest);
	} else if (strncmp(word, "port-num", length) == 0 && length == 8) {
		if (!read_range(rest, 0xffff, &first, &last))
			return fail(reader, "'%s' is not a port number", rest);
		first += SDP_SERVICE_FIRST;
		last += SDP_SERVICE_FIRST;
	} else {
		return fail(reader, "'%s' is none of pkey, service-id, port-num", word);
	}
	rule->names_service = true;
	rule->service_first = first;
	rule->service_last = last;
	return 0;
}

static int read_rule(struct reader *reader, char *subject, const char *level)
{
	struct qos *qos = reader->qos;
	struct qos_rule rule = {0};
	char *condition = strchr(subject, ',');
	uint64_t sl;
	int error = 0;

	if (!read_number(level, SL_COUNT - 1, &sl))
		return fail(reader, "'%s' is not a service level", level);
	rule.sl = (uint8_t)sl;
	if (condition)
		*condition++ = '\0';
	subject = trimmed(subject);
	if (strcmp(subject, "default") == 0 && !condition) {
		qos->has_default_sl = true;
		qos->default_sl = rule.sl;
		return 0;
	}
	if (strcmp(subject, "ipoib") == 0) {
		rule.names_pkey = true;
		rule.pkey = PKEY_DEFAULT_LIMITED;
	} else if (strcmp(subject, "sdp") == 0) {
		rule.names_service = true;
		rule.service_first = SDP_SERVICE_FIRST;
		rule.service_last = SDP_SERVICE_FIRST + 0xffff;
	} else if (strcmp(subject, "any") != 0 || !condition) {
		return fail(reader, "'%s' is none of default, any, ipoib, sdp", subject);
	}
	if (condition)
		error = read_condition(reader, condition, &rule);
	if (error)
		return error;
	if (qos->rule_count == QOS_RULES_MAX)
		return fail(reader, "there are more than %d rules", QOS_RULES_MAX);
	qos->rules[qos->rule_count++] = rule;
	return 0;
}

static int read_map(struct reader *reader, char *text)
{
	unsigned sl = 0;
	char *next = NULL;

	for (char *word = strtok_r(text, ",", &next); word; word = strtok_r(NULL, ",", &next)) {
		uint64_t vl;

		if (sl == SL_COUNT || !read_number(trimmed(word), VL_DROP, &vl))
			return fail(reader, "sl2vl needs 16 VLs from 0 to 15");
		reader->qos->sl_to_vl[sl++] = (uint8_t)vl;
	}
	return sl == SL_COUNT ? 0 : fail(reader, "sl2vl needs 16 VLs, not %u", sl);
}

static int read_weights(struct reader *reader, char *text,
			struct vl_arbitration_entry entries[static QOS_WEIGHTS_MAX],
			unsigned *entry_count)
{
	char *next = NULL;

	*entry_count = 0;
	for (char *word = strtok_r(text, ",", &next); word; word = strtok_r(NULL, ",", &next)) {
		char *colon = strchr(word, ':');
		uint64_t vl;
		uint64_t weight;

		if (*entry_count == QOS_WEIGHTS_MAX || !colon)
			return fail(reader, "'%s': weights are VL:WEIGHT, at most %d of them", word,
				    QOS_WEIGHTS_MAX);
		*colon = '\0';
		if (!read_number(trimmed(word), VL_MAX, &vl) ||
		    !read_number(trimmed(colon + 1), 255, &weight))
			return fail(reader, "a VL is 0 to 14 and a weight 0 to 255");
		entries[(*entry_count)++] =
			(struct vl_arbitration_entry){.vl = (uint8_t)vl, .weight = (uint8_t)weight};
	}
	return 0;
}

/* sl2vl, vlarb_high, vlarb_low, high_limit. 1: none of them. */
static int read_lanes(struct reader *reader, char *line)
{
	struct qos *qos = reader->qos;
	size_t length = strcspn(line, " \t");
	char *rest = line + length;
	uint64_t limit;

	if (strncmp(line, "sl2vl", length) == 0 && length == 5) {
		qos->sets_lanes = true;
		return read_map(reader, rest);
	}
	if (strncmp(line, "vlarb_high", length) == 0 && length == 10) {
		qos->sets_lanes = true;
		return read_weights(reader, rest, qos->high, &qos->high_count);
	}
	if (strncmp(line, "vlarb_low", length) == 0 && length == 9) {
		qos->sets_lanes = true;
		return read_weights(reader, rest, qos->low, &qos->low_count);
	}
	if (strncmp(line, "high_limit", length) != 0 || length != 10)
		return 1;
	if (!read_number(trimmed(rest), 255, &limit))
		return fail(reader, "high_limit is 0 to 255");
	qos->high_limit = (uint8_t)limit;
	return 0;
}

static int read_line(struct reader *reader, char *line)
{
	char *comment = strchr(line, '#');
	char *colon;
	int result;

	if (comment)
		*comment = '\0';
	line = trimmed(line);
	if (!*line || strcmp(line, "qos-ulps") == 0 || strcmp(line, "end-qos-ulps") == 0)
		return 0;
	result = read_lanes(reader, line);
	if (result != 1)
		return result;
	colon = strrchr(line, ':');
	if (!colon)
		return fail(reader, "a ':' and a service level are missing after '%s'", line);
	*colon = '\0';
	return read_rule(reader, line, trimmed(colon + 1));
}

int qos_parse(struct qos *qos, const char *text, size_t text_bytes, struct policy_error *ret_error)
{
	struct reader reader = {.qos = qos, .error = ret_error};
	const char *end = text + text_bytes;
	int error = 0;

	qos_init(qos);
	while (!error && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		char line[LINE_BYTES];

		reader.line++;
		if (length >= sizeof(line)) {
			error = fail(&reader, "a line of more than %d characters", LINE_BYTES - 1);
			break;
		}
		memcpy(line, text, length);
		line[length] = '\0';
		error = read_line(&reader, line);
		text = newline ? newline + 1 : end;
	}
	return error;
}

static bool rule_fits(const struct qos_rule *rule, uint16_t pkey, uint64_t service_id)
{
	if (rule->names_pkey && rule->pkey != (pkey & 0x7fff))
		return false;
	return !rule->names_service ||
	       (service_id >= rule->service_first && service_id <= rule->service_last);
}

uint8_t qos_path_sl(const struct qos *qos, const struct partitions *partitions, uint16_t pkey,
		    uint64_t service_id)
{
	const struct partition *partition = partitions_find(partitions, pkey);

	for (unsigned i = 0; i < qos->rule_count; i++) {
		if (rule_fits(&qos->rules[i], pkey, service_id))
			return qos->rules[i].sl;
	}
	if (partition && (partition->characteristics.sl || !qos->has_default_sl))
		return partition->characteristics.sl;
	return qos->default_sl;
}

bool qos_has_weights(const struct qos *qos)
{
	return qos->low_count || qos->high_count;
}

unsigned qos_lane_count(uint8_t operational_vls)
{
	if (operational_vls == 0)
		return 1;
	return operational_vls >= OPERATIONAL_ALL ? VL_DROP : 1u << (operational_vls - 1);
}

uint8_t qos_fold(uint8_t vl, uint8_t operational_vls)
{
	if (vl == VL_DROP || operational_vls == 0 || operational_vls >= OPERATIONAL_ALL)
		return vl;
	return vl & (uint8_t)((1u << (operational_vls - 1)) - 1);
}

uint8_t qos_lane(const struct qos *qos, uint8_t sl, uint8_t operational_vls)
{
	return qos_fold(qos->sl_to_vl[sl], operational_vls);
}
