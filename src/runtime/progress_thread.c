/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress thread: sleeps until our doorbell rings, a timer is due, or softibd hangs up.
 *
 * It must not compete with a polling program for a core or the lock, nor keep a program waiting
 * that spins on memory without polling. Trials tell the two apart. After some wakes for records of
 * a program that polls now and then, the thread leaves the program alone for a moment. If the
 * program polls all the while, the thread stays out: producers need not ring, and the thread only
 * looks now and then, less often the longer the program polls. If not, the next trial comes after
 * twice as many wakes.
 *
 * A program that does nothing but poll excuses the thread itself (progress_thread_watch_polls), so
 * that the thread needs no wakes for a trial on a core that the program polls on.
 */
#include "runtime/progress_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "runtime/process_runtime.h"
#include "runtime/softibd_connection.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "runtime/direct_channels.h"
#include "ipc/doorbell.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/process_fence.h"
#include "runtime/program_use.h"
#include "runtime/packets/transmit.h"

enum {
	STACK_BYTES = 256 << 10,
	WAKES_PER_TRIAL_MIN = 8,
	WAKES_PER_TRIAL_MAX = 4096,
	/* A program that polls every 25 to 50 us works on what it finds (it copies, writes to a
	 * socket, shares its core with others). A wake would cost it as much time as it would save
	 * its peer. */
	POLLS_PER_TRIAL_MIN = 4,
	POLLS_PER_LOOK_MIN = 20, /* fewer in LOOK_NS do not count as polling */
	LOOKS_OF_A_POLLER = 16,	 /* in a row: a program with fewer gets its next trial later */
	LOOK_DOUBLINGS_MAX = 3,
	POLLS_PER_SPELL = 64,
	SPELLS_PER_EXCUSE_MAX = 512,
	ROUNDS_PER_WAKE = 16,
};

#define TRIAL_NS MICROSECONDS(100)
/* The interval of the first looks; after every LOOKS_OF_A_POLLER looks it doubles. */
#define LOOK_NS MILLISECONDS(1)

struct progress_thread {
	struct process_runtime *runtime;
	uint64_t polls_seen;
	uint64_t polls_at_tick;
	uint64_t calls_seen; /* before the last trial */
	unsigned wakes;	     /* since the last trial, for a program that polls */
	unsigned wakes_per_trial;
	unsigned spells_per_excuse;
};

static uint64_t polls(const struct process_runtime *runtime)
{
	return __atomic_load_n(&runtime->progress.poll_count, __ATOMIC_RELAXED);
}

/* Sleeps; false: softibd hung up. */
static bool wait_for_doorbell(struct process_runtime *runtime, time_ns timeout_ns)
{
	struct pollfd watched[2] = {
		{.fd = runtime->doorbell, .events = POLLIN},
		/* The thread that asked reads the answers; only the end matters here. */
		{.fd = runtime->session->control, .events = POLLRDHUP},
	};
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / SECONDS(1)),
		.tv_nsec = (long)(timeout_ns % SECONDS(1)),
	};

	if (ppoll(watched, 2, timeout_ns == TIME_NEVER ? NULL : &timeout, NULL) < 0)
		return true;
	if (watched[0].revents & POLLIN)
		doorbell_silence(runtime->doorbell);
	return !(watched[1].revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL));
}

static bool arm_channel(struct channel *channel)
{
	bool has_more = channel_sleep_end(channel);

	if (!list_is_empty(&channel->waiting))
		has_more |= channel_wait_for_room(channel, TRANSMIT_ROOM_BYTES);
	return has_more;
}

static bool holds_back(const struct process_runtime *runtime)
{
	bool any = channel_holds_back(&runtime->softibd);

	for (unsigned i = 0; i < runtime->direct.count; i++)
		any |= channel_holds_back(runtime->direct.channels[i]);
	return any;
}

/* Producers check whether we sleep after they wrote; we check the rings after producers can see
 * that we sleep. */
static void begin_sleep(struct process_runtime *runtime)
{
	ring_sleep_begin(&runtime->softibd.in);
	for (unsigned i = 0; i < runtime->direct.count; i++)
		if (runtime->direct.channels[i]->state == CHANNEL_OPEN &&
		    !channel_holds_back(runtime->direct.channels[i]))
			ring_sleep_begin(&runtime->direct.channels[i]->in);
	if (runtime->is_fenced)
		process_fence();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Marks every ring as sleeping. false: there is something to do after all. */
static bool arm(struct process_runtime *runtime)
{
	begin_sleep(runtime);

	/* Records from softibd wait while direct records are held back. */
	bool has_more = arm_channel(&runtime->softibd) && !holds_back(runtime);

	for (unsigned i = 0; i < runtime->direct.count; i++)
		if (runtime->direct.channels[i]->state == CHANNEL_OPEN)
			has_more |= arm_channel(runtime->direct.channels[i]);
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			has_more |= hca_ready_first(&runtime->adapters[i]->hca) != NULL;
	return !has_more && !direct_channels_are_due(runtime);
}

static void disarm(struct process_runtime *runtime)
{
	ring_wake(&runtime->softibd.in);
	for (unsigned i = 0; i < runtime->direct.count; i++)
		if (runtime->direct.channels[i]->state == CHANNEL_OPEN)
			ring_wake(&runtime->direct.channels[i]->in);
}

/* Works until nothing is left to do, or for ROUNDS_PER_WAKE rounds. Lock held. */
static void work(struct process_runtime *runtime)
{
	bool is_done = false;

	for (unsigned round = 0; round < ROUNDS_PER_WAKE && !is_done; round++) {
		if (direct_channels_are_due(runtime))
			direct_channels_fetch(runtime);
		is_done = !runtime_progress(runtime, runtime_now());
	}
}

/* The program did not poll when it was left alone. */
static void try_less_often(struct progress_thread *thread)
{
	if (thread->wakes_per_trial < WAKES_PER_TRIAL_MAX)
		thread->wakes_per_trial *= 2;
}

/* Whether the program takes its records itself if it is left alone. */
static bool program_polls(struct progress_thread *thread)
{
	const struct timespec moment = {.tv_nsec = TRIAL_NS};
	uint64_t before;

	/* Before the polls: a program that sleeps after those that count has called after this. */
	thread->calls_seen =
		__atomic_load_n(&thread->runtime->progress.call_count, __ATOMIC_ACQUIRE);
	before = polls(thread->runtime);
	nanosleep(&moment, NULL);
	thread->wakes = 0;
	if (polls(thread->runtime) - before >= POLLS_PER_TRIAL_MIN)
		return true;
	try_less_often(thread);
	return false;
}

static bool is_excused(const struct process_runtime *runtime)
{
	return __atomic_load_n(&runtime->progress.is_excused, __ATOMIC_RELAXED);
}

static bool should_stay_out(struct progress_thread *thread)
{
	uint64_t polls_now = polls(thread->runtime);

	if (is_excused(thread->runtime))
		return true;
	if (polls_now != thread->polls_seen)
		thread->wakes++;
	thread->polls_seen = polls_now;
	return thread->wakes >= thread->wakes_per_trial && program_polls(thread);
}

static time_ns sleep_time(struct progress_thread *thread, time_ns now)
{
	struct process_runtime *runtime = thread->runtime;
	time_ns deadline = runtime_deadline(runtime);
	uint64_t polls_now = polls(runtime);

	if (polls_now != thread->polls_at_tick)
		deadline = time_earlier(deadline, now + PROGRESS_TICK_NS);
	if (holds_back(runtime))
		deadline = time_earlier(deadline, now + RNR_HOLD_LOOK_NS);
	thread->polls_at_tick = polls_now;
	runtime->progress.wakes_at = deadline;
	if (deadline == TIME_NEVER)
		return TIME_NEVER;
	return deadline > now ? deadline - now : 0;
}

static void fetch_wanted(struct process_runtime *runtime)
{
	if (!direct_channels_are_due(runtime))
		return;
	runtime_lock(runtime);
	direct_channels_fetch(runtime);
	runtime_unlock(runtime);
}

static void look_after_memory(struct process_runtime *runtime)
{
	memory_guard_renew();
	memory_guard_take_back(runtime);
}

/* The first look comes soon, because a program that was wrongly taken for a polling one waits for
 * it. */
struct look {
	time_ns after_ns;
	uint64_t polls_min;
};

static struct look look_number(unsigned looks)
{
	unsigned doublings = looks / LOOKS_OF_A_POLLER;

	if (looks == 0)
		return (struct look){TRIAL_NS, POLLS_PER_TRIAL_MIN};
	if (doublings > LOOK_DOUBLINGS_MAX)
		doublings = LOOK_DOUBLINGS_MAX;
	return (struct look){LOOK_NS << doublings, (uint64_t)POLLS_PER_LOOK_MIN << doublings};
}

/* Waits for a doorbell, or until the end. false: softibd hung up. */
static bool wait_until(struct process_runtime *runtime, time_ns end)
{
	time_ns now = runtime_now();

	/* The program may have called before we came here, and will not ring again. */
	if (end < now || __atomic_load_n(&runtime->progress.is_called, __ATOMIC_ACQUIRE))
		end = now;
	return wait_for_doorbell(runtime, end - now);
}

/* Stays out as long as the program polls. false: softibd hung up. */
static bool stay_out(struct progress_thread *thread)
{
	struct process_runtime *runtime = thread->runtime;
	struct program_watch watch;
	time_ns looked_at = runtime_now();
	bool was_called = false, was_running = false;
	unsigned looks = 0;

	program_watch_begin(&watch, runtime);
	for (;;) {
		struct look look = look_number(looks);

		fetch_wanted(runtime);
		look_after_memory(runtime);
		if (!wait_until(runtime, looked_at + look.after_ns))
			return false;
		was_called =
			__atomic_exchange_n(&runtime->progress.is_called, false, __ATOMIC_ACQ_REL);

		time_ns now = runtime_now();

		/* A producer rang that thought we listen. */
		if (!was_called && now < looked_at + look.after_ns)
			continue;

		const struct program_use use = program_use_now(runtime);

		was_running = use.processor_ns - watch.last.processor_ns > look.after_ns / 2;
		if (was_called || !program_watch_is_polling(&watch, use, look.polls_min))
			break;
		looked_at = now;
		looks++;
	}
	/* A program that lost its core for a while still polls; one that ran and did something else
	 * will do so again. */
	if (looks >= LOOKS_OF_A_POLLER || !was_running)
		thread->wakes_per_trial = WAKES_PER_TRIAL_MIN;
	else if (!was_called)
		try_less_often(thread);
	if (looks >= LOOKS_OF_A_POLLER || (!was_called && !was_running))
		thread->spells_per_excuse = 1;
	else if (thread->spells_per_excuse < SPELLS_PER_EXCUSE_MAX)
		thread->spells_per_excuse *= 2;
	return true;
}

void progress_thread_watch_polls(struct process_runtime *runtime, time_ns now)
{
	struct poll_watch *watch = &runtime->progress.watch;
	uint64_t polls_now = polls(runtime);

	if (likely(runtime->progress.mode != PROGRESS_LISTENING) ||
	    polls_now - watch->polls < POLLS_PER_SPELL)
		return;
	watch->spells = now - watch->since < LOOK_NS ? watch->spells + 1 : 0;
	watch->polls = polls_now;
	watch->since = now;
	if (watch->spells < watch->spells_per_excuse)
		return;
	runtime->progress.mode = PROGRESS_STAYING_OUT;
	__atomic_store_n(&runtime->progress.is_excused, true, __ATOMIC_RELEASE);
	disarm(runtime);
	doorbell_ring(runtime->doorbell); /* the thread starts to look by itself */
}

/* One wake for work. false: softibd hung up. */
static bool work_and_sleep(struct progress_thread *thread)
{
	struct process_runtime *runtime = thread->runtime;

	look_after_memory(runtime);
	runtime_lock(runtime);
	if (is_excused(runtime)) {
		runtime_unlock(runtime);
		return true;
	}
	runtime->progress.mode = PROGRESS_WORKING;
	/* The program does not poll now, so its polls would not end its UD zcopies. */
	ud_zcopies_end(runtime, runtime_now());
	work(runtime);

	bool is_quiet = arm(runtime);
	time_ns timeout_ns = is_quiet ? sleep_time(thread, runtime_now()) : 0;

	runtime->progress.mode = PROGRESS_LISTENING;
	runtime->progress.watch.spells_per_excuse = thread->spells_per_excuse;
	runtime_unlock(runtime);
	/* Also if there is more to do: softibd may have hung up. */
	return wait_for_doorbell(runtime, timeout_ns);
}

bool progress_thread_stay_out(struct process_runtime *runtime, uint64_t call_count)
{
	/* A program that has excused the thread is heard by is_called since. */
	if (runtime->progress.mode != PROGRESS_STAYING_OUT &&
	    runtime->progress.call_count != call_count)
		return false;
	runtime->progress.mode = PROGRESS_STAYING_OUT;
	__atomic_store_n(&runtime->progress.is_excused, false, __ATOMIC_RELAXED);
	disarm(runtime);
	return true;
}

/* The program polls. false: softibd hung up. */
static bool leave_it_alone(struct progress_thread *thread)
{
	struct process_runtime *runtime = thread->runtime;

	runtime_lock(runtime);

	bool stays_out = progress_thread_stay_out(runtime, thread->calls_seen);

	runtime_unlock(runtime);
	if (stays_out)
		return stay_out(thread);
	try_less_often(thread);
	return true;
}

static void *burst(void *context)
{
	struct process_runtime *runtime = context;
	struct progress_thread thread = {
		.runtime = runtime, .wakes_per_trial = WAKES_PER_TRIAL_MIN, .spells_per_excuse = 1};

	/* The thread names itself. If the creator did, it would open a file of /proc/self/task, and
	 * a process whose thread has been looked up there costs its parent about 15 ms more to
	 * reap. */
	pthread_setname_np(pthread_self(), "softib");
	biased_lock_never_bias_to_me(&runtime->lock);

	while (work_and_sleep(&thread))
		if (should_stay_out(&thread) && !leave_it_alone(&thread))
			break;
	runtime_lock(runtime);
	runtime->progress.mode = PROGRESS_STAYING_OUT;
	runtime_fail(runtime, runtime_now());
	runtime_unlock(runtime);
	__atomic_store_n(&runtime->progress.has_ended, true, __ATOMIC_RELEASE);
	return NULL;
}

int progress_thread_start(struct process_runtime *runtime)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return -error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* The program's signals are for the program's threads. Faults are raised by this thread
	 * itself, and would kill the program at once if they were blocked
	 * (runtime/memory/memory_guard.h). */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&runtime->progress.thread, &attributes, burst, runtime);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error)
		return -error;
	return 0;
}
