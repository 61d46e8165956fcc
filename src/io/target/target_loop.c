/* SPDX-License-Identifier: Apache-2.0 */
/* Polls while there is work, then sleeps in poll() on all descriptors. */
#include "io/target/target_loop.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

enum { STOP_FILE, EVENTS_FILE, FIRST_CHANNEL, ROUNDS_PER_LOOK = 256 };

/* The next command of an initiator that waits for this one's response comes within this time; to
 * wake up takes longer. */
#define IDLE_NS 50000

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool poll_channels(struct srp_target *target)
{
	bool had_work = false;

	list_for_each_safe (link, &target->channels) {
		struct target_channel *channel = container_of(link, struct target_channel, link);

		if (!channel->end_reason)
			had_work |= target_channel_poll(channel);
		if (channel->end_reason) {
			target_channel_log(channel, channel->end_reason);
			target_channel_destroy(channel);
		}
	}
	return had_work;
}

/* Looks at the descriptors, and waits for one of them if the timeout is -1. */
static int look(struct target_listener *listener, int stop_file, int timeout_ms,
		bool *ret_is_stopped)
{
	struct pollfd files[FIRST_CHANNEL + TARGET_CHANNELS_MAX] = {
		[STOP_FILE] = {.fd = stop_file, .events = POLLIN},
		[EVENTS_FILE] = {.fd = listener->events->fd, .events = POLLIN}};
	nfds_t count = FIRST_CHANNEL;

	list_for_each (link, &listener->target->channels)
		files[count++] = (struct pollfd){
			.fd = container_of(link, struct target_channel, link)->completions->fd,
			.events = POLLIN};
	if (poll(files, count, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	*ret_is_stopped = files[STOP_FILE].revents != 0;
	count = FIRST_CHANNEL;
	list_for_each (link, &listener->target->channels)
		if (files[count++].revents)
			target_channel_take_event(container_of(link, struct target_channel, link));
	return files[EVENTS_FILE].revents ? target_listener_take_event(listener) : 0;
}

/* Arms every channel. False: work has come meanwhile. */
static bool may_sleep(struct srp_target *target)
{
	list_for_each (link, &target->channels)
		target_channel_arm(container_of(link, struct target_channel, link));
	return !poll_channels(target);
}

int target_loop_run(struct target_listener *listener, int stop_file)
{
	struct srp_target *target = listener->target;
	uint64_t busy_until = 0;
	bool is_stopped = false;
	unsigned rounds = 0;
	int error = 0;

	while (!is_stopped && !error) {
		if (poll_channels(target))
			busy_until = clock_ns() + IDLE_NS;
		else if (clock_ns() >= busy_until && may_sleep(target))
			error = look(listener, stop_file, -1, &is_stopped);
		if (++rounds % ROUNDS_PER_LOOK == 0 && !error && !is_stopped)
			error = look(listener, stop_file, 0, &is_stopped);
	}
	list_for_each_safe (link, &target->channels) {
		struct target_channel *channel = container_of(link, struct target_channel, link);

		target_channel_logout(channel);
		target_channel_destroy(channel);
	}
	return error;
}
