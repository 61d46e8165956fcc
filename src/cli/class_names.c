/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the general service classes on the command line (management 1.2). */
#include "cli/class_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/mad.h"

static const struct {
	const char *name;
	uint8_t management_class;
} names[] = {
	{"sa", MAD_CLASS_SUBNET_ADMINISTRATION},
	{"perf", MAD_CLASS_PERFORMANCE},
	{"baseboard", MAD_CLASS_BASEBOARD},
	{"device", MAD_CLASS_DEVICE},
	{"cm", MAD_CLASS_COMMUNICATION},
	{"snmp", MAD_CLASS_SNMP},
	{"congestion", MAD_CLASS_CONGESTION_CONTROL},
};

bool class_name_parse(const char *text, uint8_t *ret_class)
{
	unsigned long number;
	char *end;

	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcmp(names[i].name, text) == 0) {
			*ret_class = names[i].management_class;
			return true;
		}
	}
	errno = 0;
	number = strtoul(text, &end, 0);
	if (errno || end == text || *end || number == 0 || number > UINT8_MAX)
		return false;
	*ret_class = (uint8_t)number;
	return true;
}

const char *class_name_of(uint8_t management_class)
{
	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		if (names[i].management_class == management_class)
			return names[i].name;
	}
	return NULL;
}
