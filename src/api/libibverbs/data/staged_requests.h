/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work requests between ibv_wr_start and ibv_wr_complete.
 *
 * They stand here as ordinary ibv_send_wr, with copies of their SGEs and inline data, so that an
 * abort leaves no trace. The arrays grow to what a program uses and stay.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DATA_STAGED_REQUESTS_H
#define SOFTIB_API_LIBIBVERBS_DATA_STAGED_REQUESTS_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct staged_request {
	struct ibv_send_wr wr;
	size_t first_sge;     /* index in sges */
	size_t inline_offset; /* in inline_bytes, where IBV_SEND_INLINE is set */
};

struct staged_requests {
	int error; /* positive; the first thing that went wrong since the last clear */
	struct staged_request *requests;
	size_t request_count;
	size_t request_capacity;
	struct ibv_sge *sges;
	size_t sge_count;
	size_t sge_capacity;
	uint8_t *inline_bytes;
	size_t inline_count;
	size_t inline_capacity;
};

/* All zero is empty. */
void staged_requests_release(struct staged_requests *staged);
void staged_requests_clear(struct staged_requests *staged);

/* Nothing more is taken, and nothing of it is to be posted. */
void staged_requests_fail(struct staged_requests *staged, int error);

/* One more request; NULL after an error. */
struct ibv_send_wr *staged_requests_add(struct staged_requests *staged, uint64_t wr_id,
					enum ibv_wr_opcode opcode, unsigned flags);
/* The newest; NULL after an error, and an error when there is none. */
struct ibv_send_wr *staged_requests_newest(struct staged_requests *staged);

/* The data of the newest. */
void staged_requests_set_sges(struct staged_requests *staged, const struct ibv_sge *sges,
			      size_t sge_count);
void staged_requests_set_inline(struct staged_requests *staged, const struct ibv_data_buf *buffers,
				size_t buffer_count);

/* The list to post; NULL when empty. Valid until the next add or set. */
struct ibv_send_wr *staged_requests_link(struct staged_requests *staged);

#endif
