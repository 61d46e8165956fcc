/* SPDX-License-Identifier: Apache-2.0 */
/* The queue pair numbers that this process may use, and which of them are taken. */
#ifndef SOFTIB_NET_HCA_QPN_BLOCKS_H
#define SOFTIB_NET_HCA_QPN_BLOCKS_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"

/* -EINVAL: overlapping, or outside 2 .. 0xfffffe, the numbers of ordinary queue pairs (transport
 * 10.5); -ENOMEM. */
MUST_USE int qpn_blocks_add(struct list *blocks, uint32_t first, uint32_t count);
void qpn_blocks_release(struct list *blocks);

/* -EAGAIN when all are taken. A freed number is reused as late as its block allows, so that no
 * packet of the old queue pair is still on its way. */
MUST_USE int qpn_blocks_take(struct list *blocks, uint32_t *ret_qpn);
void qpn_blocks_give_back(struct list *blocks, uint32_t qpn);

#endif
