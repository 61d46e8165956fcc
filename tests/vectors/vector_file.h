/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text file of vectors: "number name hex" per line, # begins a comment line. */
#ifndef SOFTIB_TESTS_VECTORS_VECTOR_FILE_H
#define SOFTIB_TESTS_VECTORS_VECTOR_FILE_H

#include <stdio.h>
#include <string.h>
#include "vectors/hex.h"

enum { VECTOR_BYTES_MAX = 4224, VECTOR_NAME_MAX = 40 };

struct vector {
	unsigned number;
	char name[VECTOR_NAME_MAX];
	uint8_t bytes[VECTOR_BYTES_MAX];
	size_t byte_count;
};

/* Calls check for each vector; returns how many there were, 0 also when the file cannot be read. */
static inline unsigned vector_file_each(const char *path, void (*check)(struct vector *vector))
{
	static char line[2 * VECTOR_BYTES_MAX + 80];
	static struct vector vector;
	unsigned count = 0;
	FILE *file = fopen(path, "r");

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		int hex_offset = 0;

		if (line[0] == '#' ||
		    sscanf(line, "%u %39s %n", &vector.number, vector.name, &hex_offset) < 2)
			continue;
		vector.byte_count = hex_bytes(line + hex_offset, VECTOR_BYTES_MAX, vector.bytes);
		check(&vector);
		count++;
	}
	fclose(file);
	return count;
}

#endif
