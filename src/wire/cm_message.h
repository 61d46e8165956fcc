/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that all messages of communication management share: attribute ids, reject reasons,
 * private data (vol 1, chapter 12; management 7.1). */
#ifndef SOFTIB_WIRE_CM_MESSAGE_H
#define SOFTIB_WIRE_CM_MESSAGE_H

#include <stdint.h>
#include "wire/mad.h"

enum { CM_CLASS_VERSION = 2, CM_DATA_OFFSET = MAD_HEADER_BYTES, CM_DATA_BYTES = 232 };

/* Attribute ids. */
enum cm_message_id {
	CM_REQ = 0x0010,
	CM_MRA = 0x0011,
	CM_REJ = 0x0012,
	CM_REP = 0x0013,
	CM_RTU = 0x0014,
	CM_DREQ = 0x0015,
	CM_DREP = 0x0016,
	CM_SIDR_REQ = 0x0017,
	CM_SIDR_REP = 0x0018,
	CM_LAP = 0x0019,
	CM_APR = 0x001a,
};

/* Private data: offset in the message's data, and length. */
enum {
	CM_REQ_PRIVATE_OFFSET = 140,
	CM_REQ_PRIVATE_BYTES = 92,
	CM_MRA_PRIVATE_OFFSET = 10,
	CM_MRA_PRIVATE_BYTES = 222,
	CM_REJ_INFO_OFFSET = 12, /* additional reject information */
	CM_REJ_INFO_BYTES = 72,
	CM_REJ_PRIVATE_OFFSET = 84,
	CM_REJ_PRIVATE_BYTES = 148,
	CM_REP_PRIVATE_OFFSET = 36,
	CM_REP_PRIVATE_BYTES = 196,
	CM_RTU_PRIVATE_OFFSET = 8,
	CM_RTU_PRIVATE_BYTES = 224,
	CM_DREQ_PRIVATE_OFFSET = 12,
	CM_DREQ_PRIVATE_BYTES = 220,
	CM_DREP_PRIVATE_OFFSET = 8,
	CM_DREP_PRIVATE_BYTES = 224,
	CM_LAP_PRIVATE_OFFSET = 64,
	CM_LAP_PRIVATE_BYTES = 168,
	CM_APR_INFO_OFFSET = 12,
	CM_APR_INFO_BYTES = 72,
	CM_APR_PRIVATE_OFFSET = 84,
	CM_APR_PRIVATE_BYTES = 148,
	CM_SIDR_REQ_PRIVATE_OFFSET = 16,
	CM_SIDR_REQ_PRIVATE_BYTES = 216,
	CM_SIDR_REP_INFO_OFFSET = 24,
	CM_SIDR_REP_INFO_BYTES = 72,
	CM_SIDR_REP_PRIVATE_OFFSET = 96,
	CM_SIDR_REP_PRIVATE_BYTES = 136,
};

#define CM_REJECT_REASONS(REASON)                                                                  \
	REASON(1, NO_QP, "no QP available")                                                        \
	REASON(2, NO_EEC, "no EEC available")                                                      \
	REASON(3, NO_RESOURCES, "no resources")                                                    \
	REASON(4, TIMEOUT, "timeout")                                                              \
	REASON(5, UNSUPPORTED, "unsupported request")                                              \
	REASON(6, INVALID_COMM_ID, "invalid communication id")                                     \
	REASON(7, INVALID_COMM_INSTANCE, "invalid communication instance")                         \
	REASON(8, INVALID_SERVICE_ID, "invalid service id")                                        \
	REASON(9, INVALID_TRANSPORT_TYPE, "invalid transport service type")                        \
	REASON(10, STALE_CONNECTION, "stale connection")                                           \
	REASON(11, RDC_NOT_EXIST, "RDC does not exist")                                            \
	REASON(12, PRIMARY_GID, "primary GID rejected")                                            \
	REASON(13, PRIMARY_LID, "primary LID rejected")                                            \
	REASON(14, PRIMARY_SL, "invalid primary SL")                                               \
	REASON(15, PRIMARY_TRAFFIC_CLASS, "invalid primary traffic class")                         \
	REASON(16, PRIMARY_HOP_LIMIT, "invalid primary hop limit")                                 \
	REASON(17, PRIMARY_PACKET_RATE, "invalid primary packet rate")                             \
	REASON(18, ALTERNATE_GID, "alternate GID rejected")                                        \
	REASON(19, ALTERNATE_LID, "alternate LID rejected")                                        \
	REASON(20, ALTERNATE_SL, "invalid alternate SL")                                           \
	REASON(21, ALTERNATE_TRAFFIC_CLASS, "invalid alternate traffic class")                     \
	REASON(22, ALTERNATE_HOP_LIMIT, "invalid alternate hop limit")                             \
	REASON(23, ALTERNATE_PACKET_RATE, "invalid alternate packet rate")                         \
	REASON(24, PORT_CM_REDIRECT, "port and CM redirection")                                    \
	REASON(25, PORT_REDIRECT, "port redirection")                                              \
	REASON(26, INVALID_MTU, "invalid path MTU")                                                \
	REASON(27, RESPONDER_RESOURCES, "insufficient responder resources")                        \
	REASON(28, CONSUMER, "consumer reject")                                                    \
	REASON(29, INVALID_RNR_RETRY, "RNR retry count invalid")                                   \
	REASON(30, DUPLICATE_COMM_ID, "duplicate local communication id")                          \
	REASON(31, CLASS_VERSION, "invalid class version")                                         \
	REASON(32, PRIMARY_FLOW_LABEL, "invalid primary flow label")                               \
	REASON(33, ALTERNATE_FLOW_LABEL, "invalid alternate flow label")                           \
	REASON(35, VENDOR_OPTION, "vendor option not supported")

#define CM_REASON_MEMBER(code, name, text) CM_REJECT_##name = code,
enum cm_reject_reason { CM_REJECT_REASONS(CM_REASON_MEMBER) };

const char *cm_reject_reason_name(unsigned reason);
const char *cm_message_name(unsigned attribute_id);

enum cm_apr_status {
	CM_APR_LOADED = 0,
	CM_APR_INVALID_COMM_ID = 1,
	CM_APR_UNSUPPORTED = 2,
	CM_APR_REJECTED = 3,
	CM_APR_REDIRECT = 4,
	CM_APR_IS_CURRENT = 5,
	CM_APR_QPN_MISMATCH = 6,
	CM_APR_LID_REJECTED = 7,
	CM_APR_GID_REJECTED = 8,
	CM_APR_FLOW_LABEL = 9,
	CM_APR_TRAFFIC_CLASS = 10,
	CM_APR_HOP_LIMIT = 11,
	CM_APR_PACKET_RATE = 12,
	CM_APR_SL = 13,
};

enum cm_sidr_status {
	CM_SIDR_OK = 0,
	CM_SIDR_UNSUPPORTED = 1,
	CM_SIDR_REJECTED = 2,
	CM_SIDR_NO_QP = 3,
	CM_SIDR_REDIRECT = 4,
	CM_SIDR_BAD_VERSION = 5,
};

#endif
