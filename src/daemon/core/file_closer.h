/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes files that clients handed over. close() of such a file may wait for as long as the client
 * likes: a TCP socket lingers, a FUSE file is flushed by its server, and a socket purges the files
 * that are in its unread messages. So softibd's own thread never closes one; each process has a
 * thread for its files, which lives as long as there is one to close.
 */
#ifndef SOFTIB_DAEMON_CORE_FILE_CLOSER_H
#define SOFTIB_DAEMON_CORE_FILE_CLOSER_H

#include <pthread.h>
#include "base/attributes.h"
#include "base/list.h"
#include "daemon/core/event_loop.h"
#include "daemon/core/limits.h"

struct received_descriptors;

struct file_closers {
	struct list closers; /* struct file_closer */
	pthread_mutex_t lock;
	struct event_loop *loop;
	struct watch watch;
	int finished; /* an eventfd: a thread has nothing left to close; -1: not open */
	unsigned thread_count;
};

void file_closers_init(struct file_closers *closers);
MUST_USE int file_closers_open(struct file_closers *closers, struct event_loop *loop);
/* Does not wait for files that can't be closed. */
void file_closers_release(struct file_closers *closers);

/* Closes a file that the process handed over. Until then it counts among the process's descriptors.
 * -EMFILE: it has no more of these; the file is closed all the same. */
MUST_USE int file_close_apart(struct file_closers *closers, struct account *account,
			      int descriptor);
/* file_close_apart() of all that came with a message. */
MUST_USE int files_close_apart(struct file_closers *closers, struct account *account,
			       struct received_descriptors *received);
/* Closes softibd's end of a watched socket, which may have unread messages with files. */
void socket_close_apart(struct file_closers *closers, struct account *account, int socket);

#endif
