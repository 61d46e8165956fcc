/* SPDX-License-Identifier: Apache-2.0 */
/* Notice, the attribute of traps and reports (vol 1, chapters 13 and 14; management 5.1, 5.2). */
#include "wire/notice.h"

#include <string.h>

#define ATTRIBUTE_SUBJECT struct notice_header
ATTRIBUTE_DEFINE(notice_header, NOTICE_HEADER_FIELDS, NOTICE_DETAILS_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct link_state_details
ATTRIBUTE_DEFINE(link_state_details, LINK_STATE_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_error_details
ATTRIBUTE_DEFINE(port_error_details, PORT_ERROR_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct local_change_details
ATTRIBUTE_DEFINE(local_change_details, LOCAL_CHANGE_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct bad_mkey_details
ATTRIBUTE_DEFINE(bad_mkey_details, BAD_MKEY_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct system_image_details
ATTRIBUTE_DEFINE(system_image_details, SYSTEM_IMAGE_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct bad_key_details
ATTRIBUTE_DEFINE(bad_key_details, BAD_KEY_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct switch_pkey_details
ATTRIBUTE_DEFINE(switch_pkey_details, SWITCH_PKEY_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

void notice_encode(const struct notice *notice, uint8_t ret_bytes[static NOTICE_BYTES])
{
	notice_header_encode(&notice->header, ret_bytes);
	memcpy(ret_bytes + NOTICE_DETAILS_OFFSET, notice->details, NOTICE_DETAILS_BYTES);
}

void notice_decode(const uint8_t bytes[static NOTICE_BYTES], struct notice *ret_notice)
{
	notice_header_decode(bytes, &ret_notice->header);
	memcpy(ret_notice->details, bytes + NOTICE_DETAILS_OFFSET, NOTICE_DETAILS_BYTES);
}
