/* SPDX-License-Identifier: Apache-2.0 */
/* The names of communication management messages and of reject reasons (vol 1, chapter 12;
 * management 7.1). */
#include "wire/cm_message.h"

#include <stddef.h>

#define CM_REASON_NAME(code, name, text) [code] = text,

const char *cm_reject_reason_name(unsigned reason)
{
	static const char *const names[] = {CM_REJECT_REASONS(CM_REASON_NAME)};
	const char *name = reason < ARRAY_COUNT(names) ? names[reason] : NULL;

	return name ? name : "unknown reason";
}

const char *cm_message_name(unsigned attribute_id)
{
	static const char *const names[] = {
		[CM_REQ] = "REQ",   [CM_MRA] = "MRA",		[CM_REJ] = "REJ",
		[CM_REP] = "REP",   [CM_RTU] = "RTU",		[CM_DREQ] = "DREQ",
		[CM_DREP] = "DREP", [CM_SIDR_REQ] = "SIDR_REQ", [CM_SIDR_REP] = "SIDR_REP",
		[CM_LAP] = "LAP",   [CM_APR] = "APR",
	};
	const char *name = attribute_id < ARRAY_COUNT(names) ? names[attribute_id] : NULL;

	return name ? name : "unknown message";
}
