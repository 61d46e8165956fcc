/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of congestion control management (vol 1, annex A10; management 6.5). */
#include "wire/congestion.h"

#include "wire/notice.h"

#define ATTRIBUTE_SUBJECT struct congestion_info
ATTRIBUTE_DEFINE(congestion_info, CONGESTION_INFO_FIELDS, CONGESTION_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct switch_congestion_log
ATTRIBUTE_DEFINE(switch_congestion_log, SWITCH_CONGESTION_LOG_FIELDS, SWITCH_CONGESTION_LOG_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct switch_congestion_event
ATTRIBUTE_DEFINE(switch_congestion_event, SWITCH_CONGESTION_EVENT_FIELDS,
		 SWITCH_CONGESTION_EVENT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct ca_congestion_log
ATTRIBUTE_DEFINE(ca_congestion_log, CA_CONGESTION_LOG_FIELDS, CA_CONGESTION_LOG_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct ca_congestion_event
ATTRIBUTE_DEFINE(ca_congestion_event, CA_CONGESTION_EVENT_FIELDS, CA_CONGESTION_EVENT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct switch_congestion_setting
ATTRIBUTE_DEFINE(switch_congestion_setting, SWITCH_CONGESTION_SETTING_FIELDS,
		 SWITCH_CONGESTION_SETTING_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct switch_port_congestion
ATTRIBUTE_DEFINE(switch_port_congestion, SWITCH_PORT_CONGESTION_FIELDS,
		 SWITCH_PORT_CONGESTION_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct ca_congestion_setting
ATTRIBUTE_DEFINE(ca_congestion_setting, CA_CONGESTION_SETTING_FIELDS, CA_CONGESTION_SETTING_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct ca_congestion_entry
ATTRIBUTE_DEFINE(ca_congestion_entry, CA_CONGESTION_ENTRY_FIELDS, CA_CONGESTION_ENTRY_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct bad_cc_key_details
ATTRIBUTE_DEFINE(bad_cc_key_details, BAD_CC_KEY_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT
