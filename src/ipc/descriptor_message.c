/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors that go with a message on a Unix socket. */
#include "ipc/descriptor_message.h"

#include <string.h>
#include <unistd.h>

void descriptors_attach(struct msghdr *message, void *room, const int *descriptors, unsigned count)
{
	struct cmsghdr *header;

	message->msg_control = room;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * count);
	memset(room, 0, message->msg_controllen);
	header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
}

unsigned descriptors_take(struct msghdr *message, unsigned count_max, int ret_descriptors[])
{
	unsigned taken = 0;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;

		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < count; i++) {
			int descriptor;

			memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(descriptor));
			if (taken < count_max)
				ret_descriptors[taken++] = descriptor;
			else
				close(descriptor);
		}
	}
	return taken;
}

void received_descriptors_take(struct msghdr *message, struct received_descriptors *ret_received)
{
	ret_received->count =
		descriptors_take(message, DESCRIPTORS_PER_MESSAGE_MAX, ret_received->numbers);
}

int received_descriptor_take(struct received_descriptors *received, unsigned index)
{
	int descriptor;

	if (index >= received->count)
		return -1;
	descriptor = received->numbers[index];
	received->numbers[index] = -1;
	return descriptor;
}

void received_descriptors_close(struct received_descriptors *received)
{
	for (unsigned index = 0; index < received->count; index++)
		if (received->numbers[index] >= 0)
			close(received->numbers[index]);
	received->count = 0;
}

uint64_t socket_cookie(int descriptor)
{
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);

	return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}
