/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a command socket, an event channel and an id, as softibd's peer sees it. */
#include "unit/daemon/cm_connector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "ipc/control_socket.h"
#include "wire/cm_ip_header.h"

enum { STEPS_MAX = 5000 };

int connector_receive_answer(struct connector *connector, struct cm_answer *ret_answer)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec piece = {ret_answer, sizeof(*ret_answer)};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	int descriptor = -1;

	for (unsigned step = 0; step < STEPS_MAX; step++) {
		daemon_step(connector->softibd, 0);
		if (recvmsg(connector->commands, &message, MSG_DONTWAIT) ==
		    (ssize_t)sizeof(*ret_answer)) {
			struct cmsghdr *header = CMSG_FIRSTHDR(&message);

			if (header)
				memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
			return descriptor;
		}
	}
	fail_msg("no answer");
	return -1;
}

int connector_ask(struct connector *connector, const struct cm_command *command,
		  struct cm_answer *ret_answer)
{
	size_t byte_count = cm_command_bytes(command);

	assert_int_equal(send(connector->commands, command, byte_count, 0), byte_count);
	return connector_receive_answer(connector, ret_answer);
}

int32_t connector_order(struct connector *connector, enum cm_command_kind kind)
{
	struct cm_command command = {.kind = kind, .id = connector->id};
	struct cm_answer answer;
	static uint32_t next_qpn = 0x400;

	/* Unique on its host. */
	command.parameters.qpn = next_qpn++;
	connector_ask(connector, &command, &answer);
	return answer.error;
}

struct connector connector_open(struct daemon *softibd, const char *host)
{
	struct connector connector = {.softibd = softibd, .control = fixture_connect()};
	struct cm_command command = {.kind = CM_OPEN_CHANNEL};
	struct control_message message;
	struct cm_answer answer;

	fixture_order(connector.control,
		      "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\",\"host\":\"%s\"}",
		      PROTOCOL_VERSION, host);
	assert_int_equal(control_send(connector.control, "{\"command\":\"cm\"}", NULL, 0), 0);
	fixture_settle();
	assert_int_equal(control_receive(connector.control, 1000, &message), 0);
	assert_int_equal(message.descriptor_count, 2);
	connector.commands = control_message_take(&message, 1);
	control_message_release(&message);
	connector.events = connector_ask(&connector, &command, &answer);
	assert_true(connector.events >= 0);
	connector.channel = answer.number;
	command = (struct cm_command){.kind = CM_QUERY,
				      .is_new = 1,
				      .id = CONNECTOR_ID,
				      .channel = connector.channel,
				      .port_space = CM_PORT_SPACE_TCP};
	connector_ask(&connector, &command, &answer);
	assert_int_equal(answer.error, 0);
	connector.id = CONNECTOR_ID;
	return connector;
}

void connector_close(struct connector *connector)
{
	close(connector->commands);
	close(connector->events);
	close(connector->control);
	fixture_settle();
}
