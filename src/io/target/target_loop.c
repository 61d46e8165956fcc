/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for connection management, for channels that end, and for the end of the program. */
#include "io/target/target_loop.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { STOP_FILE, EVENTS_FILE, ENDED_FILE, FILES };

static void destroy_ended(struct srp_target *target)
{
	list_for_each_safe (link, &target->channels) {
		struct target_channel *channel = container_of(link, struct target_channel, link);

		if (__atomic_load_n(&channel->has_ended, __ATOMIC_ACQUIRE))
			target_channel_destroy(channel);
	}
}

int target_loop_run(struct target_listener *listener, int stop_file)
{
	struct srp_target *target = listener->target;
	struct pollfd files[FILES] = {
		[STOP_FILE] = {.fd = stop_file, .events = POLLIN},
		[EVENTS_FILE] = {.fd = listener->events->fd, .events = POLLIN},
		[ENDED_FILE] = {.fd = target->ended_file, .events = POLLIN},
	};
	uint64_t count;
	int error = 0;

	while (!error) {
		if (poll(files, FILES, -1) < 0) {
			error = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (files[STOP_FILE].revents)
			break;
		if (files[EVENTS_FILE].revents)
			error = target_listener_take_event(listener);
		if (files[ENDED_FILE].revents &&
		    read(target->ended_file, &count, sizeof(count)) < 0)
			error = -errno;
		destroy_ended(target);
	}
	list_for_each_safe (link, &target->channels) {
		struct target_channel *channel = container_of(link, struct target_channel, link);

		target_channel_logout(channel);
		target_channel_destroy(channel);
	}
	return error;
}
