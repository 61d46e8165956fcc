/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a scenario's lines: numbers with units, as in softib-scenario(5). */
#ifndef SOFTIB_SIM_SCENARIO_WORDS_H
#define SOFTIB_SIM_SCENARIO_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

enum { WORDS_MAX = 160 };

struct words {
	unsigned count;
	const char *words[WORDS_MAX + 1]; /* ended by "" */
};

/* Splits the line in place at blanks; # ends it. False: too many words. */
MUST_USE bool words_split(char *line, struct words *ret_words);

/* The whole word must be the number; false if not, or if it is above max. */
MUST_USE bool word_number(const char *word, uint64_t max, uint64_t *ret_number);
/* 10us, 1.5ms, 2s, 300ns */
MUST_USE bool word_time(const char *word, time_ns *ret_time);
/* 64, 4K, 1M */
MUST_USE bool word_bytes(const char *word, uint32_t max, uint32_t *ret_bytes);
/* 10Gbit, 2.5Gbit, 100Mbit: bits a second */
MUST_USE bool word_rate(const char *word, uint64_t *ret_bits_per_second);

#endif
