/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a proxy the trap address of the SNMP class at every node of its subnet. */
#include "cli/snmp_trap_addresses.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "mgmt/sa/redirect_path.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/smp.h"
#include "wire/snmp_tunnel.h"

#define REPEAT_TIME SECONDS(10)
#define RETRY_TIME  SECONDS(1)

enum { REQUESTS_MAX = 64, HOP_LIMIT_MAX = 255 };

/* For a node that redirects the class. The subject tells the result from the table of nodes. */
static bool ask_path(void *context, const struct gid *gid, uint32_t number)
{
	struct snmp_trap_addresses *addresses = context;

	return redirect_path_ask(
		addresses->sa, gid,
		(struct mad_purpose){.subject = &addresses->transactions, .detail = number});
}

int snmp_trap_addresses_init(struct snmp_trap_addresses *addresses, struct sa_client *sa,
			     uint32_t agent_number, const struct gid *own_gid)
{
	const struct mad_transactions_options options = {.requests_max = REQUESTS_MAX,
							 .agent_number = agent_number,
							 .ask_path = ask_path,
							 .context = addresses};

	*addresses = (struct snmp_trap_addresses){.sa = sa, .own_gid = *own_gid};
	return mad_transactions_init(&addresses->transactions, &options);
}

void snmp_trap_addresses_release(struct snmp_trap_addresses *addresses)
{
	mad_transactions_release(&addresses->transactions);
	free(addresses->lids);
}

void snmp_trap_addresses_run(struct snmp_trap_addresses *addresses, time_ns now, uint16_t own_lid)
{
	addresses->own_lid = own_lid;
	if (now < addresses->next_at || addresses->is_asking || addresses->lid_count)
		return;
	addresses->next_at = now + (own_lid ? REPEAT_TIME : RETRY_TIME);
	if (own_lid && sa_client_get_table(addresses->sa, SA_NODE_RECORD, 0, NULL, 0,
					   (struct mad_purpose){.subject = addresses}) == 0)
		addresses->is_asking = true;
}

bool snmp_trap_addresses_asked(const struct snmp_trap_addresses *addresses,
			       const struct sa_client_result *result)
{
	return result->purpose.subject == addresses ||
	       result->purpose.subject == &addresses->transactions;
}

static void take_nodes(struct snmp_trap_addresses *addresses, const struct sa_client_result *result)
{
	addresses->is_asking = false;
	if (result->outcome != SA_CLIENT_ANSWERED || !result->record_count)
		return;
	free(addresses->lids);
	addresses->lid_count = 0;
	addresses->lids = malloc(result->record_count * sizeof(addresses->lids[0]));
	/* A NodeRecord begins with the LID of the end port. */
	for (size_t i = 0; addresses->lids && i < result->record_count; i++)
		addresses->lids[addresses->lid_count++] =
			get_be16(result->table + i * result->record_bytes);
}

void snmp_trap_addresses_take(struct snmp_trap_addresses *addresses,
			      const struct sa_client_result *result)
{
	struct mad_message redirection;
	struct mad_purpose purpose;

	if (result->purpose.subject == addresses)
		take_nodes(addresses, result);
	/* A node whose redirection leads nowhere is told again with all others. */
	else if (redirect_path_take(&addresses->transactions, result, &purpose, &redirection))
		return;
}

/* A node of another subnet gets our GID alone: our LID is none in its subnet. */
static void make_request(const struct snmp_trap_addresses *addresses,
			 const struct mad_address *node, struct mad_message *ret_message)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SNMP,
		.class_version = SNMP_CLASS_VERSION,
		.method = MAD_SET,
		.attribute_id = ATTRIBUTE_CLASS_PORT_INFO,
	};
	const struct class_port_info info = {
		.trap_gid_prefix = gid_prefix(&addresses->own_gid),
		.trap_gid_guid = gid_guid(&addresses->own_gid),
		.trap_lid = node->has_grh ? 0 : addresses->own_lid,
		.trap_hop_limit = node->has_grh ? HOP_LIMIT_MAX : 0,
		.trap_pkey = PKEY_DEFAULT_FULL,
		.trap_qpn = QPN_GSI,
		.trap_qkey = QKEY_GSI,
	};

	*ret_message = (struct mad_message){.address = *node};
	mad_header_encode(&header, ret_message->bytes);
	class_port_info_encode(&info, ret_message->bytes + SNMP_DATA_OFFSET);
}

bool snmp_trap_addresses_tell(struct snmp_trap_addresses *addresses, const struct mad_address *node)
{
	struct mad_message request;

	if (!mad_transactions_has_room(&addresses->transactions))
		return false;
	make_request(addresses, node, &request);
	mad_transactions_send(&addresses->transactions, &request, (struct mad_purpose){0});
	return true;
}

void snmp_trap_addresses_receive(struct snmp_trap_addresses *addresses,
				 const struct mad_message *message)
{
	struct mad_purpose purpose;

	if (mad_transactions_receive(&addresses->transactions, message, &purpose))
		addresses->told_count +=
			get_be16(message->bytes + MAD_STATUS_OFFSET) == MAD_STATUS_OK;
}

unsigned snmp_trap_addresses_transmit(struct snmp_trap_addresses *addresses, time_ns now,
				      struct mad_message *ret_message)
{
	struct mad_transactions *transactions = &addresses->transactions;
	struct mad_purpose purpose;
	struct mad_message request;
	unsigned count;

	while (addresses->lid_count) {
		const struct mad_address node = {.lid = addresses->lids[addresses->lid_count - 1],
						 .qpn = QPN_GSI,
						 .qkey = QKEY_GSI,
						 .pkey = PKEY_DEFAULT_FULL};

		if (!snmp_trap_addresses_tell(addresses, &node))
			break;
		addresses->lid_count--;
	}
	count = mad_transactions_transmit(transactions, now, 1, ret_message);
	/* A node that does not answer is told again with all others. */
	while (mad_transactions_take_failed(transactions, &purpose, &request))
		continue;
	return count;
}

time_ns snmp_trap_addresses_deadline(const struct snmp_trap_addresses *addresses)
{
	if (addresses->lid_count && mad_transactions_has_room(&addresses->transactions))
		return 0;
	return time_earlier(addresses->next_at,
			    mad_transactions_deadline(&addresses->transactions));
}
