/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the control socket: the folders of fabrics, connecting, asking and answering. */
#ifndef SOFTIB_IPC_CONTROL_SOCKET_H
#define SOFTIB_IPC_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include "base/attributes.h"

enum { CONTROL_PATH_BYTES = 256, CONTROL_DESCRIPTORS_MAX = 8 };

/* <runtime>, made 0700 if it does not exist; -EPERM if another user owns it. */
MUST_USE int runtime_directory(char ret_path[static CONTROL_PATH_BYTES]);
/* <runtime>/<fabric>; the name is letters, digits, '-', '_', '.', at most 32; -EINVAL otherwise. */
MUST_USE int fabric_directory(const char *fabric, char ret_path[static CONTROL_PATH_BYTES]);

/* The sockets in a fabric's folder. Commands for operators are taken from the second one only. */
#define CONTROL_SOCKET	"control"
#define OPERATOR_SOCKET "operator"

/* -ENOENT: no such fabric; -ECONNREFUSED: a stale socket (softibd died); close-on-exec. */
MUST_USE int control_connect(const char *fabric);
MUST_USE int control_connect_operator(const char *fabric);
/* control_connect by the socket's own path, which "softib run" passes in SOFTIB_SOCKET. */
MUST_USE int control_connect_path(const char *path);

struct received_descriptors;

struct control_message {
	char *text; /* NUL-terminated, owned by the message */
	size_t byte_count;
	int descriptors[CONTROL_DESCRIPTORS_MAX];
	unsigned descriptor_count;
};

/* Sends one message with descriptors; 0 or -errno. */
MUST_USE int control_send(int socket, const char *text, const int *descriptors,
			  unsigned descriptor_count);
/* Waits for one message (timeout in ms, -1 for ever); -ECONNRESET on hang-up, -EMSGSIZE,
 * -ETIMEDOUT. -ENOMEM, -EMFILE (no room for its descriptors): the message is lost. */
MUST_USE int control_receive(int socket, int timeout_ms, struct control_message *ret_message);
/* As control_receive() without waiting, for softibd: -EAGAIN: no message; -EMSGSIZE: more text or
 * descriptors than a message may have. The descriptors are not in the message, and the caller gets
 * them also with an error. */
MUST_USE int control_receive_from_client(int socket, struct control_message *ret_message,
					 struct received_descriptors *ret_received);
/* The caller takes over a descriptor of the message. */
int control_message_take(struct control_message *message, unsigned index);
void control_message_release(
	struct control_message *message); /* closes descriptors not taken (set to -1) */
/* control_send, then control_receive. With a descriptor unless it is -1. */
MUST_USE int control_ask_about(int socket, const char *text, int descriptor, int timeout_ms,
			       struct control_message *ret_message);
MUST_USE int control_ask(int socket, const char *text, int timeout_ms,
			 struct control_message *ret_message);

/* Starts softibd for a fabric if none runs, one launcher at a time, and waits until it answers. The
 * arguments are softibd's own; --name, --foreground and --log are added. -EEXIST, -ENOENT (softibd
 * not found), -ETIMEDOUT, -EIO: softibd ended at once, and reason has its last line. */
struct launch_options {
	const char *fabric;
	const char *const *arguments; /* further ones for softibd, NULL-terminated */
	bool must_be_new;	      /* -EEXIST if it runs already */
	int timeout_ms;
	char *reason; /* gets the last line that softibd wrote if it fails; may be NULL */
	size_t reason_bytes;
};
MUST_USE int fabric_launch(const struct launch_options *options);

/* Where softibd and the drop-in libraries are, relative to the file that this code was loaded from
 * (build tree or installation). */
MUST_USE int program_path(const char *program, char ret_path[static CONTROL_PATH_BYTES]);
MUST_USE int library_directory(char ret_path[static CONTROL_PATH_BYTES]);

#endif
