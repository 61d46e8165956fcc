/* SPDX-License-Identifier: Apache-2.0 */
/* Setting up a stream: rings, control block and QP, and the greeting that describes them to the
 * peer. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "api/librdmacm/rsocket/rsocket_stream.h"

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

int stream_post_receive(struct rsocket *socket)
{
	struct ibv_recv_wr request = {0}, *bad;

	return ibv_post_recv(socket->id->qp, &request, &bad);
}

static int make_queue_pair(struct rsocket *socket)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = stream_send_slots(socket),
			.max_recv_wr = socket->options.receives_max,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = socket->options.inline_bytes},
	};

	socket->completions = ibv_create_comp_channel(socket->id->verbs);
	if (!socket->completions)
		return -1;
	socket->cq = ibv_create_cq(socket->id->verbs,
				   (int)(stream_send_slots(socket) + socket->options.receives_max),
				   socket, socket->completions, 0);
	if (!socket->cq)
		return -1;
	attributes.send_cq = attributes.recv_cq = socket->cq;
	if (rdma_create_qp(socket->id, NULL, &attributes))
		return -1;
	for (uint32_t i = 0; i < socket->options.receives_max; i++)
		if (stream_post_receive(socket))
			return -1;
	return 0;
}

int stream_prepare(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;

	if (make_queue_pair(socket))
		return -1;
	stream->send_bytes = calloc(stream_send_slots(socket), sizeof(uint32_t));
	if (!stream->send_bytes ||
	    region_make(&stream->send_ring, socket->id->pd, socket->options.send_buffer) ||
	    region_make(&stream->receive_ring, socket->id->pd, socket->options.receive_buffer) ||
	    region_make(&stream->control, socket->id->pd, 2 * sizeof(struct rsocket_control)))
		return -1;
	return 0;
}

void stream_release(struct rsocket *socket)
{
	struct rsocket_stream *stream = &socket->stream;

	if (socket->id && socket->id->qp)
		rdma_destroy_qp(socket->id);
	rsocket_release_completions(socket);
	for (unsigned i = 0; i < RSOCKET_MAPPINGS_MAX; i++) {
		if (stream->mappings[i].mr)
			ibv_dereg_mr(stream->mappings[i].mr);
		stream->mappings[i].mr = NULL;
	}
	region_free(&stream->send_ring);
	region_free(&stream->receive_ring);
	region_free(&stream->control);
	free(stream->send_bytes);
	stream->send_bytes = NULL;
}

void stream_greet(const struct rsocket *socket, uint8_t ret_bytes[static RSOCKET_GREETING_BYTES])
{
	const struct rsocket_stream *stream = &socket->stream;
	const struct rsocket_greeting greeting = {
		.mapping_count = socket->options.mappings_max,
		.ring_address = (uintptr_t)stream->receive_ring.bytes,
		.ring_key = stream->receive_ring.mr->rkey,
		.ring_bytes = stream->receive_ring.byte_count,
		.control_address = (uintptr_t)stream->control.bytes,
		.control_key = stream->control.mr->rkey,
		.receive_count = socket->options.receives_max,
	};

	rsocket_greeting_encode(&greeting, ret_bytes);
}

int stream_meet(struct rsocket *socket, const void *private_data, size_t byte_count)
{
	struct rsocket_greeting *peer = &socket->stream.peer;

	if (!rsocket_greeting_decode(private_data, byte_count, peer)) {
		errno = EPROTO;
		return -1;
	}
	if (peer->mapping_count > RSOCKET_MAPPINGS_MAX)
		peer->mapping_count = RSOCKET_MAPPINGS_MAX;
	return 0;
}
