/* SPDX-License-Identifier: Apache-2.0 */
/* The outer sides of routers' gateways: UDP sockets and tap devices. */
#include "daemon/gateway_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "fabric/gateways.h"
#include "fabric/topology/port_names.h"
#include "host/gateway_option.h"
#include "net/router/gateway.h"

/* A flood from outside gets no more of softibd's time than this at each look. */
enum { FRAMES_PER_LOOK = 64 };

struct gateway_socket {
	struct watch watch;
	struct node *router;
	const char *where;
	int descriptor;
	uint64_t lost; /* frames: the peer was not there, or had no room */
};

static void socket_ready(struct daemon *daemon, struct watch *watch, uint32_t events)
{
	struct gateway_socket *socket = container_of(watch, struct gateway_socket, watch);
	/* One byte more shows a frame that is too long. */
	uint8_t bytes[GATEWAY_FRAME_BYTES_MAX + 1];

	(void)events;
	for (unsigned i = 0; i < FRAMES_PER_LOOK; i++) {
		ssize_t count = read(socket->descriptor, bytes, sizeof(bytes));

		if (count >= 0) {
			gateways_receive(&daemon->fabric, socket->router, bytes, (size_t)count,
					 daemon->now);
			continue;
		}
		/* An earlier frame found nobody. */
		if (errno == ECONNREFUSED) {
			socket->lost++;
			continue;
		}
		/* A tap device that somebody removed would wake softibd for ever. */
		if (errno != EAGAIN && errno != EINTR) {
			log_line("gateway %s ends: %s", socket->where, strerror(errno));
			daemon_unwatch(daemon, socket->descriptor);
		}
		return;
	}
}

static int open_udp(const struct gateway_option *option)
{
	int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (descriptor < 0)
		return -errno;
	/* Connected: the kernel keeps what is not from the peer. */
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

static int open_one(struct daemon *daemon, const char *text, struct gateway_socket *ret_socket)
{
	struct gateway_option option;
	struct node *router;
	int descriptor, error;

	if (!gateway_option_read(text, &option))
		return -EINVAL;
	router = port_names_find_node(&daemon->fabric, option.router);
	if (!router || !node_is_router(router)) {
		log_line("no router %s for a gateway", option.router);
		return -ENOENT;
	}
	if (router->router->gateway) {
		log_line("router %s has a gateway already", option.router);
		return -EEXIST;
	}
	descriptor = option.interface[0] ? open_tap(&option) : open_udp(&option);
	if (descriptor < 0) {
		log_line("no gateway %s: %s", text, strerror(-descriptor));
		return descriptor;
	}
	*ret_socket = (struct gateway_socket){.watch.ready = socket_ready,
					      .router = router,
					      .where = option.where,
					      .descriptor = descriptor};
	error = gateway_create(&router->router->gateway);
	if (!error)
		error = daemon_watch(daemon, descriptor, &ret_socket->watch);
	if (error) {
		log_line("no gateway %s: %s", text, strerror(-error));
		close(descriptor);
	}
	return error;
}

int gateway_sockets_open(struct daemon *daemon)
{
	struct gateway_sockets *sockets = &daemon->gateways;
	int error = 0;

	if (!daemon->options.gateway_count)
		return 0;
	/* Watches stay where they are. */
	sockets->sockets = calloc(daemon->options.gateway_count, sizeof(*sockets->sockets));
	if (!sockets->sockets)
		return -ENOMEM;
	while (!error && sockets->count < daemon->options.gateway_count) {
		error = open_one(daemon, daemon->options.gateways[sockets->count],
				 &sockets->sockets[sockets->count]);
		if (!error)
			sockets->count++;
	}
	if (error)
		gateway_sockets_close(daemon);
	return error;
}

void gateway_sockets_close(struct daemon *daemon)
{
	struct gateway_sockets *sockets = &daemon->gateways;

	for (unsigned i = 0; i < sockets->count; i++) {
		daemon_unwatch(daemon, sockets->sockets[i].descriptor);
		close(sockets->sockets[i].descriptor);
	}
	free(sockets->sockets);
	*sockets = (struct gateway_sockets){0};
}

static bool send_frame(const struct gateway_socket *socket, const struct gateway_frame *frame)
{
	return write(socket->descriptor, frame->bytes, frame->byte_count) >= 0;
}

void gateway_sockets_send(struct daemon *daemon)
{
	for (unsigned i = 0; i < daemon->gateways.count; i++) {
		struct gateway_socket *socket = &daemon->gateways.sockets[i];
		struct gateway *gateway = socket->router->router->gateway;
		const struct gateway_frame *frame;

		while ((frame = gateway_next(gateway))) {
			if (send_frame(socket, frame))
				continue;
			socket->lost++;
			/* That was an earlier frame, which found nobody. */
			if (errno == ECONNREFUSED)
				socket->lost += !send_frame(socket, frame);
		}
	}
}

json_t *gateway_sockets_describe(const struct daemon *daemon)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < daemon->gateways.count; i++) {
		const struct gateway_socket *socket = &daemon->gateways.sockets[i];
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
