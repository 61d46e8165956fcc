/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Information units of the SCSI RDMA protocol (T10 SRP r16a).
 *
 * A struct is the fixed part of an information unit. The parts of variable length follow it: data
 * buffer descriptors (data_buffers.h), response data and sense data (responses.h). A decoder of
 * this header needs as many bytes as srp_iu_bytes_min() says; the receiver checks that first.
 */
#ifndef SOFTIB_IO_SRP_INFORMATION_UNITS_H
#define SOFTIB_IO_SRP_INFORMATION_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include "wire/attribute.h"

enum srp_opcode {
	SRP_LOGIN_REQ = 0x00,
	SRP_TSK_MGMT = 0x01,
	SRP_CMD = 0x02,
	SRP_I_LOGOUT = 0x03,
	SRP_CRED_RSP = 0x41,
	SRP_AER_RSP = 0x42,
	SRP_T_LOGOUT = 0x80,
	SRP_CRED_REQ = 0x81,
	SRP_AER_REQ = 0x82,
	SRP_LOGIN_RSP = 0xc0,
	SRP_RSP = 0xc1,
	SRP_LOGIN_REJ = 0xc2,
};

enum {
	SRP_LOGIN_REQ_BYTES = 64,
	SRP_LOGIN_RSP_BYTES = 52,
	SRP_LOGIN_REJ_BYTES = 32,
	SRP_CMD_BYTES = 48,
	SRP_RSP_BYTES = 36,
	SRP_TSK_MGMT_BYTES = 48,
	SRP_AER_REQ_BYTES = 36,
	/* I_LOGOUT, T_LOGOUT, CRED_REQ, CRED_RSP, AER_RSP */
	SRP_SHORT_BYTES = 16,
	SRP_IU_BYTES_MIN = 64, /* no login may ask for a shorter maximum */
	SRP_CDB_BYTES = 16,
};

/* Bits of required_buffer_formats and buffer_formats. */
enum { SRP_BUFFER_FORMAT_DIRECT = 1 << 1, SRP_BUFFER_FORMAT_INDIRECT = 1 << 2 };

/* The two low bits of login_req.flags; the two low bits of login_rsp.flags. */
enum { SRP_MULTICHANNEL_ACTION = 3, SRP_MULTICHANNEL_SINGLE = 0, SRP_MULTICHANNEL_INDEPENDENT = 1 };
enum { SRP_CHANNELS_NONE = 0, SRP_CHANNELS_TERMINATED = 1, SRP_CHANNELS_MAINTAINED = 2 };

enum srp_login_reject_reason {
	SRP_REJECT_NO_CHANNEL = 0x00010000,
	SRP_REJECT_NO_RESOURCES = 0x00010001,
	SRP_REJECT_IU_TOO_LARGE = 0x00010002,
	SRP_REJECT_CANNOT_ASSOCIATE = 0x00010003,
	SRP_REJECT_BUFFER_FORMAT = 0x00010004,
	SRP_REJECT_MULTICHANNEL = 0x00010005,
	SRP_REJECT_CHANNEL_LIMIT = 0x00010006,
};

enum srp_task_function {
	SRP_ABORT_TASK = 0x01,
	SRP_ABORT_TASK_SET = 0x02,
	SRP_CLEAR_TASK_SET = 0x04,
	SRP_LOGICAL_UNIT_RESET = 0x08,
	SRP_CLEAR_ACA = 0x40,
};

/* The last of the four bytes of response data. */
enum srp_response_code {
	SRP_RESPONSE_DONE = 0,
	SRP_RESPONSE_INVALID_FIELDS = 2,
	SRP_RESPONSE_NOT_SUPPORTED = 4,
	SRP_RESPONSE_FAILED = 5,
};

/* Bits of rsp.flags. */
enum {
	SRP_RSP_HAS_RESPONSE = 1 << 0,
	SRP_RSP_HAS_SENSE = 1 << 1,
	SRP_RSP_OUT_OVER = 1 << 2,
	SRP_RSP_OUT_UNDER = 1 << 3,
	SRP_RSP_IN_OVER = 1 << 4,
	SRP_RSP_IN_UNDER = 1 << 5,
};

/* Port identifiers are an extension and a GUID (SRP annex B): initiator extension and port GUID,
 * ID extension and I/O controller GUID. */
#define SRP_LOGIN_REQ_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint32_t, it_iu_bytes, 128, 32)                                                      \
	FIELD(uint16_t, required_buffer_formats, 192, 16)                                          \
	FIELD(uint8_t, flags, 208, 8)                                                              \
	FIELD(uint64_t, initiator_extension, 256, 64)                                              \
	FIELD(uint64_t, initiator_guid, 320, 64)                                                   \
	FIELD(uint64_t, target_extension, 384, 64)                                                 \
	FIELD(uint64_t, target_guid, 448, 64)
ATTRIBUTE_STRUCT(srp_login_req, SRP_LOGIN_REQ_FIELDS)

#define SRP_LOGIN_RSP_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint32_t, request_limit_delta, 32, 32)                                               \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint32_t, it_iu_bytes_max, 128, 32)                                                  \
	FIELD(uint32_t, ti_iu_bytes_max, 160, 32)                                                  \
	FIELD(uint16_t, buffer_formats, 192, 16)                                                   \
	FIELD(uint8_t, flags, 208, 8)
ATTRIBUTE_STRUCT(srp_login_rsp, SRP_LOGIN_RSP_FIELDS)

#define SRP_LOGIN_REJ_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint32_t, reason, 32, 32)                                                            \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint16_t, buffer_formats, 192, 16)
ATTRIBUTE_STRUCT(srp_login_rej, SRP_LOGIN_REJ_FIELDS)

/* The CDB follows in the last 16 of the fixed bytes. */
#define SRP_CMD_FIELDS(FIELD)                                                                      \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint8_t, solicited, 8, 8)                                                            \
	FIELD(uint8_t, out_format, 40, 4)                                                          \
	FIELD(uint8_t, in_format, 44, 4)                                                           \
	FIELD(uint8_t, out_descriptor_count, 48, 8)                                                \
	FIELD(uint8_t, in_descriptor_count, 56, 8)                                                 \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint64_t, lun, 160, 64)                                                              \
	FIELD(uint8_t, task_attribute, 237, 3)                                                     \
	FIELD(uint8_t, additional_cdb_words, 248, 6)
ATTRIBUTE_STRUCT(srp_cmd, SRP_CMD_FIELDS)

#define SRP_RSP_FIELDS(FIELD)                                                                      \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint8_t, solicited, 8, 8)                                                            \
	FIELD(uint32_t, request_limit_delta, 32, 32)                                               \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint8_t, flags, 144, 8)                                                              \
	FIELD(uint8_t, status, 152, 8)                                                             \
	FIELD(uint32_t, out_residual, 160, 32)                                                     \
	FIELD(uint32_t, in_residual, 192, 32)                                                      \
	FIELD(uint32_t, sense_bytes, 224, 32)                                                      \
	FIELD(uint32_t, response_bytes, 256, 32)
ATTRIBUTE_STRUCT(srp_rsp, SRP_RSP_FIELDS)

#define SRP_TSK_MGMT_FIELDS(FIELD)                                                                 \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint8_t, solicited, 8, 8)                                                            \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint64_t, lun, 160, 64)                                                              \
	FIELD(uint8_t, function, 240, 8)                                                           \
	FIELD(uint64_t, task_tag, 256, 64)
ATTRIBUTE_STRUCT(srp_tsk_mgmt, SRP_TSK_MGMT_FIELDS)

/* I_LOGOUT, CRED_RSP and AER_RSP have only the tag; T_LOGOUT has a reason and CRED_REQ a request
 * limit delta in value. */
#define SRP_SHORT_FIELDS(FIELD)                                                                    \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint8_t, solicited, 8, 8)                                                            \
	FIELD(uint32_t, value, 32, 32)                                                             \
	FIELD(uint64_t, tag, 64, 64)
ATTRIBUTE_STRUCT(srp_short, SRP_SHORT_FIELDS)

#define SRP_AER_REQ_FIELDS(FIELD)                                                                  \
	FIELD(uint8_t, opcode, 0, 8)                                                               \
	FIELD(uint8_t, solicited, 8, 8)                                                            \
	FIELD(uint32_t, request_limit_delta, 32, 32)                                               \
	FIELD(uint64_t, tag, 64, 64)                                                               \
	FIELD(uint64_t, lun, 160, 64)                                                              \
	FIELD(uint32_t, sense_bytes, 224, 32)
ATTRIBUTE_STRUCT(srp_aer_req, SRP_AER_REQ_FIELDS)

/* The fixed bytes of this opcode; 0: there is no such opcode. */
size_t srp_iu_bytes_min(uint8_t opcode);

#endif
