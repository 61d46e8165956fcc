/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo (vol 1, chapter 13; management 1.6). */
#include "wire/class_port_info.h"

#define ATTRIBUTE_SUBJECT struct class_port_info
ATTRIBUTE_DEFINE(class_port_info, CLASS_PORT_INFO_FIELDS, CLASS_PORT_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT
