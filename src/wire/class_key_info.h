/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a management class as its attribute shows it. CongestionKeyInfo and B_KeyInfo have the
 * same layout (management 6.2, 6.5). */
#ifndef SOFTIB_WIRE_CLASS_KEY_INFO_H
#define SOFTIB_WIRE_CLASS_KEY_INFO_H

#include "wire/attribute.h"

/* Where both classes have their key in a MAD. */
enum { CLASS_KEY_OFFSET = 24 };

#define CLASS_KEY_INFO_FIELDS(FIELD)                                                               \
	FIELD(uint64_t, key, 0, 64)                                                                \
	FIELD(uint8_t, protect_bit, 64, 1)                                                         \
	FIELD(uint16_t, lease_period, 80, 16)                                                      \
	FIELD(uint16_t, violations, 96, 16)

enum { CLASS_KEY_INFO_BYTES = 16 };
ATTRIBUTE_STRUCT(class_key_info, CLASS_KEY_INFO_FIELDS)

#endif
