/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an engine that speaks MADs in real time on a port of a host. */
#include "cli/mad_engine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MADS_PER_TURN = 256 };

static volatile sig_atomic_t is_asked_to_end;

static time_ns clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (time_ns)time.tv_sec * SECONDS(1) + (time_ns)time.tv_nsec;
}

static void ask_to_end(int signal_number)
{
	(void)signal_number;
	is_asked_to_end = 1;
}

int mad_engine_register(struct mad_engine_port *port, const struct mad_agent_options *options,
			struct mad_agent_identity *ret_identity)
{
	struct mad_agent_options raw = *options;
	int error;

	assert(port->agent_count < MAD_ENGINE_AGENTS_MAX);
	raw.kind = MAD_AGENT_RAW;
	error = mad_port_register(port->host.socket, &raw, ret_identity);
	if (error == -EBUSY)
		fprintf(stderr,
			"softib %s: another program on %s has class 0x%02x; choose another host "
			"with -H\n",
			port->host.user, port->host.name, raw.management_class);
	else if (error)
		fprintf(stderr, "softib %s: %s: %s\n", port->host.user, port->host.name,
			strerror(-error));
	if (error)
		return error;
	port->agents[port->agent_count].management_class = raw.management_class;
	port->agents[port->agent_count].identity = *ret_identity;
	port->agent_count++;
	return 0;
}

static int receive(struct mad_engine_port *port, const struct mad_engine *engine, time_ns now)
{
	struct mad_message message;
	uint32_t agent_id;

	for (unsigned count = 0; count < MADS_PER_TURN; count++) {
		int error = mad_port_receive(port->host.socket, &agent_id, &message);

		if (error)
			return error == -EAGAIN || error == -EPROTO ? 0 : error;
		engine->receive(engine->context, now, &message);
	}
	return 0;
}

/* The agent of the message's class; the first one sends what has none. */
static uint32_t agent_of(const struct mad_engine_port *port, const struct mad_message *message)
{
	for (unsigned i = 0; i < port->agent_count; i++)
		if (port->agents[i].management_class == message->bytes[MAD_CLASS_OFFSET])
			return port->agents[i].identity.id;
	return port->agents[0].identity.id;
}

/* A message that found no room in the socket. */
struct unsent {
	bool is_there;
	struct mad_message message;
};

static int send_all(struct mad_engine_port *port, const struct mad_engine *engine, time_ns now,
		    struct unsent *unsent)
{
	for (unsigned count = 0; count < MADS_PER_TURN; count++) {
		if (!unsent->is_there &&
		    !engine->transmit(engine->context, now, 1, &unsent->message))
			return 0;

		int error = mad_port_send(port->host.socket, agent_of(port, &unsent->message),
					  &unsent->message);

		unsent->is_there = error == -EAGAIN;
		if (error)
			return unsent->is_there ? 0 : error;
	}
	return 0;
}

static void wait_for_work(const struct mad_engine_port *port, const struct mad_engine *engine,
			  time_ns now, bool has_unsent, const sigset_t *signals)
{
	struct pollfd files[] = {
		{.fd = port->host.socket, .events = (short)(POLLIN | (has_unsent ? POLLOUT : 0))},
		{.fd = engine->readable ? engine->descriptor : -1, .events = POLLIN},
	};
	time_ns deadline = engine->deadline(engine->context);
	struct timespec wait = {0};

	if (has_unsent)
		deadline = now + MILLISECONDS(100);
	if (deadline > now && deadline != TIME_NEVER) {
		wait.tv_sec = (time_t)((deadline - now) / SECONDS(1));
		wait.tv_nsec = (long)((deadline - now) % SECONDS(1));
	}
	if (ppoll(files, ARRAY_COUNT(files), deadline == TIME_NEVER ? NULL : &wait, signals) > 0 &&
	    files[1].revents)
		engine->readable(engine->context, clock_now());
}

static bool is_over(const struct mad_engine *engine, time_ns now)
{
	if (is_asked_to_end)
		return !engine->leave || engine->leave(engine->context, now);
	return engine->is_done && engine->is_done(engine->context, now);
}

int mad_engine_run(struct mad_engine_port *port, const struct mad_engine *engine)
{
	const struct sigaction action = {.sa_handler = ask_to_end};
	struct unsent unsent = {.is_there = false};
	sigset_t signals, waiting;
	int error;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, &waiting);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	for (;;) {
		time_ns now = clock_now();

		error = receive(port, engine, now);
		if (!error)
			error = send_all(port, engine, now, &unsent);
		if (error || is_over(engine, now))
			break;
		wait_for_work(port, engine, now, unsent.is_there, &waiting);
	}
	/* A signal that is pending is taken now: the next run ends at once. */
	sigprocmask(SIG_SETMASK, &waiting, NULL);
	if (error)
		fprintf(stderr, "softib %s: the fabric is gone: %s\n", port->host.user,
			strerror(-error));
	return error;
}

void mad_engine_close(struct mad_engine_port *port)
{
	host_port_close(&port->host);
}
