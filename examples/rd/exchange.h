/* SPDX-License-Identifier: Apache-2.0 */
/* Many nodes that all send to all, in rounds, each with one queue pair. */
#ifndef SOFTIB_EXAMPLES_RD_EXCHANGE_H
#define SOFTIB_EXAMPLES_RD_EXCHANGE_H

#include "node.h"

/* By its options. Says what went wrong and returns nonzero. */
int exchange_all(struct node *node);

#endif
