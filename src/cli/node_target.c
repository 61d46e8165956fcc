/* SPDX-License-Identifier: Apache-2.0 */
/* NODE or NODE:PORT, as the command line names a node and one of its ports. */
#include "cli/node_target.h"

#include <stdlib.h>
#include <string.h>

bool node_target_parse(const char *text, struct node_target *ret_target)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	long port = NODE_TARGET_NO_PORT;
	char *end;

	if (length == 0 || length >= NODE_TARGET_BYTES)
		return false;
	if (colon) {
		port = strtol(colon + 1, &end, 10);
		if (*end || end == colon + 1 || port < 0 || port > 254)
			return false;
	}
	memcpy(ret_target->node, text, length);
	ret_target->node[length] = '\0';
	ret_target->port = (int)port;
	return true;
}
