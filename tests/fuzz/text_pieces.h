/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes seldom make words: texts in which most bytes choose a piece of a table, so that most
 * of the text is nearly right. */
#ifndef SOFTIB_TESTS_FUZZ_TEXT_PIECES_H
#define SOFTIB_TESTS_FUZZ_TEXT_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes below 0x80 choose a piece, the others are copied without that bit. Returns the length, less
 * than text_bytes_max; the text ends with a NUL. */
static inline size_t text_from_pieces(const uint8_t *bytes, size_t byte_count,
				      const char *const pieces[], size_t piece_count,
				      char *ret_text, size_t text_bytes_max)
{
	size_t length = 0;

	for (size_t i = 0; i < byte_count; i++) {
		const char copied[] = {(char)(bytes[i] & 0x7f), '\0'};
		const char *piece = bytes[i] & 0x80 ? copied : pieces[bytes[i] % piece_count];
		size_t piece_bytes = bytes[i] & 0x80 ? 1 : strlen(piece);

		if (length + piece_bytes >= text_bytes_max)
			break;
		memcpy(ret_text + length, piece, piece_bytes);
		length += piece_bytes;
	}
	ret_text[length] = '\0';
	return length;
}

#endif
