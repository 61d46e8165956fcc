/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests as consumers post them (vol 1, chapter 10). Numbers are the verbs' own. */
#ifndef SOFTIB_NET_TRANSPORT_WORK_REQUEST_H
#define SOFTIB_NET_TRANSPORT_WORK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct address_vector;
struct protection_domain;

/* The operand size of atomic operations and of ATOMIC WRITE. */
enum { ATOMIC_BYTES = 8 };

struct sge {
	uint64_t address;
	uint32_t byte_count;
	uint32_t lkey;
};

/* Field by field: the program has just written the fields one by one, and a wider load would wait
 * until the stores have left the store buffer. */
static inline void sge_copy(const struct sge *sge, struct sge *ret_sge)
{
	uint64_t address = sge->address;
	uint32_t byte_count = sge->byte_count, lkey = sge->lkey;

	__asm__("" : "+r"(address), "+r"(byte_count), "+r"(lkey));
	ret_sge->address = address;
	ret_sge->byte_count = byte_count;
	ret_sge->lkey = lkey;
}

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
	SEND_RESYNC = 16, /* an EE context's own; no consumer can post it */
};

enum send_flag { SEND_FENCE = 1, SEND_SIGNALED = 2, SEND_SOLICITED = 4, SEND_INLINE = 8 };
/* The flags that consumers may set; one that marks a zcopy slot (net/transport/fast/fast_send.h);
 * and one that marks a request whose completion only the adapter sees. */
enum { SEND_FLAGS = 15, SEND_ZCOPY = 1 << 6, SEND_BY_ADAPTER = 1 << 7 };

/* FETH fields (vol 1, annex A19); numbers are the verbs' too. */
enum flush_placement { FLUSH_GLOBAL = 1, FLUSH_PERSISTENT = 2 };
enum flush_selectivity { FLUSH_RANGE = 0, FLUSH_REGION = 1 };

/* The remote address of a WRITE or READ. */
struct remote_place {
	uint64_t address;
	uint32_t key;
};

/* A WRITE or READ of one SGE. */
struct rma_request {
	uint64_t wr_id;
	uint32_t flags;
	bool is_read;
	const struct remote_place *remote;
};

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
	/* FLUSH: the length from remote_address on, the placement type, and whether the range or
	 * the whole region is meant. */
	uint32_t flush_byte_count;
	uint8_t flush_placement;   /* enum flush_placement */
	uint8_t flush_selectivity; /* enum flush_selectivity */
	/* Bind: remote_key is the window's new key, remote_address its start. */
	uint64_t bind_byte_count;
	uint32_t bind_region_key;
	uint32_t bind_access;
	/* Datagrams only. The vector is copied. */
	const struct address_vector *address;
	const struct protection_domain *address_pd;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	uint32_t eecn; /* RD only: the local EE context to use */
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
