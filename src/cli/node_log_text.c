/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a node's log as text and JSON. */
#include "cli/node_log_text.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/attributes.h"
#include "cli/class_names.h"

/* NULL: the number has no name. */
static const char *name_in(const char *const *names, size_t name_count, unsigned number)
{
	return number < name_count ? names[number] : NULL;
}

static const char *event_name(unsigned event)
{
	static const char *const names[] = {
		[NODE_EVENT_PORT_STATE] = "port_state",	      [NODE_EVENT_TRAP] = "trap",
		[NODE_EVENT_KEY_VIOLATION] = "key_violation", [NODE_EVENT_SET] = "set",
		[NODE_EVENT_IDENTIFY] = "identify",	      [NODE_EVENT_POWER] = "power",
	};

	return name_in(names, ARRAY_COUNT(names), event);
}

static const char *key_name(unsigned key)
{
	static const char *const names[] = {
		[NODE_KEY_M] = "M_Key",	  [NODE_KEY_P] = "P_Key", [NODE_KEY_Q] = "Q_Key",
		[NODE_KEY_CC] = "CC_Key", [NODE_KEY_B] = "B_Key",
	};

	return name_in(names, ARRAY_COUNT(names), key);
}

static const char *state_name(unsigned state)
{
	static const char *const names[] = {NULL, "Down", "Init", "Armed", "Active"};

	return name_in(names, ARRAY_COUNT(names), state);
}

static void class_text(uint64_t management_class, char ret_text[static 24])
{
	const char *name = class_name_of((uint8_t)management_class);

	if (name)
		snprintf(ret_text, 24, "%s", name);
	else
		snprintf(ret_text, 24, "class 0x%02" PRIx64, management_class);
}

static void describe_set(const struct node_log_entry *entry, char *ret_text)
{
	char class[24];

	class_text(entry->subject, class);
	snprintf(ret_text, NODE_LOG_TEXT_BYTES, "%s: attribute 0x%04x was set at port %u", class,
		 entry->code, entry->port_number);
}

static void describe_identify(const struct node_log_entry *entry, char *ret_text)
{
	if (entry->code && entry->subject)
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "identify on for %" PRIu64 " s",
			 entry->subject);
	else
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "identify %s", entry->code ? "on" : "off");
}

void node_log_text(const struct node_log_entry *entry, char ret_text[static NODE_LOG_TEXT_BYTES])
{
	const char *key = key_name(entry->code);
	const char *state = state_name(entry->code);
	char class[24];

	switch (entry->event) {
	case NODE_EVENT_PORT_STATE:
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "port %u is %s", entry->port_number,
			 state ? state : "in an unknown state");
		break;
	case NODE_EVENT_TRAP:
		class_text(entry->subject, class);
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "trap %u of port %u (%s)", entry->code,
			 entry->port_number, class);
		break;
	case NODE_EVENT_KEY_VIOLATION:
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "wrong %s at port %u from LID %" PRIu64,
			 key ? key : "key", entry->port_number, entry->subject);
		break;
	case NODE_EVENT_SET:
		describe_set(entry, ret_text);
		break;
	case NODE_EVENT_IDENTIFY:
		describe_identify(entry, ret_text);
		break;
	case NODE_EVENT_POWER:
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "power state %u", entry->code);
		break;
	default:
		snprintf(ret_text, NODE_LOG_TEXT_BYTES, "event %u, code %u", entry->event,
			 entry->code);
		break;
	}
}

json_t *node_log_json(const struct node_log_entry *entry, uint32_t number)
{
	const char *event = event_name(entry->event);
	char text[NODE_LOG_TEXT_BYTES];

	node_log_text(entry, text);
	return json_pack("{s:I, s:I, s:s, s:i, s:i, s:I, s:I, s:s}", "number", (json_int_t)number,
			 "time_ns", (json_int_t)entry->time_ns, "event", event ? event : "unknown",
			 "port", (int)entry->port_number, "code", (int)entry->code, "subject",
			 (json_int_t)entry->subject, "count", (json_int_t)entry->count, "text",
			 text);
}
