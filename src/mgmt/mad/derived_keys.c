/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of ports that managers derive from a shared secret. */
#include "mgmt/mad/derived_keys.h"

#include "base/bytes.h"

enum { GUID_BYTES = 8, MESSAGE_BYTES = 9 };

uint64_t derived_key(const uint8_t secret[static SIPHASH_KEY_BYTES], enum key_use use,
		     uint64_t guid)
{
	uint8_t message[MESSAGE_BYTES] = {[GUID_BYTES] = (uint8_t)use};
	uint64_t key;

	put_be64(message, guid);
	key = siphash(secret, message, sizeof(message));
	return key ? key : 1;
}
