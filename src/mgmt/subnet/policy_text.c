/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration texts of a subnet: errors, and the tokens of partitions.conf. */
#include "mgmt/subnet/policy_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int policy_error_set(struct policy_error *error, unsigned line, const char *format, ...)
{
	va_list arguments;

	error->line = line;
	va_start(arguments, format);
	vsnprintf(error->reason, sizeof(error->reason), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_comment(struct policy_text *text)
{
	while (text->next < text->end && *text->next != '\n')
		text->next++;
}

void policy_text_skip_blanks(struct policy_text *text)
{
	for (; text->next < text->end; text->next++) {
		if (*text->next == '#')
			skip_comment(text);
		if (text->next == text->end || !is_blank(*text->next))
			return;
		text->line += *text->next == '\n';
	}
}

bool policy_text_line_is_over(struct policy_text *text)
{
	while (text->next < text->end && is_blank(*text->next) && *text->next != '\n')
		text->next++;
	return text->next == text->end || *text->next == '\n' || *text->next == '#';
}

static void trim(char *word)
{
	size_t length = strlen(word);

	while (length && is_blank(word[length - 1]))
		word[--length] = '\0';
}

/* Reads up to one of the delimiters. A newline ends a token only if it is one of them. */
int policy_text_read(struct policy_text *text, const char *delimiters,
		     struct policy_token *ret_token)
{
	char *into = ret_token->name;
	size_t length = 0;

	*ret_token = (struct policy_token){0};
	policy_text_skip_blanks(text);
	for (; text->next < text->end; text->next++) {
		char c = *text->next;

		if (c == '#') {
			skip_comment(text);
			if (text->next == text->end)
				break;
			c = '\n';
		}
		if (strchr(delimiters, c) && c) {
			ret_token->delimiter = c;
			text->next++;
			text->line += c == '\n';
			break;
		}
		text->line += c == '\n';
		if (c == '=' && !ret_token->has_value) {
			ret_token->has_value = true;
			into = ret_token->value;
			length = 0;
			continue;
		}
		if (length == 0 && is_blank(c))
			continue;
		if (length + 1 == POLICY_TOKEN_BYTES)
			return policy_text_fail(text, "more than %d characters without a delimiter",
						POLICY_TOKEN_BYTES - 1);
		into[length++] = c;
	}
	trim(ret_token->name);
	trim(ret_token->value);
	return 0;
}

int policy_text_number(struct policy_text *text, const struct policy_token *token, uint64_t max,
		       uint64_t *ret_number)
{
	char *end;

	errno = 0;

	uint64_t number = strtoull(token->value, &end, 0);

	if (!token->has_value || end == token->value || *end || errno || token->value[0] == '-')
		return policy_text_fail(text, "'%s' needs a number, not '%s'", token->name,
					token->value);
	if (number > max)
		return policy_text_fail(text, "%s is at most 0x%llx, not '%s'", token->name,
					(unsigned long long)max, token->value);
	*ret_number = number;
	return 0;
}
