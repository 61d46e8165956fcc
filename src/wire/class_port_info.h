/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo, the attribute that every general service class has (vol 1, chapter 13; management
 * 1.6). */
#ifndef SOFTIB_WIRE_CLASS_PORT_INFO_H
#define SOFTIB_WIRE_CLASS_PORT_INFO_H

#include "wire/attribute.h"

enum { CLASS_PORT_INFO_BYTES = 72, CLASS_PORT_INFO_RESP_TIME_USUAL = 0x12 };

#define CLASS_PORT_INFO_FIELDS(FIELD)                                                              \
	FIELD(uint8_t, base_version, 0, 8)                                                         \
	FIELD(uint8_t, class_version, 8, 8)                                                        \
	FIELD(uint16_t, capability_mask, 16, 16)                                                   \
	FIELD(uint32_t, capability_mask2, 32, 27)                                                  \
	FIELD(uint8_t, resp_time_value, 59, 5)                                                     \
	FIELD(uint64_t, redirect_gid_prefix, 64, 64)                                               \
	FIELD(uint64_t, redirect_gid_guid, 128, 64)                                                \
	FIELD(uint8_t, redirect_traffic_class, 192, 8)                                             \
	FIELD(uint8_t, redirect_sl, 200, 4)                                                        \
	FIELD(uint32_t, redirect_flow_label, 204, 20)                                              \
	FIELD(uint16_t, redirect_lid, 224, 16)                                                     \
	FIELD(uint16_t, redirect_pkey, 240, 16)                                                    \
	FIELD(uint32_t, redirect_qpn, 264, 24)                                                     \
	FIELD(uint32_t, redirect_qkey, 288, 32)                                                    \
	FIELD(uint64_t, trap_gid_prefix, 320, 64)                                                  \
	FIELD(uint64_t, trap_gid_guid, 384, 64)                                                    \
	FIELD(uint8_t, trap_traffic_class, 448, 8)                                                 \
	FIELD(uint8_t, trap_sl, 456, 4)                                                            \
	FIELD(uint32_t, trap_flow_label, 460, 20)                                                  \
	FIELD(uint16_t, trap_lid, 480, 16)                                                         \
	FIELD(uint16_t, trap_pkey, 496, 16)                                                        \
	FIELD(uint8_t, trap_hop_limit, 512, 8)                                                     \
	FIELD(uint32_t, trap_qpn, 520, 24)                                                         \
	FIELD(uint32_t, trap_qkey, 544, 32)

ATTRIBUTE_STRUCT(class_port_info, CLASS_PORT_INFO_FIELDS)

#endif
