/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the control socket with the fields that each reads, and values for the fields:
 * what tests and the fuzz target "control" make requests from. */
#ifndef SOFTIB_TESTS_SUPPORT_CONTROL_GRAMMAR_H
#define SOFTIB_TESTS_SUPPORT_CONTROL_GRAMMAR_H

#include <stddef.h>
#include <string.h>
#include "base/attributes.h"

enum { CONTROL_FIELDS_MAX = 16, CONTROL_VALUES_MAX = 12 };

struct control_grammar_command {
	const char *name;
	const char *fields[CONTROL_FIELDS_MAX]; /* that the command reads */
};

static const struct control_grammar_command control_grammar_commands[] = {
	{"hello", {"version", "kind", "host"}},
	{"attach", {NULL}},
	{"port", {"adapter"}},
	{"qpns", {"adapter", "count"}},
	{"ring", {"id"}},
	{"exposure", {"id"}},
	{"refuse", {"id"}},
	{"hosts", {"from"}},
	{"status", {NULL}},
	{"link", {"node", "port", "up"}},
	{"refresh", {"host"}},
	{"down", {NULL}},
	{"wait-active", {"timeout_ms"}},
	{"get", {"node", "port", "attribute", "from"}},
	{"set", {"node", "port", "field", "value"}},
	{"mads", {"adapter", "port"}},
	{"mad-register", {"class", "version", "oui", "kind", "methods_low", "methods_high"}},
	{"mad-unregister", {"id"}},
	{"cm", {NULL}},
	{"services", {NULL}},
	{"catch-up", {NULL}},
	{"domain", {"adapter", "device", "inode", "opening"}},
	{"target", {"adapter", "domain"}},
	{"target-open", {"adapter", "domain", "qpn"}},
	{"target-borrow", {"adapter", "domain", "qpn", "now"}},
	{"capture", {"ports", "ring_bytes", "lids", "qpns", "opcodes", "mad_classes"}},
	{"fault-add", {"port", "settings", "seed"}},
	{"fault-list", {"from"}},
	{"fault-clear", {"ports"}},
	{"fault-record", {"from"}},
	{"fault-replay", {"text", "is_last"}},
	{"explain", {"source", "destination", "mcast", "sl", "pkey", "size"}},
	{"raw", {"adapter", "port", "kind"}},
	{"io", {"from"}},
	{"io-units", {"from"}},
	{"io-plug", {"node", "adapter", "slot", "profile", "services"}},
	{"io-pull", {"node", "adapter", "slot"}},
	{"io-slots", {"node", "slots"}},
	{"io-test-outcome", {"node", "slot", "code"}},
	{"perf-sweep", {"thresholds", "interval", "details", "clear", "sample_ms"}},
	{"perf-report", {"part", "from", "top"}},
	{"baseboard", {"node"}},
	{"baseboard-sensor", {"node", "sensor", "value"}},
	{"baseboard-power", {"node", "on"}},
	{"baseboard-protect", {"node", "vpd", "on"}},
	{"baseboard-hang-bus", {"node", "on"}},
	{"redirect",
	 {"node", "port", "class", "to", "to_port", "gid", "when_busy", "qp", "pkey", "qkey", "sl",
	  "tclass", "flow"}},
	{"redirect_off", {"node", "port", "class"}},
	{"redirects", {"from"}},
};

/* Characters of several bytes are cut by whoever shortens a text. */
#define CONTROL_REPEATED(text) text text text text text text text text text text text text text

/* Of any kind, for any field. */
static const char *const control_grammar_values[] = {
	"\"" CONTROL_REPEATED("\xc3\xa4\xc3\xa4\xc3\xa4") "\"",
	"\"x" CONTROL_REPEATED("\xe2\x82\xac") "\"",
	"0",
	"1",
	"-1",
	"2",
	"255",
	"65535",
	"65536",
	"4294967295",
	"9223372036854775807",
	"-9223372036854775808",
	"1e308",
	"true",
	"false",
	"null",
	"\"\"",
	"\"h1\"",
	"\"h2\"",
	"\"switch-1\"",
	"\"h1:1\"",
	"\"softib0\"",
	"\"program\"",
	"\"tool\"",
	"\"drop=0.5\"",
	"[\"h1\"]",
	"[\"drop=0.5\",\"out\"]",
	"[\"verb=ibv_reg_mr\",\"errno=ENOMEM\"]",
	"[]",
	"{}",
	"[[[[[]]]]]",
	"\"0x1\"",
	"\"ffffffffffffffff\"",
	"\"port_info\"",
	"\"summary\"",
	"\"%s%n\"",
	"\"mkey\"",
	"[1,\"a\",{}]",
	"{\"xmit_wait\":-1}",
	"\"single\"",
	"65536.5",
};

/* What a field usually has. */
static const struct control_grammar_field {
	const char *name;
	const char *values[CONTROL_VALUES_MAX];
} control_grammar_fields[] = {
	{"adapter", {"0", "\"softib0\"", "1"}},
	{"attribute", {"\"port_info\"", "\"node_info\"", "\"pkey_table\"", "\"description\""}},
	{"class", {"3", "4", "7", "\"sa\"", "\"performance\"", "129", "33", "9"}},
	{"clear", {"true"}},
	{"code", {"0", "1"}},
	{"count", {"1", "1024", "16775168"}},
	{"destination", {"\"h2\"", "\"h1\"", "\"2\"", "\"0xc000\""}},
	{"details", {"\"h1:1\"", "\"switch-1:1\""}},
	{"device", {"\"0x1\"", "\"0x2\""}},
	{"domain", {"1", "2"}},
	{"field", {"\"mkey\"", "\"description\"", "\"mtu_cap\"", "\"pkey_table.1\""}},
	{"flow", {"0", "5"}},
	{"from", {"0", "1", "60"}},
	{"gid", {"true", "false"}},
	{"host", {"\"h1\"", "\"h2\""}},
	{"id", {"1", "2", "3", "0"}},
	{"inode", {"\"0x1\"", "\"0x2\""}},
	{"interval", {"0", "1"}},
	{"is_last", {"true", "false"}},
	{"kind",
	 {"\"program\"", "\"tool\"", "\"hold\"", "\"single\"", "\"rmpp\"", "\"user-rmpp\"",
	  "\"raw\"", "0", "1"}},
	{"lids", {"[1]", "[1,2,49152]", "[\"0x1\"]"}},
	{"mad_classes", {"[\"sa\"]", "[\"cm\",\"smp-lid\",\"any\"]"}},
	{"mcast", {"\"0xc000\"", "\"ff12:401b:ffff::1\""}},
	{"methods_high", {"\"0x0\"", "\"0xffffffffffffffff\""}},
	{"methods_low", {"\"0x6\"", "\"0xffffffffffffffff\"", "\"0x0\""}},
	{"node", {"\"h1\"", "\"h2\"", "\"switch-1\"", "\"tca1\""}},
	{"now", {"true", "false"}},
	{"on", {"true", "false"}},
	{"opcodes", {"[\"RC_SEND_ONLY\"]", "[\"any\"]", "[\"UD_SEND_ONLY\"]"}},
	{"opening", {"0", "1", "2"}},
	{"oui", {"0", "16777215"}},
	{"part",
	 {"\"summary\"", "\"ports\"", "\"links\"", "\"errors\"", "\"events\"", "\"details\"",
	  "\"sweep\""}},
	{"pkey", {"65535", "32767"}},
	{"port", {"1", "\"h1:1\"", "\"switch-1\"", "\"h2\"", "2"}},
	{"ports", {"[\"h1:1\"]", "[\"switch-1\"]", "[\"h1\",\"h2\"]", "[]"}},
	{"profile", {"{\"guid\":1,\"id_string\":\"disk\"}", "{\"vendor_id\":7}", "{}"}},
	{"qkey", {"2147549184", "1"}},
	{"qp", {"1", "1024"}},
	{"qpn", {"1024", "1025"}},
	{"qpns", {"[1]", "[1024,\"0x10\"]"}},
	{"ring_bytes", {"65536", "1048576"}},
	{"sample_ms", {"0", "10"}},
	{"seed", {"1"}},
	{"sensor", {"\"temp1\"", "\"in0\"", "\"fan2\""}},
	{"services",
	 {"[{\"name\":\"a\",\"id\":1}]", "[]", "[{\"name\":\"a\",\"id\":\"0x10\"},{}]"}},
	{"settings",
	 {"[\"drop=0.5\"]", "[\"corrupt=1\",\"out\"]", "[\"delay=1us\",\"jitter=1us\"]",
	  "[\"duplicate=1\",\"reorder=1\"]", "[\"blackhole\",\"mads\"]", "[\"flap=1ms/1ms\"]",
	  "[\"verb=ibv_reg_mr\",\"errno=ENOMEM\"]", "[\"event=device_fatal\"]",
	  "[\"credit-loss=1\"]"}},
	{"size", {"256", "4096"}},
	{"sl", {"0", "1"}},
	{"slot", {"1", "2", "16"}},
	{"slots", {"16", "1", "255"}},
	{"source", {"\"h1\"", "\"h2\""}},
	{"text",
	 {"\"softib-faults 1\\nlink 025f1b0100010000:1 drop=0.5\\nat 025f1b0100010000:1 5 drop\\n\"",
	  "\"softib-faults 1\\n\"", "\"link 025f1b0200010000:1 delay=1ms\\n\"",
	  "\"at 025f1b0200010000:1 7 delay=1ms\\n\"", "\"\\n\""}},
	{"thresholds", {"{\"symbol_error\":10}", "{\"xmit_wait\":1}"}},
	{"timeout_ms", {"0", "1", "10"}},
	{"to", {"\"h2\"", "\"switch-1\""}},
	{"to_port", {"1"}},
	{"top", {"1", "10"}},
	{"up", {"false", "true"}},
	{"value", {"\"1\"", "\"0x10\"", "\"new name\"", "5"}},
	{"version", {"11", "2", "1"}}, /* of the protocol; of a management class */
	{"vpd", {"\"chassis\"", "\"module\""}},
	{"when_busy", {"true", "false"}},
};

static inline unsigned control_grammar_field_count(const struct control_grammar_command *command)
{
	unsigned count = 0;

	while (count < CONTROL_FIELDS_MAX && command->fields[count])
		count++;
	return count;
}

/* A value that the field usually has; NULL: the table has none. */
static inline const char *control_grammar_value(const char *field, unsigned choice)
{
	for (size_t index = 0; index < ARRAY_COUNT(control_grammar_fields); index++) {
		const struct control_grammar_field *row = &control_grammar_fields[index];
		unsigned count = 0;

		if (strcmp(row->name, field) != 0)
			continue;
		while (count < CONTROL_VALUES_MAX && row->values[count])
			count++;
		return row->values[choice % count];
	}
	return NULL;
}

#endif
