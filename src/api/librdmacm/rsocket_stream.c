/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a stream: rings at both ends, writes with notice, and what was read told back. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "api/librdmacm/rsocket.h"

enum {
	MAGIC = 0x72733031,
	NOTICE_SHIFT = 30,
	COMPLETIONS_PER_POLL = 32,
	TELLS_PER_RING = 4, /* what was read is told this often */
	TELLS_PER_QUEUE = 4,
	CONTROL_RESERVE = 16, /* receives that data leave for other notices */
};

static uint32_t immediate(enum rsocket_notice notice, uint32_t value)
{
	return htonl((uint32_t)notice << NOTICE_SHIFT | value);
}

/* --- rings and queue pair --- */

static int region_make(struct rsocket_region *region, struct ibv_pd *pd, uint32_t byte_count)
{
	region->bytes =
		mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region->bytes == MAP_FAILED) {
		region->bytes = NULL;
		return -1;
	}
	region->byte_count = byte_count;
	region->mr = ibv_reg_mr(pd, region->bytes, byte_count,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return region->mr ? 0 : -1;
}

static void region_free(struct rsocket_region *region)
{
	if (region->mr)
		ibv_dereg_mr(region->mr);
	if (region->bytes)
		munmap(region->bytes, region->byte_count);
	*region = (struct rsocket_region){0};
}

static struct rsocket_control *received_control(const struct rsocket *socket)
{
	return (struct rsocket_control *)(void *)socket->stream.control.bytes;
}

/* What we write into the peer's. */
static struct rsocket_control *sent_control(const struct rsocket *socket)
{
	return received_control(socket) + 1;
}

static int post_receive(struct rsocket *socket)
{
	struct ibv_recv_wr request = {0}, *bad;

	return ibv_post_recv(socket->id->qp, &request, &bad);
}

static int make_queue_pair(struct rsocket *socket)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = socket->sends_max + CONTROL_RESERVE,
			.max_recv_wr = socket->receives_max,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = socket->inline_bytes},
	};

	socket->completions = ibv_create_comp_channel(socket->id->verbs);
	if (!socket->completions)
		return -1;
	socket->cq =
		ibv_create_cq(socket->id->verbs,
			      (int)(socket->sends_max + socket->receives_max + 2 * CONTROL_RESERVE),
			      socket, socket->completions, 0);
	if (!socket->cq)
		return -1;
	attributes.send_cq = attributes.recv_cq = socket->cq;
	if (rdma_create_qp(socket->id, NULL, &attributes))
		return -1;
	for (uint32_t i = 0; i < socket->receives_max; i++)
		if (post_receive(socket))
			return -1;
	return 0;
}

int stream_prepare(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;

	if (make_queue_pair(socket))
		return -1;
	stream->send_bytes = calloc(socket->sends_max + CONTROL_RESERVE, sizeof(uint32_t));
	if (!stream->send_bytes ||
	    region_make(&stream->send_ring, socket->id->pd, socket->send_buffer) ||
	    region_make(&stream->receive_ring, socket->id->pd, socket->receive_buffer) ||
	    region_make(&stream->control, socket->id->pd, 2 * sizeof(struct rsocket_control)))
		return -1;
	return 0;
}

void stream_release(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;

	if (socket->id && socket->id->qp)
		rdma_destroy_qp(socket->id);
	if (socket->cq) {
		if (socket->unacknowledged)
			ibv_ack_cq_events(socket->cq, socket->unacknowledged);
		ibv_destroy_cq(socket->cq);
	}
	if (socket->completions)
		ibv_destroy_comp_channel(socket->completions);
	for (unsigned i = 0; i < RSOCKET_MAPPINGS_MAX; i++)
		if (stream->mappings[i].mr)
			ibv_dereg_mr(stream->mappings[i].mr);
	region_free(&stream->send_ring);
	region_free(&stream->receive_ring);
	region_free(&stream->control);
	free(stream->send_bytes);
	stream->send_bytes = NULL;
}

void stream_greet(const struct rsocket *socket, struct rsocket_greeting *ret_greeting)
{
	const struct rsocket_stream *stream = &socket->stream;

	*ret_greeting = (struct rsocket_greeting){
		.magic = htonl(MAGIC),
		.mapping_count = htonl(socket->mappings_max),
		.ring_address = htobe64((uintptr_t)stream->receive_ring.bytes),
		.ring_key = htonl(stream->receive_ring.mr->rkey),
		.ring_bytes = htonl(stream->receive_ring.byte_count),
		.control_address = htobe64((uintptr_t)stream->control.bytes),
		.control_key = htonl(stream->control.mr->rkey),
		.receive_count = htonl(socket->receives_max),
	};
}

int stream_meet(struct rsocket *socket, const void *private_data, size_t byte_count)
{
	struct rsocket_greeting *peer = &socket->stream.peer;

	if (byte_count < sizeof(*peer)) {
		errno = EPROTO;
		return -1;
	}
	memcpy(peer, private_data, sizeof(*peer));
	peer->magic = ntohl(peer->magic);
	peer->mapping_count = ntohl(peer->mapping_count);
	peer->ring_address = be64toh(peer->ring_address);
	peer->ring_key = ntohl(peer->ring_key);
	peer->ring_bytes = ntohl(peer->ring_bytes);
	peer->control_address = be64toh(peer->control_address);
	peer->control_key = ntohl(peer->control_key);
	peer->receive_count = ntohl(peer->receive_count);
	if (peer->magic != MAGIC || peer->ring_bytes == 0 ||
	    peer->receive_count <= 2 * CONTROL_RESERVE) {
		errno = EPROTO;
		return -1;
	}
	if (peer->mapping_count > RSOCKET_MAPPINGS_MAX)
		peer->mapping_count = RSOCKET_MAPPINGS_MAX;
	return 0;
}

/* --- completions --- */

static void take_notice(struct rsocket *socket, uint32_t notice)
{
	struct rsocket_stream *stream = &socket->stream;
	uint32_t value = notice & ((1u << NOTICE_SHIFT) - 1);

	stream->received_messages++;
	switch (notice >> NOTICE_SHIFT) {
	case NOTICE_DATA:
		/* A peer that writes more than the ring holds hurts only what it sent itself. */
		stream->received_bytes += value;
		if (stream->received_bytes - stream->read_bytes > stream->receive_ring.byte_count)
			rsocket_fail(socket, EPROTO);
		break;
	case NOTICE_CONSUMED:
		break;
	case NOTICE_END:
		stream->peer_has_ended = true;
		break;
	}
	if (post_receive(socket))
		socket->is_disconnected = true;
}

static void tell_consumed(struct rsocket *socket);

void stream_poll(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;
	struct ibv_wc completions[COMPLETIONS_PER_POLL];
	int count;

	if (!socket->cq)
		return;
	do {
		count = ibv_poll_cq(socket->cq, COMPLETIONS_PER_POLL, completions);
		for (int i = 0; i < count; i++) {
			const struct ibv_wc *completion = &completions[i];

			if (completion->status != IBV_WC_SUCCESS) {
				socket->is_disconnected = true;
				continue;
			}
			if (completion->opcode & IBV_WC_RECV) {
				take_notice(socket, ntohl(completion->imm_data));
				continue;
			}

			uint32_t place =
				stream->completed++ % (socket->sends_max + CONTROL_RESERVE);

			stream->ring_freed += stream->send_bytes[place];
		}
	} while (count == COMPLETIONS_PER_POLL);
	tell_consumed(socket);
}

/* --- sending --- */

static uint32_t sends_under_way(const struct rsocket *socket)
{
	return socket->stream.posted - socket->stream.completed;
}

static bool post(struct rsocket *socket, const void *bytes, uint32_t byte_count, uint32_t key,
		 uint64_t remote_address, uint32_t remote_key, const uint32_t *notice,
		 uint32_t ring_bytes)
{
	struct rsocket_stream *stream = &socket->stream;
	struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = byte_count, .lkey = key};
	struct ibv_send_wr request = {
		.sg_list = &sge,
		.num_sge = byte_count ? 1 : 0,
		.opcode = notice ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = byte_count <= socket->inline_bytes ? IBV_SEND_INLINE : 0,
		.wr.rdma = {.remote_addr = remote_address, .rkey = remote_key},
	};
	struct ibv_send_wr *bad;

	if (notice)
		request.imm_data = *notice;
	if (ibv_post_send(socket->id->qp, &request, &bad)) {
		socket->is_disconnected = true;
		return false;
	}
	stream->send_bytes[stream->posted++ % (socket->sends_max + CONTROL_RESERVE)] = ring_bytes;
	return true;
}

/* In the send ring: bytes in one piece from where it goes on. */
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
	return *ret_bytes > 0 && sends_under_way(socket) < socket->sends_max;
}

/* What the peer's ring takes now in one piece, as far as it was told. */
static uint32_t peer_room(const struct rsocket *socket)
{
	const struct rsocket_stream *stream = &socket->stream;
	const struct rsocket_control *control = received_control(socket);
	uint64_t consumed = __atomic_load_n(&control->consumed_bytes, __ATOMIC_ACQUIRE);
	uint64_t messages = __atomic_load_n(&control->consumed_messages, __ATOMIC_ACQUIRE);
	uint32_t size = stream->peer.ring_bytes;
	uint64_t used = stream->sent_bytes - consumed;
	uint32_t to_end = size - (uint32_t)(stream->sent_bytes % size);

	if (used >= size ||
	    stream->sent_messages - messages >= stream->peer.receive_count - CONTROL_RESERVE)
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
	const uint8_t *place = copy_to_ring(stream, bytes, byte_count);

	return post(socket, place, byte_count, stream->send_ring.mr->lkey, remote_address, key,
		    NULL, byte_count);
}

/* As much of the bytes as fits in one piece; 0: nothing now. */
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
	/* Halves keep both ends busy. */
	if (piece > stream->peer.ring_bytes / 2)
		piece = stream->peer.ring_bytes / 2;
	if (piece == 0)
		return 0;

	uint32_t notice = immediate(NOTICE_DATA, piece);
	const uint8_t *place = copy_to_ring(stream, bytes, piece);

	if (!post(socket, place, piece, stream->send_ring.mr->lkey,
		  stream->peer.ring_address + stream->sent_bytes % stream->peer.ring_bytes,
		  stream->peer.ring_key, &notice, piece))
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

/* All of one part. Returns how much went: less only when it must not wait or failed. */
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

/* --- receiving --- */

static uint64_t unread(const struct rsocket *socket)
{
	return socket->stream.received_bytes - socket->stream.read_bytes;
}

bool stream_is_readable(const struct rsocket *socket)
{
	return unread(socket) > 0 || socket->stream.peer_has_ended || socket->is_disconnected ||
	       socket->stream.reading_is_shut;
}

/* Tells the peer how far we have come, when that is worth a message. */
static void tell_consumed(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;
	struct rsocket_control *control = sent_control(socket);
	uint64_t bytes = stream->read_bytes - stream->told_bytes;
	uint64_t messages = stream->received_messages - stream->told_messages;
	uint32_t notice = immediate(NOTICE_CONSUMED, 0);

	if (socket->is_disconnected || socket->state != RSOCKET_CONNECTED ||
	    sends_under_way(socket) >= socket->sends_max + CONTROL_RESERVE - 1)
		return;
	if (bytes < stream->receive_ring.byte_count / TELLS_PER_RING &&
	    messages < socket->receives_max / TELLS_PER_QUEUE)
		return;
	control->consumed_bytes = stream->read_bytes;
	control->consumed_messages = stream->received_messages;
	if (!post(socket, &control->consumed_bytes, 2 * sizeof(uint64_t), stream->control.mr->lkey,
		  stream->peer.control_address, stream->peer.control_key, &notice, 0))
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

/* Copies what is there to where the parts go on after so many bytes. Returns how much that was. */
static size_t copy_to_parts(struct rsocket_stream *stream, const struct iovec *parts, int part_count,
			    size_t skipped)
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
		tell_consumed(socket);
	} while (received == 0 || ((flags & MSG_WAITALL) && received < wanted));
	return (ssize_t)received;
}

/* --- the end --- */

void stream_end_writing(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;
	uint32_t notice = immediate(NOTICE_END, 0);

	if (stream->has_ended || socket->is_disconnected || socket->state != RSOCKET_CONNECTED)
		return;
	stream->has_ended = true;
	while (sends_under_way(socket) >= socket->sends_max && !socket->is_disconnected)
		stream_poll(socket);
	if (post(socket, NULL, 0, 0, stream->peer.ring_address, stream->peer.ring_key, &notice, 0))
		stream->sent_messages++;
}

void stream_flush(struct rsocket *socket, int timeout_ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		stream_poll(socket);
		if (sends_under_way(socket) == 0 || socket->is_disconnected)
			return;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 >=
		    timeout_ms)
			return;
		sched_yield();
	}
}
