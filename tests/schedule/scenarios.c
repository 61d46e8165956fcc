/* SPDX-License-Identifier: Apache-2.0 */
/* The scenarios. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conduct.h"
#include "operator.h"
#include "turns.h"

#define MICROSECOND 1000ull
#define MILLISECOND 1000000ull
#define SECOND	    1000000000ull

struct fabric {
	unsigned softibd, a, b;
};

static unsigned start_softibd(bool offloads)
{
	char program[512], socket_path[128];
	char *words[] = {program,	"--foreground",
			 "--ephemeral", "--hosts",
			 "2",		offloads ? NULL : "--no-offload",
			 NULL};

	snprintf(program, sizeof(program), "%s/softib/softibd", run.build);
	snprintf(socket_path, sizeof(socket_path), "%s/run/default/control", run.folder);

	const unsigned softibd = run_start("softibd", NULL, -1, words);

	while (access(socket_path, F_OK) != 0 && !run_is_gone(softibd) && !run_has_failed())
		run_await_news();
	return softibd;
}

static unsigned start_side(const char *name, const char *host, const char *mode, int socket)
{
	char program[512], seed[32];
	char *words[] = {program, (char *)(uintptr_t)name, (char *)(uintptr_t)mode, seed, NULL};

	snprintf(program, sizeof(program), "%s/traffic", run.build);
	snprintf(seed, sizeof(seed), "%010llu", (unsigned long long)schedule->seed);
	return run_start(name, host, socket, words);
}

static struct fabric start_all(const char *mode, bool offloads)
{
	struct fabric fabric = {.softibd = start_softibd(offloads)};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		run_fail("no socket pair");
	fabric.a = start_side("a", "h1", mode, ends[0]);
	close(ends[0]);
	fabric.b = start_side("b", "h2", mode, ends[1]);
	close(ends[1]);
	return fabric;
}

/* softibd ends by itself after its last user, and leaves nothing. */
static void expect_clean_end(const struct fabric *fabric)
{
	char folder[128];

	run_expect_end(fabric->a);
	run_expect_end(fabric->b);
	run_expect_end(fabric->softibd);
	snprintf(folder, sizeof(folder), "%s/run/default", run.folder);
	if (!run_has_failed() && !run_was_killed(fabric->softibd) && access(folder, F_OK) == 0)
		run_fail("softibd has left its folder");
}

/* Where no link loses anything: a request that had to wait for its timeout of 69 s was not noticed.
 */
static void expect_no_timeout(uint64_t start)
{
	if (!run_has_failed() && schedule->now - start > 30 * SECOND)
		run_fail("the programs took %.1f s: something was not noticed",
			 (double)(schedule->now - start) / 1e9);
}

static void traffic(const char *mode)
{
	const uint64_t start = schedule->now;
	const struct fabric fabric = start_all(mode, true);

	expect_clean_end(&fabric);
	expect_no_timeout(start);
}

static void relayed(const char *mode)
{
	const uint64_t start = schedule->now;
	const struct fabric fabric = start_all(mode, false);

	expect_clean_end(&fabric);
	expect_no_timeout(start);
}

/* As often within the next 10 scheduling points as between 10,000 and 100,000 of them. */
static void await_some_point(void)
{
	const uint64_t limit = (uint64_t)10 << turns_random(14);

	run_await_point(schedule->points + turns_random((uint32_t)limit));
}

static void sleep_for_some_time(uint64_t ns_max)
{
	run_sleep(turns_random((uint32_t)(ns_max / MICROSECOND)) * MICROSECOND);
}

static bool is_over(const struct fabric *fabric)
{
	return run_has_failed() || (run_is_gone(fabric->a) && run_is_gone(fabric->b));
}

/* A link that goes down takes the path with it; the other host is not there for a while. */
static void unplug(const struct fabric *fabric)
{
	run_await_ready(fabric->a);
	run_await_ready(fabric->b);
	if (is_over(fabric))
		return;
	operator_order(fabric->softibd,
		       "{\"command\":\"link\",\"node\":\"h2\",\"port\":1,\"up\":false}");
	sleep_for_some_time(20 * MILLISECOND);
	operator_order(fabric->softibd,
		       "{\"command\":\"link\",\"node\":\"h2\",\"port\":1,\"up\":true}");
}

static void disturb_link(const struct fabric *fabric)
{
	operator_order(fabric->softibd, "{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":"
					"[\"duplicate=0.2\",\"reorder=0.2\",\"delay=20us\"]}");
	await_some_point();
	operator_order(fabric->softibd, "{\"command\":\"fault-clear\",\"ports\":[]}");
}

static void capture(const struct fabric *fabric)
{
	const int connection = operator_connect(fabric->softibd);

	operator_ask(fabric->softibd, connection, "{\"command\":\"capture\",\"ports\":[\"h1\"]}");
	await_some_point();
	if (connection >= 0)
		close(connection);
	news_of_kernel();
}

/* Every change takes the direct way from the two programs; then they get it again. */
static void changes(const char *mode)
{
	static void (*const ways[])(const struct fabric *) = {capture, disturb_link, unplug};
	const struct fabric fabric = start_all(mode, true);

	for (unsigned i = 0; i < 12 && !is_over(&fabric); i++) {
		await_some_point();
		/* The programs may have ended, and softibd with them. */
		if (!is_over(&fabric))
			ways[turns_random(8) ? turns_random(2) : 2](&fabric);
	}
	expect_clean_end(&fabric);
}

static void pauses(const char *mode)
{
	const uint64_t start = schedule->now;
	const struct fabric fabric = start_all(mode, true);
	const unsigned processes[] = {fabric.softibd, fabric.a, fabric.b};

	for (unsigned i = 0; i < 6 && !is_over(&fabric); i++) {
		await_some_point();
		run_pause(processes[turns_random(3)],
			  (uint64_t)turns_random(turns_random(2) ? 1000 : 300000) * MICROSECOND);
	}
	expect_clean_end(&fabric);
	expect_no_timeout(start);
}

/* Whoever stays must not hang, nor get a wrong byte. */
static void kills(const char *mode)
{
	const struct fabric fabric = start_all(mode, true);
	const unsigned processes[] = {fabric.softibd, fabric.a, fabric.b};
	const uint64_t end = schedule->now + 60 * SECOND;

	const unsigned victim = processes[turns_random(3)];

	/* Without softibd no program can connect. */
	if (victim == fabric.softibd || turns_random(2)) {
		run_await_ready(fabric.a);
		run_await_ready(fabric.b);
	}
	await_some_point();
	if (turns_random(4) == 0)
		run_pause(processes[turns_random(3)], turns_random(300000) * MICROSECOND);
	await_some_point();
	run_kill(victim);
	expect_clean_end(&fabric);
	if (schedule->now > end)
		run_fail("the programs took %.1f s to end",
			 (double)(schedule->now - (end - 60 * SECOND)) / 1e9);
}

static const struct scenario {
	const char *name;
	void (*run)(const char *mode);
	const char *mode; /* of the two programs */
} scenarios[] = {
	{"poll", traffic, "poll"},
	{"events", traffic, "events"},
	{"turns", traffic, "events-turns"},
	{"relayed-turns", relayed, "events-turns"},
	{"relayed", relayed, "poll"},
	{"relayed-events", relayed, "events"},
	{"changes", changes, "poll-hasty"},
	{"changes-events", changes, "events-hasty"},
	{"pauses", pauses, "poll"},
	{"pauses-events", pauses, "events"},
	{"deregistration", traffic, "dereg"},
	{"deregistration-pauses", pauses, "dereg"},
	{"kills", kills, "poll-hasty-mortal"},
	{"kills-events", kills, "events-hasty-mortal"},
	{"deregistration-kills", kills, "dereg-hasty-mortal"},
};

static const struct scenario *find(const char *name)
{
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, name) == 0)
			return &scenarios[i];
	return NULL;
}

bool scenario_exists(const char *name)
{
	return find(name) != NULL;
}

void scenario_run(const char *name)
{
	const struct scenario *scenario = find(name);

	scenario->run(scenario->mode);
}

void scenario_list(void)
{
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		puts(scenarios[i].name);
}
