/* SPDX-License-Identifier: Apache-2.0 */
/* Two test programs on two hosts that exchange data by a socket of the machine. */
#ifndef SOFTIB_TESTS_CLIENTS_TWO_SIDES_H
#define SOFTIB_TESTS_CLIENTS_TWO_SIDES_H

#include "verbs_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The serving side prints "listening" when the other may connect. */
static inline int meet(const char *path, bool is_server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int made = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(made >= 0 && strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (!is_server) {
		CHECK_EQUAL(connect(made, (struct sockaddr *)&address, sizeof(address)), 0);
		return made;
	}
	CHECK_EQUAL(bind(made, (struct sockaddr *)&address, sizeof(address)), 0);
	CHECK_EQUAL(listen(made, 1), 0);
	puts("listening");
	fflush(stdout);

	int accepted = accept(made, NULL, NULL);

	CHECK(accepted >= 0);
	close(made);
	return accepted;
}

static inline void give(int socket, const void *bytes, size_t byte_count)
{
	CHECK(write(socket, bytes, byte_count) == (ssize_t)byte_count);
}

static inline void take(int socket, void *ret_bytes, size_t byte_count)
{
	CHECK(read(socket, ret_bytes, byte_count) == (ssize_t)byte_count);
}

/* Both are here. */
static inline void rendezvous(int socket)
{
	char token = 'r';

	give(socket, &token, 1);
	take(socket, &token, 1);
	CHECK_EQUAL(token, 'r');
}

#endif
