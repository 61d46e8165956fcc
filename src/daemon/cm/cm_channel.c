/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels: a socket per channel that only softibd writes to, so that it is readable when and
 * only when there is an event. To move unread events, softibd reads them back from the program's
 * end of the socket, which the program passes to it. */
#include "daemon/cm/cm_channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "ipc/descriptor_message.h"

/* A process with many channels keeps few events in each socket: the kernel's memory counts, too. */
enum { SOCKET_BYTES = 1 << 20, LARGE_SOCKETS_MAX = 16, SMALL_SOCKET_BYTES = 1 << 14 };

struct waiting_event {
	struct list link;
	size_t byte_count;
	struct cm_event_message message; /* only byte_count bytes are allocated */
};

/* NULL: no memory, or too many bytes of events for one process. */
static struct waiting_event *make_waiting(const struct cm_channel *channel, size_t byte_count)
{
	struct account *account = channel->program->account;
	struct waiting_event *waiting;

	if (account_take(account, LIMIT_CM_EVENT_BYTES, (uint32_t)byte_count) != 0)
		return NULL;
	waiting = malloc(offsetof(struct waiting_event, message) + byte_count);
	if (waiting)
		waiting->byte_count = byte_count;
	else
		account_give(account, LIMIT_CM_EVENT_BYTES, (uint32_t)byte_count);
	return waiting;
}

static void free_waiting(const struct cm_channel *channel, struct waiting_event *waiting)
{
	account_give(channel->program->account, LIMIT_CM_EVENT_BYTES,
		     (uint32_t)waiting->byte_count);
	free(waiting);
}

static void watch_for_room(struct cm_channel *channel, uint32_t events)
{
	event_loop_change(&channel->program->host->fabric->core->loop, channel->socket,
			  &channel->watch, events);
}

static void write_waiting(struct cm_channel *channel)
{
	for (struct list *link; (link = list_first(&channel->waiting));) {
		struct waiting_event *waiting = container_of(link, struct waiting_event, link);

		if (send(channel->socket, &waiting->message, waiting->byte_count,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
		    errno == EAGAIN)
			break;
		list_remove(link);
		free_waiting(channel, waiting);
	}

	bool awaits_room = !list_is_empty(&channel->waiting);

	if (awaits_room != channel->awaits_room)
		watch_for_room(channel, awaits_room ? EPOLLIN | EPOLLOUT : EPOLLIN);
	channel->awaits_room = awaits_room;
}

void cm_channels_flush(struct cm_fabric *fabric)
{
	for (struct list *link; (link = list_pop(&fabric->unwritten));)
		write_waiting(container_of(link, struct cm_channel, unwritten_link));
}

static void channel_ready(struct watch *watch, uint32_t events)
{
	struct cm_channel *channel = container_of(watch, struct cm_channel, watch);

	/* The program closed its end, or wrote to a socket that it must only read. */
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		cm_channel_destroy(channel);
	else if (events & EPOLLOUT)
		write_waiting(channel);
}

int cm_channel_create(struct cm_program *program, struct cm_channel **ret_channel,
		      int *ret_peer_socket)
{
	struct cm_channel *channel = calloc(1, sizeof(*channel));
	int sockets[2];
	int room = program->channels.count < LARGE_SOCKETS_MAX ? SOCKET_BYTES : SMALL_SOCKET_BYTES;
	int error;

	if (!channel)
		return -ENOMEM;
	error = account_take(program->account, LIMIT_DESCRIPTORS, 1);
	if (!error && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
		error = -errno;
		account_give(program->account, LIMIT_DESCRIPTORS, 1);
	}
	if (error) {
		free(channel);
		return error;
	}
	setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	channel->program = program;
	channel->socket = sockets[0];
	channel->peer_cookie = socket_cookie(sockets[1]);
	channel->watch.ready = channel_ready;
	list_init(&channel->waiting);
	list_init(&channel->unwritten_link);
	list_init(&channel->closed_link);
	do {
		channel->number = ++program->last_channel;
	} while (!channel->number || hash_table_get(&program->channels, channel->number));

	error = hash_table_put(&program->channels, channel->number, channel);
	if (!error) {
		error = event_loop_watch(&program->host->fabric->core->loop, sockets[0],
					 &channel->watch);
		if (error)
			hash_table_remove(&program->channels, channel->number);
	}
	if (error) {
		close(sockets[0]);
		close(sockets[1]);
		account_give(program->account, LIMIT_DESCRIPTORS, 1);
		free(channel);
		return error;
	}
	*ret_channel = channel;
	*ret_peer_socket = sockets[1];
	return 0;
}

static void closed_ready(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
}

static void leave_channel(struct cm_channel *channel)
{
	const struct hash_table *ids = &channel->program->ids;

	for (uint32_t index = 0; index < ids->capacity; index++) {
		struct cm_id *id = ids->entries[index].value;

		if (id && id->channel == channel)
			id->channel = NULL;
	}
}

void cm_channel_destroy(struct cm_channel *channel)
{
	for (struct list *link; (link = list_pop(&channel->waiting));)
		free_waiting(channel, container_of(link, struct waiting_event, link));
	list_remove(&channel->unwritten_link);
	leave_channel(channel);
	hash_table_remove(&channel->program->channels, channel->number);
	account_give(channel->program->account, LIMIT_DESCRIPTORS, 1);
	socket_close_apart(&channel->program->host->fabric->core->closers,
			   channel->program->account, channel->socket);
	/* epoll may have returned this watch in this same turn. */
	channel->watch.ready = closed_ready;
	list_append(&channel->program->host->fabric->closed_channels, &channel->closed_link);
}

struct cm_channel *cm_channel_find(const struct cm_program *program, uint32_t number)
{
	return hash_table_get(&program->channels, number);
}

static void append_waiting(struct cm_channel *channel, struct waiting_event *waiting)
{
	list_append(&channel->waiting, &waiting->link);
	if (!channel->awaits_room && !list_is_linked(&channel->unwritten_link))
		list_append(&channel->program->host->fabric->unwritten, &channel->unwritten_link);
}

void cm_channel_write(struct cm_channel *channel, const struct cm_event_message *event)
{
	size_t byte_count = cm_event_bytes(event);

	struct waiting_event *waiting = make_waiting(channel, byte_count);

	/* Events are written at the end of the turn; those of a program that reads need no room
	 * then. */
	if (!waiting) {
		write_waiting(channel);
		waiting = make_waiting(channel, byte_count);
	}
	if (!waiting) {
		cm_program_end(channel->program, "it does not read its events");
		return;
	}
	memcpy(&waiting->message, event, byte_count);
	append_waiting(channel, waiting);
}

/* Reads unread events back from the socket to the end of the list. -ENOMEM, or 0 when the socket is
 * empty. */
static int take_written(const struct cm_channel *channel, int peer_socket, struct list *list)
{
	for (;;) {
		struct cm_event_message message;
		struct waiting_event *waiting;
		ssize_t length;

		do {
			length = recv(peer_socket, &message, sizeof(message), MSG_DONTWAIT);
		} while (length < 0 && errno == EINTR);
		if (length <= 0)
			return 0;
		waiting = make_waiting(channel, (size_t)length);
		if (!waiting)
			return -ENOMEM;
		memcpy(&waiting->message, &message, (size_t)length);
		list_append(list, &waiting->link);
	}
}

/* An event of an id, or a request to it. */
static bool is_about(const struct cm_event_message *event, uint32_t id)
{
	return event->kind == CM_PROGRAM_CONNECT_REQUEST ? event->listener_id == id
							 : event->id == id;
}

/* Where the events of an id go: to another channel, or nowhere, and then requests are refused. */
struct event_destination {
	struct cm_channel *channel; /* NULL: nowhere */
	void (*refuse)(struct cm_id *request);
};

static void pass_on(const struct cm_channel *from, struct waiting_event *waiting,
		    const struct event_destination *to)
{
	struct cm_id *request = waiting->message.kind == CM_PROGRAM_CONNECT_REQUEST
					? cm_program_find_id(from->program, waiting->message.id)
					: NULL;

	if (to->channel) {
		if (request)
			request->channel = to->channel;
		append_waiting(to->channel, waiting);
		return;
	}
	if (request)
		to->refuse(request);
	free_waiting(from, waiting);
}

static int take_events(struct cm_channel *from, int peer_socket, uint32_t id,
		       const struct event_destination *to)
{
	struct list events;

	if (peer_socket < 0 || !from->peer_cookie ||
	    socket_cookie(peer_socket) != from->peer_cookie)
		return -EINVAL;
	list_init(&events);

	int error = take_written(from, peer_socket, &events);

	for (struct list *link; (link = list_pop(&from->waiting));)
		list_append(&events, link);
	for (struct list *link; (link = list_pop(&events));) {
		struct waiting_event *waiting = container_of(link, struct waiting_event, link);

		if (is_about(&waiting->message, id))
			pass_on(from, waiting, to);
		else
			append_waiting(from, waiting);
	}
	/* Events left in the socket would come before those that were taken out. */
	if (error)
		cm_program_end(from->program, "no memory for its events");
	return error;
}

int cm_channel_move_events(struct cm_channel *from, int peer_socket, uint32_t id,
			   struct cm_channel *to)
{
	return take_events(from, peer_socket, id, &(struct event_destination){.channel = to});
}

int cm_channel_drop_events(struct cm_channel *from, int peer_socket, uint32_t id,
			   void (*refuse)(struct cm_id *request))
{
	return take_events(from, peer_socket, id, &(struct event_destination){.refuse = refuse});
}
