/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that the RD examples send, and the report that they print. */
#ifndef SOFTIB_EXAMPLES_RD_PLAY_H
#define SOFTIB_EXAMPLES_RD_PLAY_H

#include "node.h"

/* Fills in bytes that depend on sender and round, so that a wrong or stale byte shows. */
void play_fill(uint8_t *bytes, uint32_t byte_count, unsigned rank, unsigned round);
/* Prints the first wrong byte and returns nonzero. */
int play_check(const uint8_t *bytes, uint32_t byte_count, unsigned rank, unsigned round);

double play_seconds(void);
void play_print_result(const struct node *node, double seconds, double bytes);

#endif
