/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a subnet's owner writes, partitions and QoS: what is wrong with them, and the tokens
 * of partitions.conf. */
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

/* Says it, and returns -EINVAL. */
int policy_error_set(struct policy_error *error, unsigned line, const char *format, ...)
	PRINTF_LIKE(3, 4);

enum { POLICY_TOKEN_BYTES = 128 };

/* Where a reader of tokens is. */
struct policy_text {
	const char *next, *end;
	unsigned line;
	struct policy_error *error;
};

#define policy_text_fail(text, ...) policy_error_set((text)->error, (text)->line, __VA_ARGS__)

/* name, or name=value; blanks around both are gone. */
struct policy_token {
	char name[POLICY_TOKEN_BYTES];
	char value[POLICY_TOKEN_BYTES];
	bool has_value;
	char delimiter; /* what ended it: one of those asked for, or 0 at the end of the text */
};

/* Blanks and comments, from # to the end of the line. */
void policy_text_skip_blanks(struct policy_text *text);
/* Whether nothing but blanks and a comment is left of this line. */
bool policy_text_line_is_over(struct policy_text *text);
/* Up to one of the delimiters. A newline ends nothing unless it is one of them. -EINVAL. */
MUST_USE int policy_text_read(struct policy_text *text, const char *delimiters,
			      struct policy_token *ret_token);
/* The number that the token's value is. -EINVAL. */
MUST_USE int policy_text_number(struct policy_text *text, const struct policy_token *token,
				uint64_t max, uint64_t *ret_number);

#endif
