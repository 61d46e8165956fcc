/* SPDX-License-Identifier: Apache-2.0 */
/* A line of a scenario, word by word. */
#include "sim/scenario_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/scenario_words.h"

enum { ARRAY_STEP = 64 };

int scenario_reader_refuse(struct scenario_reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->error->reason, sizeof(reader->error->reason), format, arguments);
	va_end(arguments);
	reader->error->line = reader->line_number;
	return -EINVAL;
}

/* The next word; "" at the end. */
const char *scenario_reader_take(struct scenario_reader *reader)
{
	const char *word = reader->line->words[reader->next];

	if (reader->next < reader->line->count)
		reader->next++;
	return word;
}

bool scenario_reader_is_at_end(const struct scenario_reader *reader)
{
	return reader->next == reader->line->count;
}

int scenario_reader_take_number(struct scenario_reader *reader, const char *what, uint64_t max,
				uint64_t *ret_number)
{
	const char *word = scenario_reader_take(reader);

	if (word_number(word, max, ret_number))
		return 0;
	return scenario_reader_refuse(reader, "%s must be a number up to %llu, not '%.40s'", what,
				      (unsigned long long)max, word);
}

int scenario_reader_take_time(struct scenario_reader *reader, const char *what, time_ns *ret_time)
{
	const char *word = scenario_reader_take(reader);

	if (word_time(word, ret_time))
		return 0;
	return scenario_reader_refuse(reader, "%s must be a time like 10us or 1.5ms, not '%.40s'",
				      what, word);
}

int scenario_reader_take_name(struct scenario_reader *reader, const char *what,
			      char ret_name[SCENARIO_NAME_BYTES])
{
	const char *word = scenario_reader_take(reader);

	if (!*word)
		return scenario_reader_refuse(reader, "%s is missing", what);
	if (strlen(word) >= SCENARIO_NAME_BYTES)
		return scenario_reader_refuse(reader, "%s is too long", what);
	snprintf(ret_name, SCENARIO_NAME_BYTES, "%s", word);
	return 0;
}

/* Makes room for one more item; NULL: out of memory or too many. */
void *scenario_reader_grow(void **array, uint32_t *count, size_t item_bytes, uint32_t count_max)
{
	if (*count == count_max)
		return NULL;
	if (*count % ARRAY_STEP == 0) {
		void *larger = realloc(*array, (*count + ARRAY_STEP) * item_bytes);

		if (!larger)
			return NULL;
		*array = larger;
	}

	void *item = (char *)*array + (*count)++ * item_bytes;

	memset(item, 0, item_bytes);
	return item;
}

int scenario_reader_choose(struct scenario_reader *reader, const char *what,
			   const struct scenario_choice *choices, unsigned *ret_value)
{
	const char *word = scenario_reader_take(reader);

	for (; choices->name; choices++) {
		if (strcmp(choices->name, word) == 0) {
			*ret_value = choices->value;
			return 0;
		}
	}
	return scenario_reader_refuse(reader, "'%.40s' is no %s", word, what);
}
