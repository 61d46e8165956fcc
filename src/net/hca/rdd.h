/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable datagram domains: which RD queue pairs may use which EE contexts (vol 1, chapter 10;
 * transport 9.1). */
#ifndef SOFTIB_NET_HCA_RDD_H
#define SOFTIB_NET_HCA_RDD_H

#include <stdint.h>
#include "base/attributes.h"

struct hca;

struct rdd {
	struct hca *hca;
	uint32_t handle;
	uint32_t users; /* queue pairs and contexts */
};

MUST_USE int rdd_alloc(struct hca *hca, struct rdd **ret_rdd);
MUST_USE int rdd_dealloc(struct rdd *rdd); /* -EBUSY */

#endif
