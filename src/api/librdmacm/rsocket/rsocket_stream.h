/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of streams: functions shared by the files that set up, send and read. Lock held. */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_STREAM_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_STREAM_H

#include "api/librdmacm/rsocket/rsocket.h"

/* The control block that the peer writes. */
static inline struct rsocket_control *stream_received_control(const struct rsocket *socket)
{
	return (struct rsocket_control *)(void *)socket->stream.control.bytes;
}

/* Our copy of what we write into the peer's control block. */
static inline struct rsocket_control *stream_sent_control(const struct rsocket *socket)
{
	return stream_received_control(socket) + 1;
}

static inline uint32_t stream_sends_under_way(const struct rsocket *socket)
{
	return socket->stream.posted - socket->stream.completed;
}

/* Send queue entries: data writes, and control writes besides. */
static inline uint32_t stream_send_slots(const struct rsocket *socket)
{
	return socket->options.sends_max + RSOCKET_CONTROL_RESERVE;
}

int stream_post_receive(struct rsocket *socket);

/* An RDMA write to post. */
struct stream_post {
	const void *bytes;
	uint32_t byte_count;
	uint32_t key;
	uint64_t remote_address;
	uint32_t remote_key;
	uint32_t ring_bytes; /* bytes of the send ring that its completion frees */
	bool has_notice;
	uint32_t notice;
	bool is_last; /* a caller waits for its completion, so it is signaled */
};
/* false: the connection has ended. */
bool stream_post(struct rsocket *socket, const struct stream_post *write);

/* Reports the read bytes to the peer, if there are enough to be worth a message. */
void stream_tell_consumed(struct rsocket *socket);

#endif
