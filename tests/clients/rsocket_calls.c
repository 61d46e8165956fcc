/* SPDX-License-Identifier: Apache-2.0 */
/* What rsockets' calls do, good and bad (rsocket(7); abi 9.4): rsocket_calls ADDRESS, an address of
 * the own host. Prints "ok NAME" per case; ends at the first that fails. Covers:
 * api/librdmacm/rsocket/rsocket.c api/librdmacm/rsocket/rsocket_accept.c
 * api/librdmacm/rsocket/rsocket_datagram.c api/librdmacm/rsocket/rsocket_destinations.c
 * api/librdmacm/rsocket/rsocket_mapping.c api/librdmacm/rsocket/rsocket_names.c
 * api/librdmacm/rsocket/rsocket_options.c api/librdmacm/rsocket/rsocket_plain.c
 * api/librdmacm/rsocket/rsocket_rings.c api/librdmacm/rsocket/rsocket_service.c
 * api/librdmacm/rsocket/rsocket_table.c api/librdmacm/rsocket/rsocket_transfer.c
 * api/librdmacm/rsocket/rsocket_wait.c */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/rsocket.h>
#include "rdmacm_client.h"

#define FAILS(call, error)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK((call) == -1);                                                               \
		CHECK(errno == (error));                                                           \
	} while (0)

static struct sockaddr_in own;

static int listen_here(struct sockaddr_in *ret_address)
{
	int listener = rsocket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(*ret_address);

	*ret_address = own;
	CHECK(listener >= 0);
	CHECK(rbind(listener, (struct sockaddr *)&own, sizeof(own)) == 0);
	CHECK(rlisten(listener, 4) == 0);
	CHECK(rgetsockname(listener, (struct sockaddr *)ret_address, &length) == 0);
	CHECK(length == sizeof(*ret_address) && ret_address->sin_port != 0);
	return listener;
}

/* Both ends in one program: the caller does not wait. */
static void make_pair(int *ret_caller, int *ret_called)
{
	struct sockaddr_in address;
	int listener = listen_here(&address);
	struct pollfd watched = {.events = POLLOUT};

	*ret_caller = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(*ret_caller >= 0);
	FAILS(rconnect(*ret_caller, (struct sockaddr *)&address, sizeof(address)), EINPROGRESS);
	/* The exchange makes progress only while a thread is in a call. */
	for (*ret_called = -1; *ret_called < 0;) {
		struct pollfd both[2] = {{.fd = *ret_caller, .events = POLLOUT},
					 {.fd = listener, .events = POLLIN}};

		CHECK(rpoll(both, 2, 10000) > 0);
		if (both[1].revents)
			*ret_called = raccept(listener, NULL, NULL);
	}
	watched.fd = *ret_caller;
	CHECK(rpoll(&watched, 1, 10000) == 1 && watched.revents == POLLOUT);
	CHECK(rfcntl(*ret_caller, F_GETFL) & O_NONBLOCK);
	CHECK(rfcntl(*ret_caller, F_SETFL, 0) == 0);
	CHECK(rclose(listener) == 0);
}

static void test_wrong_arguments_and_states(void)
{
	struct sockaddr_in nobody = own;
	int socket = rsocket(AF_INET, SOCK_STREAM, 0), value = 1;
	socklen_t length = sizeof(value);
	char byte;

	FAILS(rsocket(AF_UNIX, SOCK_STREAM, 0), EOPNOTSUPP);
	FAILS(rsocket(AF_INET, SOCK_RAW, 0), EOPNOTSUPP);
	FAILS(rrecv(12345, &byte, 1, 0), EBADF);
	FAILS(rclose(-1), EBADF);
	FAILS(rsend(socket, "x", 1, 0), ENOTCONN);
	FAILS(rrecv(socket, &byte, 1, 0), ENOTCONN);
	FAILS(rshutdown(socket, SHUT_RDWR), ENOTCONN);
	FAILS(raccept(socket, NULL, NULL), EINVAL);
	FAILS(rgetpeername(socket, (struct sockaddr *)&nobody, &length), ENOTCONN);
	FAILS(rsetsockopt(socket, SOL_SOCKET, 9999, &value, sizeof(value)), ENOPROTOOPT);
	CHECK(rsetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &(int){1 << 16}, sizeof(int)) == 0);
	CHECK(rgetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &value, &length) == 0);
	CHECK(value == 1 << 16);
	CHECK(rbind(socket, (struct sockaddr *)&own, sizeof(own)) == 0);
	FAILS(rbind(socket, (struct sockaddr *)&own, sizeof(own)), EINVAL);
	CHECK(rclose(socket) == 0);
	socket = rsocket(AF_INET, SOCK_STREAM, 0);
	nobody = own;
	nobody.sin_port = htons(9);
	FAILS(rconnect(socket, (struct sockaddr *)&nobody, sizeof(nobody)), ECONNREFUSED);
	CHECK(rclose(socket) == 0);
	socket = rsocket(AF_INET, SOCK_DGRAM, 0);
	FAILS(rlisten(socket, 1), EOPNOTSUPP);
	CHECK(rclose(socket) == 0);
	printf("ok wrong arguments and states\n");
}

static void test_bytes_names_and_the_end(void)
{
	struct sockaddr_in name, peer;
	socklen_t length = sizeof(name);
	int caller, called;
	char text[16] = "";
	struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
	fd_set reads;
	struct timeval moment = {0, 1000};

	make_pair(&caller, &called);
	CHECK(rgetsockname(called, (struct sockaddr *)&name, &length) == 0);
	CHECK(rgetpeername(caller, (struct sockaddr *)&peer, &length) == 0);
	CHECK(name.sin_port == peer.sin_port && name.sin_addr.s_addr == own.sin_addr.s_addr);
	FD_ZERO(&reads);
	FD_SET(called, &reads);
	CHECK(rselect(called + 1, &reads, NULL, NULL, &moment) == 0);
	CHECK(rwritev(caller, parts, 2) == 5);
	FD_SET(called, &reads);
	CHECK(rselect(called + 1, &reads, NULL, NULL, NULL) == 1 && FD_ISSET(called, &reads));
	CHECK(rrecv(called, text, 2, MSG_PEEK) == 2);
	/* The second part may come later than the first. */
	CHECK(rrecv(called, text, 5, MSG_WAITALL) == 5 && memcmp(text, "abcde", 5) == 0);
	FAILS(rrecv(called, text, 1, MSG_DONTWAIT), EAGAIN);
	CHECK(rshutdown(caller, SHUT_WR) == 0);
	CHECK(rread(called, text, 1) == 0);
	/* The other direction stays open. */
	CHECK(rwrite(called, "back", 4) == 4);
	CHECK(rread(caller, text, sizeof(text)) == 4);
	FAILS(rwrite(caller, "x", 1), EPIPE);
	CHECK(rclose(caller) == 0);
	CHECK(rclose(called) == 0);
	printf("ok bytes, names and the end\n");
}

static void test_buffers_that_the_peer_writes_to(void)
{
	int caller, called, count = 4;
	struct sockaddr_in address;
	int listener = listen_here(&address);
	char *buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte = 0;

	CHECK(rsetsockopt(listener, SOL_RDMA, RDMA_IOMAPSIZE, &count, sizeof(count)) == 0);
	caller = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(rsetsockopt(caller, SOL_RDMA, RDMA_IOMAPSIZE, &count, sizeof(count)) == 0);
	FAILS(rconnect(caller, (struct sockaddr *)&address, sizeof(address)), EINPROGRESS);
	do {
		struct pollfd both[2] = {{.fd = caller, .events = POLLOUT},
					 {.fd = listener, .events = POLLIN}};

		CHECK(rpoll(both, 2, 10000) > 0);
		called = both[1].revents ? raccept(listener, NULL, NULL) : -1;
	} while (called < 0);

	struct pollfd watched = {.fd = caller, .events = POLLOUT};

	CHECK(rpoll(&watched, 1, 10000) == 1);
	CHECK(rfcntl(caller, F_SETFL, 0) == 0);

	off_t offset = riomap(called, buffer, 4096, PROT_WRITE, 0, -1);

	CHECK(offset >= 0);
	CHECK(rwrite(called, "r", 1) == 1 && rread(caller, &byte, 1) == 1);
	CHECK(riowrite(caller, "direct", 6, offset + 10, 0) == 6);
	CHECK(rwrite(caller, "d", 1) == 1 && rread(called, &byte, 1) == 1);
	CHECK(memcmp(buffer + 10, "direct", 6) == 0);
	CHECK(riounmap(called, buffer, 4096) == 0);
	CHECK(rclose(caller) == 0 && rclose(called) == 0 && rclose(listener) == 0);
	printf("ok buffers that the peer writes to\n");
}

static void test_a_peer_that_dies(void)
{
	struct sockaddr_in address;
	int listener = listen_here(&address);
	pid_t child = fork();
	char byte;

	/* The child of a fork has its own connections; it does not get the parent's sockets. */
	if (child == 0) {
		int caller = rsocket(AF_INET, SOCK_STREAM, 0);

		if (rconnect(caller, (struct sockaddr *)&address, sizeof(address)) != 0 ||
		    rwrite(caller, "x", 1) != 1)
			_exit(1);
		pause();
	}

	int called = raccept(listener, NULL, NULL);

	CHECK(called >= 0 && rread(called, &byte, 1) == 1);
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
	CHECK(rread(called, &byte, 1) <= 0);
	while (rwrite(called, &byte, 1) == 1)
		;
	CHECK(errno == ECONNRESET || errno == EPIPE);
	CHECK(rclose(called) == 0 && rclose(listener) == 0);
	printf("ok a peer that dies\n");
}

static void test_datagrams(void)
{
	int one = rsocket(AF_INET, SOCK_DGRAM, 0), two = rsocket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in from, to;
	socklen_t length = sizeof(to);
	static char much[8192];
	char text[16];

	CHECK(rbind(two, (struct sockaddr *)&own, sizeof(own)) == 0);
	CHECK(rgetsockname(two, (struct sockaddr *)&to, &length) == 0);
	FAILS(rsend(one, "x", 1, 0), EDESTADDRREQ);
	CHECK(rsendto(one, "ask", 3, 0, (struct sockaddr *)&to, sizeof(to)) == 3);
	FAILS(rsendto(one, much, sizeof(much), 0, (struct sockaddr *)&to, sizeof(to)), EMSGSIZE);
	length = sizeof(from);
	CHECK(rrecvfrom(two, text, sizeof(text), 0, (struct sockaddr *)&from, &length) == 3);
	CHECK(memcmp(text, "ask", 3) == 0);
	CHECK(rsendto(two, "answer", 6, 0, (struct sockaddr *)&from, length) == 6);
	CHECK(rrecv(one, text, sizeof(text), 0) == 6 && memcmp(text, "answer", 6) == 0);
	FAILS(rrecv(one, text, sizeof(text), MSG_DONTWAIT), EAGAIN);
	to.sin_port = htons(9);
	FAILS(rconnect(one, (struct sockaddr *)&to, sizeof(to)), ECONNREFUSED);
	CHECK(rclose(one) == 0 && rclose(two) == 0);
	printf("ok datagrams\n");
}

static void *answer_plainly(void *context)
{
	int served = accept(*(int *)context, NULL, NULL);
	char text[8];

	CHECK(served >= 0 && read(served, text, sizeof(text)) == 5);
	CHECK(write(served, text, 5) == 5);
	CHECK(close(served) == 0);
	return NULL;
}

/* Nobody listens by RDMA, but somebody does with TCP. */
static void test_an_ordinary_socket_on_the_other_side(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), caller = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = own;
	socklen_t length = sizeof(address);
	struct pollfd watched = {.fd = caller, .events = POLLIN};
	int error = 1, one = 1;
	pthread_t thread;
	char text[8];

	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(listener, 1) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
	CHECK(pthread_create(&thread, NULL, answer_plainly, &listener) == 0);
	CHECK(rconnect(caller, (struct sockaddr *)&address, sizeof(address)) == 0);
	FAILS(rconnect(caller, (struct sockaddr *)&address, sizeof(address)), EISCONN);
	CHECK(rsetsockopt(caller, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
	length = sizeof(error);
	CHECK(rgetsockopt(caller, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
	CHECK(rwrite(caller, "plain", 5) == 5);
	CHECK(rpoll(&watched, 1, 10000) == 1 && (watched.revents & POLLIN));
	CHECK(rread(caller, text, sizeof(text)) == 5 && memcmp(text, "plain", 5) == 0);
	CHECK(rread(caller, text, sizeof(text)) == 0);
	length = sizeof(address);
	CHECK(rgetpeername(caller, (struct sockaddr *)&address, &length) == 0);
	CHECK(rshutdown(caller, SHUT_RDWR) == 0);
	CHECK(rclose(caller) == 0);
	CHECK(fcntl(caller, F_GETFD) == -1); /* nothing is left open */
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(close(listener) == 0);
	printf("ok an ordinary socket on the other side\n");
}

int main(int argument_count, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	own.sin_family = AF_INET;
	if (argument_count != 2 || inet_pton(AF_INET, arguments[1], &own.sin_addr) != 1)
		return 2;
	test_wrong_arguments_and_states();
	test_bytes_names_and_the_end();
	test_buffers_that_the_peer_writes_to();
	test_a_peer_that_dies();
	test_datagrams();
	test_an_ordinary_socket_on_the_other_side();
	return 0;
}
