/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper thread: sleeps until somebody rings the process's doorbell, a timer is due or softibd
 * hangs up.
 *
 * It must not fight a polling program for a core or the lock, and must not keep one waiting that
 * spins on memory without polling. What tells them apart is who finds the records: if the helper is
 * woken and the program has taken them already, much more often than not, it stays out: producers
 * need not ring, and it only looks in now and then, less often the longer the program polls. If it
 * then finds that records were left lying although the program ran, it needs more convincing next
 * time; a program that merely lost its core is no reason.
 */
#include "host/helper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "host/attachment.h"
#include "host/connection.h"
#include "host/direct_channels.h"
#include "host/doorbell.h"
#include "host/transmit.h"

enum {
	STACK_BYTES = 256 << 10,
	USELESS_WAKES_MIN = 8,
	USELESS_WAKES_MAX = 512,
	USEFUL_WAKE_WEIGHT = 3,	  /* useless ones that it makes up for */
	FINDS_OF_A_POLLER = 4,	  /* between two wakes */
	POLLS_PER_LOOK_MIN = 100, /* fewer in LOOK_NS is not polling */
	LOOKS_OF_A_POLLER = 16,	  /* in a row: it convinces quickly from then on */
	LOOK_DOUBLINGS_MAX = 3,
	ROUNDS_PER_WAKE = 16,
};

/* The first look in; LOOKS_OF_A_POLLER later they come half as often, and so on. */
#define LOOK_NS MILLISECONDS(1)
/* While there is traffic, timers that the program starts are noticed this late at most. */
#define TICK_NS MILLISECONDS(10)

struct helper {
	struct attachment *attachment;
	uint64_t polls_seen;
	uint64_t finds_seen;
	uint64_t polls_at_tick;
	unsigned useless_wakes; /* more than useful ones, by their weights */
	unsigned useless_wakes_needed;
	bool program_was_running; /* during the last look's wait, without polling much */
};

static uint64_t polls(const struct attachment *attachment)
{
	return __atomic_load_n(&attachment->poll_count, __ATOMIC_RELAXED);
}

/* Sleeps; returns false when softibd hung up. */
static bool wait_for_doorbell(struct attachment *attachment, time_ns timeout_ns)
{
	struct pollfd watched[2] = {
		{.fd = attachment->doorbell, .events = POLLIN},
		/* Answers on it are read by whoever asked; only its end is ours to notice. */
		{.fd = attachment->session->control, .events = POLLRDHUP},
	};
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / SECONDS(1)),
		.tv_nsec = (long)(timeout_ns % SECONDS(1)),
	};

	if (ppoll(watched, 2, timeout_ns == TIME_NEVER ? NULL : &timeout, NULL) < 0)
		return true;
	if (watched[0].revents & POLLIN)
		doorbell_silence(attachment->doorbell);
	return !(watched[1].revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL));
}

static bool arm_channel(struct channel *channel)
{
	bool has_more = ring_sleep(&channel->in);

	if (!list_is_empty(&channel->waiting))
		has_more |= channel_wait_for_room(channel, TRANSMIT_ROOM_BYTES);
	return has_more;
}

/* Says on every ring that we sleep. Returns false if there is something to do after all. */
static bool arm(struct attachment *attachment)
{
	bool has_more = arm_channel(&attachment->softibd);

	for (unsigned i = 0; i < attachment->channel_count; i++)
		if (attachment->channels[i]->state == CHANNEL_OPEN)
			has_more |= arm_channel(attachment->channels[i]);
	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			has_more |= hca_ready_first(&attachment->adapters[i]->hca) != NULL;
	return !has_more && attachment->wanted_count == 0;
}

static void disarm(struct attachment *attachment)
{
	ring_wake(&attachment->softibd.in);
	for (unsigned i = 0; i < attachment->channel_count; i++)
		if (attachment->channels[i]->state == CHANNEL_OPEN)
			ring_wake(&attachment->channels[i]->in);
}

/* Works until there is nothing to do, or for a while. Lock held. */
static bool work(struct attachment *attachment)
{
	bool any = false;

	for (unsigned round = 0; round < ROUNDS_PER_WAKE; round++) {
		if (attachment->wanted_count) {
			direct_channels_fetch(attachment);
			any = true;
		}
		if (!attachment_progress(attachment, attachment_now()))
			break;
		any = true;
	}
	return any;
}

/* Woken without need is only a sign of a polling program if it has polled. One that finds most
 * records itself lost its core for a moment when it left one for us. */
static bool should_stay_out(struct helper *helper, bool was_useful)
{
	uint64_t polls_now = polls(helper->attachment);
	uint64_t finds_now = helper->attachment->found_count;
	bool was_needed = was_useful && finds_now - helper->finds_seen < FINDS_OF_A_POLLER;

	if (!was_needed && polls_now != helper->polls_seen)
		helper->useless_wakes++;
	else if (helper->useless_wakes > USEFUL_WAKE_WEIGHT)
		helper->useless_wakes -= USEFUL_WAKE_WEIGHT;
	else
		helper->useless_wakes = 0;
	helper->polls_seen = polls_now;
	helper->finds_seen = finds_now;
	return helper->useless_wakes >= helper->useless_wakes_needed;
}

static time_ns sleep_time(struct helper *helper, time_ns now)
{
	struct attachment *attachment = helper->attachment;
	time_ns deadline = attachment_deadline(attachment);
	uint64_t polls_now = polls(attachment);

	if (polls_now != helper->polls_at_tick)
		deadline = time_earlier(deadline, now + TICK_NS);
	helper->polls_at_tick = polls_now;
	attachment->helper_wakes_at = deadline;
	if (deadline == TIME_NEVER)
		return TIME_NEVER;
	return deadline > now ? deadline - now : 0;
}

/* Of all threads; the helper itself hardly counts while it stays out. */
static time_ns program_time(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return SECONDS(used.tv_sec) + (time_ns)used.tv_nsec;
}

static void fetch_wanted(struct attachment *attachment)
{
	if (!__atomic_load_n(&attachment->wanted_count, __ATOMIC_RELAXED))
		return;
	attachment_lock(attachment);
	direct_channels_fetch(attachment);
	attachment_unlock(attachment);
}

/* Stays out as long as the program polls. Returns false when softibd hung up. */
static bool stay_out(struct helper *helper)
{
	struct attachment *attachment = helper->attachment;
	uint64_t polls_before = polls(attachment);
	time_ns used_before = program_time();
	unsigned looks = 0;

	for (;;) {
		unsigned doublings = looks / LOOKS_OF_A_POLLER;

		if (doublings > LOOK_DOUBLINGS_MAX)
			doublings = LOOK_DOUBLINGS_MAX;
		if (!wait_for_doorbell(attachment, LOOK_NS << doublings))
			return false;

		uint64_t polls_now = polls(attachment);
		time_ns used_now = program_time();

		helper->program_was_running = used_now - used_before > (LOOK_NS << doublings) / 2;
		fetch_wanted(attachment);
		if (__atomic_exchange_n(&attachment->helper_is_called, false, __ATOMIC_ACQ_REL)) {
			helper->program_was_running = false;
			break;
		}
		if (polls_now - polls_before < (uint64_t)POLLS_PER_LOOK_MIN << doublings)
			break;
		polls_before = polls_now;
		used_before = used_now;
		looks++;
	}
	if (looks >= LOOKS_OF_A_POLLER)
		helper->useless_wakes_needed = USELESS_WAKES_MIN;
	helper->useless_wakes = 0;
	return true;
}

/* One wake: work, then decide how to sleep. Returns false when softibd hung up. */
static bool turn(struct helper *helper, bool came_from_staying_out, bool *ret_stays_out)
{
	struct attachment *attachment = helper->attachment;

	attachment_lock(attachment);
	attachment->helper_mode = HELPER_WORKING;

	bool was_useful = work(attachment);

	if (came_from_staying_out && was_useful && helper->program_was_running &&
	    helper->useless_wakes_needed < USELESS_WAKES_MAX)
		helper->useless_wakes_needed *= 2;
	*ret_stays_out = !came_from_staying_out && should_stay_out(helper, was_useful);
	if (*ret_stays_out) {
		attachment->helper_mode = HELPER_STAYING_OUT;
		disarm(attachment);
		attachment_unlock(attachment);
		return true;
	}

	bool is_quiet = arm(attachment);
	time_ns timeout_ns = is_quiet ? sleep_time(helper, attachment_now()) : 0;

	attachment->helper_mode = HELPER_LISTENING;
	attachment_unlock(attachment);
	/* Also when there is more to do: softibd may have hung up. */
	return wait_for_doorbell(attachment, timeout_ns);
}

static void *run(void *context)
{
	struct attachment *attachment = context;
	struct helper helper = {.attachment = attachment,
				.useless_wakes_needed = USELESS_WAKES_MIN};
	bool stays_out = false, came_from_staying_out = false;

	while (turn(&helper, came_from_staying_out, &stays_out)) {
		came_from_staying_out = stays_out;
		if (stays_out && !stay_out(&helper))
			break;
	}
	attachment_lock(attachment);
	attachment->helper_mode = HELPER_STAYING_OUT;
	attachment_fail(attachment, attachment_now());
	attachment_unlock(attachment);
	return NULL;
}

int helper_start(struct attachment *attachment)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return -error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&attachment->helper, &attributes, run, attachment);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error)
		return -error;
	pthread_setname_np(attachment->helper, "softib");
	return 0;
}
