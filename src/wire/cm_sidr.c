/* SPDX-License-Identifier: Apache-2.0 */
/* Service id resolution for unreliable datagrams (vol 1, chapter 12; management 7.1). */
#include "wire/cm_sidr.h"

#define ATTRIBUTE_SUBJECT struct cm_sidr_req
ATTRIBUTE_DEFINE(cm_sidr_req, CM_SIDR_REQ_FIELDS, CM_SIDR_REQ_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_sidr_rep
ATTRIBUTE_DEFINE(cm_sidr_rep, CM_SIDR_REP_FIELDS, CM_SIDR_REP_INFO_OFFSET)
#undef ATTRIBUTE_SUBJECT
