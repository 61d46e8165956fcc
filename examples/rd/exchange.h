/* SPDX-License-Identifier: Apache-2.0 */
/* Many nodes, each with one QP, all send to all in rounds. */
#ifndef SOFTIB_EXAMPLES_RD_EXCHANGE_H
#define SOFTIB_EXAMPLES_RD_EXCHANGE_H

#include "node.h"

/* As the node's options say. Prints what went wrong and returns nonzero. */
int exchange_all(struct node *node);

#endif
