/* SPDX-License-Identifier: Apache-2.0 */
/* NODE or NODE:PORT, as the command line names a node and one of its ports. */
#ifndef SOFTIB_CLI_NODE_TARGET_H
#define SOFTIB_CLI_NODE_TARGET_H

#include <stdbool.h>
#include "base/attributes.h"

enum { NODE_TARGET_BYTES = 128, NODE_TARGET_NO_PORT = -1 };

struct node_target {
	char node[NODE_TARGET_BYTES];
	int port; /* 0 to 254, or NODE_TARGET_NO_PORT */
};

/* False: the name is empty or too long, or the text after the last colon is no port number. */
MUST_USE bool node_target_parse(const char *text, struct node_target *ret_target);

#endif
