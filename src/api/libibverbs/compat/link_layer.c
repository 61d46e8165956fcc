/* SPDX-License-Identifier: Apache-2.0 */
/* Queries by which programs tell InfiniBand ports from Ethernet ports. Every port of softib is
 * InfiniBand. */
#include "api/libibverbs/compat/link_layer.h"

#include <errno.h>

#include "libibverbs_nodes.h"

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_number, unsigned int gid_index,
		       enum gid_type *ret_type)
{
	union ibv_gid gid;

	/* ibv_query_gid checks the port number and the index. */
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
