/* SPDX-License-Identifier: Apache-2.0 */
/* The B_Keys that a baseboard manager writes to ports and uses in requests: one for all ports, or
 * one per port, derived from a secret (management 6.2). */
#ifndef SOFTIB_MGMT_BASEBOARD_BKEYS_H
#define SOFTIB_MGMT_BASEBOARD_BKEYS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/siphash.h"

struct bkeys {
	uint64_t key; /* 0: none */
	bool has_secret;
	uint8_t secret[SIPHASH_KEY_BYTES];
};

/* The key of the port with this GUID (port 0 of a switch). 0: none. */
uint64_t bkey_of(const struct bkeys *keys, uint64_t port_guid);

#endif
