/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a proxy the trap address of the SNMP class at every node of its subnet: nodes from the SA,
 * then Set(ClassPortInfo) at each end port (management 1.6). Repeated, because nodes come and go.
 */
#ifndef SOFTIB_CLI_SNMP_TRAP_ADDRESSES_H
#define SOFTIB_CLI_SNMP_TRAP_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/transactions.h"
#include "mgmt/sa/sa_client.h"

struct snmp_trap_addresses {
	struct sa_client *sa;
	struct mad_transactions transactions;
	struct gid own_gid;
	uint16_t own_lid;
	uint16_t *lids; /* still to be told */
	size_t lid_count;
	size_t told_count; /* end ports that took the address since the beginning */
	time_ns next_at;
	bool is_asking;
};

MUST_USE int snmp_trap_addresses_init(struct snmp_trap_addresses *addresses, struct sa_client *sa,
				      uint32_t agent_number, const struct gid *own_gid);
void snmp_trap_addresses_release(struct snmp_trap_addresses *addresses);

/* own_lid: of the port now; 0: none yet. */
void snmp_trap_addresses_run(struct snmp_trap_addresses *addresses, time_ns now, uint16_t own_lid);
/* A node of another subnet, which the SA's table does not have. false: no room now. */
MUST_USE bool snmp_trap_addresses_tell(struct snmp_trap_addresses *addresses,
				       const struct mad_address *node);
/* Whether this object asked the SA for that. */
bool snmp_trap_addresses_asked(const struct snmp_trap_addresses *addresses,
			       const struct sa_client_result *result);
void snmp_trap_addresses_take(struct snmp_trap_addresses *addresses,
			      const struct sa_client_result *result);
void snmp_trap_addresses_receive(struct snmp_trap_addresses *addresses,
				 const struct mad_message *message);
unsigned snmp_trap_addresses_transmit(struct snmp_trap_addresses *addresses, time_ns now,
				      struct mad_message *ret_message);
time_ns snmp_trap_addresses_deadline(const struct snmp_trap_addresses *addresses);

#endif
