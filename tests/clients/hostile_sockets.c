/* SPDX-License-Identifier: Apache-2.0 */
/* A program that misuses its sockets for control and connection management; attacker_main() has its
 * arguments. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/random.h"
#include "hostile_attacker.h"
#include "ipc/cm_protocol.h"
#include "ipc/descriptor_message.h"
#include "ipc/mad_agent.h"
#include "ipc/memory_file.h"
#include "wire/cm_ip_header.h"
#include "wire/mad.h"
#include "wire/sa_records.h"

enum {
	QUEUED_ROUNDS = 100,
	DEPARTURES = 10,
	STORM_CHILDREN = 4,
	STORM_CONNECTIONS = 500,
	UNREAD_COMMANDS = 100000,
	FOREIGN_IDS = 40,
	TCP_PORT = 7777,
};

#define OPEN_DOMAIN                                                                                \
	"{\"command\":\"domain\",\"adapter\":0,\"device\":\"1\",\"inode\":\"1\",\"opening\":2}"

static int open_cm(struct attacker *attacker)
{
	return attacker_fetch(attacker, "{\"command\":\"cm\"}", 1);
}

/* Returns the error of the answer. */
static int cm_ask(int socket, const struct cm_command *command, int descriptor,
		  struct cm_answer *ret_answer)
{
	struct pollfd item = {.fd = socket, .events = POLLIN};

	CHECK(socket_put(socket, command, cm_command_bytes(command), &descriptor, descriptor >= 0) >
	      0);
	CHECK(poll(&item, 1, ANSWER_MS) == 1);
	CHECK(recv(socket, ret_answer, sizeof(*ret_answer), 0) == sizeof(*ret_answer));
	return ret_answer->error;
}

static int cm_do(int socket, const struct cm_command *command)
{
	struct cm_answer answer;

	return cm_ask(socket, command, -1, &answer);
}

static int cm_open_channel(int socket, int *ret_channel)
{
	const struct cm_command command = {.kind = CM_OPEN_CHANNEL};
	char room[CMSG_SPACE(sizeof(int))];
	struct cm_answer answer;
	struct iovec piece = {&answer, sizeof(answer)};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = room,
				 .msg_controllen = sizeof(room)};

	CHECK(socket_put(socket, &command, cm_command_bytes(&command), NULL, 0) > 0);
	CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == sizeof(answer) && answer.error == 0);
	CHECK(descriptors_take(&message, 1, ret_channel) == 1);
	return (int)answer.number;
}

/* For MADs and CM events, softibd takes the sockets that it gave, and no other descriptor. */
static void attack_wrong_descriptors(struct attacker *attacker)
{
	int wrong[WRONG_MAX], channel;

	attacker_say_hello(attacker);

	const unsigned count = wrong_descriptors(attacker, wrong);
	const int cm = open_cm(attacker);
	const uint32_t number = (uint32_t)cm_open_channel(cm, &channel);
	const struct cm_command write_event = {.kind = CM_WRITE_EVENT,
					       .is_new = 1,
					       .id = 1,
					       .channel = number,
					       .port_space = CM_PORT_SPACE_TCP,
					       .option = CM_PROGRAM_USER};
	int other_channel;
	const struct cm_command migrate = {.kind = CM_MIGRATE,
					   .id = 1,
					   .channel =
						   (uint32_t)cm_open_channel(cm, &other_channel)};
	const struct cm_command drop = {.kind = CM_DROP_EVENTS, .id = 2, .channel = number};
	struct cm_answer answer;

	CHECK(cm_do(cm, &write_event) == 0);
	for (unsigned i = 0; i < count; i++) {
		CHECK(attacker_is_refused(attacker, REGISTER_DEVICE, wrong[i], EBADF));
		CHECK(attacker_is_refused(attacker, "{\"command\":\"mad-unregister\",\"id\":0}",
					  wrong[i], EBADF));
		CHECK(cm_ask(cm, &migrate, wrong[i], &answer) == -EINVAL);
		CHECK(cm_ask(cm, &drop, wrong[i], &answer) == -EINVAL);
		/* Commands that take none close it. */
		attacker_must(attacker, "{\"command\":\"status\"}", wrong[i]);
		close(wrong[i]);
	}
	CHECK(attacker_is_refused(attacker, REGISTER_DEVICE, -1, EBADF));
	CHECK(cm_ask(cm, &migrate, -1, &answer) == -EINVAL);
	CHECK(cm_ask(cm, &migrate, other_channel, &answer) == -EINVAL);
	CHECK(cm_ask(cm, &migrate, channel, &answer) == 0);
}

/* Its own sockets, queued in its own sockets, which it closes: only softibd has them then. */
static void attack_queued_descriptors(struct attacker *attacker)
{
	static const char status[] = "{\"command\":\"status\"}";

	for (unsigned round = 0; round < QUEUED_ROUNDS; round++) {
		int chain[2];

		attacker_say_hello(attacker);

		const int port = attacker_fetch(attacker, OPEN_PORT, 0);
		const int cm = open_cm(attacker);
		const struct cm_command query = {.kind = CM_QUERY};

		CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, chain) == 0);

		const int queued[] = {attacker->socket, port, cm, chain[1]};

		CHECK(socket_put(chain[0], "x", 1, queued, 4) > 0);
		CHECK(socket_put(cm, &query, cm_command_bytes(&query), queued + round % 4, 1) > 0);
		CHECK(socket_put(attacker->socket, status, strlen(status), queued, 4) > 0);
		for (unsigned i = 0; i < 4; i++)
			close(queued[i]);
		close(chain[0]);
	}
}

/* Messages that end too soon, at every length. */
static void attack_cut_messages(struct attacker *attacker)
{
	static const char hello[] = "{\"command\":\"hello\",\"kind\":\"program\",\"host\":\"h3\"}";
	const struct cm_command query = {.kind = CM_QUERY};
	uint8_t mad[MAD_PORT_HEADER_BYTES + MAD_PORT_MAD_BYTES_MIN] = {0};

	for (size_t count = 1; count < strlen(hello); count++) {
		int socket = control_connect_path(attacker->socket_path);

		CHECK(socket >= 0);
		CHECK(socket_put(socket, hello, count, NULL, 0) > 0);
		CHECK(socket_is_closed(socket));
		close(socket);
	}
	attacker_say_hello(attacker);
	for (size_t count = 1; count < cm_command_bytes(&query); count += 13) {
		int cm = open_cm(attacker);

		CHECK(socket_put(cm, &query, count, NULL, 0) > 0);
		CHECK(socket_is_closed(cm));
		close(cm);
	}
	for (size_t count = 1; count < sizeof(mad); count++) {
		int port = attacker_fetch(attacker, OPEN_PORT, 0);

		CHECK(socket_put(port, mad, count, NULL, 0) > 0);
		CHECK(socket_is_closed(port));
		close(port);
	}
	CHECK(attacker_is_served(attacker));
}

/* Gone, or deaf, or mute, before the answer. */
static void attack_departures(struct attacker *attacker)
{
	static const char *const commands[] = {
		"{\"command\":\"status\"}",
		"{\"command\":\"hosts\"}",
		"{\"command\":\"services\"}",
		"{\"command\":\"io\"}",
		"{\"command\":\"wait-active\",\"timeout_ms\":600000}",
		"{\"command\":\"catch-up\"}",
		"{\"command\":\"port\",\"adapter\":0}",
		"{\"command\":\"qpns\",\"adapter\":0,\"count\":1}",
		"{\"command\":\"ring\",\"id\":1}",
		"{\"command\":\"raw\",\"adapter\":0,\"port\":1,\"kind\":0}",
		"{\"command\":\"domain\",\"adapter\":0,\"device\":\"1\",\"inode\":\"1\",\"opening\":1}",
		"{\"command\":\"target\",\"adapter\":0,\"domain\":1}",
		"{\"command\":\"cm\"}",
		OPEN_PORT,
	};

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		for (unsigned round = 0; round < DEPARTURES; round++) {
			attacker_attach(attacker);
			if (round % 4 == 1)
				CHECK(shutdown(attacker->socket, SHUT_RD) == 0);
			CHECK(socket_put(attacker->socket, commands[i], strlen(commands[i]), NULL,
					 0) > 0);
			if (round % 4 == 2)
				CHECK(shutdown(attacker->socket, SHUT_WR) == 0);
			if (round % 4 == 3)
				CHECK(shutdown(attacker->socket, SHUT_RDWR) == 0);
			attacker_leave(attacker);
		}
	}
}

/* Connections that come and go as fast as several processes can. */
static void attack_storm(struct attacker *attacker)
{
	int status;

	for (unsigned i = 0; i < STORM_CHILDREN; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		for (unsigned count = 0; child == 0 && count < STORM_CONNECTIONS; count++) {
			int socket = control_connect_path(attacker->socket_path);

			/* EAGAIN: the queue of those that wait to be accepted is full. */
			CHECK(socket >= 0 || socket == -EAGAIN);
			if (socket >= 0 && count % 2)
				(void)!socket_put(socket, "{\"command\":\"status\"}", 20, NULL, 0);
			if (socket >= 0)
				close(socket);
		}
		if (child == 0)
			_exit(0);
	}
	while (wait(&status) > 0)
		CHECK(status == 0);
}

/* Commands whose answers, with descriptors, nobody reads. */
static void attack_unread_answers(struct attacker *attacker)
{
	const struct cm_command commands[] = {{.kind = CM_OPEN_CHANNEL}, {.kind = CM_QUERY}};

	attacker_say_hello(attacker);
	for (unsigned which = 0; which < 2; which++) {
		int cm = open_cm(attacker);
		unsigned count = 0;

		while (count < UNREAD_COMMANDS &&
		       socket_put(cm, &commands[which], cm_command_bytes(&commands[which]), NULL,
				  0) > 0)
			count++;
		CHECK(count < UNREAD_COMMANDS);
		CHECK(socket_is_closed(cm));
		close(cm);
	}
	CHECK(attacker_is_served(attacker));
}

static int listen_at(int cm, const struct cm_route *address, uint32_t id, uint32_t channel,
		     bool reuses_address)
{
	const struct cm_command option = {.kind = CM_SET_OPTION,
					  .is_new = 1,
					  .id = id,
					  .channel = channel,
					  .port_space = CM_PORT_SPACE_TCP,
					  .option = CM_OPTION_REUSE_ADDRESS,
					  .value = reuses_address};
	struct cm_command bind = {.kind = CM_BIND, .id = id, .source = address->source};
	const struct cm_command listen = {.kind = CM_LISTEN, .id = id, .value = 10};

	bind.source.port = TCP_PORT;
	CHECK(cm_do(cm, &option) == 0);

	int error = cm_do(cm, &bind);

	return error ? error : cm_do(cm, &listen);
}

static struct cm_route address_of_host(int cm, const char *host)
{
	struct cm_command command = {.kind = CM_FIND_HOST};
	struct cm_answer answer;

	memcpy(command.name, host, strlen(host));
	CHECK(cm_ask(cm, &command, -1, &answer) == 0);
	return answer.route;
}

/* An honest program listens; a stranger on its host wants its address, its port and its id. */
static void attack_foreign_listener(struct attacker *attacker)
{
	struct attacker honest = honest_program(attacker);
	const int honest_cm = open_cm(&honest);
	int honest_events, events;
	const uint32_t honest_channel = (uint32_t)cm_open_channel(honest_cm, &honest_events);
	const struct cm_route address = address_of_host(honest_cm, attacker->host_name);
	const struct cm_command query = {.kind = CM_QUERY, .id = 1};
	struct cm_answer answer;

	CHECK(listen_at(honest_cm, &address, 1, honest_channel, false) == 0);
	attacker_say_hello(attacker);

	const int cm = open_cm(attacker);

	for (uint32_t id = 1; id <= FOREIGN_IDS; id++) {
		for (uint32_t kind = CM_OPEN_CHANNEL + 1; kind <= CM_DROP_EVENTS + 1; kind++) {
			const struct cm_command command = {.kind = kind,
							   .id = id % 2 ? id
									: CM_ID_OF_SOFTIBD + id / 2,
							   .channel = honest_channel};

			if (kind == CM_FIND_HOST)
				continue;
			CHECK(cm_ask(cm, &command, -1, &answer) < 0 && !answer.is_id_known);
		}
	}

	const uint32_t channel = (uint32_t)cm_open_channel(cm, &events);

	CHECK(listen_at(cm, &address, 1, channel, false) == -EADDRINUSE);
	CHECK(listen_at(cm, &address, 2, channel, true) == -EADDRINUSE);
	CHECK(cm_ask(honest_cm, &query, -1, &answer) == 0 && answer.route.source.port == TCP_PORT);
	CHECK(socket_is_open(honest_events));
	attacker_leave(&honest);
}

/* Writes where only softibd writes. */
static void attack_written_channel(struct attacker *attacker)
{
	const struct cm_event_message event = {.kind = CM_PROGRAM_ESTABLISHED, .id = 1};
	int channel, other;

	attacker_say_hello(attacker);

	const int cm = open_cm(attacker);

	for (unsigned round = 0; round < 100; round++) {
		cm_open_channel(cm, &channel);
		CHECK(socket_put(channel, &event, sizeof(event), &channel, round % 2) > 0);
		CHECK(socket_is_closed(channel));
		close(channel);
	}
	cm_open_channel(cm, &other);
	CHECK(socket_is_open(other));
}

static unsigned open_domain(struct attacker *attacker)
{
	struct control_message message;
	const char *id;
	unsigned number;

	CHECK(attacker_ask(attacker, OPEN_DOMAIN, &message) == 0);
	id = strstr(message.text, "\"id\":");
	CHECK(id && sscanf(id, "\"id\":%u", &number) == 1);
	control_message_release(&message);
	return number;
}

/* What another program of the host has: a raw queue pair, an XRC domain, an I/O controller. */
static void attack_foreign_objects(struct attacker *attacker)
{
	struct attacker honest = honest_program(attacker);
	char text[128];

	attacker_must(&honest, "{\"command\":\"raw\",\"adapter\":0,\"port\":1,\"kind\":0}", -1);
	snprintf(text, sizeof(text), "{\"command\":\"target\",\"adapter\":0,\"domain\":%u}",
		 open_domain(&honest));
	attacker_must(&honest, text, -1);
	attacker_must(&honest,
		      "{\"command\":\"io-plug\",\"slot\":1,\"profile\":{\"id_string\":\"disk\"},"
		      "\"services\":[]}",
		      -1);
	attacker_attach(attacker);
	CHECK(attacker_is_refused(
		attacker, "{\"command\":\"raw\",\"adapter\":0,\"port\":1,\"kind\":0}", -1, EBUSY));
	CHECK(attacker_is_refused(attacker, OPEN_DOMAIN, -1, EINVAL));
	for (unsigned id = 0; id < 100; id++) {
		static const char *const commands[] = {"target", "target-open", "target-borrow"};

		for (unsigned i = 0; i < 3; i++) {
			snprintf(text, sizeof(text),
				 "{\"command\":\"%s\",\"adapter\":0,\"domain\":%u,\"qpn\":%u,"
				 "\"now\":true}",
				 commands[i], id, id);
			CHECK(attacker_is_refused(attacker, text, -1, ENOENT));
		}
	}
	CHECK(attacker_is_refused(attacker, "{\"command\":\"io-pull\",\"slot\":1}", -1, ENOENT));
	attacker_must(&honest, "{\"command\":\"io-pull\",\"slot\":1}", -1);
	attacker_leave(attacker);
	attacker_leave(&honest);
}

static void attack_operator_commands(struct attacker *attacker)
{
	static const char *const commands[] = {
		"down",	     "link",	    "set",	"get",	    "capture",
		"fault-add", "fault-clear", "redirect", "io-slots", "io-test-outcome",
		"perf-sweep"};
	char text[64];

	attacker_attach(attacker);
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(text, sizeof(text), "{\"command\":\"%s\",\"node\":\"h1\",\"up\":false}",
			 commands[i]);
		CHECK(attacker_is_refused(attacker, text, -1, EPERM));
	}
	attacker_leave(attacker);
}

static const struct attack attacks[] = {
	{"wrong_descriptors", attack_wrong_descriptors},
	{"queued_descriptors", attack_queued_descriptors},
	{"cut_messages", attack_cut_messages},
	{"departures", attack_departures},
	{"storm", attack_storm},
	{"unread_answers", attack_unread_answers},
	{"foreign_listener", attack_foreign_listener},
	{"written_channel", attack_written_channel},
	{"foreign_objects", attack_foreign_objects},
	{"operator_commands", attack_operator_commands},
	{NULL, NULL},
};

int main(int argument_count, char **arguments)
{
	return attacker_main(argument_count, arguments, attacks);
}
