/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the subnet management agent: a request being answered, and who answers which
 * attribute. */
#ifndef SOFTIB_MGMT_AGENTS_SMA_H
#define SOFTIB_MGMT_AGENTS_SMA_H

#include "mgmt/agents/node_agents.h"
#include "net/node/node.h"
#include "wire/mad.h"

struct sma_request {
	const struct agent_environment *environment;
	struct node *node;
	struct port *arrival; /* port 0 for what a switch gets by its own port */
	time_ns now;
	struct mad_header header;
	uint64_t mkey;
	const struct mad_message *message;
	const uint8_t *data; /* SMP_DATA_BYTES of the attribute */
};

/* Writes the attribute as it is after the request. A status other than MAD_STATUS_OK means that
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

/* The port whose M_Key guards this request. */
static inline struct port *sma_guard(const struct sma_request *request)
{
	return node_management_port(request->node, request->arrival->number);
}

/* The port that a Get or Set of PortInfo is about; NULL when the modifier names none. */
struct port *sma_port_info_port(const struct sma_request *request);

/* Tells the fabric about a port's new tables or PortInfo. */
void sma_port_changed(const struct sma_request *request, struct port *port);
/* Tells the fabric that packets may take other ways now. */
void sma_paths_changed(const struct sma_request *request);

#endif
