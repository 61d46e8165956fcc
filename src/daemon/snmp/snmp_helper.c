/* SPDX-License-Identifier: Apache-2.0 */
/* The process softib-snmpd: start, sockets, end. */
#include "daemon/snmp/snmp_helper.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/core/log.h"
#include "ipc/control_socket.h"

enum { MESSAGES_PER_TURN = 64, SOCKET_BUFFER_BYTES = 1 << 20 };

#define START_INTERVAL MILLISECONDS(500)

extern char **environ;

void snmp_helper_init(struct snmp_helper *helper, struct event_loop *loop,
		      const struct snmp_helper_owner *owner, const char *config_path)
{
	*helper = (struct snmp_helper){
		.loop = loop,
		.owner = *owner,
		.config_path = config_path,
		.process = -1,
		.messages = -1,
		.state = -1,
		.began_at = loop->now,
	};
}

static void close_socket(struct snmp_helper *helper, int *descriptor)
{
	if (*descriptor < 0)
		return;
	event_loop_unwatch(helper->loop, *descriptor);
	close(*descriptor);
	*descriptor = -1;
}

static void close_all(struct snmp_helper *helper)
{
	close_socket(helper, &helper->process);
	close_socket(helper, &helper->messages);
	close_socket(helper, &helper->state);
	helper->pid = 0;
}

void snmp_helper_release(struct snmp_helper *helper)
{
	pid_t pid = helper->pid;

	if (!pid)
		return;
	kill(pid, SIGKILL);
	close_all(helper);
	/* A killed process ends at once. */
	waitpid(pid, NULL, 0);
}

void snmp_helper_kill(struct snmp_helper *helper)
{
	if (!helper->pid)
		return;
	log_line("softib-snmpd does not answer and is killed");
	kill(helper->pid, SIGKILL);
}

static void process_ended(struct watch *watch, uint32_t events)
{
	struct snmp_helper *helper = container_of(watch, struct snmp_helper, process_watch);
	int status = 0;

	(void)events;
	if (!helper->pid || waitpid(helper->pid, &status, WNOHANG) != helper->pid)
		return;
	if (WIFSIGNALED(status))
		log_line("softib-snmpd was ended by signal %d", WTERMSIG(status));
	else
		log_line("softib-snmpd ended with status %d", WEXITSTATUS(status));
	close_all(helper);
	helper->owner.gone(helper->owner.context);
}

static void messages_ready(struct watch *watch, uint32_t events)
{
	static uint8_t bytes[sizeof(struct snmp_link_header) + SNMP_LINK_BYTES_MAX];
	struct snmp_helper *helper = container_of(watch, struct snmp_helper, messages_watch);
	struct snmp_link_header header;

	for (unsigned count = 0; count < MESSAGES_PER_TURN && helper->messages >= 0; count++) {
		ssize_t got = recv(helper->messages, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (got <= 0) {
			/* The process is ending: process_ended() follows. */
			if (got == 0 || events & (EPOLLHUP | EPOLLERR))
				event_loop_unwatch(helper->loop, helper->messages);
			return;
		}
		if ((size_t)got < sizeof(header))
			continue;
		memcpy(&header, bytes, sizeof(header));
		helper->owner.received(helper->owner.context, &header, bytes + sizeof(header),
				       (size_t)got - sizeof(header));
	}
}

static void state_ready(struct watch *watch, uint32_t events)
{
	static uint8_t answer[SNMP_STATE_BYTES_MAX];
	struct snmp_helper *helper = container_of(watch, struct snmp_helper, state_watch);
	struct snmp_state_question question;
	ssize_t got = recv(helper->state, &question, sizeof(question), MSG_DONTWAIT);

	if (got != sizeof(question)) {
		if (got == 0 || events & (EPOLLHUP | EPOLLERR))
			event_loop_unwatch(helper->loop, helper->state);
		return;
	}
	question.value[sizeof(question.value) - 1] = '\0';

	size_t byte_count = helper->owner.asked(helper->owner.context, &question, answer);

	/* The process asks one question at a time, so there is room. */
	if (send(helper->state, answer, byte_count, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_line("softib-snmpd: the state of a node is lost: %s", strerror(errno));
}

/* Unlike fork(), posix_spawn() does not copy the page tables of a large fabric. */
static int spawn(struct snmp_helper *helper, const char *program, int messages, int state)
{
	char starts[16], uptime[24];
	const char *arguments[] = {"softib-snmpd", starts, uptime, helper->config_path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	snprintf(starts, sizeof(starts), "%u", helper->start_count);
	snprintf(uptime, sizeof(uptime), "%" PRIu64,
		 (uint64_t)(helper->loop->now - helper->began_at));
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&actions, messages, SNMP_LINK_MESSAGES_FD);
	posix_spawn_file_actions_adddup2(&actions, state, SNMP_LINK_STATE_FD);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(&helper->pid, program, &actions, &attributes,
			    (char *const *)(uintptr_t)arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		helper->pid = 0;
	return -error;
}

/* A socket whose other end the process gets. Both numbers are above those that it has there. */
static int open_pair(int ret_ends[2])
{
	const int buffer_bytes = SOCKET_BUFFER_BYTES;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends) != 0)
		return -errno;
	for (unsigned end = 0; end < 2; end++)
		if (setsockopt(ret_ends[end], SOL_SOCKET, SO_SNDBUF, &buffer_bytes,
			       sizeof(buffer_bytes)) != 0)
			log_line("softib-snmpd: %s", strerror(errno));
	return 0;
}

static int watch_all(struct snmp_helper *helper)
{
	int error;

	helper->process = (int)syscall(SYS_pidfd_open, helper->pid, 0);
	if (helper->process < 0)
		return -errno;
	helper->process_watch.ready = process_ended;
	helper->messages_watch.ready = messages_ready;
	helper->state_watch.ready = state_ready;
	error = event_loop_watch(helper->loop, helper->process, &helper->process_watch);
	if (!error)
		error = event_loop_watch(helper->loop, helper->messages, &helper->messages_watch);
	if (!error)
		error = event_loop_watch(helper->loop, helper->state, &helper->state_watch);
	return error;
}

static int start(struct snmp_helper *helper, const char *program)
{
	int messages[2], state[2];
	int error = open_pair(messages);

	if (error)
		return error;
	error = open_pair(state);
	if (error) {
		close(messages[0]);
		close(messages[1]);
		return error;
	}
	helper->start_count++;
	helper->messages = messages[0];
	helper->state = state[0];
	error = spawn(helper, program, messages[1], state[1]);
	close(messages[1]);
	close(state[1]);
	if (!error)
		error = watch_all(helper);
	if (error && helper->pid)
		snmp_helper_release(helper);
	else if (error)
		close_all(helper);
	return error;
}

static bool start_if_need_be(struct snmp_helper *helper)
{
	char program[CONTROL_PATH_BYTES];
	int error;

	if (helper->pid)
		return true;
	if (helper->is_missing || helper->loop->now < helper->starts_from)
		return false;
	helper->starts_from = helper->loop->now + START_INTERVAL;
	error = program_path("softib-snmpd", program);
	if (error) {
		helper->is_missing = true;
		log_line("SNMP messages get no answer: softib-snmpd is not installed (this softib "
			 "was built without net-snmp)");
		return false;
	}
	error = start(helper, program);
	if (error)
		log_line("can't start softib-snmpd: %s", strerror(-error));
	return !error;
}

bool snmp_helper_is_installed(void)
{
	char program[CONTROL_PATH_BYTES];

	return program_path("softib-snmpd", program) == 0;
}

bool snmp_helper_send(struct snmp_helper *helper, const struct snmp_link_header *header,
		      const void *bytes, size_t byte_count)
{
	struct iovec parts[] = {
		{.iov_base = (void *)(uintptr_t)header, .iov_len = sizeof(*header)},
		{.iov_base = (void *)(uintptr_t)bytes, .iov_len = byte_count},
	};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	return start_if_need_be(helper) &&
	       sendmsg(helper->messages, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}
