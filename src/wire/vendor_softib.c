/* SPDX-License-Identifier: Apache-2.0 */
/* softib's own vendor class (docs/vendor-class.md). */
#include "wire/vendor_softib.h"

#define ATTRIBUTE_SUBJECT struct node_log_header
ATTRIBUTE_DEFINE(node_log_header, NODE_LOG_HEADER_FIELDS, NODE_LOG_HEADER_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct node_log_entry
ATTRIBUTE_DEFINE(node_log_entry, NODE_LOG_ENTRY_FIELDS, NODE_LOG_ENTRY_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct identify
ATTRIBUTE_DEFINE(identify, IDENTIFY_FIELDS, IDENTIFY_BYTES)
#undef ATTRIBUTE_SUBJECT
