/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of streams: what the files that set up, send and read do for each other. Lock held. */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_STREAM_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_STREAM_H

#include "api/librdmacm/rsocket/rsocket.h"

/* In our memory, written by the peer. */
static inline struct rsocket_control *stream_received_control(const struct rsocket *socket)
{
	return (struct rsocket_control *)(void *)socket->stream.control.bytes;
}

/* What we write into the peer's. */
static inline struct rsocket_control *stream_sent_control(const struct rsocket *socket)
{
	return stream_received_control(socket) + 1;
}

static inline uint32_t stream_sends_under_way(const struct rsocket *socket)
{
	return socket->stream.posted - socket->stream.completed;
}

/* Sends that the queue has room for: what is written, and what is told besides. */
static inline uint32_t stream_send_slots(const struct rsocket *socket)
{
	return socket->sends_max + RSOCKET_CONTROL_RESERVE;
}

int stream_post_receive(struct rsocket *socket);

/* A write that is about to be posted. */
struct stream_post {
	const void *bytes;
	uint32_t byte_count;
	uint32_t key;
	uint64_t remote_address;
	uint32_t remote_key;
	uint32_t ring_bytes; /* of the send ring that are free once it is done */
	bool has_notice;
	uint32_t notice;
	bool is_last; /* somebody waits for its end */
};
/* false: the connection is over. */
bool stream_post(struct rsocket *socket, const struct stream_post *write);

/* Tells the peer how far we have come, when that is worth a message. */
void stream_tell_consumed(struct rsocket *socket);

#endif
