/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: mad_header_decode. Encoding the decoded header gives the same bytes, with reserved
 * bits zero. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "wire/mad.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	uint8_t *mad = malloc(byte_count ? byte_count : 1);
	uint8_t encoded[MAD_HEADER_BYTES];
	uint8_t expected[MAD_HEADER_BYTES];
	struct mad_header header;

	if (!mad)
		return 0;
	memcpy(mad, bytes, byte_count);

	bool is_whole = mad_header_decode(mad, byte_count, &header);

	MUST_HOLD(is_whole == (byte_count >= MAD_HEADER_BYTES));
	if (is_whole) {
		memcpy(expected, mad, sizeof(expected));
		memset(expected + 18, 0, 2);
		mad_header_encode(&header, encoded);
		MUST_HOLD(memcmp(encoded, expected, sizeof(encoded)) == 0);
	}
	free(mad);
	return 0;
}
