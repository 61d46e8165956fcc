/* SPDX-License-Identifier: Apache-2.0 */
/* snmpEngineID of a node's SNMP agent: net-snmp's enterprise number, format "octets" (RFC 3411),
 * and the node GUID. */
#ifndef SOFTIB_WIRE_SNMP_ENGINE_ID_H
#define SOFTIB_WIRE_SNMP_ENGINE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { SNMP_ENGINE_ID_BYTES = 13 };

void snmp_engine_id_encode(uint64_t node_guid, uint8_t ret_id[static SNMP_ENGINE_ID_BYTES]);
/* false: the engine ID of something else. */
MUST_USE bool snmp_engine_id_decode(const uint8_t *id, size_t byte_count, uint64_t *ret_node_guid);

#endif
