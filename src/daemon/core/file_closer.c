/* SPDX-License-Identifier: Apache-2.0 */
/* Closes files that clients handed over, each process's in a thread of its own. */
#include "daemon/core/file_closer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ipc/descriptor_message.h"

enum {
	THREADS_MAX = 1024, /* further processes' files wait */
	STACK_BYTES = 1 << 16,
};

struct closing {
	struct list link;
	int descriptor;
	bool is_charged;
};

/* The files of one process. */
struct file_closer {
	struct list link;
	struct file_closers *closers;
	struct account *account;
	/* The rest is covered by closers->lock. */
	struct list to_close;
	struct list closed; /* their charge has to be given back */
	bool has_thread;
};

static struct closing *next_to_close(struct file_closer *closer)
{
	struct list *link = list_pop(&closer->to_close);

	return link ? container_of(link, struct closing, link) : NULL;
}

static void *close_files(void *context)
{
	struct file_closer *closer = context;
	struct file_closers *closers = closer->closers;
	struct closing *closing;

	pthread_mutex_lock(&closers->lock);
	while ((closing = next_to_close(closer))) {
		pthread_mutex_unlock(&closers->lock);
		close(closing->descriptor);
		pthread_mutex_lock(&closers->lock);
		list_append(&closer->closed, &closing->link);
	}
	closer->has_thread = false;
	/* Within the lock: file_closers_release() closes the eventfd when there is no thread. */
	eventfd_write(closers->finished, 1);
	pthread_mutex_unlock(&closers->lock);
	return NULL;
}

/* Without a thread the files wait until another process's thread has ended. */
static void start_thread(struct file_closer *closer)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	if (closer->has_thread || closer->closers->thread_count == THREADS_MAX ||
	    pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* Signals are for the event loop. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	closer->has_thread = pthread_create(&thread, &attributes, close_files, closer) == 0;
	closer->closers->thread_count += closer->has_thread;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

static void give_back_closed(struct file_closer *closer)
{
	for (struct list *link; (link = list_pop(&closer->closed));) {
		struct closing *closing = container_of(link, struct closing, link);

		account_give(closer->account, LIMIT_DESCRIPTORS, closing->is_charged);
		free(closing);
	}
}

static void forget(struct file_closer *closer)
{
	list_remove(&closer->link);
	closer->account->closer = NULL;
	account_release(closer->account);
	free(closer);
}

static void finished_ready(struct watch *watch, uint32_t events)
{
	struct file_closers *closers = container_of(watch, struct file_closers, watch);
	eventfd_t ended_count = 0;

	(void)events;
	pthread_mutex_lock(&closers->lock);
	if (eventfd_read(closers->finished, &ended_count) == 0)
		closers->thread_count -= (unsigned)ended_count;
	list_for_each_safe (link, &closers->closers) {
		struct file_closer *closer = container_of(link, struct file_closer, link);

		give_back_closed(closer);
		if (!list_is_empty(&closer->to_close))
			start_thread(closer);
		else if (!closer->has_thread)
			forget(closer);
	}
	pthread_mutex_unlock(&closers->lock);
}

void file_closers_init(struct file_closers *closers)
{
	*closers = (struct file_closers){.finished = -1, .watch.ready = finished_ready};
	list_init(&closers->closers);
	pthread_mutex_init(&closers->lock, NULL);
}

int file_closers_open(struct file_closers *closers, struct event_loop *loop)
{
	closers->loop = loop;
	closers->finished = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return closers->finished < 0 ? -errno
				     : event_loop_watch(loop, closers->finished, &closers->watch);
}

void file_closers_release(struct file_closers *closers)
{
	if (closers->finished < 0)
		return;
	finished_ready(&closers->watch, 0);
	/* Threads that are left end with the process. */
	if (!closers->thread_count)
		close(closers->finished);
	closers->finished = -1;
}

static struct file_closer *closer_of(struct file_closers *closers, struct account *account)
{
	struct file_closer *closer = account->closer;

	if (closer)
		return closer;
	closer = calloc(1, sizeof(*closer));
	if (!closer)
		return NULL;
	closer->closers = closers;
	closer->account = account_share(account);
	list_init(&closer->to_close);
	list_init(&closer->closed);
	list_append(&closers->closers, &closer->link);
	account->closer = closer;
	return closer;
}

int file_close_apart(struct file_closers *closers, struct account *account, int descriptor)
{
	struct file_closer *closer = closer_of(closers, account);
	struct closing *closing = closer ? calloc(1, sizeof(*closing)) : NULL;
	int error;

	/* It stays open: closing it here may take for ever. */
	if (!closing)
		return -ENOMEM;
	error = account_take(account, LIMIT_DESCRIPTORS, 1);
	closing->descriptor = descriptor;
	closing->is_charged = !error;
	pthread_mutex_lock(&closers->lock);
	list_append(&closer->to_close, &closing->link);
	start_thread(closer);
	pthread_mutex_unlock(&closers->lock);
	return error;
}

int files_close_apart(struct file_closers *closers, struct account *account,
		      struct received_descriptors *received)
{
	int error = 0;

	for (unsigned index = 0; index < received->count; index++) {
		int descriptor = received_descriptor_take(received, index);

		if (descriptor >= 0 && file_close_apart(closers, account, descriptor) != 0)
			error = -EMFILE;
	}
	return error;
}

/* With credentials wanted, each message has control data, also an empty one. */
static bool has_unread(int socket)
{
	const int is_wanted = 1;
	struct msghdr message = {0};

	if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &is_wanted, sizeof(is_wanted)) != 0)
		return true;
	return recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT) >= 0 &&
	       (message.msg_flags & MSG_CTRUNC);
}

void socket_close_apart(struct file_closers *closers, struct account *account, int socket)
{
	event_loop_unwatch(closers->loop, socket);
	/* Nothing can be sent to it from now on. */
	shutdown(socket, SHUT_RDWR);
	if (!has_unread(socket))
		close(socket);
	else if (file_close_apart(closers, account, socket) != 0)
		account->refused = LIMIT_DESCRIPTORS;
}
