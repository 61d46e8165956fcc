/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that make a connection: REQ, MRA, REJ, REP, RTU (vol 1, chapter 12; management
 * 7.1). */
#include "wire/cm_connect.h"

#define ATTRIBUTE_SUBJECT struct cm_path
ATTRIBUTE_DEFINE(cm_path, CM_PATH_FIELDS, CM_PATH_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_req
ATTRIBUTE_DEFINE(cm_req, CM_REQ_FIELDS, CM_REQ_PRIMARY_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_mra
ATTRIBUTE_DEFINE(cm_mra, CM_MRA_FIELDS, CM_MRA_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_rej
ATTRIBUTE_DEFINE(cm_rej, CM_REJ_FIELDS, CM_REJ_INFO_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_rep
ATTRIBUTE_DEFINE(cm_rep, CM_REP_FIELDS, CM_REP_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_rtu
ATTRIBUTE_DEFINE(cm_rtu, CM_RTU_FIELDS, CM_RTU_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

void cm_request_encode(const struct cm_request *request,
		       uint8_t ret_bytes[static CM_REQ_PRIVATE_OFFSET])
{
	cm_req_encode(&request->req, ret_bytes);
	cm_path_encode(&request->primary, ret_bytes + CM_REQ_PRIMARY_OFFSET);
	cm_path_encode(&request->alternate, ret_bytes + CM_REQ_ALTERNATE_OFFSET);
}

void cm_request_decode(const uint8_t bytes[static CM_REQ_PRIVATE_OFFSET],
		       struct cm_request *ret_request)
{
	cm_req_decode(bytes, &ret_request->req);
	cm_path_decode(bytes + CM_REQ_PRIMARY_OFFSET, &ret_request->primary);
	cm_path_decode(bytes + CM_REQ_ALTERNATE_OFFSET, &ret_request->alternate);
}
