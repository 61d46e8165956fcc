/* SPDX-License-Identifier: Apache-2.0 */
/* The port counters of performance management (vol 1, chapter 16). */
#include "wire/performance.h"

#define ATTRIBUTE_SUBJECT struct port_counters
ATTRIBUTE_DEFINE(port_counters, PORT_COUNTERS_FIELDS, PORT_COUNTERS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_counters_extended
ATTRIBUTE_DEFINE(port_counters_extended, PORT_COUNTERS_EXTENDED_FIELDS,
		 PORT_COUNTERS_EXTENDED_BYTES)
#undef ATTRIBUTE_SUBJECT
