/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors that go with a message on a Unix socket (SCM_RIGHTS). */
#ifndef SOFTIB_IPC_DESCRIPTOR_MESSAGE_H
#define SOFTIB_IPC_DESCRIPTOR_MESSAGE_H

#include <sys/socket.h>

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

#endif
