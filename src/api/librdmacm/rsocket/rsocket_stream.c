/* SPDX-License-Identifier: Apache-2.0 */
/* Sending on a stream: RDMA writes with immediate data into the peer's ring, and their
 * completions. */
#include "api/librdmacm/rsocket/rsocket_stream.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum {
	COMPLETIONS_PER_POLL = 32,
	SIGNALS_PER_RING = 4, /* signaled writes per ring of bytes */
	SIGNALS_PER_QUEUE = 4,
};

static void take_notice(struct rsocket *socket, uint32_t immediate)
{
	struct rsocket_stream *stream = &socket->stream;
	uint32_t value;

	stream->received_messages++;
	switch (rsocket_notice_decode(immediate, &value)) {
	case NOTICE_DATA:
		/* A peer that overruns the ring only damages its own bytes. */
		stream->received_bytes += value;
		if (stream->received_bytes - stream->read_bytes > stream->receive_ring.byte_count)
			rsocket_fail(socket, EPROTO);
		break;
	case NOTICE_END:
		stream->peer_has_ended = true;
		break;
	case NOTICE_CONSUMED:
	case NOTICE_UNKNOWN:
		break;
	}
	if (stream_post_receive(socket))
		socket->is_disconnected = true;
}

/* Completes this send and all sends posted before it. */
static void take_sent(struct rsocket *socket, uint32_t number)
{
	struct rsocket_stream *stream = &socket->stream;

	while (stream->completed != number + 1)
		stream->ring_freed +=
			stream->send_bytes[stream->completed++ % stream_send_slots(socket)];
}

void stream_poll(struct rsocket *socket)
{
	struct ibv_wc completions[COMPLETIONS_PER_POLL];
	int count;

	if (!socket->cq)
		return;
	do {
		count = ibv_poll_cq(socket->cq, COMPLETIONS_PER_POLL, completions);
		for (int i = 0; i < count; i++) {
			const struct ibv_wc *completion = &completions[i];

			if (completion->status != IBV_WC_SUCCESS)
				socket->is_disconnected = true;
			else if (completion->opcode & IBV_WC_RECV)
				take_notice(socket, completion->imm_data);
			else
				take_sent(socket, (uint32_t)completion->wr_id);
		}
	} while (count == COMPLETIONS_PER_POLL);
	stream_tell_consumed(socket);
}

/* Signals often enough that unsignaled sends fill neither the ring nor the send queue. */
static bool is_signaled(struct rsocket_stream *stream, const struct rsocket *socket,
			const struct stream_post *write)
{
	stream->unsignaled_count++;
	stream->unsignaled_bytes += write->ring_bytes;
	if (!write->is_last &&
	    stream->unsignaled_count < socket->options.sends_max / SIGNALS_PER_QUEUE &&
	    stream->unsignaled_bytes < stream->send_ring.byte_count / SIGNALS_PER_RING)
		return false;
	stream->unsignaled_count = 0;
	stream->unsignaled_bytes = 0;
	stream->signaled_end = stream->posted + 1;
	return true;
}

bool stream_post(struct rsocket *socket, const struct stream_post *write)
{
	struct rsocket_stream *stream = &socket->stream;
	struct ibv_sge sge = {
		.addr = (uintptr_t)write->bytes, .length = write->byte_count, .lkey = write->key};
	struct ibv_send_wr request = {
		.wr_id = stream->posted,
		.sg_list = &sge,
		.num_sge = write->byte_count ? 1 : 0,
		.opcode = write->has_notice ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags =
			write->byte_count <= socket->options.inline_bytes ? IBV_SEND_INLINE : 0,
		.imm_data = write->notice,
		.wr.rdma = {.remote_addr = write->remote_address, .rkey = write->remote_key},
	};
	struct ibv_send_wr *bad;

	if (is_signaled(stream, socket, write))
		request.send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(socket->id->qp, &request, &bad)) {
		socket->is_disconnected = true;
		return false;
	}
	stream->send_bytes[stream->posted++ % stream_send_slots(socket)] = write->ring_bytes;
	return true;
}

/* Contiguous free bytes of the send ring. */
static uint32_t ring_room(const struct rsocket *socket)
{
	const struct rsocket_stream *stream = &socket->stream;
	uint32_t size = stream->send_ring.byte_count;
	uint32_t used = (uint32_t)(stream->ring_taken - stream->ring_freed);
	uint32_t to_end = size - (uint32_t)(stream->ring_taken % size);
	uint32_t free_bytes = size - used;

	return free_bytes < to_end ? free_bytes : to_end;
}

bool stream_has_room(const struct rsocket *socket, uint32_t *ret_bytes)
{
	*ret_bytes = ring_room(socket);
	return *ret_bytes > 0 && stream_sends_under_way(socket) < socket->options.sends_max;
}

/* Contiguous free bytes of the peer's ring, by its last report. */
static uint32_t peer_room(const struct rsocket *socket)
{
	const struct rsocket_stream *stream = &socket->stream;
	const struct rsocket_control *control = stream_received_control(socket);
	uint64_t consumed = __atomic_load_n(&control->consumed_bytes, __ATOMIC_ACQUIRE);
	uint64_t messages = __atomic_load_n(&control->consumed_messages, __ATOMIC_ACQUIRE);
	uint32_t size = stream->peer.ring_bytes;
	uint64_t used = stream->sent_bytes - consumed;
	uint32_t to_end = size - (uint32_t)(stream->sent_bytes % size);

	if (used >= size || stream->sent_messages - messages >=
				    stream->peer.receive_count - RSOCKET_CONTROL_RESERVE)
		return 0;
	return size - (uint32_t)used < to_end ? size - (uint32_t)used : to_end;
}

bool stream_is_writable(const struct rsocket *socket)
{
	uint32_t room;

	return socket->is_disconnected || socket->stream.has_ended ||
	       (stream_has_room(socket, &room) && peer_room(socket) > 0);
}

static uint8_t *copy_to_ring(struct rsocket_stream *stream, const void *bytes, uint32_t byte_count)
{
	uint8_t *place =
		stream->send_ring.bytes + stream->ring_taken % stream->send_ring.byte_count;

	memcpy(place, bytes, byte_count);
	stream->ring_taken += byte_count;
	return place;
}

bool stream_write(struct rsocket *socket, const void *bytes, uint32_t byte_count,
		  uint64_t remote_address, uint32_t key)
{
	struct rsocket_stream *stream = &socket->stream;
	const struct stream_post write = {
		.bytes = copy_to_ring(stream, bytes, byte_count),
		.byte_count = byte_count,
		.key = stream->send_ring.mr->lkey,
		.remote_address = remote_address,
		.remote_key = key,
		.ring_bytes = byte_count,
	};

	return stream_post(socket, &write);
}

/* Sends as many bytes as fit contiguously; 0: none now. */
static uint32_t send_piece(struct rsocket *socket, const uint8_t *bytes, size_t byte_count)
{
	struct rsocket_stream *stream = &socket->stream;
	uint32_t room, piece = peer_room(socket);

	if (!stream_has_room(socket, &room))
		return 0;
	if (room < piece)
		piece = room;
	if (byte_count < piece)
		piece = (uint32_t)byte_count;
	/* At most half a ring, so that reader and writer work at the same time. */
	if (piece > stream->peer.ring_bytes / 2)
		piece = stream->peer.ring_bytes / 2;
	if (piece == 0)
		return 0;

	const struct stream_post write = {
		.bytes = copy_to_ring(stream, bytes, piece),
		.byte_count = piece,
		.key = stream->send_ring.mr->lkey,
		.remote_address =
			stream->peer.ring_address + stream->sent_bytes % stream->peer.ring_bytes,
		.remote_key = stream->peer.ring_key,
		.ring_bytes = piece,
		.has_notice = true,
		.notice = rsocket_notice_encode(NOTICE_DATA, piece),
	};

	if (!stream_post(socket, &write))
		return 0;
	stream->sent_bytes += piece;
	stream->sent_messages++;
	return piece;
}

static int broken_pipe(const struct rsocket *socket, int flags)
{
	(void)flags;
	errno = socket->state == RSOCKET_FAILED && socket->error ? socket->error
		: socket->stream.has_ended			 ? EPIPE
								 : ECONNRESET;
	return -1;
}

/* Sends one part. Returns the number of bytes; fewer only if it must not wait or failed. */
static size_t send_part(struct rsocket *socket, const uint8_t *bytes, size_t byte_count, int flags,
			bool *ret_stopped)
{
	size_t sent = 0;

	while (sent < byte_count) {
		uint32_t piece = 0;

		if (!socket->is_disconnected && !socket->stream.has_ended)
			piece = send_piece(socket, bytes + sent, byte_count - sent);
		sent += piece;
		if (piece)
			continue;
		if (socket->is_disconnected || socket->stream.has_ended ||
		    rsocket_wait(socket, POLLOUT, flags)) {
			*ret_stopped = true;
			break;
		}
	}
	return sent;
}

ssize_t stream_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags)
{
	size_t sent = 0;
	bool is_stopped = false;

	if (socket->state != RSOCKET_CONNECTED) {
		errno = socket->state == RSOCKET_FAILED && socket->error ? socket->error : ENOTCONN;
		return -1;
	}
	stream_poll(socket);
	for (int i = 0; i < part_count && !is_stopped; i++)
		sent += send_part(socket, parts[i].iov_base, parts[i].iov_len, flags, &is_stopped);
	if (sent > 0 || !is_stopped)
		return (ssize_t)sent;
	if (socket->is_disconnected || socket->stream.has_ended)
		return broken_pipe(socket, flags);
	return -1; /* errno from waiting */
}

void stream_end_writing(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;
	const struct stream_post write = {
		.remote_address = stream->peer.ring_address,
		.remote_key = stream->peer.ring_key,
		.has_notice = true,
		.notice = rsocket_notice_encode(NOTICE_END, 0),
		.is_last = true,
	};

	if (stream->has_ended || socket->is_disconnected || socket->state != RSOCKET_CONNECTED)
		return;
	stream->has_ended = true;
	while (stream_sends_under_way(socket) >= socket->options.sends_max &&
	       !socket->is_disconnected)
		stream_poll(socket);
	if (stream_post(socket, &write))
		stream->sent_messages++;
}

void stream_flush(struct rsocket *socket, int timeout_ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		stream_poll(socket);
		if ((int32_t)(socket->stream.completed - socket->stream.signaled_end) >= 0 ||
		    socket->is_disconnected)
			return;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 >=
		    timeout_ms)
			return;
		sched_yield();
	}
}
