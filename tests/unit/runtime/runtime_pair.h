/* SPDX-License-Identifier: Apache-2.0 */
/* Two adapters of this process with a connected RC queue pair each, on a fake softibd. A process
 * has one session for life, so there is one pair. */
#ifndef SOFTIB_TESTS_HOST_PAIR_H
#define SOFTIB_TESTS_HOST_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/adapter.h"
#include "runtime/process_runtime.h"
#include "runtime/session.h"
#include "unit/runtime/fake_softibd.h"

enum { PAIR_BUFFER_BYTES = 1 << 20, PAIR_PATIENCE_S = 100, PAIR_QKEY = 0x1234 };

struct pair_end {
	struct adapter *adapter;
	struct protection_domain *pd;
	struct cq *cq;
	struct region *region;
	struct qp_object *qp;
	uint8_t *buffer;
};

struct runtime_pair {
	struct fake_softibd softibd;
	struct session *session;
	struct pair_end ends[2];
	uint32_t first_psn; /* for connections that are made from now on */
	/* What was reported to the owner of the adapters. */
	unsigned told_cqs, told_fatal;
};

extern struct runtime_pair pair;
extern const struct hca_owner pair_owner;

/* The process runtime of both ends, and the ring between them once there is one. */
static inline struct process_runtime *pair_runtime(void)
{
	return pair.ends[0].adapter->runtime;
}

static inline struct channel *pair_channel(void)
{
	return pair_runtime()->direct.channels[0];
}

/* Group setups for cmocka: softibd and the session; the same with both ends connected. */
int pair_start_session(void **state);
int pair_start_connected(void **state);
/* The connected setup, by a direct ring. The program ends without tests if the kernel has no
 * io_uring, or does not allow it (runtime/rma/kernel_ring.h). */
int pair_start_with_kernel_ring(void **state);
int pair_end_all(void **state);

/* Another connection between the two: the ends differ only in their queue pairs. */
void pair_connect_another(struct pair_end ret_ends[static 2]);
/* The same with QP_RC or QP_UC; and two UD queue pairs, with PAIR_QKEY. */
void pair_connect_another_as(enum qp_type type, struct pair_end ret_ends[static 2]);
void pair_make_datagram_ends(struct pair_end ret_ends[static 2]);

/* The end's buffer is a shared MR from now on, as if its pages had been moved: a test has too many
 * threads for the move itself. Lock held. */
void pair_share_buffer(struct pair_end *end);

void pair_wait_until_told(const unsigned *count, unsigned at_least);
bool pair_is_overdue(time_ns start);
void pair_poll_one(struct pair_end *end, struct completion *ret_completion);
void pair_post_receive(struct pair_end *end, uint64_t wr_id, uint32_t byte_count);
void pair_post_send(struct pair_end *end, enum send_opcode opcode, uint64_t wr_id,
		    uint32_t byte_count);
void pair_fill(uint8_t *bytes, uint32_t byte_count, uint32_t seed);
/* adapter_post as ibv_post_send calls it. Returns whether the request was carried out; otherwise
 * nothing was done. */
bool pair_post_at_once(struct pair_end *end, const struct send_request *request);
/* The same with the lock held, without adapter_posted. */
bool pair_carry_out(struct pair_end *end, const struct send_request *request);
/* Posts a SEND from ends[0] as ibv_post_send does. Returns whether it went as a short, zcopy or
 * relay send; otherwise it takes the full path. */
bool pair_post_as_verbs(uint32_t byte_count, uint32_t flags, uint32_t seed);
/* Polls the message that was posted with this seed at both ends, and compares the content. */
void pair_take_both(uint32_t byte_count, uint32_t seed);
/* A SEND from ends[0] to ends[1], polled at both, content compared. */
void pair_send_and_check(uint32_t byte_count, uint32_t seed);
/* Sets softibd's answer; a new generation makes every flow ask. */
void pair_set_verdict(enum resolve_verdict verdict);
/* Packets that went through softibd so far. */
uint32_t pair_fabric_packets(void);

#endif
