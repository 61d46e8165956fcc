/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that spin on more queues than there are cores: when to let others run. */
#ifndef SOFTIB_API_LIBIBVERBS_CORE_SHARING_H
#define SOFTIB_API_LIBIBVERBS_CORE_SHARING_H

struct verbs_cq;

enum {
	POLLS_BEFORE_YIELD_MIN = 64,
	POLLS_BEFORE_YIELD_MAX = 8192,
	SHARE_OF_SOFTIBD = 32,
};

/* A program has polled in vain for so long that somebody else should have a turn. The lock is not
 * held. */
void core_sharing_yield(struct verbs_cq *cq);

#endif
