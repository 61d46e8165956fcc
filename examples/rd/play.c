/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that the RD examples send, and the report that they print. */
#include "play.h"

#include <stdio.h>
#include <time.h>

void play_print_result(const struct node *node, double seconds, double bytes)
{
	printf("%.0f bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, seconds,
	       bytes * 8. / 1000000. / seconds);
	printf("%u iters in %.2f seconds = %.2f usec/iter\n", node->options.iterations, seconds,
	       seconds * 1000000. / node->options.iterations);
}

double play_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void play_fill(uint8_t *bytes, uint32_t byte_count, unsigned rank, unsigned round)
{
	for (uint32_t i = 0; i < byte_count; i++)
		bytes[i] = (uint8_t)(i * 31 + rank * 7 + round);
}

int play_check(const uint8_t *bytes, uint32_t byte_count, unsigned rank, unsigned round)
{
	for (uint32_t i = 0; i < byte_count; i++)
		if (bytes[i] != (uint8_t)(i * 31 + rank * 7 + round)) {
			printf("invalid data in byte %u of message %u from node %u\n", i, round,
			       rank);
			return 1;
		}
	return 0;
}
