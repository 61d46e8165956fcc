/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: accepting clients, running their commands, sending the replies. */
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/client_lifetime.h"
#include "daemon/commands.h"
#include "daemon/core/limits.h"
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "daemon/packets/direct_rings.h"
#include "ipc/control_socket.h"
#include "ipc/descriptor_message.h"

enum { ACCEPTS_PER_TURN = 8 };

/* Counting the inactive ports of a large fabric takes a while, so not at every turn. */
#define WAITERS_CHECK_INTERVAL MILLISECONDS(2)

/* Closes a connection that has not become a client; it may have sent files already. */
static void hang_up(struct daemon *daemon, int socket)
{
	struct account *account = NULL;
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0)
		account = account_of(&daemon->core.accounts, peer.pid,
				     daemon->core.clients.last_client_id + 1);
	if (!account) {
		close(socket);
		return;
	}
	socket_close_apart(&daemon->core.closers, account, socket);
	account_release(account);
}

/* Without a free descriptor the connection would stay in the backlog and wake softibd for ever. The
 * reserved descriptor makes room to accept and close it. */
static void refuse_for_lack_of_descriptors(const struct server_socket *listener)
{
	struct server *server = &listener->daemon->server;

	close(server->reserve);

	int socket = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC);

	if (socket >= 0)
		hang_up(listener->daemon, socket);
	server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	log_line("connection refused: too many open files");
}

static bool may_connect(int socket, struct ucred *ret_peer)
{
	socklen_t length = sizeof(*ret_peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ret_peer, &length) != 0)
		return false;
	if (ret_peer->uid != geteuid()) {
		log_line("connection of user %u (pid %d) refused: the fabric belongs to user %u",
			 ret_peer->uid, (int)ret_peer->pid, geteuid());
		return false;
	}
	return true;
}

/* The answer to a request that the client may not have sent yet: it reads this when its request
 * fails (control_ask()). */
static void refuse(struct daemon *daemon, int socket, const char *reason, int error)
{
	struct reply reply = {0};

	reply_error(&reply, error, "%s", reason);

	char *text = json_dumps(reply.object, JSON_COMPACT);

	if (text && control_send(socket, text, NULL, 0) != 0)
		log_line("a refused client has gone");
	free(text);
	json_decref(reply.object);
	hang_up(daemon, socket);
}

static void admit(const struct server_socket *listener, int socket, const struct ucred *peer)
{
	struct daemon *daemon = listener->daemon;
	struct account *account = account_of(&daemon->core.accounts, peer->pid,
					     daemon->core.clients.last_client_id + 1);
	char reason[LIMIT_TEXT_BYTES] = "softibd has no memory for another connection";
	struct client *client;
	int error = account ? client_create(daemon, socket, account, peer->pid, &client) : -ENOMEM;

	if (!error) {
		client->is_operator = listener->is_for_operators;
		return;
	}
	if (account && account->refused != LIMIT_COUNT)
		account_explain(account, account->refused, reason);
	if (account)
		account_release(account);
	log_line("connection of pid %d refused: %s", (int)peer->pid, reason);
	refuse(daemon, socket, reason, -error);
}

static void accept_clients(const struct server_socket *listener)
{
	for (unsigned count = 0; count < ACCEPTS_PER_TURN; count++) {
		int socket = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred peer;

		if (socket < 0) {
			if (errno == EMFILE || errno == ENFILE)
				refuse_for_lack_of_descriptors(listener);
			return;
		}
		if (may_connect(socket, &peer))
			admit(listener, socket, &peer);
		else
			hang_up(listener->daemon, socket);
	}
}

static void resume_listening(struct share_hold *hold)
{
	struct server_socket *listener = container_of(hold, struct server_socket, hold);

	event_loop_change(&listener->daemon->core.loop, listener->socket, &listener->watch,
			  EPOLLIN);
}

static void listener_ready(struct watch *watch, uint32_t events)
{
	struct server_socket *listener = container_of(watch, struct server_socket, watch);
	struct daemon_core *core = &listener->daemon->core;
	struct account *entrance = &listener->daemon->server.entrance;
	time_ns begin = event_loop_clock();

	(void)events;
	if (!listener->is_for_operators && share_is_used_up(&core->shares, entrance, begin)) {
		event_loop_change(&core->loop, listener->socket, watch, 0);
		share_hold_back(&core->shares, &listener->hold);
		return;
	}
	accept_clients(listener);
	share_spend(entrance, begin, event_loop_clock());
}

void server_init(struct server *server)
{
	commands_init();
	*server = (struct server){.reserve = -1};
	list_init(&server->catching_up);
}

static int start_listening(struct daemon *daemon, struct server_socket *listener, const char *name)
{
	int socket = runtime_folder_listen(&daemon->folder, name);

	if (socket < 0)
		return socket;
	listener->socket = socket;
	listener->daemon = daemon;
	listener->watch.ready = listener_ready;
	listener->hold = (struct share_hold){.account = &daemon->server.entrance,
					     .resume = resume_listening};
	list_init(&listener->hold.link);
	return event_loop_watch(&daemon->core.loop, socket, &listener->watch);
}

int server_start(struct daemon *daemon)
{
	struct server *server = &daemon->server;
	int error;

	/* A client that finds the socket of programs finds the other one, too. */
	server->operators.is_for_operators = true;
	error = start_listening(daemon, &server->operators, OPERATOR_SOCKET);
	if (!error)
		error = start_listening(daemon, &server->programs, CONTROL_SOCKET);
	server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return error;
}

void server_stop(struct daemon *daemon)
{
	while (!list_is_empty(&daemon->core.clients.all))
		client_end(container_of(list_first(&daemon->core.clients.all), struct client, link),
			   NULL);
	clients_release_ended(daemon);
	close(daemon->server.programs.socket);
	close(daemon->server.operators.socket);
	close(daemon->server.reserve);
}

/* A descriptor that could not be created holds its negative errno. */
static int descriptors_error(const struct reply *reply)
{
	for (unsigned index = 0; index < reply->descriptor_count; index++)
		if (reply->descriptors[index] < 0)
			return reply->descriptors[index];
	return 0;
}

/* The client may have half of what it asked for, and nobody can tell it which: it gets the reason,
 * and its end takes everything back. */
static void end_with_error(struct client *client, int error)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "{\"ok\":false,\"error\":\"softibd can't answer: %s\",\"errno\":%d}",
		 strerror(-error), -error);
	if (control_send(client->socket, text, NULL, 0) != 0)
		log_line("client %u does not read why it is cut off", client->id);
	client_end(client, strerror(-error));
}

static void answer(struct client *client, struct reply *reply)
{
	char *text = reply->object ? json_dumps(reply->object, JSON_COMPACT) : NULL;
	int lack = text ? descriptors_error(reply) : -ENOMEM;
	int error = lack ? 0
			 : control_send(client->socket, text, reply->descriptors,
					reply->descriptor_count);

	for (unsigned index = reply->given_from; index < reply->descriptor_count; index++)
		if ((reply->given_from || reply->gives_all) && reply->descriptors[index] >= 0)
			close(reply->descriptors[index]);

	if (lack)
		end_with_error(client, lack);
	else if (error == -EAGAIN)
		client_end(client, "it does not read the replies to its requests");
	else if (error)
		client_end(client, error == -ECONNRESET ? NULL : strerror(-error));
	if (!lack && !error && reply->ring_shared)
		direct_ring_shared(client, reply->ring_shared);
	if (reply->process_shared) {
		close(client->rings.memory_file);
		client->rings.memory_file = -1;
	}
	free(text);
	json_decref(reply->object);
}

static void run(struct client *client, const struct control_message *message)
{
	struct reply reply;
	int error = command_run(client, message->text, message->byte_count, &reply);

	if (error == -ENOMEM)
		end_with_error(client, error);
	else if (error)
		client_end(client, "its message is not a request");
	else if (!reply.is_later)
		answer(client, &reply);
}

/* Nothing has been done yet: the client may ask again. */
static void refuse_request(struct client *client, int error)
{
	struct reply reply = {0};

	reply_error(&reply, -error, "softibd can't take the request: %s", strerror(-error));
	answer(client, &reply);
}

/* An open port's socket is closed here and now: while softibd has it, the port does not look closed
 * to the program that registers next. Only softibd writes to it, so close() does not wait. */
static void close_given_port(struct client *client, struct received_descriptors *received)
{
	if (received->count &&
	    mad_file_find(&client_daemon(client)->mad_files, received->numbers[0]))
		close(received_descriptor_take(received, 0));
}

static void receive(struct client *client)
{
	struct control_message message;
	struct received_descriptors received;
	int error = control_receive_from_client(client->socket, &message, &received);

	if (error == -EAGAIN)
		return;
	if (error == -ENOMEM || error == -EMFILE) {
		refuse_request(client, error);
	} else if (error) {
		client_end(client, error == -ECONNRESET ? NULL
				   : error == -EMSGSIZE ? "its message is too long"
							: strerror(-error));
	} else {
		client->given_descriptor = received.count ? received.numbers[0] : -1;
		run(client, &message);
		control_message_release(&message);
		close_given_port(client, &received);
	}
	if (files_close_apart(&client->core->closers, client->account, &received) != 0)
		client_end(client, "it sends more files than softibd can close");
}

void server_resume_client(struct share_hold *hold)
{
	struct client *client = container_of(hold, struct client, hold);

	event_loop_change(&client->core->loop, client->socket, &client->socket_watch, EPOLLIN);
}

static void receive_in_turn(struct client *client)
{
	struct daemon_core *core = client->core;
	time_ns begin = event_loop_clock();

	if (share_is_used_up(&core->shares, client->account, begin)) {
		event_loop_change(&core->loop, client->socket, &client->socket_watch, 0);
		share_hold_back(&core->shares, &client->hold);
		return;
	}
	receive(client);
	share_charge(&core->shares, client->account, begin, event_loop_clock());
}

void server_client_ready(struct watch *watch, uint32_t events)
{
	struct client *client = container_of(watch, struct client, socket_watch);

	if (client->is_ending)
		return;
	if (events & EPOLLIN)
		receive_in_turn(client);
	else if (events & (EPOLLHUP | EPOLLERR))
		client_end(client, NULL);
}

static void answer_waiter(struct client *client, uint32_t not_active)
{
	struct reply reply = {0};

	client->waits_for_active = false;
	client_daemon(client)->server.waiter_count--;
	if (not_active)
		reply_error(&reply, ETIMEDOUT, "%u ports are not Active", not_active);
	else
		reply_ok(&reply, json_object());
	answer(client, &reply);
}

/* The interval grows with the fabric: counting its ports must take less time than lies between two
 * counts. */
static time_ns check_interval(const struct daemon *daemon)
{
	return WAITERS_CHECK_INTERVAL + MICROSECONDS(10) * daemon->core.fabric.node_count;
}

static bool is_caught_up(const struct client *client)
{
	return !client->ingress.stalled && client->rings.up.head >= client->catch_up_to;
}

void server_await_catch_up(struct client *client, struct reply *reply)
{
	if (list_is_linked(&client->catch_up_link)) {
		reply_error(reply, EBUSY, "this connection is waiting already");
		return;
	}
	client->catch_up_to = ring_snapshot(&client->rings.up);
	if (is_caught_up(client)) {
		reply_ok(reply, json_object());
		return;
	}
	client_wake(client);
	list_append(&client_daemon(client)->server.catching_up, &client->catch_up_link);
	reply->is_later = true;
}

/* Each turn reads a part of each ring, so a client that asks all the time does not hold up others.
 */
static void answer_caught_up(struct server *server)
{
	list_for_each_safe (link, &server->catching_up) {
		struct client *client = container_of(link, struct client, catch_up_link);
		struct reply reply = {0};

		if (!is_caught_up(client))
			continue;
		list_remove(link);
		reply_ok(&reply, json_object());
		answer(client, &reply);
	}
}

void server_answer_waiters(struct daemon *daemon)
{
	answer_caught_up(&daemon->server);
	if (!daemon->server.waiter_count ||
	    daemon->core.loop.now < daemon->server.waiters_checked_at + check_interval(daemon))
		return;
	daemon->server.waiters_checked_at = daemon->core.loop.now;

	uint32_t not_active = managers_inactive_ports(&daemon->managers, &daemon->core.fabric);

	list_for_each_safe (link, &daemon->core.clients.all) {
		struct client *client = container_of(link, struct client, link);

		if (client->waits_for_active &&
		    (!not_active || daemon->core.loop.now >= client->waits_until))
			answer_waiter(client, not_active);
	}
}

time_ns server_deadline(const struct daemon *daemon)
{
	return daemon->server.waiter_count
		       ? daemon->server.waiters_checked_at + check_interval(daemon)
		       : TIME_NEVER;
}
