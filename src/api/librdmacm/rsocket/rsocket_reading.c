/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a stream: copying out of the ring that the peer writes to, and reporting the progress. */
#include <errno.h>
#include <string.h>
#include "api/librdmacm/rsocket/rsocket_stream.h"

enum {
	TELLS_PER_RING = 4, /* reports of read bytes to the peer */
	TELLS_PER_QUEUE = 4,
};

static uint64_t unread(const struct rsocket *socket)
{
	return socket->stream.received_bytes - socket->stream.read_bytes;
}

bool stream_is_readable(const struct rsocket *socket)
{
	return unread(socket) > 0 || socket->stream.peer_has_ended || socket->is_disconnected ||
	       socket->stream.reading_is_shut;
}

void stream_tell_consumed(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;
	struct rsocket_control *control = stream_sent_control(socket);
	uint64_t bytes = stream->read_bytes - stream->told_bytes;
	uint64_t messages = stream->received_messages - stream->told_messages;

	if (socket->is_disconnected || socket->state != RSOCKET_CONNECTED ||
	    stream_sends_under_way(socket) >= stream_send_slots(socket) - 1)
		return;
	if (bytes < stream->receive_ring.byte_count / TELLS_PER_RING &&
	    messages < socket->options.receives_max / TELLS_PER_QUEUE)
		return;
	control->consumed_bytes = stream->read_bytes;
	control->consumed_messages = stream->received_messages;

	const struct stream_post write = {
		.bytes = &control->consumed_bytes,
		.byte_count = 2 * sizeof(uint64_t),
		.key = stream->control.mr->lkey,
		.remote_address = stream->peer.control_address,
		.remote_key = stream->peer.control_key,
		.has_notice = true,
		.notice = rsocket_notice_encode(NOTICE_CONSUMED, 0),
	};

	if (!stream_post(socket, &write))
		return;
	stream->told_bytes = stream->read_bytes;
	stream->told_messages = stream->received_messages;
	stream->sent_messages++;
}

static size_t copy_out(struct rsocket_stream *stream, uint64_t from, uint8_t *bytes,
		       size_t byte_count)
{
	uint32_t size = stream->receive_ring.byte_count;
	size_t available = (size_t)(stream->received_bytes - from);
	size_t copied = 0;

	if (byte_count > available)
		byte_count = available;
	while (copied < byte_count) {
		size_t place = (size_t)((from + copied) % size);
		size_t piece =
			size - place < byte_count - copied ? size - place : byte_count - copied;

		memcpy(bytes + copied, stream->receive_ring.bytes + place, piece);
		copied += piece;
	}
	return copied;
}

/* Copies received bytes to the parts, whose first `skipped` bytes are filled already. Returns the
 * number of bytes. */
static size_t copy_to_parts(struct rsocket_stream *stream, const struct iovec *parts,
			    int part_count, size_t skipped)
{
	size_t copied = 0;

	for (int i = 0; i < part_count; i++) {
		if (skipped >= parts[i].iov_len) {
			skipped -= parts[i].iov_len;
			continue;
		}
		copied += copy_out(stream, stream->read_bytes + copied,
				   (uint8_t *)parts[i].iov_base + skipped,
				   parts[i].iov_len - skipped);
		skipped = 0;
	}
	return copied;
}

ssize_t stream_receive(struct rsocket *socket, const struct iovec *parts, int part_count, int flags)
{
	struct rsocket_stream *stream = &socket->stream;
	size_t wanted = 0, received = 0;

	for (int i = 0; i < part_count; i++)
		wanted += parts[i].iov_len;
	if (socket->state != RSOCKET_CONNECTED && unread(socket) == 0) {
		errno = socket->state == RSOCKET_FAILED && socket->error ? socket->error : ENOTCONN;
		return -1;
	}
	stream_poll(socket);
	do {
		if (unread(socket) == 0) {
			if (wanted == 0 || stream->peer_has_ended || socket->is_disconnected ||
			    stream->reading_is_shut)
				break;
			if (rsocket_wait(socket, POLLIN, flags))
				return received ? (ssize_t)received : -1;
			continue;
		}

		size_t copied = copy_to_parts(stream, parts, part_count, received);

		if (flags & MSG_PEEK)
			return (ssize_t)copied;
		received += copied;
		stream->read_bytes += copied;
		stream_tell_consumed(socket);
	} while (received == 0 || ((flags & MSG_WAITALL) && received < wanted));
	return (ssize_t)received;
}
