/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: scenario_read. It returns a scenario that can be released, or a line and a
 * reason. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "sim/scenario.h"

/* Random bytes seldom make words: every third byte picks one of these. */
static const char *const words[] = {
	"topology ", "star:2\n", "flow ", "from ", "to ",    "h1 ",    "service ",
	"load\n",    "at ",	 "1ms ",  "link ", "down ",  "fault ", "drop=",
	"0.5\n",     "vlarb ",	 "low ",  "0:1 ",  "sl2vl ", "* ",     "multicast ",
	"h1,h2 ",    "size ",	 "4K ",	  "rate ", "max ",   "\n",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char *text = malloc(byte_count * 12 + 1);
	struct scenario_error error = {0};
	struct scenario scenario;
	size_t length = 0;

	if (!text)
		return 0;
	for (size_t i = 0; i < byte_count; i++) {
		const char *word = words[bytes[i] % (sizeof(words) / sizeof(words[0]))];

		if (bytes[i] & 0x80) {
			memcpy(text + length, word, strlen(word));
			length += strlen(word);
		} else {
			text[length++] = (char)bytes[i];
		}
	}
	if (scenario_read(text, length, &scenario, &error) == 0)
		scenario_release(&scenario);
	else
		MUST_HOLD(error.reason[0] && memchr(error.reason, '\0', sizeof(error.reason)));
	free(text);
	return 0;
}
