/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP tunnelling (vol 1, chapter 16; management 6.4). */
#include "wire/snmp_tunnel.h"

#define ATTRIBUTE_SUBJECT struct snmp_header
ATTRIBUTE_DEFINE(snmp_header, SNMP_HEADER_FIELDS, SNMP_HEADER_BYTES)
#undef ATTRIBUTE_SUBJECT
