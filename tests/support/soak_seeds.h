/* SPDX-License-Identifier: Apache-2.0 */
/* Soak tests run over a range of seeds, and a failing test prints its seed. TEST [FIRST [LAST]]
 * chooses the seeds. */
#ifndef SOFTIB_TESTS_SUPPORT_SOAK_SEEDS_H
#define SOFTIB_TESTS_SUPPORT_SOAK_SEEDS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct {
	uint64_t first, last;
	uint64_t current; /* 0 when none has failed */
} soak_seeds;

#define SOAK_SEEDS_EACH                                                                            \
	for (soak_seeds.current = soak_seeds.first; soak_seeds.current <= soak_seeds.last;         \
	     soak_seeds.current++)

/* A cmocka teardown. */
static inline int soak_seeds_name(void **state)
{
	(void)state;
	if (soak_seeds.current)
		fprintf(stderr, "again with: %s %llu\n", program_invocation_short_name,
			(unsigned long long)soak_seeds.current);
	return 0;
}

/* A whole test: soak() with each seed. */
#define SOAK_SEEDS_TEST(name, soak)                                                                \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		SOAK_SEEDS_EACH                                                                    \
		soak(soak_seeds.current);                                                          \
		soak_seeds.current = 0;                                                            \
	}

/* count: the number of seeds, unless the arguments give it. */
static inline void soak_seeds_read(int argc, char **argv, uint64_t count)
{
	soak_seeds.first = 1;
	soak_seeds.last = count;
	if (argc > 1)
		soak_seeds.first = soak_seeds.last = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		soak_seeds.last = strtoull(argv[2], NULL, 0);
}

/* The main() of a program with one such test. */
static inline int soak_seeds_main(int argc, char **argv, uint64_t count, struct CMUnitTest test)
{
	const struct CMUnitTest tests[] = {test};

	soak_seeds_read(argc, argv, count);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
