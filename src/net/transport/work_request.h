/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests as consumers post them (vol 1, chapter 10). Numbers are the verbs' own. */
#ifndef SOFTIB_NET_TRANSPORT_WORK_REQUEST_H
#define SOFTIB_NET_TRANSPORT_WORK_REQUEST_H

#include <stdint.h>

struct address_vector;
struct protection_domain;

struct sge {
	uint64_t address;
	uint32_t byte_count;
	uint32_t lkey;
};

enum send_opcode {
	SEND_RDMA_WRITE = 0,
	SEND_RDMA_WRITE_IMMEDIATE = 1,
	SEND_SEND = 2,
	SEND_SEND_IMMEDIATE = 3,
	SEND_RDMA_READ = 4,
	SEND_COMPARE_SWAP = 5,
	SEND_FETCH_ADD = 6,
	SEND_LOCAL_INVALIDATE = 7,
	SEND_BIND_WINDOW = 8,
	SEND_SEND_INVALIDATE = 9,
	SEND_TSO = 10,
	SEND_FLUSH = 14,
	SEND_ATOMIC_WRITE = 15,
};

enum send_flag { SEND_FENCE = 1, SEND_SIGNALED = 2, SEND_SOLICITED = 4, SEND_INLINE = 8 };

struct send_request {
	uint64_t wr_id;
	enum send_opcode opcode;
	uint32_t flags;
	uint32_t immediate_or_rkey; /* immediate as it stands in memory, or the key to invalidate */
	uint32_t remote_key;
	uint32_t remote_srqn; /* XRC only: the shared receive queue to use */
	uint64_t remote_address;
	uint64_t compare_or_add;
	uint64_t swap;
	/* Datagrams only. The vector must live until the request has completed. */
	const struct address_vector *address;
	const struct protection_domain *address_pd;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	uint32_t sge_count;
	const struct sge
		*sges; /* with SEND_INLINE the bytes are copied while posting and keys ignored */
};

struct receive_request {
	uint64_t wr_id;
	uint32_t sge_count;
	const struct sge *sges;
};

#endif
