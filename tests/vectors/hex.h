/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes written as hex text, for vectors and literal packets in tests. */
#ifndef SOFTIB_TESTS_VECTORS_HEX_H
#define SOFTIB_TESTS_VECTORS_HEX_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Reads pairs of hex digits, blanks between them allowed, up to the first other character or
 * byte_count_max. */
static inline size_t hex_bytes(const char *text, size_t byte_count_max, uint8_t *ret_bytes)
{
	size_t byte_count = 0;

	while (byte_count < byte_count_max) {
		while (*text == ' ')
			text++;
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			break;

		char pair[3] = {text[0], text[1], 0};

		ret_bytes[byte_count++] = (uint8_t)strtoul(pair, NULL, 16);
		text += 2;
	}
	return byte_count;
}

#endif
