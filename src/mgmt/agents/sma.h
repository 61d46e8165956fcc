/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the subnet management agent: a request, and the handler of each attribute.
 */
#ifndef SOFTIB_MGMT_AGENTS_SMA_H
#define SOFTIB_MGMT_AGENTS_SMA_H

#include "mgmt/agents/agents.h"
#include "net/node/node.h"
#include "wire/mad.h"

struct sma_request {
	const struct agent_environment *environment;
	struct node *node;
	struct port *arrival; /* port 0 if a switch got the SMP by its own port */
	time_ns now;
	struct mad_header header;
	uint64_t mkey;
	const struct mad_message *message;
	const uint8_t *data; /* the attribute, SMP_DATA_BYTES */
};

/* Writes the attribute's value after the request. A status other than MAD_STATUS_OK means that
 * nothing was changed. */
typedef enum mad_status sma_handler(const struct sma_request *request, uint8_t *ret_data);

sma_handler sma_port_info_get, sma_port_info_set;
sma_handler sma_switch_info_get, sma_switch_info_set;
sma_handler sma_linear_forwarding_get, sma_linear_forwarding_set;
sma_handler sma_multicast_forwarding_get, sma_multicast_forwarding_set;
sma_handler sma_guid_info_get, sma_guid_info_set;
sma_handler sma_pkey_table_get, sma_pkey_table_set;
sma_handler sma_sl_to_vl_get, sma_sl_to_vl_set;
sma_handler sma_vl_arbitration_get, sma_vl_arbitration_set;

/* The port whose M_Key is checked first. */
static inline struct port *sma_guard(const struct sma_request *request)
{
	return node_management_port(request->node, request->arrival->number);
}

/* The port that a Get or Set of PortInfo is about. NULL: the attribute modifier names none. */
struct port *sma_port_info_port(const struct sma_request *request);

/* Reports new tables or a new PortInfo of the port to the fabric. */
void sma_port_changed(const struct sma_request *request, struct port *port);
/* Reports to the fabric that packets may take other paths now. */
void sma_paths_changed(const struct sma_request *request);

#endif
