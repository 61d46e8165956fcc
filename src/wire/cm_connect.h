/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that make a connection: REQ, MRA, REJ, REP, RTU (vol 1, chapter 12; management
 * 7.1). */
#ifndef SOFTIB_WIRE_CM_CONNECT_H
#define SOFTIB_WIRE_CM_CONNECT_H

#include "wire/attribute.h"
#include "wire/cm_message.h"

/* TransportServiceType. XRC has the last value, with an extended transport type. */
enum cm_transport {
	CM_TRANSPORT_RC = 0,
	CM_TRANSPORT_UC = 1,
	CM_TRANSPORT_RD = 2,
	CM_TRANSPORT_EXTENDED = 3
};
enum { CM_EXTENDED_TRANSPORT_XRC = 1 };

#define CM_REQ_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, vendor_id, 40, 24)                                                         \
	FIELD(uint64_t, service_id, 64, 64)                                                        \
	FIELD(uint64_t, local_ca_guid, 128, 64)                                                    \
	FIELD(uint32_t, local_qkey, 224, 32)                                                       \
	FIELD(uint32_t, local_qpn, 256, 24)                                                        \
	FIELD(uint8_t, responder_resources, 280, 8)                                                \
	FIELD(uint32_t, local_eecn, 288, 24)                                                       \
	FIELD(uint8_t, initiator_depth, 312, 8)                                                    \
	FIELD(uint32_t, remote_eecn, 320, 24)                                                      \
	FIELD(uint8_t, remote_response_timeout, 344, 5)                                            \
	FIELD(uint8_t, transport, 349, 2)                                                          \
	FIELD(uint8_t, flow_control, 351, 1)                                                       \
	FIELD(uint32_t, starting_psn, 352, 24)                                                     \
	FIELD(uint8_t, local_response_timeout, 376, 5)                                             \
	FIELD(uint8_t, retry_count, 381, 3)                                                        \
	FIELD(uint16_t, pkey, 384, 16)                                                             \
	FIELD(uint8_t, path_mtu, 400, 4)                                                           \
	FIELD(uint8_t, rdc_exists, 404, 1)                                                         \
	FIELD(uint8_t, rnr_retry_count, 405, 3)                                                    \
	FIELD(uint8_t, max_cm_retries, 408, 4)                                                     \
	FIELD(uint8_t, srq, 412, 1)                                                                \
	FIELD(uint8_t, extended_transport, 413, 3)

/* "Local" is the sender of the REQ. LIDs hold when subnet_local is set. */
#define CM_PATH_FIELDS(FIELD)                                                                      \
	FIELD(uint16_t, local_lid, 0, 16)                                                          \
	FIELD(uint16_t, remote_lid, 16, 16)                                                        \
	FIELD(uint64_t, local_gid_prefix, 32, 64)                                                  \
	FIELD(uint64_t, local_gid_guid, 96, 64)                                                    \
	FIELD(uint64_t, remote_gid_prefix, 160, 64)                                                \
	FIELD(uint64_t, remote_gid_guid, 224, 64)                                                  \
	FIELD(uint32_t, flow_label, 288, 20)                                                       \
	FIELD(uint8_t, packet_rate, 314, 6)                                                        \
	FIELD(uint8_t, traffic_class, 320, 8)                                                      \
	FIELD(uint8_t, hop_limit, 328, 8)                                                          \
	FIELD(uint8_t, sl, 336, 4)                                                                 \
	FIELD(uint8_t, subnet_local, 340, 1)                                                       \
	FIELD(uint8_t, ack_timeout, 344, 5)                                                        \
	FIELD(uint8_t, sap_supported, 349, 1) /* alternate path only */

enum { CM_PATH_BYTES = 44, CM_REQ_PRIMARY_OFFSET = 52, CM_REQ_ALTERNATE_OFFSET = 96 };

/* The message that an MRA or a REJ answers. */
enum cm_answered { CM_ANSWERED_REQ = 0, CM_ANSWERED_REP = 1, CM_ANSWERED_OTHER = 2 };

#define CM_MRA_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)                                                    \
	FIELD(uint8_t, answered, 64, 2)                                                            \
	FIELD(uint8_t, service_timeout, 72, 5)

#define CM_REJ_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)                                                    \
	FIELD(uint8_t, answered, 64, 2)                                                            \
	FIELD(uint8_t, info_bytes, 72, 7)                                                          \
	FIELD(uint16_t, reason, 80, 16)

enum cm_failover {
	CM_FAILOVER_ACCEPTED = 0,
	CM_FAILOVER_UNSUPPORTED = 1,
	CM_FAILOVER_REJECTED = 2
};

/* The vendor id of enhanced connection establishment uses three bytes that were reserved before. */
#define CM_REP_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)                                                    \
	FIELD(uint32_t, local_qkey, 64, 32)                                                        \
	FIELD(uint32_t, local_qpn, 96, 24)                                                         \
	FIELD(uint8_t, vendor_id_high, 120, 8)                                                     \
	FIELD(uint32_t, local_eecn, 128, 24)                                                       \
	FIELD(uint8_t, vendor_id_middle, 152, 8)                                                   \
	FIELD(uint32_t, starting_psn, 160, 24)                                                     \
	FIELD(uint8_t, vendor_id_low, 184, 8)                                                      \
	FIELD(uint8_t, responder_resources, 192, 8)                                                \
	FIELD(uint8_t, initiator_depth, 200, 8)                                                    \
	FIELD(uint8_t, target_ack_delay, 208, 5)                                                   \
	FIELD(uint8_t, failover, 213, 2)                                                           \
	FIELD(uint8_t, flow_control, 215, 1)                                                       \
	FIELD(uint8_t, rnr_retry_count, 216, 3)                                                    \
	FIELD(uint8_t, srq, 219, 1)                                                                \
	FIELD(uint64_t, local_ca_guid, 224, 64)

#define CM_RTU_FIELDS(FIELD)                                                                       \
	FIELD(uint32_t, local_comm_id, 0, 32)                                                      \
	FIELD(uint32_t, remote_comm_id, 32, 32)

ATTRIBUTE_STRUCT(cm_path, CM_PATH_FIELDS)
ATTRIBUTE_STRUCT(cm_req, CM_REQ_FIELDS)
ATTRIBUTE_STRUCT(cm_mra, CM_MRA_FIELDS)
ATTRIBUTE_STRUCT(cm_rej, CM_REJ_FIELDS)
ATTRIBUTE_STRUCT(cm_rep, CM_REP_FIELDS)
ATTRIBUTE_STRUCT(cm_rtu, CM_RTU_FIELDS)

/* A REQ is one table with two paths inside. Without an alternate path, that path is all zero. */
struct cm_request {
	struct cm_req req;
	struct cm_path primary;
	struct cm_path alternate;
};

void cm_request_encode(const struct cm_request *request,
		       uint8_t ret_bytes[static CM_REQ_PRIVATE_OFFSET]);
void cm_request_decode(const uint8_t bytes[static CM_REQ_PRIVATE_OFFSET],
		       struct cm_request *ret_request);

static inline bool cm_path_is_given(const struct cm_path *path)
{
	return path->local_lid || path->local_gid_prefix || path->local_gid_guid;
}

#endif
