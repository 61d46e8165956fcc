/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of ports that managers derive from a shared secret (management 2.3, 6.2).
 *
 * A key is SipHash-2-4 of the port's GUID under the random secret, so each port has a random key
 * (C14-62.1.1.12). Every manager with the secret can compute the keys, and a port that learns its
 * own key learns no other.
 */
#ifndef SOFTIB_MGMT_MAD_DERIVED_KEYS_H
#define SOFTIB_MGMT_MAD_DERIVED_KEYS_H

#include <stdint.h>
#include "base/siphash.h"

/* What a key is derived for, so that no key of one kind equals one of another kind. */
enum key_use { KEY_FOR_MKEY = 'M', KEY_FOR_SM_KEY = 'S', KEY_FOR_BKEY = 'B' };

/* Never 0, which means no key. */
uint64_t derived_key(const uint8_t secret[static SIPHASH_KEY_BYTES], enum key_use use,
		     uint64_t guid);

#endif
