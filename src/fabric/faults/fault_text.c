/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a link's faults. */
#include "fabric/faults/fault_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind { SETTING_CHANCE, SETTING_TIME, SETTING_RATE };

#define SETTING(member) offsetof(struct fault_settings, member)

/* clang-format off */
static const struct setting {
	const char *name;
	enum setting_kind kind;
	size_t offset; /* of a uint64_t */
} settings_table[] = {
	{"drop",           SETTING_CHANCE, SETTING(drop)},
	{"corrupt",        SETTING_CHANCE, SETTING(corrupt)},
	{"corrupt-inside", SETTING_CHANCE, SETTING(corrupt_inside)},
	{"duplicate",      SETTING_CHANCE, SETTING(duplicate)},
	{"reorder",        SETTING_CHANCE, SETTING(reorder)},
	{"credit-loss",    SETTING_CHANCE, SETTING(credit_loss)},
	{"delay",          SETTING_TIME,   SETTING(delay)},
	{"jitter",         SETTING_TIME,   SETTING(jitter)},
	{"rate",           SETTING_RATE,   SETTING(bits_per_second)},
};

static const struct unit {
	const char *name;
	double factor;
} time_units[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9},
}, rate_units[] = {
	{"bit", 1}, {"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9},
};

static const struct {
	const char *name;
	enum fault_action action;
} action_names[] = {
	{"drop",           FAULT_DROP},
	{"corrupt",        FAULT_CORRUPT},
	{"corrupt-inside", FAULT_CORRUPT_INSIDE},
	{"duplicate",      FAULT_DUPLICATE},
	{"reorder",        FAULT_REORDER},
	{"credit-loss",    FAULT_CREDIT_LOSS},
};
/* clang-format on */

static const char bad_chance[] = "is not a probability: a number from 0 to 1, or up to 100%";
static const char bad_time[] = "is not a time: a number with ns, us, ms or s, at most an hour";
static const char bad_rate[] =
	"is not a rate: a number with bit, kbit, Mbit or Gbit, at least 1kbit";
static const char bad_flap[] = "is not a flap: time up and time down, as in 1s/200ms";

static bool parse_chance(const char *text, uint64_t *ret_chance)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text)
		return false;
	if (strcmp(end, "%") == 0) {
		value /= 100;
		end++;
	}
	/* Written so that NaN fails the test. */
	if (*end || !(value >= 0 && value <= 1))
		return false;
	*ret_chance = (uint64_t)(value * (double)FAULT_CERTAIN + 0.5);
	/* A chance too small to represent must not become "never". */
	if (value > 0 && *ret_chance == 0)
		*ret_chance = 1;
	return true;
}

static bool parse_quantity(const char *text, const struct unit *units, unsigned unit_count,
			   double value_max, uint64_t *ret_value)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0))
		return false;
	for (unsigned index = 0; index < unit_count; index++) {
		if (strcasecmp(units[index].name, end) == 0 || (value == 0 && !*end)) {
			value *= units[index].factor;
			if (!(value <= value_max))
				return false;
			*ret_value = (uint64_t)(value + 0.5);
			return true;
		}
	}
	return false;
}

static bool parse_time(const char *text, time_ns *ret_time)
{
	return parse_quantity(text, time_units, ARRAY_COUNT(time_units), 3600e9, ret_time);
}

static bool parse_flap(const char *text, struct fault_settings *settings)
{
	const char *slash = strchr(text, '/');
	char up[32];
	time_ns up_time, down_time;

	if (strcmp(text, "0") == 0) {
		settings->flap_up = settings->flap_down = 0;
		return true;
	}
	if (!slash || (size_t)(slash - text) >= sizeof(up))
		return false;
	memcpy(up, text, (size_t)(slash - text));
	up[slash - text] = '\0';
	if (!parse_time(up, &up_time) || !parse_time(slash + 1, &down_time) || !up_time ||
	    !down_time)
		return false;
	settings->flap_up = up_time;
	settings->flap_down = down_time;
	return true;
}

static const char *parse_value(const struct setting *setting, const char *value,
			       struct fault_settings *settings)
{
	uint64_t *field = (uint64_t *)((char *)settings + setting->offset);
	enum { RATE_MIN = 1000 };
	uint64_t rate = 0;

	switch (setting->kind) {
	case SETTING_CHANCE:
		return parse_chance(value, field) ? NULL : bad_chance;
	case SETTING_TIME:
		return parse_time(value, field) ? NULL : bad_time;
	case SETTING_RATE:
		break;
	}
	if (!parse_quantity(value, rate_units, ARRAY_COUNT(rate_units), 1e13, &rate) ||
	    (rate && rate < RATE_MIN))
		return bad_rate;
	*field = rate;
	return NULL;
}

const char *fault_text_parse(const char *text, struct fault_settings *settings)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);

	if (strcmp(text, "blackhole") == 0) {
		settings->drop = FAULT_CERTAIN;
		return NULL;
	}
	if (strcmp(text, "no-flow-control") == 0) {
		settings->loses_flow_control = true;
		return NULL;
	}
	if (strcmp(text, "mads") == 0) {
		settings->includes_mads = true;
		return NULL;
	}
	if (equals && strncmp(text, "flap=", length + 1) == 0)
		return parse_flap(equals + 1, settings) ? NULL : bad_flap;
	for (unsigned index = 0; equals && index < ARRAY_COUNT(settings_table); index++) {
		const struct setting *setting = &settings_table[index];

		if (strlen(setting->name) == length && strncmp(setting->name, text, length) == 0)
			return parse_value(setting, equals + 1, settings);
	}
	return "is not a link fault: drop, corrupt, corrupt-inside, duplicate, reorder, "
	       "credit-loss, no-flow-control, delay, jitter, rate, flap, blackhole, mads, in, out";
}

struct text {
	char *bytes;
	size_t length;
};

static void PRINTF_LIKE(2, 3) add(struct text *text, const char *format, ...)
{
	va_list arguments;

	if (text->length && text->length + 1 < FAULT_TEXT_BYTES)
		text->bytes[text->length++] = ' ';
	va_start(arguments, format);

	int length = vsnprintf(text->bytes + text->length, FAULT_TEXT_BYTES - text->length, format,
			       arguments);

	va_end(arguments);
	if (length > 0 && (size_t)length < FAULT_TEXT_BYTES - text->length)
		text->length += (size_t)length;
}

/* The largest unit that needs no fraction. */
static const struct unit *whole_unit(const struct unit *units, unsigned unit_count, uint64_t value)
{
	unsigned index = unit_count - 1;

	while (index && value % (uint64_t)units[index].factor)
		index--;
	return &units[index];
}

static void add_quantity(struct text *text, const char *name, const struct unit *units,
			 unsigned unit_count, uint64_t value)
{
	const struct unit *unit = whole_unit(units, unit_count, value);

	add(text, "%s=%llu%s", name, (unsigned long long)(value / (uint64_t)unit->factor),
	    unit->name);
}

/* The fewest digits that parse to the same chance. */
static void add_chance(struct text *text, const char *name, uint64_t value)
{
	enum { DIGITS_MAX = 17 };
	char digits[32];
	uint64_t again = 0;

	for (int count = 1; count <= DIGITS_MAX && again != value; count++) {
		snprintf(digits, sizeof(digits), "%.*g", count,
			 (double)value / (double)FAULT_CERTAIN);
		if (!parse_chance(digits, &again))
			again = 0;
	}
	add(text, "%s=%s", name, digits);
}

static void add_setting(struct text *text, const struct setting *setting, uint64_t value)
{
	if (!value)
		return;
	switch (setting->kind) {
	case SETTING_CHANCE:
		add_chance(text, setting->name, value);
		break;
	case SETTING_TIME:
		add_quantity(text, setting->name, time_units, ARRAY_COUNT(time_units), value);
		break;
	case SETTING_RATE:
		add_quantity(text, setting->name, rate_units, ARRAY_COUNT(rate_units), value);
		break;
	}
}

void fault_text_write(const struct fault_settings *settings, char ret_text[static FAULT_TEXT_BYTES])
{
	struct text text = {.bytes = ret_text};

	ret_text[0] = '\0';
	for (unsigned index = 0; index < ARRAY_COUNT(settings_table); index++)
		add_setting(
			&text, &settings_table[index],
			*(const uint64_t *)((const char *)settings + settings_table[index].offset));
	if (settings->flap_up && settings->flap_down) {
		const struct unit *up =
			whole_unit(time_units, ARRAY_COUNT(time_units), settings->flap_up);
		const struct unit *down =
			whole_unit(time_units, ARRAY_COUNT(time_units), settings->flap_down);

		add(&text, "flap=%llu%s/%llu%s",
		    (unsigned long long)(settings->flap_up / (uint64_t)up->factor), up->name,
		    (unsigned long long)(settings->flap_down / (uint64_t)down->factor), down->name);
	}
	if (settings->loses_flow_control)
		add(&text, "no-flow-control");
	if (settings->includes_mads)
		add(&text, "mads");
}

void fault_text_write_decision(const struct fault_decision *decision,
			       char ret_text[static FAULT_TEXT_BYTES])
{
	struct text text = {.bytes = ret_text};

	ret_text[0] = '\0';
	for (unsigned index = 0; index < ARRAY_COUNT(action_names); index++)
		if (decision->actions & action_names[index].action)
			add(&text, "%s", action_names[index].name);
	if (decision->bit)
		add(&text, "bit=%llu", (unsigned long long)decision->bit);
	if (decision->actions & FAULT_DELAY)
		add(&text, "delay=%lluns", (unsigned long long)decision->jitter);
}

bool fault_text_parse_decision(const char *word, struct fault_decision *decision)
{
	char *end;

	if (strncmp(word, "bit=", 4) == 0) {
		errno = 0;
		decision->bit = strtoull(word + 4, &end, 10);
		return !*end && end != word + 4 && !errno;
	}
	if (strncmp(word, "delay=", 6) == 0) {
		decision->actions |= FAULT_DELAY;
		return parse_time(word + 6, &decision->jitter);
	}
	for (unsigned index = 0; index < ARRAY_COUNT(action_names); index++) {
		if (strcmp(word, action_names[index].name) == 0) {
			decision->actions |= action_names[index].action;
			return true;
		}
	}
	return false;
}
