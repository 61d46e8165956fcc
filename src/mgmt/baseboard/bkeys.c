/* SPDX-License-Identifier: Apache-2.0 */
/* The B_Keys of a baseboard manager. */
#include "mgmt/baseboard/bkeys.h"

#include "mgmt/mad/derived_keys.h"

uint64_t bkey_of(const struct bkeys *keys, uint64_t port_guid)
{
	return keys->has_secret ? derived_key(keys->secret, KEY_FOR_BKEY, port_guid) : keys->key;
}
