/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the control socket: see control_socket.h. */
#include "ipc/control_socket.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "ipc/descriptor_message.h"
#include "ipc/protocol.h"

enum { FABRIC_NAME_BYTES_MAX = 32 };

static int format_runtime_path(char ret_path[static CONTROL_PATH_BYTES])
{
	const char *chosen = getenv("SOFTIB_RUNTIME_DIR");
	const char *session = getenv("XDG_RUNTIME_DIR");
	int length;

	if (chosen && *chosen)
		length = snprintf(ret_path, CONTROL_PATH_BYTES, "%s", chosen);
	else if (session && *session)
		length = snprintf(ret_path, CONTROL_PATH_BYTES, "%s/softib", session);
	else
		length = snprintf(ret_path, CONTROL_PATH_BYTES, "/tmp/softib-%u",
				  (unsigned)geteuid());
	return length < 0 || length >= CONTROL_PATH_BYTES ? -ENAMETOOLONG : 0;
}

int runtime_directory(char ret_path[static CONTROL_PATH_BYTES])
{
	char path[CONTROL_PATH_BYTES];
	struct stat status;
	int error = format_runtime_path(path);

	if (error)
		return error;
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	/* In /tmp another user may have made a folder or a link of this name first. */
	if (lstat(path, &status) != 0)
		return -errno;
	if (S_ISLNK(status.st_mode) && getenv("SOFTIB_RUNTIME_DIR") && stat(path, &status) != 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	if (status.st_uid != geteuid())
		return -EPERM;
	memcpy(ret_path, path, sizeof(path));
	return 0;
}

static bool fabric_name_is_valid(const char *fabric)
{
	size_t length = strlen(fabric);

	if (length == 0 || length > FABRIC_NAME_BYTES_MAX || fabric[0] == '.')
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)fabric[i]) && !strchr("-_.", fabric[i]))
			return false;
	return true;
}

int fabric_directory(const char *fabric, char ret_path[static CONTROL_PATH_BYTES])
{
	char runtime[CONTROL_PATH_BYTES];
	char path[CONTROL_PATH_BYTES];

	if (!fabric_name_is_valid(fabric))
		return -EINVAL;

	int error = runtime_directory(runtime);

	if (error)
		return error;

	int length = snprintf(path, sizeof(path), "%s/%s", runtime, fabric);

	if (length < 0 || length >= CONTROL_PATH_BYTES)
		return -ENAMETOOLONG;
	memcpy(ret_path, path, sizeof(path));
	return 0;
}

static int connect_in(const char *folder_path, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int folder = open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return -errno;

	int control = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (control < 0) {
		int error = -errno;

		close(folder);
		return error;
	}
	/* By way of the open folder, because a socket address holds 108 bytes and a path may be
	 * longer. */
	int length = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
			      folder, name);
	int error = length < 0 || (size_t)length >= sizeof(address.sun_path) ? -ENAMETOOLONG : 0;

	if (!error && connect(control, (struct sockaddr *)&address, sizeof(address)) != 0)
		error = -errno;
	close(folder);
	if (!error)
		return control;
	close(control);
	return error;
}

int control_connect(const char *fabric)
{
	char path[CONTROL_PATH_BYTES];
	int error = fabric_directory(fabric, path);

	return error ? error : connect_in(path, CONTROL_SOCKET);
}

int control_connect_operator(const char *fabric)
{
	char path[CONTROL_PATH_BYTES];
	int error = fabric_directory(fabric, path);
	int socket = error ? error : connect_in(path, OPERATOR_SOCKET);

	/* A softibd of an earlier version has one socket for all. */
	return socket == -ENOENT ? control_connect(fabric) : socket;
}

int control_connect_path(const char *path)
{
	char folder[CONTROL_PATH_BYTES];
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(folder))
		return -EINVAL;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	return connect_in(folder, slash + 1);
}

int control_send(int socket, const char *text, const int *descriptors, unsigned descriptor_count)
{
	_Alignas(struct cmsghdr) char ancillary[CMSG_SPACE(sizeof(int) * CONTROL_DESCRIPTORS_MAX)];
	struct iovec part = {.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (part.iov_len == 0 || part.iov_len > CONTROL_MESSAGE_BYTES ||
	    descriptor_count > CONTROL_DESCRIPTORS_MAX)
		return -EMSGSIZE;
	if (descriptor_count)
		descriptors_attach(&message, ancillary, descriptors, descriptor_count);
	for (;;) {
		if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno != EINTR)
			return errno == EPIPE ? -ECONNRESET : -errno;
	}
}

static time_t milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_readable(int socket, int timeout_ms)
{
	struct pollfd watched = {.fd = socket, .events = POLLIN};
	time_t end = milliseconds_now() + timeout_ms;

	for (;;) {
		int left = -1;

		if (timeout_ms >= 0) {
			left = (int)(end - milliseconds_now());
			left = left < 0 ? 0 : left;
		}

		int count = poll(&watched, 1, left);

		if (count > 0)
			return 0;
		if (count == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

/* The length of the next message; 0: hung up. -errno. */
static ssize_t next_message_bytes(int socket, int flags)
{
	ssize_t byte_count;

	/* A peer that closes before it has read what we sent resets the connection; its last
	 * message comes after that error. */
	for (bool was_reset = false;; was_reset |= errno == ECONNRESET) {
		byte_count = recv(socket, NULL, 0, MSG_PEEK | MSG_TRUNC | flags);
		if (byte_count >= 0 || (errno != EINTR && (errno != ECONNRESET || was_reset)))
			return byte_count < 0 ? -errno : byte_count;
	}
}

/* Takes no more memory than the message needs: softibd still answers short ones when it has hardly
 * any left. ret_text is NULL, with no room, if there is none. */
static int make_room(int socket, int flags, char **ret_text, size_t *ret_room)
{
	ssize_t byte_count = next_message_bytes(socket, flags);

	if (byte_count <= 0)
		return byte_count < 0 ? (int)byte_count : -ECONNRESET;
	*ret_room = byte_count < CONTROL_MESSAGE_BYTES ? (size_t)byte_count : CONTROL_MESSAGE_BYTES;
	*ret_text = malloc(*ret_room + 1);
	if (!*ret_text)
		*ret_room = 0;
	return 0;
}

/* Returns the length of the text, or -errno. */
static ssize_t receive_text(int socket, struct msghdr *header, int flags)
{
	ssize_t byte_count;

	do {
		byte_count = recvmsg(socket, header, MSG_CMSG_CLOEXEC | flags);
	} while (byte_count < 0 && errno == EINTR);
	return byte_count < 0 ? -errno : byte_count;
}

int control_receive(int socket, int timeout_ms, struct control_message *ret_message)
{
	_Alignas(struct cmsghdr) char ancillary[CMSG_SPACE(sizeof(int) * CONTROL_DESCRIPTORS_MAX)];
	struct control_message message = {.text = NULL};
	size_t room;
	int error = wait_readable(socket, timeout_ms);

	if (!error)
		error = make_room(socket, 0, &message.text, &room);
	if (error)
		return error;

	struct iovec part = {.iov_base = message.text, .iov_len = room};
	struct msghdr header = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = ancillary,
		.msg_controllen = sizeof(ancillary),
	};
	ssize_t byte_count = receive_text(socket, &header, 0);

	if (byte_count < 0) {
		error = (int)byte_count;
	} else {
		message.descriptor_count =
			descriptors_take(&header, CONTROL_DESCRIPTORS_MAX, message.descriptors);
		/* The kernel cuts descriptors off where the message has no room for their numbers,
		 * or our descriptor table none for them. */
		if (header.msg_flags & MSG_CTRUNC &&
		    message.descriptor_count < CONTROL_DESCRIPTORS_MAX)
			error = -EMFILE;
		else if (!message.text)
			error = -ENOMEM;
		else if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
			error = -EMSGSIZE;
		else if (byte_count == 0)
			error = -ECONNRESET;
	}
	if (error) {
		control_message_release(&message);
		return error;
	}
	message.byte_count = (size_t)byte_count;
	message.text[byte_count] = '\0';
	*ret_message = message;
	return 0;
}

int control_receive_from_client(int socket, struct control_message *ret_message,
				struct received_descriptors *ret_received)
{
	union received_descriptors_room room;
	size_t text_room;
	char *text;

	ret_received->count = 0;

	int error = make_room(socket, MSG_DONTWAIT, &text, &text_room);

	if (error)
		return error;

	struct iovec part = {.iov_base = text, .iov_len = text_room};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &room,
				.msg_controllen = sizeof(room)};
	ssize_t byte_count = receive_text(socket, &header, MSG_DONTWAIT);

	if (byte_count < 0) {
		error = (int)byte_count;
	} else {
		received_descriptors_take(&header, ret_received);
		if (header.msg_flags & MSG_CTRUNC)
			error = -EMFILE;
		else if (!text)
			error = -ENOMEM;
		else if (header.msg_flags & MSG_TRUNC ||
			 ret_received->count > CONTROL_DESCRIPTORS_MAX)
			error = -EMSGSIZE;
		else if (byte_count == 0)
			error = -ECONNRESET;
	}
	if (error) {
		free(text);
		return error;
	}
	text[byte_count] = '\0';
	*ret_message = (struct control_message){.text = text, .byte_count = (size_t)byte_count};
	return 0;
}

int control_message_take(struct control_message *message, unsigned index)
{
	int descriptor = message->descriptors[index];

	message->descriptors[index] = -1;
	return descriptor;
}

void control_message_release(struct control_message *message)
{
	for (unsigned i = 0; i < message->descriptor_count; i++)
		if (message->descriptors[i] >= 0)
			close(message->descriptors[i]);
	free(message->text);
	*message = (struct control_message){.text = NULL};
}

int control_ask(int socket, const char *text, int timeout_ms, struct control_message *ret_message)
{
	return control_ask_about(socket, text, -1, timeout_ms, ret_message);
}

int control_ask_about(int socket, const char *text, int descriptor, int timeout_ms,
		      struct control_message *ret_message)
{
	int error = control_send(socket, text, &descriptor, descriptor >= 0);

	/* A softibd that refuses a connection says why before it closes. */
	if (error && error != -ECONNRESET)
		return error;
	return control_receive(socket, timeout_ms, ret_message);
}
