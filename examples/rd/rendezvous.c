/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the RD examples learn each other's addresses. */
#include "rendezvous.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int read_whole(int socket, void *bytes, size_t byte_count)
{
	while (byte_count) {
		ssize_t taken = read(socket, bytes, byte_count);

		if (taken <= 0)
			return 1;
		bytes = (char *)bytes + taken;
		byte_count -= (size_t)taken;
	}
	return 0;
}

static int write_whole(int socket, const void *bytes, size_t byte_count)
{
	while (byte_count) {
		ssize_t given = write(socket, bytes, byte_count);

		if (given <= 0)
			return 1;
		bytes = (const char *)bytes + given;
		byte_count -= (size_t)given;
	}
	return 0;
}

static int open_socket(const char *name, int tcp_port,
		       int (*use)(int, const struct sockaddr *, socklen_t))
{
	struct addrinfo hints = {.ai_flags = name ? 0 : AI_PASSIVE, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	char service[16];
	int found = -1;

	snprintf(service, sizeof(service), "%d", tcp_port);

	int error = getaddrinfo(name, service, &hints, &list);

	if (error) {
		fprintf(stderr, "%s for %s:%d\n", gai_strerror(error), name ? name : "", tcp_port);
		return -1;
	}
	for (struct addrinfo *entry = list; entry && found < 0; entry = entry->ai_next) {
		int one = 1;

		found = socket(entry->ai_family, entry->ai_socktype, entry->ai_protocol);
		if (found < 0)
			continue;
		setsockopt(found, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (use(found, entry->ai_addr, entry->ai_addrlen)) {
			close(found);
			found = -1;
		}
	}
	freeaddrinfo(list);
	return found;
}

/* Accepts the connections of the other nodes and reads their addresses. */
static int accept_all(struct rendezvous *rendezvous, int tcp_port,
		      struct node_address addresses[NODES_MAX])
{
	int listener = open_socket(NULL, tcp_port, bind);

	if (listener < 0 || listen(listener, NODES_MAX)) {
		fprintf(stderr, "Couldn't listen to port %d\n", tcp_port);
		return 1;
	}
	for (unsigned i = 1; i < rendezvous->node_count; i++) {
		int socket = accept(listener, NULL, NULL);
		uint32_t rank;

		if (socket < 0 || read_whole(socket, &rank, sizeof(rank)) || rank == 0 ||
		    rank >= rendezvous->node_count || rendezvous->sockets[rank] >= 0 ||
		    read_whole(socket, &addresses[rank], sizeof(addresses[rank]))) {
			fprintf(stderr, "Couldn't read remote address\n");
			return 1;
		}
		rendezvous->sockets[rank] = socket;
	}
	close(listener);
	for (unsigned rank = 1; rank < rendezvous->node_count; rank++)
		if (write_whole(rendezvous->sockets[rank], addresses,
				sizeof(*addresses) * rendezvous->node_count)) {
			fprintf(stderr, "Couldn't send local address\n");
			return 1;
		}
	return 0;
}

static int ask_server(struct rendezvous *rendezvous, const struct options *options,
		      struct node_address addresses[NODES_MAX])
{
	uint32_t rank = rendezvous->rank;
	int socket = open_socket(options->server_name, options->tcp_port, connect);

	if (socket < 0) {
		fprintf(stderr, "Couldn't connect to %s:%d\n", options->server_name,
			options->tcp_port);
		return 1;
	}
	rendezvous->sockets[0] = socket;
	if (write_whole(socket, &rank, sizeof(rank)) ||
	    write_whole(socket, &addresses[rank], sizeof(addresses[rank])) ||
	    read_whole(socket, addresses, sizeof(*addresses) * rendezvous->node_count)) {
		fprintf(stderr, "Couldn't exchange addresses\n");
		return 1;
	}
	return 0;
}

int rendezvous_meet(struct rendezvous *rendezvous, const struct node *node, unsigned node_count,
		    unsigned rank, struct node_address addresses[NODES_MAX])
{
	rendezvous->node_count = node_count;
	rendezvous->rank = rank;
	for (unsigned i = 0; i < NODES_MAX; i++)
		rendezvous->sockets[i] = -1;
	addresses[rank] = node->address;
	return rank ? ask_server(rendezvous, &node->options, addresses)
		    : accept_all(rendezvous, node->options.tcp_port, addresses);
}

int rendezvous_barrier(struct rendezvous *rendezvous)
{
	char byte = 0;

	if (rendezvous->rank)
		return write_whole(rendezvous->sockets[0], &byte, 1) ||
		       read_whole(rendezvous->sockets[0], &byte, 1);
	for (unsigned rank = 1; rank < rendezvous->node_count; rank++)
		if (read_whole(rendezvous->sockets[rank], &byte, 1))
			return 1;
	for (unsigned rank = 1; rank < rendezvous->node_count; rank++)
		if (write_whole(rendezvous->sockets[rank], &byte, 1))
			return 1;
	return 0;
}

void rendezvous_close(struct rendezvous *rendezvous)
{
	for (unsigned i = 0; i < NODES_MAX; i++)
		if (rendezvous->sockets[i] >= 0)
			close(rendezvous->sockets[i]);
}
