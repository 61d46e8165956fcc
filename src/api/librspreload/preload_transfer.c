/* SPDX-License-Identifier: Apache-2.0 */
/* librspreload.so: sending and receiving. */
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "api/librspreload/preload.h"

enum { COPY_BYTES = 65536 };

PUBLIC ssize_t recv(int descriptor, void *bytes, size_t count, int flags)
{
	return REDIRECT(recv, descriptor, bytes, count, flags);
}

PUBLIC ssize_t recvfrom(int descriptor, void *bytes, size_t count, int flags,
			struct sockaddr *address, socklen_t *byte_count)
{
	return REDIRECT(recvfrom, descriptor, bytes, count, flags, address, byte_count);
}

PUBLIC ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
	return REDIRECT(recvmsg, descriptor, message, flags);
}

PUBLIC ssize_t read(int descriptor, void *bytes, size_t count)
{
	return REDIRECT(read, descriptor, bytes, count);
}

PUBLIC ssize_t readv(int descriptor, const struct iovec *parts, int count)
{
	return REDIRECT(readv, descriptor, parts, count);
}

PUBLIC ssize_t send(int descriptor, const void *bytes, size_t count, int flags)
{
	return REDIRECT(send, descriptor, bytes, count, flags);
}

PUBLIC ssize_t sendto(int descriptor, const void *bytes, size_t count, int flags,
		      const struct sockaddr *address, socklen_t byte_count)
{
	return REDIRECT(sendto, descriptor, bytes, count, flags, address, byte_count);
}

PUBLIC ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
	return REDIRECT(sendmsg, descriptor, message, flags);
}

PUBLIC ssize_t write(int descriptor, const void *bytes, size_t count)
{
	return REDIRECT(write, descriptor, bytes, count);
}

PUBLIC ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
	return REDIRECT(writev, descriptor, parts, count);
}

/* Reads the file and sends it in pieces: sendfile() cannot write to an rsocket. */
static ssize_t send_file(int other, int file, off_t *offset, size_t count)
{
	char *bytes = malloc(COPY_BYTES);
	ssize_t total = 0;

	if (!bytes)
		return -1;
	while (count > 0) {
		size_t wanted = count < COPY_BYTES ? count : COPY_BYTES;
		ssize_t got = offset ? pread(file, bytes, wanted, *offset)
				     : REAL(read)(file, bytes, wanted);
		ssize_t sent = got > 0 ? INSIDE(rwrite(other, bytes, (size_t)got)) : got;

		if (sent <= 0) {
			if (total == 0)
				total = sent;
			break;
		}
		total += sent;
		count -= (size_t)sent;
		if (offset)
			*offset += sent;
		else if (sent < got)
			(void)!lseek(file, sent - got, SEEK_CUR);
		if (sent < got)
			break;
	}
	free(bytes);
	return total;
}

PUBLIC ssize_t sendfile(int descriptor, int file, off_t *offset, size_t count)
{
	int other = preload_behind(descriptor);

	return other < 0 ? REAL(sendfile)(descriptor, file, offset, count)
			 : send_file(other, file, offset, count);
}

PUBLIC ssize_t sendfile64(int descriptor, int file, __off64_t *offset, size_t count)
{
	int other = preload_behind(descriptor);

	return other < 0 ? REAL(sendfile64)(descriptor, file, offset, count)
			 : send_file(other, file, (off_t *)offset, count);
}
