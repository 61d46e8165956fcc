/* SPDX-License-Identifier: Apache-2.0 */
/* The M_Keys that a manager writes to ports and uses in requests: one for all ports, or one per
 * port, derived from a secret that managers share (management 2.3, 3.7). */
#ifndef SOFTIB_MGMT_SM_MKEYS_H
#define SOFTIB_MGMT_SM_MKEYS_H

#include "mgmt/sm/sweep.h"

bool mkeys_are_set(const struct sm *sm);

/* The M_Key for the port with this GUID (port 0 of a switch). 0: none. */
uint64_t mkey_of(const struct sm *sm, uint64_t port_guid);

/* The SM_Key of managers that share this secret. */
uint64_t mkeys_sm_key(const uint8_t secret[static SIPHASH_KEY_BYTES]);

/* The M_Key for probing the node behind this port. NULL: our own node. */
uint64_t mkey_for_probe(const struct sm *sm, struct subnet_port *near);
/* Stores the link between two ports; the next probe finds its key by it. */
void mkeys_save_link(struct sm *sm, struct subnet_port *near, struct subnet_port *far);

/* Whether an end port's PortInfo has the M_Key, protect bits and lease of this manager. */
bool mkey_is_as_wanted(const struct sm *sm, const struct subnet_port *port,
		       const struct port_info *info);

/* How often every port gets a request with its key, so that no lease expires. TIME_NEVER: there are
 * no leases. */
time_ns mkeys_renewal_interval(const struct sm *sm);

/* A request to this manager whose sender knows the M_Key of our port, so it is entitled to a
 * handover. */
void mkeys_saw_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header);

/* Trap 256: bad M_Key. */
void mkeys_refused(struct sm *sm, const struct notice *notice);

#endif
