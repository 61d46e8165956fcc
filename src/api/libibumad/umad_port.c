/* SPDX-License-Identifier: Apache-2.0 */
/* Open ports: opening, sending and receiving MADs. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "api/libibumad/umad_agents.h"
#include "api/libibumad/ca_port_choice.h"
#include "runtime/mad_port.h"
#include "ipc/mad_socket.h"

/* rdma-core's header declares these since 56. */
int umad_open_smi_port(const char *ca_name, int portnum);

/* Covers peeking at a message's length and reading the message. Neither step waits. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

int umad_open_port(const char *ca_name, int portnum)
{
	char name[UMAD_CA_NAME_LEN];
	int port = ca_port_choose(ca_name, &portnum, name);

	if (!port)
		port = mad_port_open(name, (unsigned)portnum);
	if (port < 0) {
		errno = -port;
		return port;
	}
	agents_forget(port);
	return port;
}

int umad_open_smi_port(const char *ca_name, int portnum)
{
	return umad_open_port(ca_name, portnum);
}

int umad_close_port(int portid)
{
	agents_forget(portid);
	return close(portid);
}

/* 0: a message is waiting. */
static int wait_readable(int port, int timeout_ms)
{
	struct pollfd watched = {.fd = port, .events = POLLIN};
	int count = poll(&watched, 1, timeout_ms);

	if (count < 0)
		return -errno;
	if (count == 0)
		return -ETIMEDOUT;
	/* After softibd has ended, messages that it sent before can still be read. */
	return watched.revents & POLLIN ? 0 : -EIO;
}

int umad_poll(int portid, int timeout_ms)
{
	int error = wait_readable(portid, timeout_ms);

	if (error)
		errno = -error;
	return error;
}

static int fail(int error)
{
	errno = error;
	return -error;
}

/* Retries while the socket is full: softibd empties it. */
static int send_whole(int port, const uint8_t *bytes, size_t byte_count)
{
	struct pollfd watched = {.fd = port, .events = POLLOUT};

	for (;;) {
		int error = mad_socket_send(port, bytes, byte_count);

		if (error != -EAGAIN)
			return error;
		if (poll(&watched, 1, -1) < 0 && errno != EINTR)
			return -errno;
	}
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *message = umad;

	errno = 0;
	message->timeout_ms = (uint32_t)timeout_ms;
	message->retries = (uint32_t)retries;
	message->agent_id = (uint32_t)agentid;
	if (length < MAD_PORT_MAD_BYTES_MIN || !agent_is_registered(portid, agentid)) {
		errno = EINVAL;
		return -EIO;
	}

	int error = send_whole(portid, umad, umad_size() + (size_t)length);

	if (!error)
		return 0;
	errno = -error;
	return -EIO;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	struct ib_user_mad *message = umad;
	size_t byte_count = 0;

	errno = 0;
	if (!umad || !length || *length < 0)
		return fail(EINVAL);
	if (timeout_ms) {
		int error = wait_readable(portid, timeout_ms);

		if (error)
			return fail(-error);
	}
	pthread_mutex_lock(&reading);

	int error = mad_socket_read(portid, umad_size() + (size_t)*length, umad, &byte_count);

	pthread_mutex_unlock(&reading);
	if (!error || error == -ENOSPC)
		*length = (int)(byte_count - umad_size());
	if (!error)
		return (int)message->agent_id;
	return fail(error == -ECONNRESET || error == -EPROTO ? EIO : -error);
}
