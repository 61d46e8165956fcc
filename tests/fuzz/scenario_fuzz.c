/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: scenario_read. It returns a scenario that can be released, or a line and a
 * reason. */
#include "fuzz/fuzz.h"

#include <string.h>
#include "base/attributes.h"
#include "fuzz/text_pieces.h"
#include "sim/scenario.h"

enum { TEXT_BYTES_MAX = 8192 };

static const char *const words[] = {
	"topology ", "star:2\n", "flow ", "from ", "to ",    "h1 ",    "service ",
	"load\n",    "at ",	 "1ms ",  "link ", "down ",  "fault ", "drop=",
	"0.5\n",     "vlarb ",	 "low ",  "0:1 ",  "sl2vl ", "* ",     "multicast ",
	"h1,h2 ",    "size ",	 "4K ",	  "rate ", "max ",   "\n",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static char text[TEXT_BYTES_MAX];
	struct scenario_error error = {0};
	struct scenario scenario;
	size_t length =
		text_from_pieces(bytes, byte_count, words, ARRAY_COUNT(words), text, sizeof(text));

	if (scenario_read(text, length, &scenario, &error) == 0)
		scenario_release(&scenario);
	else
		MUST_HOLD(error.reason[0] && memchr(error.reason, '\0', sizeof(error.reason)));
	return 0;
}
