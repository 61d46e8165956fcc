/* SPDX-License-Identifier: Apache-2.0 */
/* The outer sides of routers' gateways: UDP sockets and tap devices. */
#include "daemon/packets/gateway_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/log.h"
#include "fabric/gateways.h"
#include "fabric/topology/port_names.h"
#include "launch/gateway_option.h"
#include "net/router/gateway.h"

/* Frames read per poll, so that a flood from outside can't take all of softibd's time. */
enum { FRAMES_PER_POLL = 64 };

struct gateway_socket {
	struct watch watch;
	struct daemon_core *core;
	struct node *router;
	const char *where;
	int descriptor;
	uint64_t lost; /* frames that the peer did not take, because it was not there or had no room
			*/
};

static void socket_ready(struct watch *watch, uint32_t events)
{
	struct gateway_socket *socket = container_of(watch, struct gateway_socket, watch);
	struct daemon_core *core = socket->core;
	/* One byte more than the longest frame, to detect a longer one. */
	uint8_t bytes[GATEWAY_FRAME_BYTES_MAX + 1];

	(void)events;
	for (unsigned i = 0; i < FRAMES_PER_POLL; i++) {
		ssize_t count = read(socket->descriptor, bytes, sizeof(bytes));

		if (count >= 0) {
			gateways_receive(&core->fabric, socket->router, bytes, (size_t)count,
					 core->loop.now);
			continue;
		}
		/* An earlier frame was refused: the peer was not there. */
		if (errno == ECONNREFUSED) {
			socket->lost++;
			continue;
		}
		/* A tap device that was removed stays readable and would wake softibd for ever. */
		if (errno != EAGAIN && errno != EINTR) {
			log_line("gateway %s closed: %s", socket->where, strerror(errno));
			event_loop_unwatch(&core->loop, socket->descriptor);
		}
		return;
	}
}

static int open_udp(const struct gateway_option *option)
{
	int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (descriptor < 0)
		return -errno;
	/* Connected, so that the kernel drops datagrams that are not from the peer. */
	if (bind(descriptor, (const struct sockaddr *)&option->own, sizeof(option->own)) != 0 ||
	    connect(descriptor, (const struct sockaddr *)&option->peer, sizeof(option->peer)) !=
		    0) {
		int error = -errno;

		close(descriptor);
		return error;
	}
	return descriptor;
}

static int open_tap(const struct gateway_option *option)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (descriptor < 0)
		return -errno;
	memcpy(request.ifr_name, option->interface, sizeof(request.ifr_name));
	if (ioctl(descriptor, TUNSETIFF, &request) != 0) {
		int error = -errno;

		close(descriptor);
		return error;
	}
	return descriptor;
}

static int open_one(struct daemon_core *core, const char *text, struct gateway_socket *ret_socket)
{
	struct gateway_option option;
	struct node *router;
	int descriptor, error;

	if (!gateway_option_read(text, &option))
		return -EINVAL;
	router = port_names_find_node(&core->fabric, option.router);
	if (!router || !node_is_router(router)) {
		log_line("gateway: no router %s", option.router);
		return -ENOENT;
	}
	if (router->router->gateway) {
		log_line("router %s has a gateway already", option.router);
		return -EEXIST;
	}
	descriptor = option.interface[0] ? open_tap(&option) : open_udp(&option);
	if (descriptor < 0) {
		log_line("can't open gateway %s: %s", text, strerror(-descriptor));
		return descriptor;
	}
	*ret_socket = (struct gateway_socket){.watch.ready = socket_ready,
					      .core = core,
					      .router = router,
					      .where = option.where,
					      .descriptor = descriptor};
	error = gateway_create(&router->router->gateway);
	if (!error)
		error = event_loop_watch(&core->loop, descriptor, &ret_socket->watch);
	if (error) {
		log_line("can't open gateway %s: %s", text, strerror(-error));
		close(descriptor);
	}
	return error;
}

int gateway_sockets_open(struct gateway_sockets *sockets, struct daemon_core *core,
			 const char *const options[], unsigned option_count)
{
	int error = 0;

	if (!option_count)
		return 0;
	/* Allocated once, because epoll points to the watches. */
	sockets->sockets = calloc(option_count, sizeof(*sockets->sockets));
	if (!sockets->sockets)
		return -ENOMEM;
	while (!error && sockets->count < option_count) {
		error = open_one(core, options[sockets->count], &sockets->sockets[sockets->count]);
		if (!error)
			sockets->count++;
	}
	if (error)
		gateway_sockets_close(sockets);
	return error;
}

void gateway_sockets_close(struct gateway_sockets *sockets)
{
	for (unsigned i = 0; i < sockets->count; i++) {
		event_loop_unwatch(&sockets->sockets[i].core->loop, sockets->sockets[i].descriptor);
		close(sockets->sockets[i].descriptor);
	}
	free(sockets->sockets);
	*sockets = (struct gateway_sockets){0};
}

static bool send_frame(const struct gateway_socket *socket, const struct gateway_frame *frame)
{
	return write(socket->descriptor, frame->bytes, frame->byte_count) >= 0;
}

void gateway_sockets_send(struct gateway_sockets *sockets)
{
	for (unsigned i = 0; i < sockets->count; i++) {
		struct gateway_socket *socket = &sockets->sockets[i];
		struct gateway *gateway = socket->router->router->gateway;
		const struct gateway_frame *frame;

		while ((frame = gateway_next(gateway))) {
			if (send_frame(socket, frame))
				continue;
			socket->lost++;
			/* The error is about an earlier frame, so this one is sent again. */
			if (errno == ECONNREFUSED)
				socket->lost += !send_frame(socket, frame);
		}
	}
}

json_t *gateway_sockets_describe(const struct gateway_sockets *sockets)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < sockets->count; i++) {
		const struct gateway_socket *socket = &sockets->sockets[i];
		const struct gateway *gateway = socket->router->router->gateway;
		uint64_t dropped = 0;

		for (unsigned reason = 0; reason < DROP_REASON_COUNT; reason++)
			dropped += gateway->drops[reason];
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "router",
						socket->router->description, "where", socket->where,
						"sent", (json_int_t)(gateway->sent - socket->lost),
						"lost", (json_int_t)socket->lost, "received",
						(json_int_t)gateway->received, "dropped",
						(json_int_t)dropped));
	}
	return rows;
}
