/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that management programs have open: their sockets, and the MADs that wait for room on
 * either side. */
#include "daemon/mad/mad_files.h"

#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "daemon/core/log.h"
#include "daemon/mad/mad_agents.h"
#include "daemon/mad/mad_outbox.h"
#include "daemon/mad/mad_requests.h"
#include "ipc/descriptor_message.h"
#include "ipc/mad_socket.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	MESSAGES_PER_TURN = 16, /* of one program, so that it can't starve the others */
	FRAMES_PER_MESSAGE = 256,
	REQUESTS_MAX = 4096, /* outstanding for one open port; then softibd stops reading the socket
				for a while */
	SOCKET_BUFFER_BYTES = 1 << 20,
};

struct mad_file {
	struct list link; /* mad_files.files or mad_files.ended */
	struct mad_files *files;
	struct account *account; /* of the process that opened the port */
	struct endpoint *endpoint;
	int socket;
	uint64_t cookie; /* of the program's end */
	struct watch watch;
	struct share_hold hold; /* while its socket is not read */
	uint32_t events;	/* epoll events that are watched for */
	bool is_ending;
	struct mad_agent *agents[MAD_PORT_AGENTS_MAX];
	struct mad_outbox outbox;
	unsigned request_count;
};

void mad_files_init(struct mad_files *files, struct daemon_core *core,
		    struct mad_dispatch *dispatch)
{
	*files = (struct mad_files){.core = core, .dispatch = dispatch};
	list_init(&files->files);
	list_init(&files->ended);
	list_init(&files->stalled);
	hash_table_init(&files->by_cookie);
	hash_table_init(&files->requests);
	timer_queue_init(&files->timers);
}

struct mad_files *mad_file_owner(const struct mad_file *file)
{
	return file->files;
}

struct account *mad_file_account(const struct mad_file *file)
{
	return file->account;
}

struct endpoint *mad_file_endpoint(const struct mad_file *file)
{
	return file->endpoint;
}

struct mad_file *mad_file_find(const struct mad_files *files, int program_end)
{
	uint64_t cookie = program_end >= 0 ? socket_cookie(program_end) : 0;

	return cookie ? hash_table_get(&files->by_cookie, cookie) : NULL;
}

/* Ends the open port. The log gets the reason unless it is NULL. */
static void mad_file_end(struct mad_file *file, const char *reason)
{
	if (file->is_ending)
		return;
	file->is_ending = true;
	if (reason)
		log_line("a management program of host %s is cut off: %s",
			 file->endpoint->device->host->name, reason);
	list_remove(&file->link);
	list_append(&file->files->ended, &file->link);
}

static int take_port(struct account *account)
{
	int error = account_take(account, LIMIT_MAD_PORTS, 1);

	if (error)
		return error;
	error = account_take(account, LIMIT_DESCRIPTORS, 1);
	if (error)
		account_give(account, LIMIT_MAD_PORTS, 1);
	return error;
}

static void give_port(struct account *account)
{
	account_give(account, LIMIT_DESCRIPTORS, 1);
	account_give(account, LIMIT_MAD_PORTS, 1);
}

static void release(struct mad_file *file)
{
	for (unsigned id = 0; id < MAD_PORT_AGENTS_MAX; id++) {
		if (file->agents[id])
			mad_agent_destroy(file->agents[id]);
	}
	mad_outbox_release(&file->outbox);
	hash_table_remove(&file->files->by_cookie, file->cookie);
	file->files->file_count--;
	list_remove(&file->hold.link);
	give_port(file->account);
	socket_close_apart(&file->files->core->closers, file->account, file->socket);
	account_release(file->account);
	free(file);
}

static void bury_ended(struct mad_files *files)
{
	struct list *link;

	while ((link = list_pop(&files->ended)))
		release(container_of(link, struct mad_file, link));
}

void mad_files_release(struct mad_files *files)
{
	while (!list_is_empty(&files->files))
		mad_file_end(container_of(list_first(&files->files), struct mad_file, link), NULL);
	bury_ended(files);
	hash_table_release(&files->by_cookie);
	hash_table_release(&files->requests);
	timer_queue_release(&files->timers);
}

static void watch_for(struct mad_file *file)
{
	bool may_read = file->request_count < REQUESTS_MAX && !list_is_linked(&file->hold.link);
	uint32_t wanted = (may_read ? EPOLLIN : 0) | (file->outbox.message_count ? EPOLLOUT : 0);
	struct epoll_event event = {.events = wanted, .data.ptr = &file->watch};

	if (wanted == file->events || file->is_ending)
		return;
	file->events = wanted;
	if (epoll_ctl(file->files->core->loop.epoll, EPOLL_CTL_MOD, file->socket, &event) != 0)
		mad_file_end(file, strerror(errno));
}

void mad_file_count_request(struct mad_file *file, int change)
{
	file->request_count += (unsigned)change;
	watch_for(file);
}

/* Watches for room if messages are left over; ends the port if the program has gone. */
static void outbox_used(struct mad_file *file, int error)
{
	if (error)
		mad_file_end(file, NULL);
	else
		watch_for(file);
}

void mad_file_deliver(struct mad_file *file, const struct mad_port_header *header,
		      const uint8_t *bytes, size_t byte_count)
{
	uint8_t single[MAD_PORT_SINGLE_BYTES];
	uint8_t *message = single;

	if (file->is_ending)
		return;
	if (byte_count > MAD_BYTES)
		message = malloc(MAD_PORT_HEADER_BYTES + byte_count);
	if (!message) {
		file->outbox.lost_count++;
		return;
	}
	mad_port_header_encode(header, message);
	memcpy(message + MAD_PORT_HEADER_BYTES, bytes, byte_count);
	outbox_used(file, mad_outbox_put(&file->outbox, file->socket, message,
					 MAD_PORT_HEADER_BYTES + byte_count));
	if (message != single)
		free(message);
}

/* The agent that sends the message. NULL: the port is ended, or the agent was unregistered while
 * the message was in the socket. */
static struct mad_agent *sending_agent(struct mad_file *file, const uint8_t *bytes,
				       size_t byte_count, struct mad_port_header *ret_header)
{
	if (byte_count < MAD_PORT_HEADER_BYTES + MAD_PORT_MAD_BYTES_MIN ||
	    !mad_port_header_decode(bytes, byte_count, ret_header)) {
		mad_file_end(file, "a message on its port is not a MAD");
		return NULL;
	}
	return ret_header->agent_id < MAD_PORT_AGENTS_MAX ? file->agents[ret_header->agent_id]
							  : NULL;
}

static void accept_message(struct mad_file *file, const uint8_t *bytes, size_t byte_count)
{
	struct mad_port_header header;
	struct mad_agent *agent = sending_agent(file, bytes, byte_count, &header);

	if (agent)
		mad_agent_send(agent, &header, bytes + MAD_PORT_HEADER_BYTES,
			       byte_count - MAD_PORT_HEADER_BYTES, file->files->core->loop.now);
}

static void accept_arrival(struct mad_file *file, struct mad_arrival *arrival)
{
	uint8_t *bytes;

	if (arrival->file < 0) {
		accept_message(file, arrival->bytes, arrival->byte_count);
		return;
	}
	bytes = malloc(arrival->total_bytes);
	if (!bytes) {
		close(arrival->file);
		mad_file_end(file, "no memory for its message");
		return;
	}
	if (mad_arrival_take(arrival, bytes) != 0)
		mad_file_end(file, "can't read a message on its port");
	else
		accept_message(file, bytes, arrival->total_bytes);
	free(bytes);
}

/* softibd has no descriptor left for the file of a long message: the agent hears that it was not
 * sent. */
static void refuse_long(struct mad_file *file, const struct mad_arrival *arrival)
{
	struct mad_port_header header;
	struct mad_agent *agent = sending_agent(file, arrival->bytes, arrival->byte_count, &header);

	if (agent)
		mad_request_report(agent, &header, arrival->bytes + MAD_PORT_HEADER_BYTES, EMFILE);
}

static void read_program(struct mad_file *file)
{
	struct mad_arrival arrival;

	for (unsigned count = 0;
	     count < MESSAGES_PER_TURN && file->request_count < REQUESTS_MAX && !file->is_ending;
	     count++) {
		int error = mad_socket_receive_from_client(file->socket, &arrival);

		if (error == -EAGAIN)
			return;
		if (files_close_apart(&file->files->core->closers, file->account,
				      &arrival.received) != 0) {
			mad_file_end(file, "it sends more files than softibd can close");
			return;
		}
		if (error == -EMFILE) {
			refuse_long(file, &arrival);
			continue;
		}
		if (error) {
			mad_file_end(file, error == -EPROTO ? "invalid message on its port" : NULL);
			return;
		}
		accept_arrival(file, &arrival);
		/* Most requests are answered at once: a manager with few requests on the wire works
		 * on this answer while softibd works on its next request. */
		fabric_step(&file->files->core->fabric, file->files->core->loop.now,
			    FRAMES_PER_MESSAGE);
	}
}

static void read_in_turn(struct mad_file *file)
{
	struct daemon_core *core = file->files->core;
	time_ns begin = event_loop_clock();

	if (share_is_used_up(&core->shares, file->account, begin)) {
		share_hold_back(&core->shares, &file->hold);
		watch_for(file);
		return;
	}
	read_program(file);
	share_note_mads(&core->shares, file->account);
	share_charge(&core->shares, file->account, begin, event_loop_clock());
}

/* The hold has ended. */
static void resume(struct share_hold *hold)
{
	watch_for(container_of(hold, struct mad_file, hold));
}

static void file_ready(struct watch *watch, uint32_t events)
{
	struct mad_file *file = container_of(watch, struct mad_file, watch);

	if (file->is_ending)
		return;
	if (events & EPOLLOUT)
		outbox_used(file, mad_outbox_flush(&file->outbox, file->socket));
	if (events & EPOLLIN)
		read_in_turn(file);
	else if (events & (EPOLLHUP | EPOLLERR))
		mad_file_end(file, NULL);
}

static int watch_file(struct mad_file *file, int program_end)
{
	const int buffer_bytes = SOCKET_BUFFER_BYTES;

	file->cookie = socket_cookie(program_end);
	if (!file->cookie)
		return -ENOTSOCK;
	/* As much as the system grants; a larger buffer only holds more messages. */
	if (setsockopt(file->socket, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof(buffer_bytes)) !=
	    0)
		return -errno;

	int error = hash_table_put(&file->files->by_cookie, file->cookie, file);

	if (error)
		return error;
	file->events = EPOLLIN;
	error = event_loop_watch(&file->files->core->loop, file->socket, &file->watch);
	if (error)
		hash_table_remove(&file->files->by_cookie, file->cookie);
	return error;
}

static int make_file(struct mad_files *files, struct account *account, struct endpoint *endpoint,
		     int *ret_program_end)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return -errno;

	struct mad_file *file = calloc(1, sizeof(*file));
	int error = file ? 0 : -ENOMEM;

	if (file) {
		file->files = files;
		file->endpoint = endpoint;
		file->socket = ends[0];
		file->watch.ready = file_ready;
		mad_outbox_init(&file->outbox, account);
		error = watch_file(file, ends[1]);
	}
	if (error) {
		free(file);
		close(ends[0]);
		close(ends[1]);
		return error;
	}
	file->account = account_share(account);
	file->hold = (struct share_hold){.account = account, .resume = resume};
	list_init(&file->hold.link);
	list_append(&files->files, &file->link);
	files->file_count++;
	*ret_program_end = ends[1];
	return 0;
}

int mad_file_open(struct mad_files *files, struct account *account, struct endpoint *endpoint,
		  int *ret_program_end)
{
	int error = take_port(account);

	if (error)
		return error;
	error = make_file(files, account, endpoint, ret_program_end);
	if (error)
		give_port(account);
	return error;
}

static bool is_closed(const struct mad_file *file)
{
	struct pollfd end = {.fd = file->socket};

	return file->is_ending || (poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)));
}

static bool drop_closed_of(const struct list *files, const struct endpoint *endpoint)
{
	bool is_dropped = false;

	list_for_each (link, files) {
		struct mad_file *file = container_of(link, struct mad_file, link);

		if (file->endpoint != endpoint || !is_closed(file))
			continue;
		for (unsigned id = 0; id < MAD_PORT_AGENTS_MAX; id++) {
			if (file->agents[id]) {
				mad_agent_destroy(file->agents[id]);
				file->agents[id] = NULL;
				is_dropped = true;
			}
		}
	}
	return is_dropped;
}

/* A program that ends or closes a port holds nothing from then on, also if softibd has not read of
 * it yet. Returns whether agents of the port went. */
static bool drop_closed(const struct mad_files *files, const struct endpoint *endpoint)
{
	bool was_open = drop_closed_of(&files->files, endpoint);

	return drop_closed_of(&files->ended, endpoint) || was_open;
}

int mad_file_add_agent(struct mad_file *file, const struct mad_agent_options *options,
		       struct mad_agent_identity *ret_identity)
{
	uint32_t id = 0;

	while (id < MAD_PORT_AGENTS_MAX && file->agents[id])
		id++;
	if (id == MAD_PORT_AGENTS_MAX)
		return -ENOMEM;

	int error = mad_agent_create(file, id, file->endpoint->port, options, &file->agents[id]);

	if (error == -EBUSY && drop_closed(file->files, file->endpoint))
		error = mad_agent_create(file, id, file->endpoint->port, options,
					 &file->agents[id]);
	if (!error)
		*ret_identity = (struct mad_agent_identity){
			.id = id, .number = file->agents[id]->client.agent_number};
	return error;
}

int mad_file_remove_agent(struct mad_file *file, uint32_t agent_id)
{
	if (agent_id >= MAD_PORT_AGENTS_MAX || !file->agents[agent_id])
		return -EINVAL;
	mad_agent_destroy(file->agents[agent_id]);
	file->agents[agent_id] = NULL;
	return 0;
}

static void expire(struct mad_files *files, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&files->timers, now))) {
		struct mad_timer *expired = container_of(timer, struct mad_timer, timer);

		expired->expire(expired, now);
	}
}

static bool retry_stalled(struct mad_files *files, time_ns now)
{
	struct list stalled;
	struct list *link;
	bool is_busy = false;

	list_init(&stalled);
	while ((link = list_pop(&files->stalled)))
		list_append(&stalled, link);
	while ((link = list_pop(&stalled))) {
		struct mad_agent *agent = container_of(link, struct mad_agent, stalled_link);

		if (mad_agent_retry(agent, now))
			continue;
		is_busy = true;
		if (!list_is_linked(&agent->stalled_link))
			list_append(&files->stalled, &agent->stalled_link);
	}
	return is_busy;
}

bool mad_files_run(struct mad_files *files)
{
	time_ns now = files->core->loop.now;

	if (timer_queue_deadline(&files->timers) <= now)
		expire(files, now);

	bool is_busy = retry_stalled(files, now);

	bury_ended(files);
	return is_busy;
}

time_ns mad_files_deadline(const struct mad_files *files)
{
	return list_is_empty(&files->stalled) ? timer_queue_deadline(&files->timers) : 0;
}
