/* SPDX-License-Identifier: Apache-2.0 */
/* What the RD examples send, and what they say of it. */
#ifndef SOFTIB_EXAMPLES_RD_PLAY_H
#define SOFTIB_EXAMPLES_RD_PLAY_H

#include "node.h"

/* Every byte says who sent it and when, so that a wrong or stale one shows. */
void play_fill(uint8_t *bytes, uint32_t byte_count, unsigned rank, unsigned round);
/* Says which is wrong and returns nonzero. */
int play_check(const uint8_t *bytes, uint32_t byte_count, unsigned rank, unsigned round);

double play_seconds(void);
void play_print_result(const struct node *node, double seconds, double bytes);

#endif
