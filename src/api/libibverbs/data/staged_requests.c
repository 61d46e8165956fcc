/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests between ibv_wr_start and ibv_wr_complete. */
#include "api/libibverbs/data/staged_requests.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void staged_requests_release(struct staged_requests *staged)
{
	free(staged->requests);
	free(staged->sges);
	free(staged->inline_bytes);
	*staged = (struct staged_requests){0};
}

void staged_requests_clear(struct staged_requests *staged)
{
	staged->error = 0;
	staged->request_count = 0;
	staged->sge_count = 0;
	staged->inline_count = 0;
}

void staged_requests_fail(struct staged_requests *staged, int error)
{
	if (!staged->error)
		staged->error = error;
}

/* Makes room in one of the arrays; NULL, and failed, when there is no memory. */
static void *grow(struct staged_requests *staged, void *array, size_t needed, size_t element_bytes,
		  size_t *capacity)
{
	size_t larger = *capacity ? *capacity : 16;

	if (array && needed <= *capacity)
		return array;
	while (larger < needed)
		larger *= 2;

	void *moved = realloc(array, larger * element_bytes);

	if (moved)
		*capacity = larger;
	else
		staged_requests_fail(staged, ENOMEM);
	return moved;
}

static bool reserve_requests(struct staged_requests *staged)
{
	void *array = grow(staged, staged->requests, staged->request_count + 1,
			   sizeof(*staged->requests), &staged->request_capacity);

	if (array)
		staged->requests = array;
	return array;
}

static bool reserve_sges(struct staged_requests *staged, size_t count)
{
	void *array = grow(staged, staged->sges, staged->sge_count + count, sizeof(*staged->sges),
			   &staged->sge_capacity);

	if (array)
		staged->sges = array;
	return array;
}

static bool reserve_inline(struct staged_requests *staged, size_t byte_count)
{
	void *array = grow(staged, staged->inline_bytes, staged->inline_count + byte_count, 1,
			   &staged->inline_capacity);

	if (array)
		staged->inline_bytes = array;
	return array;
}

struct ibv_send_wr *staged_requests_add(struct staged_requests *staged, uint64_t wr_id,
					enum ibv_wr_opcode opcode, unsigned flags)
{
	if (staged->error || !reserve_requests(staged))
		return NULL;

	struct staged_request *request = &staged->requests[staged->request_count++];

	*request = (struct staged_request){
		.wr.wr_id = wr_id,
		.wr.opcode = opcode,
		.wr.send_flags = flags & ~(unsigned)IBV_SEND_INLINE,
		.first_sge = staged->sge_count,
	};
	return &request->wr;
}

static struct staged_request *newest(struct staged_requests *staged)
{
	if (staged->error)
		return NULL;
	if (staged->request_count == 0) {
		staged_requests_fail(staged, EINVAL);
		return NULL;
	}
	return &staged->requests[staged->request_count - 1];
}

struct ibv_send_wr *staged_requests_newest(struct staged_requests *staged)
{
	struct staged_request *request = newest(staged);

	return request ? &request->wr : NULL;
}

void staged_requests_set_sges(struct staged_requests *staged, const struct ibv_sge *sges,
			      size_t sge_count)
{
	struct staged_request *request = newest(staged);

	if (!request || !reserve_sges(staged, sge_count))
		return;
	request->first_sge = staged->sge_count;
	request->wr.num_sge = (int)sge_count;
	if (sge_count)
		memcpy(staged->sges + staged->sge_count, sges, sge_count * sizeof(*sges));
	staged->sge_count += sge_count;
}

void staged_requests_set_inline(struct staged_requests *staged, const struct ibv_data_buf *buffers,
				size_t buffer_count)
{
	struct staged_request *request = newest(staged);
	size_t byte_count = 0;

	for (size_t i = 0; i < buffer_count; i++)
		byte_count += buffers[i].length;
	if (!request || !reserve_sges(staged, 1) || !reserve_inline(staged, byte_count))
		return;
	request->inline_offset = staged->inline_count;
	for (size_t i = 0; i < buffer_count; i++) {
		if (buffers[i].length)
			memcpy(staged->inline_bytes + staged->inline_count, buffers[i].addr,
			       buffers[i].length);
		staged->inline_count += buffers[i].length;
	}
	request->first_sge = staged->sge_count;
	staged->sges[staged->sge_count++] = (struct ibv_sge){.length = (uint32_t)byte_count};
	request->wr.num_sge = 1;
	request->wr.send_flags |= IBV_SEND_INLINE;
}

/* The arrays have stopped moving: pointers into them can be set. */
struct ibv_send_wr *staged_requests_link(struct staged_requests *staged)
{
	for (size_t i = 0; i < staged->request_count; i++) {
		struct staged_request *request = &staged->requests[i];
		struct ibv_sge *sges = staged->sges + request->first_sge;

		request->wr.next =
			i + 1 < staged->request_count ? &staged->requests[i + 1].wr : NULL;
		request->wr.sg_list = request->wr.num_sge ? sges : NULL;
		if (request->wr.send_flags & IBV_SEND_INLINE)
			sges->addr = (uintptr_t)(staged->inline_bytes + request->inline_offset);
	}
	return staged->request_count ? &staged->requests[0].wr : NULL;
}
