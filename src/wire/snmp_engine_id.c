/* SPDX-License-Identifier: Apache-2.0 */
/* snmpEngineID of a node's SNMP agent (RFC 3411). */
#include "wire/snmp_engine_id.h"

#include <string.h>
#include "base/bytes.h"

static const uint8_t prefix[] = {0x80, 0x00, 0x1f, 0x88, 0x05};

void snmp_engine_id_encode(uint64_t node_guid, uint8_t ret_id[static SNMP_ENGINE_ID_BYTES])
{
	memcpy(ret_id, prefix, sizeof(prefix));
	put_be64(ret_id + sizeof(prefix), node_guid);
}

bool snmp_engine_id_decode(const uint8_t *id, size_t byte_count, uint64_t *ret_node_guid)
{
	if (byte_count != SNMP_ENGINE_ID_BYTES || memcmp(id, prefix, sizeof(prefix)) != 0)
		return false;
	*ret_node_guid = get_be64(id + sizeof(prefix));
	return true;
}
