/* SPDX-License-Identifier: Apache-2.0 */
/* The queue pair numbers of an adapter: which process owns which block of QPN_BLOCK numbers. */
#ifndef SOFTIB_DAEMON_CORE_QPN_SPACE_H
#define SOFTIB_DAEMON_CORE_QPN_SPACE_H

#include <stdint.h>
#include "base/attributes.h"

struct client;

/* Block 0 holds the special queue pairs and has no owner; the last block holds the multicast QPN.
 */
enum { QPN_SPACE_BLOCKS = (1 << 24) / 1024 - 1, QPN_BLOCKS_MAX = QPN_SPACE_BLOCKS - 1 };

struct qpn_space {
	struct client **owners; /* by block; the array grows as blocks are taken */
	uint32_t owner_count;
	uint32_t next_block;
	uint32_t taken_count;
};

void qpn_space_init(struct qpn_space *space);
void qpn_space_release(struct qpn_space *space);

/* Takes a run of free blocks behind those taken last. A number is not used again before all others
 * were, so that a late packet for a process that died is dropped. -ENOSPC, -ENOMEM. */
MUST_USE int qpn_space_take(struct qpn_space *space, struct client *owner, uint32_t block_count,
			    uint32_t *ret_first_block);
void qpn_space_give_back(struct qpn_space *space, const struct client *owner);

uint32_t qpn_space_free_count(const struct qpn_space *space);

/* Gives one block to another owner; NULL frees it. */
void qpn_space_pass_on(struct qpn_space *space, uint32_t block, struct client *owner);

/* NULL when the number has no owner. */
struct client *qpn_space_owner(const struct qpn_space *space, uint32_t qpn);

#endif
