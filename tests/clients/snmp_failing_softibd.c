/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays softibd for a softib-snmpd, with one node whose texts can be written, unless the text is
 * "refused". SNMP managers reach it by UDP on loopback:
 *
 *	snmp_failing_softibd SOFTIB-SNMPD
 *
 * prints its port. sysContact is "refused" from the beginning, so it can be changed but not changed
 * back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <signal.h>
#include <unistd.h>
#include "ipc/snmp_link.h"

enum { NODE_GUID = 0x51, NODE_IS_ADAPTER = 1, SPARE_FIRST = 10 };

static struct snmp_node_state state = {
	.info = {.node_type = NODE_IS_ADAPTER, .node_guid = NODE_GUID},
	.description = "failing",
	.texts = {"refused", "name", "before"},
};
static int messages[2], questions[2], manager_socket;
static struct sockaddr_in manager;

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void start(const char *program)
{
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, messages) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, questions) != 0)
		fail("socketpair");
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	/* By spare numbers, since the ends may have each other's. */
	dup2(messages[1], SPARE_FIRST);
	dup2(questions[1], SPARE_FIRST + 1);
	dup2(SPARE_FIRST, SNMP_LINK_MESSAGES_FD);
	dup2(SPARE_FIRST + 1, SNMP_LINK_STATE_FD);
	execl(program, "softib-snmpd", "1", "0", NULL);
	fail(program);
}

static void answer_question(void)
{
	struct snmp_state_question question;
	struct snmp_node_state answer = state;

	if (recv(questions[0], &question, sizeof(question), 0) != sizeof(question))
		exit(EXIT_SUCCESS);
	if (question.kind == SNMP_STATE_SET_TEXT && strcmp(question.value, "refused") == 0)
		answer.error = -ENOMEM;
	else if (question.kind == SNMP_STATE_SET_TEXT)
		memcpy(state.texts[question.text], question.value, SNMP_TEXT_BYTES);
	if (send(questions[0], &answer, sizeof(answer), 0) < 0)
		fail("an answer");
}

static void pass_request(void)
{
	static uint8_t bytes[SNMP_MESSAGE_BYTES_MAX];
	struct snmp_link_header header = {.kind = SNMP_LINK_REQUEST, .node_guid = NODE_GUID};
	struct iovec parts[] = {{&header, sizeof(header)}, {bytes, 0}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	socklen_t address_bytes = sizeof(manager);
	ssize_t got = recvfrom(manager_socket, bytes, sizeof(bytes), 0, (struct sockaddr *)&manager,
			       &address_bytes);

	if (got < 0)
		fail("a request");
	parts[1].iov_len = (size_t)got;
	if (sendmsg(messages[0], &message, 0) < 0)
		fail("a request");
}

static void pass_answer(void)
{
	static uint8_t bytes[SNMP_LINK_BYTES_MAX];
	struct snmp_link_header header;
	struct iovec parts[] = {{&header, sizeof(header)}, {bytes, sizeof(bytes)}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t got = recvmsg(messages[0], &message, 0);

	if (got <= 0)
		exit(EXIT_SUCCESS);
	if (header.kind == SNMP_LINK_LOG)
		fprintf(stderr, "%.*s\n", (int)(got - (ssize_t)sizeof(header)), bytes);
	if (header.kind == SNMP_LINK_ANSWER && got > (ssize_t)sizeof(header) &&
	    sendto(manager_socket, bytes, (size_t)got - sizeof(header), 0,
		   (const struct sockaddr *)&manager, sizeof(manager)) < 0)
		fail("an answer");
}

int main(int argument_count, char **arguments)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t address_bytes = sizeof(address);

	if (argument_count != 2)
		return EXIT_FAILURE;
	start(arguments[1]);
	manager_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (manager_socket < 0 ||
	    bind(manager_socket, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    getsockname(manager_socket, (struct sockaddr *)&address, &address_bytes) != 0)
		fail("UDP");
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (;;) {
		struct pollfd files[] = {{.fd = questions[0], .events = POLLIN},
					 {.fd = messages[0], .events = POLLIN},
					 {.fd = manager_socket, .events = POLLIN}};

		if (poll(files, 3, -1) < 0)
			fail("poll");
		if (files[0].revents)
			answer_question();
		else if (files[1].revents)
			pass_answer();
		else if (files[2].revents)
			pass_request();
	}
}
