/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that die in the middle of a connection: rdmacm_kill ADDRESS PORT ROUNDS.
 *
 * A server here accepts whatever comes and never says goodbye. Child after child connects and kills
 * itself at a step of the handshake that changes from one to the next. Each connection must end
 * with an event of the server's; ids, events and softibd's memory must not pile up.
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

enum { RESOLVE_MS = 5000, QUIET_MS = 2000 };

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
	} else if (kind == RDMA_CM_EVENT_DISCONNECTED || kind == RDMA_CM_EVENT_REJECTED ||
		   kind == RDMA_CM_EVENT_UNREACHABLE) {
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

int main(int argument_count, char **arguments)
{
	unsigned rounds = argument_count == 4 ? (unsigned)strtoul(arguments[3], NULL, 10) : 0;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	unsigned failed = 0;

	if (!rounds)
		return 2;
	address =
		(struct sockaddr_in){.sin_family = AF_INET,
				     .sin_port = htons((uint16_t)strtoul(arguments[2], NULL, 10))};
	inet_pton(AF_INET, arguments[1], &address.sin_addr);
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) != 0 ||
	    rdma_listen(listener, 0) != 0)
		return 3;
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
	serve_waiting(channel, QUIET_MS);
	printf("%u killed, %u accepted, %u ended, %u left open\n", rounds, accepted_count,
	       ended_count, open_count);
	return failed || open_count ? 1 : 0;
}
