/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration texts of a subnet, for partitions and QoS: errors, and the tokens of
 * partitions.conf. */
#ifndef SOFTIB_MGMT_SUBNET_POLICY_TEXT_H
#define SOFTIB_MGMT_SUBNET_POLICY_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct policy_error {
	unsigned line; /* from 1 */
	char reason[160];
};

/* Stores the error and returns -EINVAL. */
int policy_error_set(struct policy_error *error, unsigned line, const char *format, ...)
	PRINTF_LIKE(3, 4);

enum { POLICY_TOKEN_BYTES = 128 };

/* The position of a token reader. */
struct policy_text {
	const char *next, *end;
	unsigned line;
	struct policy_error *error;
};

#define policy_text_fail(text, ...) policy_error_set((text)->error, (text)->line, __VA_ARGS__)

/* name, or name=value, without blanks around either. */
struct policy_token {
	char name[POLICY_TOKEN_BYTES];
	char value[POLICY_TOKEN_BYTES];
	bool has_value;
	char delimiter; /* one of the delimiters, or 0 at the end of the text */
};

/* Skips blanks and comments, which go from # to the end of the line. */
void policy_text_skip_blanks(struct policy_text *text);
/* Whether only blanks and a comment are left of this line. */
bool policy_text_line_is_over(struct policy_text *text);
/* Reads up to one of the delimiters. A newline ends a token only if it is one of them. -EINVAL. */
MUST_USE int policy_text_read(struct policy_text *text, const char *delimiters,
			      struct policy_token *ret_token);
/* The token's value as a number. -EINVAL. */
MUST_USE int policy_text_number(struct policy_text *text, const struct policy_token *token,
				uint64_t max, uint64_t *ret_number);

#endif
