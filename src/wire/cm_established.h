/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of an established connection: DREQ and DREP end it, LAP and APR change its alternate
 * path (vol 1, chapter 12; management 7.1). */
#ifndef SOFTIB_WIRE_CM_ESTABLISHED_H
#define SOFTIB_WIRE_CM_ESTABLISHED_H

#include "wire/attribute.h"
#include "wire/cm_message.h"

#define CM_DREQ_FIELDS(FIELD)                                                                      \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)                                                    \
	FIELD(uint32_t, remote_qpn, 64, 24)

#define CM_DREP_FIELDS(FIELD)                                                                      \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)

#define CM_LAP_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)                                                    \
	FIELD(uint32_t, remote_qpn, 96, 24)                                                        \
	FIELD(uint8_t, remote_response_timeout, 120, 5)                                            \
	FIELD(uint16_t, local_lid, 160, 16)                                                        \
	FIELD(uint16_t, remote_lid, 176, 16)                                                       \
	FIELD(uint64_t, local_gid_prefix, 192, 64)                                                 \
	FIELD(uint64_t, local_gid_guid, 256, 64)                                                   \
	FIELD(uint64_t, remote_gid_prefix, 320, 64)                                                \
	FIELD(uint64_t, remote_gid_guid, 384, 64)                                                  \
	FIELD(uint32_t, flow_label, 448, 20)                                                       \
	FIELD(uint8_t, traffic_class, 472, 8)                                                      \
	FIELD(uint8_t, hop_limit, 480, 8)                                                          \
	FIELD(uint8_t, packet_rate, 490, 6)                                                        \
	FIELD(uint8_t, sl, 496, 4)                                                                 \
	FIELD(uint8_t, subnet_local, 500, 1)                                                       \
	FIELD(uint8_t, ack_timeout, 504, 5)

#define CM_APR_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)                                                    \
	FIELD(uint8_t, info_bytes, 64, 8)                                                          \
	FIELD(uint8_t, status, 72, 8)

ATTRIBUTE_STRUCT(cm_dreq, CM_DREQ_FIELDS)
ATTRIBUTE_STRUCT(cm_drep, CM_DREP_FIELDS)
ATTRIBUTE_STRUCT(cm_lap, CM_LAP_FIELDS)
ATTRIBUTE_STRUCT(cm_apr, CM_APR_FIELDS)

#endif
