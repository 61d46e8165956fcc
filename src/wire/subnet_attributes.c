/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet management attributes that have fields (vol 1, chapter 14; management 2.5). */
#include "wire/subnet_attributes.h"

#define ATTRIBUTE_SUBJECT struct node_info
ATTRIBUTE_DEFINE(node_info, NODE_INFO_FIELDS, NODE_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct switch_info
ATTRIBUTE_DEFINE(switch_info, SWITCH_INFO_FIELDS, SWITCH_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_info
ATTRIBUTE_DEFINE(port_info, PORT_INFO_FIELDS, PORT_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_info_extended
ATTRIBUTE_DEFINE(port_info_extended, PORT_INFO_EXTENDED_FIELDS, PORT_INFO_EXTENDED_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct sm_info
ATTRIBUTE_DEFINE(sm_info, SM_INFO_FIELDS, SM_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT
