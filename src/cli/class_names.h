/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the general service classes on the command line (management 1.2). */
#ifndef SOFTIB_CLI_CLASS_NAMES_H
#define SOFTIB_CLI_CLASS_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

/* sa, perf, baseboard, device, cm, snmp, congestion, or a number from 1 to 255. */
MUST_USE bool class_name_parse(const char *text, uint8_t *ret_class);
/* NULL: the class has no name. */
const char *class_name_of(uint8_t management_class);

#endif
