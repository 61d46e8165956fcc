/* SPDX-License-Identifier: Apache-2.0 */
/* Options of rsockets: one row per option, as rsocket(7) lists them. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include "api/librdmacm/rsocket/rsocket.h"

struct option {
	int level, name;
	size_t offset;	       /* of an int in struct rsocket */
	uint32_t min, max;     /* 0, 0: any */
	bool is_of_connection; /* has no effect once there is a connection */
};

#define AT(field) offsetof(struct rsocket, options.field)

static const struct option options[] = {
	{SOL_SOCKET, SO_SNDBUF, AT(send_buffer), RSOCKET_BUFFER_MIN, RSOCKET_BUFFER_MAX, true},
	{SOL_SOCKET, SO_RCVBUF, AT(receive_buffer), RSOCKET_BUFFER_MIN, RSOCKET_BUFFER_MAX, true},
	{SOL_SOCKET, SO_REUSEADDR, AT(reuse_address), 0, 0, false},
	{SOL_SOCKET, SO_KEEPALIVE, AT(keep_alive), 0, 0, false},
	{SOL_SOCKET, SO_OOBINLINE, AT(out_of_band_inline), 0, 0, false},
	{IPPROTO_TCP, TCP_NODELAY, AT(no_delay), 0, 0, false},
	{IPPROTO_IPV6, IPV6_V6ONLY, AT(v6_only), 0, 0, true},
	{SOL_RDMA, RDMA_SQSIZE, AT(sends_max), RSOCKET_QUEUE_MIN, RSOCKET_QUEUE_MAX, true},
	{SOL_RDMA, RDMA_RQSIZE, AT(receives_max), 4 * RSOCKET_QUEUE_MIN, RSOCKET_QUEUE_MAX, true},
	{SOL_RDMA, RDMA_INLINE, AT(inline_bytes), 16, 512, true},
	{SOL_RDMA, RDMA_IOMAPSIZE, AT(mappings_max), 0, RSOCKET_MAPPINGS_MAX, true},
};

static const struct option *find(int level, int name)
{
	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].level == level && options[i].name == name)
			return &options[i];
	return NULL;
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

static int set_row(struct rsocket *socket, const struct option *option, int value)
{
	uint32_t bounded = (uint32_t)value;

	if (option->is_of_connection && socket->state >= RSOCKET_RESOLVING_ADDRESS)
		/* Too late for this connection; rdma-core ignores it silently too. */
		return 0;
	if (option->max && (value < 0 || bounded > option->max))
		bounded = option->max;
	if (bounded < option->min)
		bounded = option->min;
	memcpy((char *)socket + option->offset, &bounded, sizeof(bounded));
	return 0;
}

static int set_option(struct rsocket *socket, int level, int name, const void *value,
		      socklen_t value_bytes)
{
	const struct option *option = find(level, name);
	int number = 0;

	if (level == SOL_SOCKET && name == SO_LINGER) {
		if (value_bytes < sizeof(socket->options.linger))
			return refuse(EINVAL);
		memcpy(&socket->options.linger, value, sizeof(socket->options.linger));
		return 0;
	}
	if (value_bytes >= sizeof(number))
		memcpy(&number, value, sizeof(number));
	/* Programs set these for TCP. They have no meaning here, so they are accepted and
	 * ignored. */
	if (level == IPPROTO_TCP && name >= TCP_KEEPIDLE && name <= TCP_KEEPCNT)
		return 0;
	if (!option)
		return refuse(ENOPROTOOPT);
	return value_bytes < sizeof(number) ? refuse(EINVAL) : set_row(socket, option, number);
}

RSOCKET_PUBLIC int rsetsockopt(int descriptor, int level, int name, const void *value,
			       socklen_t value_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);

	int result = set_option(socket, level, name, value, value_bytes);

	if (socket->state == RSOCKET_PLAIN && level != SOL_RDMA)
		result = setsockopt(descriptor, level, name, value, value_bytes);
	pthread_mutex_unlock(&socket->lock);
	return result;
}

static int take_error(struct rsocket *socket)
{
	rsocket_take_events(socket);

	int error = socket->error;

	socket->error = 0;
	return error;
}

static int get_option(struct rsocket *socket, int level, int name, void *value,
		      socklen_t *value_bytes)
{
	const struct option *option = find(level, name);
	int number;

	if (level == SOL_SOCKET && name == SO_LINGER) {
		if (*value_bytes < sizeof(socket->options.linger))
			return refuse(EINVAL);
		memcpy(value, &socket->options.linger, sizeof(socket->options.linger));
		*value_bytes = sizeof(socket->options.linger);
		return 0;
	}
	if (option)
		memcpy(&number, (char *)socket + option->offset, sizeof(number));
	else if (level == SOL_SOCKET && name == SO_ERROR)
		number = take_error(socket);
	else if (level == SOL_SOCKET && name == SO_TYPE)
		number = socket->type;
	else if (level == SOL_SOCKET && name == SO_ACCEPTCONN)
		number = socket->state == RSOCKET_LISTENING;
	else if (level == IPPROTO_TCP && name == TCP_MAXSEG)
		number = 4096;
	else
		return refuse(ENOPROTOOPT);
	if (*value_bytes < sizeof(number))
		return refuse(EINVAL);
	memcpy(value, &number, sizeof(number));
	*value_bytes = sizeof(number);
	return 0;
}

RSOCKET_PUBLIC int rgetsockopt(int descriptor, int level, int name, void *value,
			       socklen_t *value_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);

	int result = get_option(socket, level, name, value, value_bytes);

	pthread_mutex_unlock(&socket->lock);
	return result;
}

RSOCKET_PUBLIC int rfcntl(int descriptor, int command, ...)
{
	struct rsocket *socket = rsocket_find(descriptor);
	va_list arguments;
	int result = 0;

	if (!socket)
		return -1;
	va_start(arguments, command);
	pthread_mutex_lock(&socket->lock);
	switch (command) {
	case F_GETFL:
		result = socket->file_flags | O_RDWR;
		break;
	case F_SETFL:
		socket->file_flags = va_arg(arguments, int) & O_NONBLOCK;
		if (socket->state == RSOCKET_PLAIN)
			result = fcntl(descriptor, F_SETFL, socket->file_flags);
		break;
	case F_GETFD:
	case F_SETFD:
		break;
	default:
		result = refuse(EOPNOTSUPP);
	}
	pthread_mutex_unlock(&socket->lock);
	va_end(arguments);
	return result;
}
