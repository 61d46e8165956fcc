/* SPDX-License-Identifier: Apache-2.0 */
/* The command sockets of programs that use connection management, from the first command to the
 * release of everything that the program had. */
#include "daemon/cm/cm_command_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/cm/cm_channel.h"
#include "daemon/cm/cm_commands.h"
#include "daemon/cm/cm_ids.h"
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "ipc/control_socket.h"
#include "ipc/descriptor_message.h"

enum { COMMANDS_PER_TURN = 64 };

static int send_answer(int socket, const struct cm_answer *answer, int descriptor)
{
	struct iovec piece = {(void *)(uintptr_t)answer, sizeof(*answer)};
	union descriptor_room room;
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	if (descriptor >= 0)
		descriptors_attach(&message, &room, &descriptor, 1);
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Returns the length, or -1 with errno. */
static ssize_t receive_command(int socket, struct cm_command *ret_command,
			       struct received_descriptors *ret_received)
{
	struct iovec piece = {ret_command, sizeof(*ret_command)};
	union received_descriptors_room room;
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &room,
				 .msg_controllen = sizeof(room)};
	ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);

	ret_received->count = 0;
	if (length >= 0)
		received_descriptors_take(&message, ret_received);
	return length;
}

static void serve(struct cm_program *program, const struct cm_command *command,
		  int given_descriptor)
{
	struct cm_answer answer;
	int descriptor = -1;

	memset(&answer, 0, sizeof(answer));
	answer.error = cm_command_run(program, command, given_descriptor, &answer, &descriptor);
	if (command->is_posted && answer.error)
		cm_command_failed(program, command, answer.error);
	if (!command->is_posted && send_answer(program->socket, &answer, descriptor) != 0)
		cm_program_end(program, "it does not read the replies to its requests");
	if (descriptor >= 0)
		close(descriptor);
}

/* Returns whether another command may be in the socket: only after a posted command, because
 * programs wait for the answers to others. */
static bool serve_one(struct cm_program *program)
{
	struct cm_command command = {0};
	struct received_descriptors received;
	ssize_t length = receive_command(program->socket, &command, &received);
	bool makes_sense = length > 0 &&
			   (size_t)length >= offsetof(struct cm_command, private_data) &&
			   command.private_byte_count <= CM_PRIVATE_BYTES_MAX &&
			   (size_t)length == cm_command_bytes(&command);

	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (makes_sense)
		serve(program, &command, received.count ? received.numbers[0] : -1);
	else
		cm_program_end(program, length <= 0 ? NULL : "invalid command");
	if (files_close_apart(&program->host->fabric->core->closers, program->account, &received) !=
	    0)
		cm_program_end(program, "it sends more files than softibd can close");
	return makes_sense && command.is_posted && !program->is_ending;
}

static void program_ready(struct watch *watch, uint32_t events)
{
	struct cm_program *program = container_of(watch, struct cm_program, watch);

	struct daemon_core *core = program->host->fabric->core;
	time_ns begin = event_loop_clock();

	if (program->is_ending)
		return;
	/* epoll goes on to report a hang-up, so it does not wait. */
	if (!(events & (EPOLLHUP | EPOLLERR)) &&
	    share_is_used_up(&core->shares, program->account, begin)) {
		event_loop_change(&core->loop, program->socket, &program->watch, 0);
		share_hold_back(&core->shares, &program->hold);
		return;
	}
	for (unsigned count = 0; count < COMMANDS_PER_TURN && serve_one(program); count++)
		;
	share_charge(&core->shares, program->account, begin, event_loop_clock());
}

static void resume(struct share_hold *hold)
{
	struct cm_program *program = container_of(hold, struct cm_program, hold);

	event_loop_change(&program->host->fabric->core->loop, program->socket, &program->watch,
			  EPOLLIN);
}

/* Frees a program that nothing refers to yet. */
static void unmake(struct cm_program *program)
{
	account_release(program->account);
	free(program);
}

static int make(struct cm_host *host, struct account *account, struct cm_program **ret_program)
{
	struct cm_program *program = calloc(1, sizeof(*program));
	int error = program ? account_take(account, LIMIT_DESCRIPTORS, 1) : -ENOMEM;

	if (error) {
		free(program);
		return error;
	}
	program->host = host;
	program->account = account_share(account);
	program->hold = (struct share_hold){.account = account, .resume = resume};
	list_init(&program->hold.link);
	*ret_program = program;
	return 0;
}

int cm_program_create(struct cm_host *host, struct account *account,
		      struct cm_program **ret_program, int *ret_peer_socket)
{
	struct cm_program *program;
	int sockets[2];
	int error = make(host, account, &program);

	if (error)
		return error;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
		error = -errno;
		account_give(account, LIMIT_DESCRIPTORS, 1);
		unmake(program);
		return error;
	}
	program->socket = sockets[0];
	program->watch.ready = program_ready;
	hash_table_init(&program->ids);
	hash_table_init(&program->channels);

	error = event_loop_watch(&host->fabric->core->loop, sockets[0], &program->watch);
	if (error) {
		close(sockets[0]);
		close(sockets[1]);
		account_give(account, LIMIT_DESCRIPTORS, 1);
		unmake(program);
		return error;
	}
	list_append(&host->fabric->programs, &program->link);
	*ret_program = program;
	*ret_peer_socket = sockets[1];
	return 0;
}

static void *any_entry(const struct hash_table *table)
{
	for (uint32_t index = 0; index < table->capacity; index++) {
		if (table->entries[index].value)
			return table->entries[index].value;
	}
	return NULL;
}

/* Iterates over a copy of the table: any_entry() would start from the beginning for each id. */
static void destroy_ids(struct cm_program *program)
{
	struct hash_table ids = program->ids;
	struct hash_entry *entries = malloc(ids.capacity * sizeof(entries[0]) + 1);

	for (uint32_t index = 0; entries && index < ids.capacity; index++)
		entries[index] = ids.entries[index];
	for (uint32_t index = 0; entries && index < ids.capacity; index++) {
		if (entries[index].value)
			cm_id_destroy(entries[index].value);
	}
	free(entries);
	for (struct cm_id *id; (id = any_entry(&program->ids));)
		cm_id_destroy(id);
}

static void release(struct cm_program *program)
{
	destroy_ids(program);
	for (struct cm_channel *channel; (channel = any_entry(&program->channels));)
		cm_channel_destroy(channel);
	hash_table_release(&program->ids);
	hash_table_release(&program->channels);
	list_remove(&program->hold.link);
	account_give(program->account, LIMIT_DESCRIPTORS, 1);
	socket_close_apart(&program->host->fabric->core->closers, program->account,
			   program->socket);
	unmake(program);
}

void cm_programs_release_ended(struct cm_fabric *fabric)
{
	for (struct list *link; (link = list_pop(&fabric->ended));)
		release(container_of(link, struct cm_program, link));
	for (struct list *link; (link = list_pop(&fabric->closed_channels));)
		free(container_of(link, struct cm_channel, closed_link));
}
