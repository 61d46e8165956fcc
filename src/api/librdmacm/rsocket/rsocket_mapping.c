/* SPDX-License-Identifier: Apache-2.0 */
/* riomap and riowrite: buffers that the peer writes to by offset. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "api/librdmacm/rsocket/rsocket.h"

enum { OFFSET_STEP = 1 << 20 };

/* Writes one of our mappings into the peer's table, through the send ring. */
static bool tell(struct rsocket *socket, unsigned index, const struct rsocket_mapping *mapping)
{
	uint64_t row = socket->stream.peer.control_address +
		       offsetof(struct rsocket_control, mappings) + index * sizeof(*mapping);
	uint32_t room;

	while (!stream_has_room(socket, &room) || room < sizeof(*mapping)) {
		/* The rest of the ring may be too short for one mapping. */
		if (room > 0 && room < sizeof(*mapping) &&
		    socket->stream.ring_taken == socket->stream.ring_freed) {
			socket->stream.ring_taken += room;
			socket->stream.ring_freed += room;
			continue;
		}
		if (socket->is_disconnected || rsocket_wait(socket, POLLOUT, 0))
			return false;
		stream_poll(socket);
	}
	return stream_write(socket, mapping, sizeof(*mapping), row,
			    socket->stream.peer.control_key);
}

static struct rsocket_own_mapping *find_free(struct rsocket_stream *stream)
{
	for (unsigned i = 0; i < stream->peer.mapping_count; i++)
		if (!stream->mappings[i].mr)
			return &stream->mappings[i];
	return NULL;
}

static off_t map(struct rsocket *socket, void *buffer, size_t byte_count, off_t offset)
{
	struct rsocket_stream *stream = &socket->stream;
	struct rsocket_own_mapping *own = find_free(stream);

	if (socket->state != RSOCKET_CONNECTED || socket->type != SOCK_STREAM) {
		errno = ENOTCONN;
		return -1;
	}
	if (!own) {
		errno = stream->peer.mapping_count ? ENOMEM : EOPNOTSUPP;
		return -1;
	}
	own->mr = ibv_reg_mr(socket->id->pd, buffer, byte_count,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!own->mr)
		return -1;
	if (offset == -1) {
		offset = (off_t)stream->next_offset;
		stream->next_offset += (byte_count + OFFSET_STEP - 1) / OFFSET_STEP * OFFSET_STEP;
	}
	own->address = buffer;
	own->byte_count = byte_count;
	own->offset = (uint64_t)offset;

	const struct rsocket_mapping row = {
		.offset = own->offset,
		.address = (uintptr_t)buffer,
		.byte_count = byte_count,
		.key = own->mr->rkey,
	};

	if (!tell(socket, (unsigned)(own - stream->mappings), &row)) {
		ibv_dereg_mr(own->mr);
		own->mr = NULL;
		return -1;
	}
	return offset;
}

RSOCKET_PUBLIC off_t riomap(int descriptor, void *buffer, size_t byte_count, int protection,
			    int flags, off_t offset)
{
	struct rsocket *socket = rsocket_find(descriptor);

	if (!socket)
		return -1;
	if (!buffer || !byte_count || (protection & ~(PROT_WRITE | PROT_NONE)) || flags) {
		errno = EINVAL;
		return -1;
	}
	pthread_mutex_lock(&socket->lock);

	off_t result = map(socket, buffer, byte_count, offset);

	pthread_mutex_unlock(&socket->lock);
	return result;
}

RSOCKET_PUBLIC int riounmap(int descriptor, void *buffer, size_t byte_count)
{
	struct rsocket *socket = rsocket_find(descriptor);
	const struct rsocket_mapping none = {0};
	int result = -1;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	errno = EINVAL;
	for (unsigned i = 0; i < RSOCKET_MAPPINGS_MAX && result; i++) {
		struct rsocket_own_mapping *own = &socket->stream.mappings[i];

		if (!own->mr || own->address != buffer || own->byte_count != byte_count)
			continue;
		if (socket->state == RSOCKET_CONNECTED && !socket->is_disconnected)
			(void)!tell(socket, i, &none);
		ibv_dereg_mr(own->mr);
		*own = (struct rsocket_own_mapping){0};
		result = 0;
	}
	pthread_mutex_unlock(&socket->lock);
	return result;
}

/* The peer's mapping that covers this offset; NULL: none. */
static const struct rsocket_mapping *find_remote(const struct rsocket *socket, uint64_t offset)
{
	const struct rsocket_control *control = (void *)socket->stream.control.bytes;

	for (unsigned i = 0; i < socket->options.mappings_max; i++) {
		const struct rsocket_mapping *row = &control->mappings[i];

		if (row->byte_count && offset >= row->offset &&
		    offset - row->offset < row->byte_count)
			return row;
	}
	return NULL;
}

/* Writes as many bytes as there is room for; 0: none now. */
static size_t write_piece(struct rsocket *socket, const uint8_t *bytes, size_t byte_count,
			  uint64_t offset)
{
	const struct rsocket_mapping *row = find_remote(socket, offset);
	uint32_t room;

	if (!row || !stream_has_room(socket, &room))
		return 0;

	uint64_t left = row->byte_count - (offset - row->offset);
	size_t piece = byte_count < room ? byte_count : room;

	if (piece > left)
		piece = (size_t)left;
	return stream_write(socket, bytes, (uint32_t)piece, row->address + (offset - row->offset),
			    row->key)
		       ? piece
		       : 0;
}

RSOCKET_PUBLIC size_t riowrite(int descriptor, const void *bytes, size_t byte_count, off_t offset,
			       int flags)
{
	struct rsocket *socket = rsocket_find(descriptor);
	size_t written = 0;

	if (!socket)
		return (size_t)-1;
	pthread_mutex_lock(&socket->lock);
	if (socket->state != RSOCKET_CONNECTED) {
		pthread_mutex_unlock(&socket->lock);
		errno = ENOTCONN;
		return (size_t)-1;
	}
	stream_poll(socket);
	while (written < byte_count && !socket->is_disconnected) {
		uint64_t place = (uint64_t)offset + written;
		size_t piece = write_piece(socket, (const uint8_t *)bytes + written,
					   byte_count - written, place);

		written += piece;
		if (piece)
			continue;
		if (!find_remote(socket, place)) {
			errno = EINVAL;
			break;
		}
		if (rsocket_wait(socket, POLLOUT, flags))
			break;
	}
	pthread_mutex_unlock(&socket->lock);
	return written || !byte_count ? written : (size_t)-1;
}
