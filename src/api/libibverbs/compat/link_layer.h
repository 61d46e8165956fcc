/* SPDX-License-Identifier: Apache-2.0 */
/* The one function of rdma-core's private nodes that ordinary programs call (ibv_devinfo -v,
 * pyverbs). */
#ifndef SOFTIB_API_LIBIBVERBS_COMPAT_LINK_LAYER_H
#define SOFTIB_API_LIBIBVERBS_COMPAT_LINK_LAYER_H

#include <infiniband/verbs.h>

/* In the order of rdma-core's private enumeration. */
enum gid_type {
	GID_TYPE_IB,
	GID_TYPE_ROCE_V2,
};

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_number, unsigned int gid_index,
		       enum gid_type *ret_type);

#endif
