/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a scenario's lines: numbers with units. */
#include "sim/scenario_words.h"

#include <ctype.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

bool words_split(char *line, struct words *ret_words)
{
	ret_words->count = 0;
	line[strcspn(line, "#\r\n")] = '\0';
	for (char *next = line;;) {
		next += strspn(next, " \t");
		if (!*next)
			break;
		if (ret_words->count == WORDS_MAX)
			return false;
		ret_words->words[ret_words->count++] = next;
		next += strcspn(next, " \t");
		if (*next)
			*next++ = '\0';
	}
	for (unsigned i = ret_words->count; i <= WORDS_MAX; i++)
		ret_words->words[i] = "";
	return true;
}

/* Digits with at most one point; the value in millionths. */
static bool read_decimal(const char **text, uint64_t *ret_millionths)
{
	enum { MILLION = 1000000 };
	uint64_t value = 0, part = MILLION;
	bool has_digits = false;

	for (; isdigit((unsigned char)**text); (*text)++) {
		value = value * 10 + (uint64_t)(**text - '0');
		has_digits = true;
		if (value > UINT64_C(1000000000000))
			return false;
	}
	value *= MILLION;
	if (**text == '.') {
		(*text)++;
		for (; isdigit((unsigned char)**text); (*text)++) {
			part /= 10;
			value += part * (uint64_t)(**text - '0');
			has_digits = true;
		}
	}
	*ret_millionths = value;
	return has_digits;
}

static bool read_with_unit(const char *word, const struct unit *units, uint64_t *ret_value)
{
	enum { MILLION = 1000000 };
	uint64_t millionths;

	if (!read_decimal(&word, &millionths))
		return false;
	for (; units->name; units++) {
		if (strcmp(units->name, word) != 0)
			continue;
		if (millionths / MILLION > UINT64_MAX / units->factor / 2)
			return false;
		*ret_value = millionths / MILLION * units->factor +
			     millionths % MILLION * units->factor / MILLION;
		return true;
	}
	return false;
}

bool word_number(const char *word, uint64_t max, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (!isdigit((unsigned char)*word))
		return false;
	for (; isdigit((unsigned char)*word); word++) {
		if (number > (UINT64_MAX - 9) / 10)
			return false;
		number = number * 10 + (uint64_t)(*word - '0');
	}
	if (*word || number > max)
		return false;
	*ret_number = number;
	return true;
}

bool word_time(const char *word, time_ns *ret_time)
{
	static const struct unit units[] = {
		{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

	if (strcmp(word, "0") == 0) {
		*ret_time = 0;
		return true;
	}
	return read_with_unit(word, units, ret_time);
}

bool word_bytes(const char *word, uint32_t max, uint32_t *ret_bytes)
{
	static const struct unit units[] = {{"", 1}, {"K", 1024}, {"M", 1024 * 1024}, {NULL, 0}};
	uint64_t bytes;

	if (!read_with_unit(word, units, &bytes) || bytes > max)
		return false;
	*ret_bytes = (uint32_t)bytes;
	return true;
}

bool word_rate(const char *word, uint64_t *ret_bits_per_second)
{
	static const struct unit units[] = {
		{"bit", 1}, {"Kbit", 1000}, {"Mbit", 1000000}, {"Gbit", 1000000000}, {NULL, 0}};

	return read_with_unit(word, units, ret_bits_per_second) && *ret_bits_per_second > 0;
}
