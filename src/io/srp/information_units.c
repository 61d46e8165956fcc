/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of SRP's information units (T10 SRP r16a, chapter 6). */
#include "io/srp/information_units.h"

#define ATTRIBUTE_SUBJECT struct srp_login_req
ATTRIBUTE_DEFINE(srp_login_req, SRP_LOGIN_REQ_FIELDS, SRP_LOGIN_REQ_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_login_rsp
ATTRIBUTE_DEFINE(srp_login_rsp, SRP_LOGIN_RSP_FIELDS, SRP_LOGIN_RSP_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_login_rej
ATTRIBUTE_DEFINE(srp_login_rej, SRP_LOGIN_REJ_FIELDS, SRP_LOGIN_REJ_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_cmd
ATTRIBUTE_DEFINE(srp_cmd, SRP_CMD_FIELDS, SRP_CMD_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_rsp
ATTRIBUTE_DEFINE(srp_rsp, SRP_RSP_FIELDS, SRP_RSP_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_tsk_mgmt
ATTRIBUTE_DEFINE(srp_tsk_mgmt, SRP_TSK_MGMT_FIELDS, SRP_TSK_MGMT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_short
ATTRIBUTE_DEFINE(srp_short, SRP_SHORT_FIELDS, SRP_SHORT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct srp_aer_req
ATTRIBUTE_DEFINE(srp_aer_req, SRP_AER_REQ_FIELDS, SRP_AER_REQ_BYTES)
#undef ATTRIBUTE_SUBJECT

size_t srp_iu_bytes_min(uint8_t opcode)
{
	switch (opcode) {
	case SRP_LOGIN_REQ:
		return SRP_LOGIN_REQ_BYTES;
	case SRP_TSK_MGMT:
		return SRP_TSK_MGMT_BYTES;
	case SRP_CMD:
		return SRP_CMD_BYTES;
	case SRP_I_LOGOUT:
	case SRP_CRED_RSP:
	case SRP_AER_RSP:
	case SRP_T_LOGOUT:
	case SRP_CRED_REQ:
		return SRP_SHORT_BYTES;
	case SRP_AER_REQ:
		return SRP_AER_REQ_BYTES;
	case SRP_LOGIN_RSP:
		return SRP_LOGIN_RSP_BYTES;
	case SRP_RSP:
		return SRP_RSP_BYTES;
	case SRP_LOGIN_REJ:
		return SRP_LOGIN_REJ_BYTES;
	default:
		return 0;
	}
}
