/* SPDX-License-Identifier: Apache-2.0 */
/* Service id resolution for unreliable datagrams: SIDR_REQ, SIDR_REP (vol 1, chapter 12; management
 * 7.1). */
#ifndef SOFTIB_WIRE_CM_SIDR_H
#define SOFTIB_WIRE_CM_SIDR_H

#include "wire/attribute.h"
#include "wire/cm_message.h"

#define CM_SIDR_REQ_FIELDS(FIELD)                                                                  \
	FIELD(uint32_t, request_id, 0, 32)                                                         \
	FIELD(uint16_t, pkey, 32, 16)                                                              \
	FIELD(uint64_t, service_id, 64, 64)

#define CM_SIDR_REP_FIELDS(FIELD)                                                                  \
	FIELD(uint32_t, request_id, 0, 32)                                                         \
	FIELD(uint8_t, status, 32, 8)                                                              \
	FIELD(uint8_t, info_bytes, 40, 8)                                                          \
	FIELD(uint32_t, qpn, 64, 24)                                                               \
	FIELD(uint64_t, service_id, 96, 64)                                                        \
	FIELD(uint32_t, qkey, 160, 32)

ATTRIBUTE_STRUCT(cm_sidr_req, CM_SIDR_REQ_FIELDS)
ATTRIBUTE_STRUCT(cm_sidr_rep, CM_SIDR_REP_FIELDS)

#endif
