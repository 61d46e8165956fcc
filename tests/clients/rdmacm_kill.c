/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that die in the middle of a connection, or call too often:
 *
 *	rdmacm_kill callers ADDRESS PORT ROUNDS
 *		A server here accepts whatever comes and never says goodbye. Child after child
 *		connects and kills itself at a step of the handshake that changes from one to the
 *		next. Each connection must end with an event of the server's; ids, events and
 *		softibd's memory must not pile up.
 *	rdmacm_kill servers ADDRESS PORT ROUNDS
 *		The other way round: children that listen and die. Each call must end with an event.
 *	rdmacm_kill flood ADDRESS PORT COUNT
 *		COUNT callers of a server that never looks: all but its backlog are refused, and
 *		another server is reached as ever.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

enum step { AFTER_BIND, AFTER_ADDRESS, AFTER_ROUTE, AFTER_CONNECT, AFTER_REPLY, AFTER_RTU, STEPS };

enum { RESOLVE_MS = 20000, QUIET_MS = 60000, RNR_HOLD_MS = 60000 };

static struct sockaddr_in address;

static void die_at(enum step step, enum step wanted)
{
	if (step == wanted)
		raise(SIGKILL);
}

static void await(struct rdma_event_channel *channel, enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event) != 0 || event->event != kind)
		_exit(1);
	rdma_ack_cm_event(event);
}

/* Ends by SIGKILL; an exit code means that something failed before. */
static void connect_and_die(enum step wanted)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param parameters = {.qp_num = (uint32_t)getpid() & 0xffffff};
	struct sockaddr_in anywhere = {.sin_family = AF_INET};
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(id, (struct sockaddr *)&anywhere) != 0)
		_exit(2);
	die_at(AFTER_BIND, wanted);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) != 0)
		_exit(3);
	die_at(AFTER_ADDRESS, wanted);
	await(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, RESOLVE_MS) != 0)
		_exit(4);
	die_at(AFTER_ROUTE, wanted);
	await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_connect(id, &parameters) != 0)
		_exit(5);
	die_at(AFTER_CONNECT, wanted);
	await(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	die_at(AFTER_REPLY, wanted);
	if (rdma_establish(id) != 0)
		_exit(6);
	raise(SIGKILL);
}

static bool is_end(enum rdma_cm_event_type kind)
{
	return kind == RDMA_CM_EVENT_DISCONNECTED || kind == RDMA_CM_EVENT_REJECTED ||
	       kind == RDMA_CM_EVENT_UNREACHABLE || kind == RDMA_CM_EVENT_CONNECT_ERROR;
}

static unsigned open_count, accepted_count, ended_count;

static void serve(struct rdma_cm_event *event)
{
	struct rdma_conn_param parameters = {.qp_num = 0x10000 + accepted_count};
	struct rdma_cm_id *id = event->id;
	enum rdma_cm_event_type kind = event->event;

	rdma_ack_cm_event(event);
	if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (rdma_accept(id, &parameters) != 0) {
			rdma_destroy_id(id);
			return;
		}
		accepted_count++;
		open_count++;
	} else if (is_end(kind)) {
		open_count--;
		ended_count++;
		rdma_destroy_id(id);
	}
}

static void serve_waiting(struct rdma_event_channel *channel, int timeout_ms)
{
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	while (poll(&waiting, 1, timeout_ms) == 1) {
		if (rdma_get_cm_event(channel, &event) != 0)
			exit(1);
		serve(event);
		if (!open_count)
			timeout_ms = 0;
	}
}

static struct rdma_cm_id *listen_at(struct rdma_event_channel *channel, int backlog)
{
	struct rdma_cm_id *listener;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) != 0 ||
	    rdma_listen(listener, backlog) != 0)
		exit(3);
	return listener;
}

static int kill_callers(unsigned rounds)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	unsigned failed = 0;

	listen_at(channel, 0);
	for (unsigned round = 0; round < rounds; round++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			connect_and_die((enum step)(round % STEPS));
		while (waitpid(child, &status, WNOHANG) == 0)
			serve_waiting(channel, 1);
		if (!WIFSIGNALED(status)) {
			printf("child of step %u ended with %d\n", round % STEPS,
			       WEXITSTATUS(status));
			failed++;
		}
	}
	serve_waiting(channel, open_count ? QUIET_MS : 0);
	printf("%u killed, %u accepted, %u ended, %u left open\n", rounds, accepted_count,
	       ended_count, open_count);
	return failed || open_count ? 1 : 0;
}

enum server_step { UNREAD_REQUEST, READ_REQUEST, AFTER_ACCEPT, AFTER_ESTABLISHED, SERVER_STEPS };

static void listen_and_die(enum server_step wanted, int ready)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param parameters = {.qp_num = 0x20000 + ((uint32_t)getpid() & 0xffff)};
	struct pollfd waiting = {.events = POLLIN};
	struct rdma_cm_event *event;

	listen_at(channel, 0);
	waiting.fd = channel->fd;
	if (write(ready, "r", 1) != 1 || poll(&waiting, 1, -1) != 1)
		_exit(4);
	if (wanted == UNREAD_REQUEST)
		raise(SIGKILL);
	if (rdma_get_cm_event(channel, &event) != 0)
		_exit(5);
	if (wanted == READ_REQUEST)
		raise(SIGKILL);
	if (rdma_accept(event->id, &parameters) != 0)
		_exit(6);
	rdma_ack_cm_event(event);
	if (wanted == AFTER_ACCEPT)
		raise(SIGKILL);
	await(channel, RDMA_CM_EVENT_ESTABLISHED);
	raise(SIGKILL);
}

/* Returns whether the call came to an end. */
static bool call_and_wait(struct rdma_event_channel *channel, unsigned round)
{
	struct rdma_conn_param parameters = {.qp_num = 0x1000 + round};
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	bool has_ended = false;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) != 0)
		return false;
	await(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, RESOLVE_MS) != 0)
		return false;
	await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_connect(id, &parameters) != 0)
		return false;
	while (!has_ended && poll(&waiting, 1, RNR_HOLD_MS) == 1 &&
	       rdma_get_cm_event(channel, &event) == 0) {
		enum rdma_cm_event_type kind = event->event;

		rdma_ack_cm_event(event);
		/* It may have gone meanwhile; then another event follows. */
		if (kind == RDMA_CM_EVENT_CONNECT_RESPONSE)
			rdma_establish(id);
		has_ended = is_end(kind);
	}
	rdma_destroy_id(id);
	return has_ended;
}

static int kill_servers(unsigned rounds)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	unsigned failed = 0;

	for (unsigned round = 0; round < rounds; round++) {
		int pipes[2], status;
		char byte;

		if (pipe(pipes) != 0)
			return 1;

		pid_t child = fork();

		if (child == 0)
			listen_and_die((enum server_step)(round % SERVER_STEPS), pipes[1]);
		close(pipes[1]);

		bool is_ready = read(pipes[0], &byte, 1) == 1;
		bool has_ended = is_ready && call_and_wait(channel, round);

		close(pipes[0]);
		if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || !has_ended) {
			printf("server of step %u: %s\n", round % SERVER_STEPS,
			       has_ended ? "did not die" : "the call did not end");
			failed++;
		}
	}
	printf("%u servers killed, %u failed\n", rounds, failed);
	return failed != 0;
}

static void begin_call(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) != 0)
		exit(4);
}

static enum rdma_cm_event_type next_of_calls(struct rdma_event_channel *channel)
{
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	static uint32_t qpn = 0x1000;

	for (;;) {
		if (poll(&waiting, 1, RNR_HOLD_MS) != 1 || rdma_get_cm_event(channel, &event) != 0)
			exit(5);

		struct rdma_conn_param parameters = {.qp_num = qpn++ & 0xffffff};
		enum rdma_cm_event_type kind = event->event;
		struct rdma_cm_id *id = event->id;

		rdma_ack_cm_event(event);
		if (kind == RDMA_CM_EVENT_ADDR_RESOLVED && rdma_resolve_route(id, RESOLVE_MS) == 0)
			continue;
		if (kind == RDMA_CM_EVENT_ROUTE_RESOLVED && rdma_connect(id, &parameters) == 0)
			continue;
		return kind;
	}
}

static int flood(unsigned count)
{
	enum { BACKLOG = 64 };
	struct rdma_event_channel *unread = rdma_create_event_channel();
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_event_channel *calls = rdma_create_event_channel();
	struct rdma_event_channel *good = rdma_create_event_channel();
	struct rdma_conn_param parameters = {.qp_num = 0x77};
	struct rdma_cm_event *event;
	unsigned refused = 0;

	listen_at(unread, BACKLOG);
	for (unsigned index = 0; index < count; index++)
		begin_call(calls);
	for (; refused < count - BACKLOG; refused++) {
		if (next_of_calls(calls) != RDMA_CM_EVENT_REJECTED)
			return 1;
	}
	address.sin_port = htons((uint16_t)(ntohs(address.sin_port) + 1));
	listen_at(other, 0);
	begin_call(good);

	struct pollfd waiting = {.fd = other->fd, .events = POLLIN};

	while (poll(&waiting, 1, 0) == 0) {
		struct pollfd calling = {.fd = good->fd, .events = POLLIN};

		if (poll(&calling, 1, 10) == 1 && rdma_get_cm_event(good, &event) == 0) {
			struct rdma_cm_id *id = event->id;
			enum rdma_cm_event_type kind = event->event;

			rdma_ack_cm_event(event);
			if (kind == RDMA_CM_EVENT_ADDR_RESOLVED)
				rdma_resolve_route(id, RESOLVE_MS);
			else if (kind == RDMA_CM_EVENT_ROUTE_RESOLVED)
				rdma_connect(id, &parameters);
			else
				return 1;
		}
	}
	printf("%u calls, %u refused, and another server is reached\n", count, refused);
	return 0;
}

int main(int argument_count, char **arguments)
{
	static const struct {
		const char *name;
		int (*run)(unsigned count);
	} modes[] = {{"callers", kill_callers}, {"servers", kill_servers}, {"flood", flood}};
	unsigned count = argument_count == 5 ? (unsigned)strtoul(arguments[4], NULL, 10) : 0;

	if (!count)
		return 2;
	address =
		(struct sockaddr_in){.sin_family = AF_INET,
				     .sin_port = htons((uint16_t)strtoul(arguments[3], NULL, 10))};
	inet_pton(AF_INET, arguments[2], &address.sin_addr);
	for (unsigned index = 0; index < sizeof(modes) / sizeof(modes[0]); index++) {
		if (strcmp(modes[index].name, arguments[1]) == 0)
			return modes[index].run(count);
	}
	return 2;
}
