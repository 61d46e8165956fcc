/* SPDX-License-Identifier: Apache-2.0 */
/* A command whose input and output are a console session. */
#include "io/console/programs/console_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The pipes of the command: [0] reads, [1] writes. Our ends do not block. */
static int make_pipes(int ret_input[2], int ret_output[2])
{
	if (pipe2(ret_input, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(ret_output, O_CLOEXEC) != 0) {
		int error = errno;

		close(ret_input[0]);
		close(ret_input[1]);
		return -error;
	}
	fcntl(ret_input[1], F_SETFL, O_NONBLOCK);
	fcntl(ret_output[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static int spawn(char *const arguments[], const int input[2], const int output[2], pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&files, input[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, output[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, output[1], STDERR_FILENO);
	/* A process group, so that what the command starts ends with it. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	error = posix_spawnp(ret_pid, arguments[0], &files, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return -error;
}

int console_command_start(char *const arguments[], struct console_command *ret_command)
{
	struct console_command command = {.pid = 0};
	int input[2], output[2];
	int error = make_pipes(input, output);

	if (error)
		return error;
	error = spawn(arguments, input, output, &command.pid);
	close(input[0]);
	close(output[1]);
	command.input = input[1];
	command.output = output[0];
	if (error) {
		close(command.input);
		close(command.output);
		return error;
	}
	*ret_command = command;
	return 0;
}

static void close_input(struct console_command *command)
{
	if (command->input >= 0)
		close(command->input);
	command->input = -1;
}

static void move_input(struct console_command *command, struct console_link *link)
{
	for (;;) {
		if (!command->unwritten_bytes)
			command->unwritten_bytes = console_link_read(
				link, sizeof(command->unwritten), command->unwritten);
		if (!command->unwritten_bytes || command->input < 0)
			break;

		ssize_t count = write(command->input, command->unwritten, command->unwritten_bytes);

		if (count < 0 && errno == EAGAIN)
			return;
		/* The command reads no more. */
		if (count < 0)
			close_input(command);
		if (count <= 0)
			continue;
		command->unwritten_bytes -= (size_t)count;
		memmove(command->unwritten, command->unwritten + count, command->unwritten_bytes);
	}
	if (command->input < 0)
		command->unwritten_bytes = 0;
	else if (link->has_received_end && !link->received.byte_count)
		close_input(command);
}

static void move_output(struct console_command *command, struct console_link *link)
{
	uint8_t text[CONSOLE_BUFFER_BYTES];

	while (command->output >= 0 && link->written.byte_count < CONSOLE_BUFFER_BYTES) {
		size_t room = CONSOLE_BUFFER_BYTES - link->written.byte_count;
		ssize_t count = read(command->output, text, room);

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count > 0) {
			console_link_write(link, text, (size_t)count);
			continue;
		}
		close(command->output);
		command->output = -1;
		console_link_end(link);
	}
}

void console_command_move(struct console_command *command, struct console_link *link)
{
	move_input(command, link);
	move_output(command, link);
}

void console_command_stop(struct console_command *command)
{
	if (!command->pid)
		return;
	close_input(command);
	if (command->output >= 0)
		close(command->output);
	kill(-command->pid, SIGKILL);
	while (waitpid(command->pid, NULL, 0) < 0 && errno == EINTR)
		;
	command->pid = 0;
}
