/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks rdma-core's ibacm for path records: one request and one answer over its local socket, or its
 * TCP port where it is configured so. Numbers of a message are in the order of this machine, path
 * records in the order of the wire.
 */
#include "api/librdmacm/ibacm_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ACM_VERSION = 1, ACM_RESOLVE = 1, ACM_ANSWER = 0x80 };

enum acm_entry_type { ACM_ENTRY_IPV4 = 2, ACM_ENTRY_IPV6 = 3, ACM_ENTRY_PATH = 0x10 };

enum { ACM_SOURCE = 1u << 0, ACM_DESTINATION = 1u << 1, ACM_NO_DELAY = 1u << 30 };

struct acm_header {
	uint8_t version;
	uint8_t operation;
	uint8_t status;
	uint8_t data[3];
	uint16_t byte_count; /* of the whole message */
	uint64_t transaction;
};
static_assert(sizeof(struct acm_header) == 16, "ibacm's header");

struct acm_entry {
	uint32_t flags;
	uint16_t type;
	uint16_t reserved;
	union {
		uint8_t address[64];
		struct ibv_path_record path;
	};
};
static_assert(sizeof(struct acm_entry) == 72, "ibacm's entry");

struct acm_message {
	struct acm_header header;
	struct acm_entry entries[IBACM_PATHS_MAX];
};

/* Connects to a socket of this kind; -1: nobody listens there. */
static int connect_to(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, address, length) != 0 && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

static int connect_to_port(const char *tree)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char path[512];
	unsigned port = 0;

	if (snprintf(path, sizeof(path), "%s/run/ibacm.port", tree) >= (int)sizeof(path))
		return -1;

	FILE *file = fopen(path, "re");

	if (!file)
		return -1;

	bool is_read = fscanf(file, "%5u", &port) == 1 && port > 0 && port <= UINT16_MAX;

	fclose(file);
	address.sin_port = htons((uint16_t)port);
	return is_read ? connect_to((struct sockaddr *)&address, sizeof(address)) : -1;
}

static int connect_to_socket(const char *tree)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length =
		snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/ibacm.sock", tree);

	return length < (int)sizeof(address.sun_path)
		       ? connect_to((struct sockaddr *)&address, sizeof(address))
		       : -1;
}

static bool put_address(const struct sockaddr *address, uint32_t flags, struct acm_message *message)
{
	size_t index = (message->header.byte_count - sizeof(message->header)) /
		       sizeof(message->entries[0]);
	struct acm_entry *entry = &message->entries[index];
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;

	entry->flags = flags;
	if (address->sa_family == AF_INET) {
		memcpy(&ipv4, address, sizeof(ipv4));
		entry->type = ACM_ENTRY_IPV4;
		memcpy(entry->address, &ipv4.sin_addr, sizeof(ipv4.sin_addr));
	} else if (address->sa_family == AF_INET6) {
		memcpy(&ipv6, address, sizeof(ipv6));
		entry->type = ACM_ENTRY_IPV6;
		memcpy(entry->address, &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
	} else {
		return false;
	}
	message->header.byte_count = (uint16_t)(message->header.byte_count + sizeof(*entry));
	return true;
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_for(int fd, short events, int64_t deadline_ms)
{
	struct pollfd ready = {.fd = fd, .events = events};

	for (;;) {
		int64_t left_ms = deadline_ms - clock_ms();
		int count = poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0);

		if (count >= 0 || errno != EINTR)
			return count == 1;
	}
}

/* Reads as many bytes as the header says; false: too late, too many, or the end of the stream. */
static bool read_answer(int fd, int64_t deadline_ms, struct acm_message *ret_answer)
{
	size_t byte_count = 0;

	while (byte_count < sizeof(ret_answer->header) ||
	       byte_count < ret_answer->header.byte_count) {
		size_t room = sizeof(*ret_answer) - byte_count;
		ssize_t read_bytes = 0;

		if (room && wait_for(fd, POLLIN, deadline_ms))
			read_bytes = recv(fd, (char *)ret_answer + byte_count, room, 0);
		if (read_bytes <= 0)
			return false;
		byte_count += (size_t)read_bytes;
	}
	return byte_count == ret_answer->header.byte_count;
}

static bool ask(int fd, const struct acm_message *request, struct acm_message *ret_answer)
{
	int64_t deadline_ms = clock_ms() + IBACM_WAIT_MS;
	uint16_t byte_count = request->header.byte_count;

	if (!wait_for(fd, POLLOUT, deadline_ms) ||
	    send(fd, request, byte_count, MSG_NOSIGNAL) != byte_count)
		return false;
	return read_answer(fd, deadline_ms, ret_answer) &&
	       ret_answer->header.version == ACM_VERSION &&
	       ret_answer->header.operation == (ACM_RESOLVE | ACM_ANSWER) &&
	       ret_answer->header.transaction == request->header.transaction &&
	       ret_answer->header.status == 0;
}

static unsigned take_paths(const struct acm_message *answer,
			   struct ibv_path_data ret_paths[static IBACM_PATHS_MAX])
{
	size_t entry_count =
		(answer->header.byte_count - sizeof(answer->header)) / sizeof(answer->entries[0]);
	unsigned count = 0;

	for (size_t index = 0; index < entry_count; index++) {
		const struct acm_entry *entry = &answer->entries[index];

		if (entry->type != ACM_ENTRY_PATH || !entry->path.dlid || !entry->path.slid)
			continue;
		ret_paths[count++] =
			(struct ibv_path_data){.flags = entry->flags, .path = entry->path};
	}
	return count;
}

unsigned ibacm_find_paths(const char *tree, const struct sockaddr *source,
			  const struct sockaddr *destination, bool is_cached_only,
			  struct ibv_path_data ret_paths[static IBACM_PATHS_MAX])
{
	struct acm_message request = {
		.header = {.version = ACM_VERSION,
			   .operation = ACM_RESOLVE,
			   .byte_count = sizeof(request.header),
			   .transaction = (uint64_t)clock_ms()},
	};
	struct acm_message answer = {.header = {0}};
	uint32_t flags = ACM_DESTINATION | (is_cached_only ? ACM_NO_DELAY : 0);

	if ((source && !put_address(source, ACM_SOURCE, &request)) ||
	    !put_address(destination, flags, &request))
		return 0;

	int fd = connect_to_port(tree);

	if (fd < 0)
		fd = connect_to_socket(tree);
	if (fd < 0)
		return 0;

	bool is_answered = ask(fd, &request, &answer);

	close(fd);
	return is_answered ? take_paths(&answer, ret_paths) : 0;
}
