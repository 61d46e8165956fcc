/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a management class (management 6.2, 6.5). */
#include "wire/class_key_info.h"

#define ATTRIBUTE_SUBJECT struct class_key_info
ATTRIBUTE_DEFINE(class_key_info, CLASS_KEY_INFO_FIELDS, CLASS_KEY_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT
