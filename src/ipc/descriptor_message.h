/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors that go with a message on a Unix socket (SCM_RIGHTS). */
#ifndef SOFTIB_IPC_DESCRIPTOR_MESSAGE_H
#define SOFTIB_IPC_DESCRIPTOR_MESSAGE_H

#include <stdint.h>
#include <sys/socket.h>

/* The kernel's limit (SCM_MAX_FD). softibd has room for all: the kernel closes those that find
 * none, and so would make softibd wait (daemon/core/file_closer.h). */
enum { DESCRIPTORS_PER_MESSAGE_MAX = 253 };

/* Those that came with a message; -1: closed or taken by somebody. */
struct received_descriptors {
	int numbers[DESCRIPTORS_PER_MESSAGE_MAX];
	unsigned count;
};

union received_descriptors_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * DESCRIPTORS_PER_MESSAGE_MAX)];
};

/* Room for the control data of one descriptor, at both ends. */
union descriptor_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Adds descriptors to a message that is to be sent. The room has CMSG_SPACE of that many. */
void descriptors_attach(struct msghdr *message, void *room, const int *descriptors, unsigned count);
/* Takes the descriptors of a message that was received, and returns how many there are. Closes all
 * beyond count_max: the padding of a room may hold one more than it was made for. */
unsigned descriptors_take(struct msghdr *message, unsigned count_max, int ret_descriptors[]);

/* descriptors_take() of all of them. */
void received_descriptors_take(struct msghdr *message, struct received_descriptors *ret_received);
/* The caller takes over a descriptor; -1: there is none of this index. */
int received_descriptor_take(struct received_descriptors *received, unsigned index);
/* The kernel's number of a socket, which it uses once; 0: none. Inode numbers prove nothing:
 * anybody can make a socket file with a chosen one. Never waits, whatever the descriptor is. */
uint64_t socket_cookie(int descriptor);
/* For programs, which get messages from softibd only. */
void received_descriptors_close(struct received_descriptors *received);

#endif
