/* SPDX-License-Identifier: Apache-2.0 */
/* What scenarios do in a run: start processes, wait, disturb. */
#ifndef SOFTIB_TESTS_SCHEDULE_CONDUCT_H
#define SOFTIB_TESTS_SCHEDULE_CONDUCT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

struct run {
	const char *build;
	char folder[64];
};

extern struct run run;

void run_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool run_has_failed(void);

/* Starts a process, whose first thread then waits for its turn. host: NULL for softibd. descriptor:
 * the program gets it as 3; -1: none. Returns its number. */
unsigned run_start(const char *name, const char *host, int descriptor, char *const words[]);
bool run_is_gone(unsigned process);
bool run_was_killed(unsigned process);
/* Returns when the program is connected, or is gone. */
void run_await_ready(unsigned process);
/* Returns when the process has ended. The run has failed if it, or any other process that the
 * scenario did not kill, did not end with success. */
void run_expect_end(unsigned process);

/* Other threads run meanwhile. */
void run_await_news(void);
void run_await_point(uint64_t number);
void run_sleep(uint64_t ns);

void run_kill(unsigned process);
void run_pause(unsigned process, uint64_t ns);

bool scenario_exists(const char *name);
void scenario_list(void);
void scenario_run(const char *name);

#endif
