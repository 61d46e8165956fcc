/* SPDX-License-Identifier: Apache-2.0 */
/* Which process has which queue pair numbers of an adapter: blocks of QPN_BLOCK, handed out in
 * turn. */
#ifndef SOFTIB_DAEMON_CORE_QPN_SPACE_H
#define SOFTIB_DAEMON_CORE_QPN_SPACE_H

#include <stdint.h>
#include "base/attributes.h"

struct client;

/* Block 0 has the special queue pairs and is nobody's; the last has the multicast number. */
enum { QPN_SPACE_BLOCKS = (1 << 24) / 1024 - 1, QPN_BLOCKS_MAX = QPN_SPACE_BLOCKS - 1 };

struct qpn_space {
	struct client **owners; /* by block, grown as blocks are given */
	uint32_t owner_count;
	uint32_t next_block;
};

void qpn_space_init(struct qpn_space *space);
void qpn_space_release(struct qpn_space *space);

/* A run of free blocks, after those given last: a number is not used again before all others were,
 * so that a packet for a process that died finds nobody. -ENOSPC, -ENOMEM. */
MUST_USE int qpn_space_take(struct qpn_space *space, struct client *owner, uint32_t block_count,
			    uint32_t *ret_first_block);
void qpn_space_give_back(struct qpn_space *space, const struct client *owner);

/* One block to another owner; NULL: it is free. */
void qpn_space_pass_on(struct qpn_space *space, uint32_t block, struct client *owner);

/* NULL when the number is nobody's. */
struct client *qpn_space_owner(const struct qpn_space *space, uint32_t qpn);

#endif
