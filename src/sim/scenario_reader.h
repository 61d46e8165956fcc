/* SPDX-License-Identifier: Apache-2.0 */
/* A line of a scenario, word by word: shared by the readers of the different lines. */
#ifndef SOFTIB_SIM_SCENARIO_READER_H
#define SOFTIB_SIM_SCENARIO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "sim/scenario.h"

struct words;

struct scenario_reader {
	struct scenario *scenario;
	const struct words *line;
	unsigned next; /* index of the next word */
	unsigned line_number;
	struct scenario_error *error;
};

/* Returns -EINVAL, with the line and the reason. */
int PRINTF_LIKE(2, 3)
	scenario_reader_refuse(struct scenario_reader *reader, const char *format, ...);

/* The next word; "" at the end. */
const char *scenario_reader_take(struct scenario_reader *reader);
bool scenario_reader_is_at_end(const struct scenario_reader *reader);
MUST_USE int scenario_reader_take_number(struct scenario_reader *reader, const char *what,
					 uint64_t max, uint64_t *ret_number);
MUST_USE int scenario_reader_take_time(struct scenario_reader *reader, const char *what,
				       time_ns *ret_time);
MUST_USE int scenario_reader_take_name(struct scenario_reader *reader, const char *what,
				       char ret_name[SCENARIO_NAME_BYTES]);

/* Makes room for one more item; NULL: out of memory or too many. */
void *scenario_reader_grow(void **array, uint32_t *count, size_t item_bytes, uint32_t count_max);

struct scenario_choice {
	const char *name;
	unsigned value;
};

MUST_USE int scenario_reader_choose(struct scenario_reader *reader, const char *what,
				    const struct scenario_choice *choices, unsigned *ret_value);

/* The kinds of lines, in the files named. */

/* sim/scenario_settings.c */
MUST_USE int scenario_read_link(struct scenario_reader *reader);
MUST_USE int scenario_read_sl_to_vl(struct scenario_reader *reader);
MUST_USE int scenario_read_vl_arbitration(struct scenario_reader *reader);
MUST_USE int scenario_read_lifetime(struct scenario_reader *reader);

/* sim/scenario_flows.c */
MUST_USE int scenario_read_flow(struct scenario_reader *reader);
MUST_USE int scenario_read_multicast(struct scenario_reader *reader);

#endif
