/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on the socket of an open port, both ends. */
#include "ipc/mad_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ipc/descriptor_message.h"
#include "ipc/memory_file.h"

enum {
	/* A longer message goes as a file; well below the limit of any socket. */
	INLINE_BYTES_MAX = sizeof(((struct mad_arrival *)0)->bytes),
	TOTAL_OFFSET = 16, /* in the header: the length, which a message in a file must state */
};

static int send_message(int socket, const uint8_t *bytes, size_t byte_count, int file)
{
	union descriptor_room room;
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = byte_count};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (file >= 0)
		descriptors_attach(&message, &room, &file, 1);
	for (;;) {
		if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno != EINTR)
			return errno == EPIPE ? -ECONNRESET : -errno;
	}
}

static int send_as_file(int socket, const uint8_t *bytes, size_t byte_count)
{
	uint8_t first[MAD_PORT_SINGLE_BYTES];
	uint32_t total = (uint32_t)byte_count;
	void *memory;
	int file;
	int error = memory_file_create("softib-mad", byte_count, &file, &memory);

	if (error)
		return error;
	memcpy(memory, bytes, byte_count);
	munmap(memory, byte_count);
	memcpy(first, bytes, sizeof(first));
	memcpy(first + TOTAL_OFFSET, &total, sizeof(total));
	error = send_message(socket, first, sizeof(first), file);
	close(file);
	return error;
}

int mad_socket_send(int socket, const uint8_t *bytes, size_t byte_count)
{
	if (byte_count < MAD_PORT_HEADER_BYTES || byte_count > MAD_PORT_BYTES_MAX)
		return -EMSGSIZE;
	if (byte_count <= INLINE_BYTES_MAX)
		return send_message(socket, bytes, byte_count, -1);
	return send_as_file(socket, bytes, byte_count);
}

/* The sender of the file can't make reading it fail or block: it is memory, and its size is sealed.
 */
static int check_file(int file, size_t byte_count)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat status;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(file, &status) != 0 ||
	    status.st_size < 0 || (size_t)status.st_size != byte_count)
		return -EPROTO;
	return 0;
}

int mad_socket_receive_from_client(int socket, struct mad_arrival *ret_arrival)
{
	union received_descriptors_room room;
	struct iovec part = {.iov_base = ret_arrival->bytes, .iov_len = sizeof(ret_arrival->bytes)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &room,
				 .msg_controllen = sizeof(room)};
	ssize_t received;

	ret_arrival->file = -1;
	ret_arrival->received.count = 0;
	do {
		received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	received_descriptors_take(&message, &ret_arrival->received);
	if (received == 0)
		return -ECONNRESET;
	ret_arrival->byte_count = (size_t)received;
	ret_arrival->total_bytes = (size_t)received;

	int error =
		received < MAD_PORT_HEADER_BYTES || (message.msg_flags & MSG_TRUNC) ? -EPROTO : 0;

	if (!error && ret_arrival->received.count) {
		uint32_t total;

		memcpy(&total, ret_arrival->bytes + TOTAL_OFFSET, sizeof(total));
		ret_arrival->total_bytes = total;
		error = total < MAD_PORT_HEADER_BYTES || total > MAD_PORT_BYTES_MAX
				? -EPROTO
				: check_file(ret_arrival->received.numbers[0], total);
		if (!error)
			ret_arrival->file = received_descriptor_take(&ret_arrival->received, 0);
	} else if (!error && (message.msg_flags & MSG_CTRUNC)) {
		error = -EMFILE;
	}
	return error;
}

int mad_socket_receive(int socket, struct mad_arrival *ret_arrival)
{
	int error = mad_socket_receive_from_client(socket, ret_arrival);

	received_descriptors_close(&ret_arrival->received);
	return error;
}

static int read_file(int file, uint8_t *ret_bytes, size_t byte_count)
{
	size_t done = 0;

	while (done < byte_count) {
		ssize_t count = pread(file, ret_bytes + done, byte_count - done, (off_t)done);

		if (count == 0 || (count < 0 && errno != EINTR))
			return -EPROTO;
		done += count > 0 ? (size_t)count : 0;
	}
	return 0;
}

int mad_arrival_take(struct mad_arrival *arrival, uint8_t *ret_bytes)
{
	if (arrival->file < 0) {
		memcpy(ret_bytes, arrival->bytes, arrival->byte_count);
		return 0;
	}

	int error = read_file(arrival->file, ret_bytes, arrival->total_bytes);

	/* The header that was checked counts, not the one in the file. */
	memcpy(ret_bytes, arrival->bytes, MAD_PORT_HEADER_BYTES);
	close(arrival->file);
	arrival->file = -1;
	return error;
}

/* The total length of the next message. */
static int peek(int socket, uint8_t *bytes, size_t capacity, size_t *ret_total)
{
	ssize_t received;
	uint32_t stated;

	do {
		received = recv(socket, bytes, capacity, MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (received == 0)
		return -ECONNRESET;
	if (received < MAD_PORT_HEADER_BYTES)
		return -EPROTO;
	memcpy(&stated, bytes + TOTAL_OFFSET, sizeof(stated));
	/* For a message in a file, the socket shows the first segment. */
	*ret_total = received == MAD_PORT_SINGLE_BYTES && stated > MAD_PORT_SINGLE_BYTES
			     ? stated
			     : (size_t)received;
	return 0;
}

int mad_socket_read(int socket, size_t capacity, uint8_t *ret_bytes, size_t *ret_byte_count)
{
	struct mad_arrival arrival;
	size_t first = capacity < MAD_PORT_SINGLE_BYTES ? capacity : MAD_PORT_SINGLE_BYTES;
	size_t total = 0;

	if (capacity < MAD_PORT_HEADER_BYTES)
		return -EINVAL;

	int error = peek(socket, ret_bytes, first, &total);

	if (error)
		return error;
	if (total > capacity && capacity < MAD_PORT_SINGLE_BYTES)
		return -EINVAL;
	*ret_byte_count = total;
	if (total > capacity)
		return -ENOSPC;
	if (total <= MAD_PORT_SINGLE_BYTES) {
		ssize_t received = recv(socket, ret_bytes, capacity, MSG_DONTWAIT);

		return received == (ssize_t)total ? 0 : -EPROTO;
	}
	error = mad_socket_receive(socket, &arrival);
	if (!error && arrival.total_bytes != total) {
		if (arrival.file >= 0)
			close(arrival.file);
		return -EPROTO;
	}
	return error ? error : mad_arrival_take(&arrival, ret_bytes);
}
