/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The M_Keys that a manager gives to ports and shows to them (vol 1, chapter 14): one for all, or
 * one for each, derived from a secret that managers share.
 */
#ifndef SOFTIB_MGMT_SM_MKEYS_H
#define SOFTIB_MGMT_SM_MKEYS_H

#include "mgmt/sm/sweep.h"

bool mkeys_are_set(const struct sm *sm);

/* Of the port with this GUID (a switch's port 0); 0: none. */
uint64_t mkey_of(const struct sm *sm, uint64_t port_guid);

/* The SM_Key of managers that share this secret. */
uint64_t mkeys_sm_key(const uint8_t secret[static SIPHASH_KEY_BYTES]);

/* For a node not met yet, behind this port; NULL: the manager's own. */
uint64_t mkey_for_probe(const struct sm *sm, struct subnet_port *near);
/* The cable between two ports, by which the next probe finds its key. */
void mkeys_remember_cable(struct sm *sm, struct subnet_port *near, struct subnet_port *far);

/* Whether an end port's PortInfo has key, protection and lease as this manager writes them. */
bool mkey_is_as_wanted(const struct sm *sm, const struct subnet_port *port,
		       const struct port_info *info);

/* How often every port is shown its key, so that no lease runs out; TIME_NEVER: there is none. */
time_ns mkeys_renewal_interval(const struct sm *sm);

/* A request to this manager by somebody who knows the M_Key of its port: it may be handed the
 * subnet. */
void mkeys_saw_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header);

/* Trap 256. */
void mkeys_refused(struct sm *sm, const struct notice *notice);

#endif
