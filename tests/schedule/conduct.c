/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a scenario under one seed after the other: starts softibd and programs on a schedule of
 * their own, disturbs them, and judges how they end. See tests/schedule/run.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "conduct.h"
#include "raw_call.h"
#include "turns.h"

enum { REAL_SECONDS_MAX = 60, TRACE_SHOWN = 400, OUTPUT_SHOWN = 2000, SWITCH_SHIFTS = 6 };

/* Far more than any scenario needs. */
#define POINTS_MAX	    10000000
#define VIRTUAL_SECONDS_MAX 300

struct options {
	uint64_t first, last;
	const char *build, *scenario;
	enum mutation mutation;
	bool is_sequential, shows_trace, shows_hash;
};

struct run run;

static void fail(const char *text)
{
	if (!schedule->failure[0])
		snprintf(schedule->failure, FAILURE_BYTES, "%s", text);
}

void run_fail(const char *format, ...)
{
	char text[FAILURE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fail(text);
}

bool run_has_failed(void)
{
	return schedule->failure[0] != '\0';
}

static char *text_of(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	return text;
}

static char **environment_of(unsigned thread, const char *host)
{
	static char *lines[12];
	unsigned count = 0;

	lines[count++] = text_of(SCHEDULE_FILE "=%s/schedule", run.folder);
	lines[count++] = text_of(SCHEDULE_THREAD "=%u", thread);
	lines[count++] = text_of("SOFTIB_RUNTIME_DIR=%s/run", run.folder);
	lines[count++] = text_of("LD_LIBRARY_PATH=%s/softib/src/api/libibverbs", run.build);
	lines[count++] = text_of("LC_ALL=C");
	if (host) {
		lines[count++] = text_of("SOFTIB_HOST=%s", host);
		lines[count++] = text_of("SOFTIB_FABRIC=default");
		lines[count++] = text_of("SOFTIB_TREE=%s/run/default/hosts/%s", run.folder, host);
		lines[count++] = text_of("SOFTIB_SOCKET=%s/run/default/control", run.folder);
		lines[count++] = text_of(
			"LD_PRELOAD=%s/softib/src/api/pathshim/libsoftib-paths.so %s/libschedule.so",
			run.build, run.build);
	}
	lines[count] = NULL;
	return lines;
}

static pid_t spawn(const char *name, char *const words[], char *const environment[], int descriptor)
{
	char *output = text_of("%s/%s", run.folder, name);
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	if (descriptor >= 0)
		posix_spawn_file_actions_adddup2(&actions, descriptor, 3);
	if (posix_spawn(&pid, words[0], &actions, NULL, words, environment) != 0)
		run_fail("can't start %s", words[0]);
	posix_spawn_file_actions_destroy(&actions);
	free(output);
	return pid;
}

unsigned run_start(const char *name, const char *host, int descriptor, char *const words[])
{
	const unsigned number = schedule->process_count++;
	struct process *process = &schedule->processes[number];
	const unsigned thread = turns_add_thread(number);

	snprintf(process->name, sizeof(process->name), "%s", name);
	process->pid = (uint32_t)spawn(name, words, environment_of(thread, host), descriptor);
	if (!process->pid) {
		process->is_gone = true;
		return number;
	}
	turns_await_thread(thread);
	schedule->kernel_news++;
	return number;
}

static struct wait any_news(void)
{
	struct wait wait = wait_until(NEVER);

	wait.for_kernel = true;
	return wait;
}

void run_await_news(void)
{
	(void)block(any_news(), NULL);
}

void run_await_point(uint64_t number)
{
	struct wait wait = wait_until(NEVER);

	wait.at_point = number;
	if (schedule->points < number)
		(void)block(wait, NULL);
}

void run_sleep(uint64_t ns)
{
	(void)block(wait_until(schedule->now + ns), NULL);
}

bool run_is_gone(unsigned process)
{
	return schedule->processes[process].is_gone;
}

bool run_was_killed(unsigned process)
{
	return schedule->processes[process].was_killed;
}

static void judge(const struct process *ended)
{
	const int status = ended->exit_status;

	if (WIFSIGNALED(status))
		run_fail("%s was killed by signal %d", ended->name, WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		run_fail("%s exits with %d", ended->name, WEXITSTATUS(status));
}

/* Of those that the scenario has not killed: the first failure ends the run. */
static void judge_all(void)
{
	for (unsigned i = 1; i < schedule->process_count; i++)
		if (schedule->processes[i].is_gone && !schedule->processes[i].was_killed)
			judge(&schedule->processes[i]);
}

void run_expect_end(unsigned process)
{
	judge_all();
	while (!run_is_gone(process) && !run_has_failed()) {
		run_await_news();
		judge_all();
	}
}

void run_await_ready(unsigned process)
{
	while (!schedule->processes[process].is_ready && !run_is_gone(process) && !run_has_failed())
		run_await_news();
}

void run_kill(unsigned process)
{
	if (run_is_gone(process))
		return;
	/* A processor that leaves a killed process has drained its stores. */
	drain_process(process);
	schedule->processes[process].was_killed = true;
	kill((pid_t)schedule->processes[process].pid, SIGKILL);
	while (!run_is_gone(process)) {
		(void)turns_look_for_ends();
		raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
}

void run_pause(unsigned process, uint64_t ns)
{
	drain_process(process);
	schedule->processes[process].paused_until = schedule->now + ns;
}

static void end_all(void)
{
	for (unsigned i = 1; i < schedule->process_count; i++)
		if (!schedule->processes[i].is_gone && schedule->processes[i].pid)
			kill((pid_t)schedule->processes[i].pid, SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static struct schedule *make_schedule(const char *path, uint64_t seed,
				      const struct options *options)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (file < 0 || ftruncate(file, sizeof(struct schedule)) != 0)
		return NULL;

	struct schedule *made =
		mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	close(file);
	if (made == MAP_FAILED)
		return NULL;
	made->seed = seed;
	made->random = seed * 0xd1342543de82ef95u + 1;
	made->now = 1000000000;
	made->points_max = POINTS_MAX;
	made->hash = 0xcbf29ce484222325u;
	made->mutation = options->mutation;
	made->is_sequential = options->is_sequential;
	made->is_traced = options->shows_trace;
	return made;
}

static void conduct(uint64_t seed, const struct options *options)
{
	const struct sigaction action = {.sa_handler = turns_child_signal};
	char *path = text_of("%s/schedule", run.folder);
	struct schedule *made = make_schedule(path, seed, options);

	if (!made)
		exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	personality(ADDR_NO_RANDOMIZE);
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	turns_conduct(made);
	/* How often threads take turns decides what a run can find. */
	made->switch_shift = 1 + 2 * turns_random(SWITCH_SHIFTS);
	made->ambush.odds = turns_random(3) ? 16ull << 2 * turns_random(4) : 0;
	scenario_run(options->scenario);
	end_all();
	exit(run_has_failed());
}

static void show_file(const char *name)
{
	char *path = text_of("%s/%s", run.folder, name), text[OUTPUT_SHOWN + 1];
	FILE *file = fopen(path, "r");
	size_t count;

	free(path);
	if (!file)
		return;
	if (fseek(file, -OUTPUT_SHOWN, SEEK_END) != 0)
		rewind(file);
	count = fread(text, 1, OUTPUT_SHOWN, file);
	text[count] = '\0';
	fclose(file);
	if (count)
		printf("  output of %s:\n%s\n", name, text);
}

static const char *module_of(const struct process *process, uint64_t code, uint64_t *ret_offset)
{
	for (unsigned i = 0; i < MODULES_MAX; i++)
		if (process->modules[i].begin <= code && code < process->modules[i].end) {
			*ret_offset = code - process->modules[i].begin;
			return process->modules[i].name;
		}
	*ret_offset = code;
	return "";
}

/* tools read it: time, process, thread, kind, address, module and offset of the code. */
static void show_trace(const struct schedule *ended)
{
	static const char *const kinds[POINT_KINDS] = {"read",	   "write", "load", "store",
						       "exchange", "fence", "copy", "call",
						       "yield",	   "block", "lock", "run"};
	const uint64_t shown = ended->points < TRACE_ENTRIES ? ended->points : TRACE_ENTRIES;

	for (uint64_t i = ended->points - shown; i < ended->points; i++) {
		const struct trace_entry *entry = &ended->trace[i % TRACE_ENTRIES];
		const struct process *process =
			&ended->processes[ended->threads[entry->thread].process];
		uint64_t offset;
		const char *module = module_of(process, entry->code, &offset);

		printf("trace %llu %s %u %s %llx %s %llx\n", (unsigned long long)entry->value,
		       *process->name ? process->name : "conductor", entry->thread,
		       kinds[entry->kind], (unsigned long long)entry->address,
		       *module ? module : "-", (unsigned long long)offset);
	}
}

static void show_threads(const struct schedule *ended)
{
	static const char *const states[] = {"free", "starting", "ready", "blocked", "ended"};

	for (unsigned i = 0; i < ended->thread_count; i++) {
		const struct thread *thread = &ended->threads[i];
		const struct process *process = &ended->processes[thread->process];

		printf("  thread %u of %s: %s%s\n", i, *process->name ? process->name : "conductor",
		       states[thread->state], i == ended->current ? ", has the turn" : "");
	}
}

static void show_failure(uint64_t seed, const struct options *options, const struct schedule *ended)
{
	const char *mutations[] = {"", " --mutate fences", " --mutate membarriers"};

	printf("FAIL seed %llu of %s: %s (%.6f s, %llu points)\n  repeat: tests/schedule/run --scenario %s --seeds %llu..%llu%s%s --trace\n",
	       (unsigned long long)seed, options->scenario,
	       ended->failure[0] ? ended->failure : "took too long", (double)ended->now / 1e9,
	       (unsigned long long)ended->points, options->scenario, (unsigned long long)seed,
	       (unsigned long long)seed, mutations[options->mutation],
	       options->is_sequential ? " --sequential" : "");
	show_threads(ended);
	for (unsigned i = 1; i < ended->process_count; i++)
		show_file(ended->processes[i].name);
	if (options->shows_trace)
		show_trace(ended);
}

/* Its processes may be stuck anywhere. */
static bool ends_in_time(pid_t conductor, int *ret_status)
{
	struct pollfd end = {.fd = (int)raw_call(SYS_pidfd_open, conductor, 0, 0, 0, 0, 0),
			     .events = POLLIN};
	const bool has_ended = poll(&end, 1, REAL_SECONDS_MAX * 1000) == 1;

	close(end.fd);
	if (has_ended)
		waitpid(conductor, ret_status, 0);
	return has_ended;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static void remove_folder(void)
{
	if (nftw(run.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
		exit(2);
}

static bool write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	const bool is_good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	close(file);
	return is_good;
}

static bool enter_namespaces(bool has_users, unsigned uid)
{
	char *map = text_of("%u %u 1", uid, uid);
	const bool may_mount = !has_users || write_text("/proc/self/uid_map", map);

	free(map);
	return may_mount && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", 0, NULL) == 0;
}

/* Process numbers are part of R_Keys and file names, so each run counts them from 1. Where this is
 * not allowed, two runs of a seed may differ in addresses. */
static pid_t fork_with_numbers(void)
{
	const long spaces = CLONE_NEWPID | CLONE_NEWNS | SIGCHLD;
	const unsigned uid = geteuid();
	long child = raw_call(SYS_clone, spaces, 0, 0, 0, 0, 0);
	bool has_users = false;

	if (child < 0) {
		has_users = true;
		child = raw_call(SYS_clone, spaces | CLONE_NEWUSER, 0, 0, 0, 0, 0);
	}
	if (child < 0)
		return fork();
	if (child == 0 && !enter_namespaces(has_users, uid)) {
		fprintf(stderr, "conduct: can't mount /proc: %s\n", strerror(errno));
		exit(2);
	}
	return (pid_t)child;
}

static bool run_seed(uint64_t seed, const struct options *options)
{
	int status = 0;

	remove_folder();
	if (mkdir(run.folder, 0700) != 0)
		exit(2);
	fflush(stdout);

	const pid_t conductor = fork_with_numbers();

	if (conductor == 0)
		conduct(seed, options);

	const bool is_in_time = ends_in_time(conductor, &status);
	char *path = text_of("%s/schedule", run.folder);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	const struct schedule *ended = mmap(NULL, sizeof(*ended), PROT_READ, MAP_SHARED, file, 0);

	free(path);
	close(file);
	if (ended == MAP_FAILED)
		exit(2);
	if (!is_in_time) {
		kill(conductor, SIGKILL);
		waitpid(conductor, &status, 0);
	}

	const bool is_good = is_in_time && status == 0;

	if (!is_good)
		show_failure(seed, options, ended);
	else if (options->shows_trace)
		show_trace(ended);
	if (options->shows_hash)
		printf("seed %llu: hash %016llx, %llu points, %llu switches, %.6f s\n",
		       (unsigned long long)seed, (unsigned long long)ended->hash,
		       (unsigned long long)ended->points, (unsigned long long)ended->switches,
		       (double)ended->now / 1e9);
	munmap((void *)(uintptr_t)ended, sizeof(*ended));
	return is_good;
}

static void stay_on_one_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static struct options parse(int count, char **words)
{
	static const struct option names[] = {
		{"seeds", required_argument, NULL, 's'},
		{"scenario", required_argument, NULL, 'n'},
		{"build", required_argument, NULL, 'b'},
		{"mutate", required_argument, NULL, 'm'},
		{"sequential", no_argument, NULL, 'q'},
		{"trace", no_argument, NULL, 't'},
		{"hash", no_argument, NULL, 'h'},
		{"list", no_argument, NULL, 'l'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {.first = 1, .last = 1};
	int code;

	while ((code = getopt_long(count, words, "", names, NULL)) != -1) {
		if (code == 's') {
			char *end;

			options.first = options.last = strtoull(optarg, &end, 10);
			if (strncmp(end, "..", 2) == 0)
				options.last = strtoull(end + 2, NULL, 10);
		} else if (code == 'n') {
			options.scenario = optarg;
		} else if (code == 'b') {
			options.build = optarg;
		} else if (code == 'm' && strcmp(optarg, "fences") == 0) {
			options.mutation = MUTATE_FENCES;
		} else if (code == 'm' && strcmp(optarg, "membarriers") == 0) {
			options.mutation = MUTATE_MEMBARRIERS;
		} else if (code == 'q') {
			options.is_sequential = true;
		} else if (code == 't') {
			options.shows_trace = true;
		} else if (code == 'l') {
			scenario_list();
			exit(0);
		} else if (code == 'h') {
			options.shows_hash = true;
		} else {
			exit(2);
		}
	}
	if (!options.build || !options.scenario || !scenario_exists(options.scenario)) {
		fprintf(stderr, "conduct: name a build and a scenario; --list lists those\n");
		exit(2);
	}
	return options;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **words)
{
	const struct options options = parse(count, words);
	const double start = seconds_now();
	uint64_t failures = 0;

	stay_on_one_processor();
	run.build = options.build;
	/* Of the same length in each run: it lies on the stacks of the programs. */
	snprintf(run.folder, sizeof(run.folder), "/dev/shm/schedule-%08u", (unsigned)getpid());
	for (uint64_t seed = options.first; seed <= options.last; seed++)
		failures += !run_seed(seed, &options);
	remove_folder();

	const uint64_t seeds = options.last - options.first + 1;
	const double seconds = seconds_now() - start;

	printf("%s: %llu seeds, %llu failed, %.1f seeds a second\n", options.scenario,
	       (unsigned long long)seeds, (unsigned long long)failures, (double)seeds / seconds);
	return failures != 0;
}
