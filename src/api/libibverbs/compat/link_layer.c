/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask in order to tell InfiniBand ports from Ethernet ones; every port of softib is
 * InfiniBand. */
#include "api/libibverbs/compat/link_layer.h"

#include <errno.h>

#include "libibverbs_nodes.h"

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_number, unsigned int gid_index,
		       enum gid_type *ret_type)
{
	union ibv_gid gid;

	/* The table's bounds are the port's, and only its owner knows them. */
	if (ibv_query_gid(context, port_number, (int)gid_index, &gid))
		return -1;
	*ret_type = GID_TYPE_IB;
	return 0;
}
SYMBOL_NODES(ibv_query_gid_type);

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	(void)context;
	(void)attr;
	(void)eth_mac;
	(void)vid;
	errno = EOPNOTSUPP;
	return EOPNOTSUPP;
}
