/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells: pipes, with an open file for each holder. */
#include "ipc/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Together as many as a pipe holds: a holder that rings faster than its owner reads must not keep
 * the owner here. */
enum { RINGS_PER_READ = 1 << 14, READS_MAX = 4 };

int doorbell_copy(int doorbell)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", doorbell);

	/* For reading and writing, so that no other holder's close ends the pipe or breaks it. */
	int copy = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	return copy < 0 ? -errno : copy;
}

int doorbell_make(void)
{
	int ends[2];

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
		return -errno;

	int doorbell = doorbell_copy(ends[0]);

	close(ends[0]);
	close(ends[1]);
	return doorbell;
}

void doorbell_ring(int doorbell)
{
	uint8_t ring = 1;

	/* EAGAIN: the doorbell rings already. Anything else: its owner is gone, and softibd will
	 * tell. */
	if (write(doorbell, &ring, sizeof(ring)) < 0)
		return;
}

void doorbell_silence(int doorbell)
{
	uint8_t rings[RINGS_PER_READ];

	for (unsigned i = 0; i < READS_MAX; i++)
		if (read(doorbell, rings, sizeof(rings)) != (ssize_t)sizeof(rings))
			return;
}
