/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of an established connection: DREQ, DREP, LAP, APR (vol 1, chapter 12; management
 * 7.1). */
#include "wire/cm_established.h"

#define ATTRIBUTE_SUBJECT struct cm_dreq
ATTRIBUTE_DEFINE(cm_dreq, CM_DREQ_FIELDS, CM_DREQ_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_drep
ATTRIBUTE_DEFINE(cm_drep, CM_DREP_FIELDS, CM_DREP_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_lap
ATTRIBUTE_DEFINE(cm_lap, CM_LAP_FIELDS, CM_LAP_PRIVATE_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct cm_apr
ATTRIBUTE_DEFINE(cm_apr, CM_APR_FIELDS, CM_APR_INFO_OFFSET)
#undef ATTRIBUTE_SUBJECT
