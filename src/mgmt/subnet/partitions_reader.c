/* SPDX-License-Identifier: Apache-2.0 */
/* Reads partitions in the syntax of OpenSM's partitions.conf: "name=pkey,flags: member=membership,
 * mgid=gid,flags;" with # for comments (management 9.2). */
#include "mgmt/subnet/partitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPE_DEFAULT = 2 };

struct reader {
	struct partitions *partitions;
	struct policy_text text;
};

#define fail(reader, ...) policy_text_fail(&(reader)->text, __VA_ARGS__)

static enum membership membership_named(const char *name)
{
	if (strcmp(name, "full") == 0)
		return MEMBER_FULL;
	return strcmp(name, "both") == 0 ? MEMBER_BOTH : MEMBER_LIMITED;
}

/* 0: the token was a group flag; 1: it is not one; or an error. */
static int read_group_flag(struct reader *reader, const struct policy_token *token,
			   struct multicast_characteristics *characteristics, uint16_t *scopes)
{
	static const struct {
		const char *name;
		uint64_t max;
	} flags[] = {{"rate", 63},
		     {"mtu", 5},
		     {"sl", 15},
		     {"scope", 15},
		     {"Q_Key", UINT32_MAX},
		     {"TClass", 255},
		     {"FlowLabel", 0xfffff}};
	uint64_t number;
	unsigned i = 0;
	int error;

	while (i < ARRAY_COUNT(flags) && strcmp(flags[i].name, token->name) != 0)
		i++;
	if (i == ARRAY_COUNT(flags))
		return 1;
	error = policy_text_number(&reader->text, token, flags[i].max, &number);
	if (error)
		return error;
	switch (i) {
	case 0:
		characteristics->rate = (uint8_t)number;
		break;
	case 1:
		if (number == 0)
			return fail(reader, "mtu is a code from 1 (256) to 5 (4096)");
		characteristics->mtu = (uint8_t)number;
		break;
	case 2:
		characteristics->sl = (uint8_t)number;
		break;
	case 3:
		*scopes |= (uint16_t)(1u << number);
		break;
	case 4:
		characteristics->qkey = (uint32_t)number;
		break;
	case 5:
		characteristics->traffic_class = (uint8_t)number;
		break;
	default:
		characteristics->flow_label = (uint32_t)number;
	}
	return 0;
}

static int read_flag(struct reader *reader, const struct policy_token *token,
		     struct partition *partition)
{
	int result =
		read_group_flag(reader, token, &partition->characteristics, &partition->scopes);

	if (result != 1)
		return result;
	if (strcmp(token->name, "indx0") == 0)
		partition->is_index_0 = true;
	else if (strcmp(token->name, "ipoib") == 0)
		partition->has_ipoib = true;
	else if (strcmp(token->name, "defmember") == 0 && token->has_value)
		partition->default_membership = membership_named(token->value);
	else
		return fail(reader, "'%s' is not a flag of a partition", token->name);
	return 0;
}

static uint16_t free_pkey(const struct partitions *partitions)
{
	for (uint16_t pkey = 1; pkey < PKEY_DEFAULT_LIMITED; pkey++) {
		if (!partitions->by_pkey[pkey])
			return pkey;
	}
	return 0;
}

/* The first token of a definition: name and P_Key. */
static int read_name(struct reader *reader, const struct policy_token *token,
		     struct partition **ret_partition)
{
	uint64_t pkey = 0;
	int error = 0;

	if (token->has_value)
		error = policy_text_number(&reader->text, token, 0xffff, &pkey);
	else if (strcmp(token->name, "Default") == 0)
		pkey = PKEY_DEFAULT_LIMITED;
	else
		pkey = free_pkey(reader->partitions);
	if (error)
		return error;
	if ((pkey & 0x7fff) == 0)
		return fail(reader, "partition '%s' needs a P_Key that is not 0", token->name);
	/* A P_Key that appears twice is one partition with the first name (management 9.2). */
	*ret_partition = reader->partitions->by_pkey[pkey & 0x7fff];
	if (!*ret_partition)
		*ret_partition = partitions_add(reader->partitions, token->name, (uint16_t)pkey);
	return *ret_partition ? 0 : -ENOMEM;
}

static int read_definition(struct reader *reader, struct partition **ret_partition)
{
	struct policy_token token;
	int error = policy_text_read(&reader->text, ",:;", &token);

	if (!error)
		error = read_name(reader, &token, ret_partition);
	while (!error && token.delimiter == ',') {
		error = policy_text_read(&reader->text, ",:;", &token);
		if (!error)
			error = read_flag(reader, &token, *ret_partition);
	}
	if (!error && token.delimiter != ':')
		error = fail(reader, "a ':' is missing after the definition of partition '%s'",
			     (*ret_partition)->name);
	if (!error && !(*ret_partition)->scopes)
		(*ret_partition)->scopes = 1u << SCOPE_DEFAULT;
	return error;
}

/* "ff12:401b::1" as in RFC 4291, without the form that ends in an IPv4 address. */
static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool read_gid(const char *text, struct gid *ret_gid)
{
	uint16_t groups[8] = {0};
	unsigned count = 0;
	int gap = -1;

	while (*text && count < 8) {
		char *end;
		unsigned long group;

		if (text[0] == ':' && text[1] == ':' && gap < 0) {
			gap = (int)count;
			text += 2;
			continue;
		}
		if (!is_hex(*text))
			return false;
		group = strtoul(text, &end, 16);
		if (group > 0xffff)
			return false;
		groups[count++] = (uint16_t)group;
		text = end[0] == ':' && end[1] && end[1] != ':' ? end + 1 : end;
	}
	if (*text || (gap < 0 && count != 8) || (gap >= 0 && count == 8))
		return false;
	for (unsigned i = 0; i < 8; i++) {
		unsigned missing = 8 - count;
		bool is_before = gap < 0 || i < (unsigned)gap;
		uint16_t group = is_before		       ? groups[i]
				 : i < (unsigned)gap + missing ? 0
							       : groups[i - missing];

		put_be16(ret_gid->bytes + 2 * i, group);
	}
	return true;
}

/* Reads mgid=... and the flags on the same line. If the last token begins something else, it is
 * left to the caller. */
static int read_group(struct reader *reader, struct partition *partition,
		      struct policy_token *token)
{
	struct partition_group group = {.characteristics = partition->characteristics};
	uint16_t scopes = 0;
	int error = 0;

	if (!read_gid(token->value, &group.mgid) || !gid_is_multicast(&group.mgid))
		return fail(reader, "'%s' is not a multicast GID", token->value);
	if (!mgid_is_ip(&group.mgid))
		group.characteristics.qkey = 0;
	else if (get_be16(group.mgid.bytes + 4) == 0)
		put_be16(group.mgid.bytes + 4, partition->pkey | PKEY_FULL_MEMBER);
	group.characteristics.scope = group.mgid.bytes[1] & 15;
	while (!error && token->delimiter == ',' && !policy_text_line_is_over(&reader->text)) {
		error = policy_text_read(&reader->text, ",;\n", token);
		if (!error)
			error = read_group_flag(reader, token, &group.characteristics, &scopes);
		if (error == 1)
			error = fail(reader, "'%s' is not a flag of a group", token->name);
	}
	return error ? error : partition_add_group(partition, &group);
}

static int read_member(struct reader *reader, struct partition *partition,
		       const struct policy_token *token)
{
	static const struct {
		const char *name;
		enum member_kind kind;
	} classes[] = {{"ALL", MEMBER_ALL},
		       {"ALL_CAS", MEMBER_CAS},
		       {"ALL_SWITCHES", MEMBER_SWITCHES},
		       {"ALL_ROUTERS", MEMBER_ROUTERS},
		       {"SELF", MEMBER_SELF}};
	struct partition_member member = {.kind = MEMBER_PORT,
					  .membership = partition->default_membership};
	char *end;

	if (token->has_value)
		member.membership = membership_named(token->value);
	for (unsigned i = 0; i < ARRAY_COUNT(classes); i++) {
		if (strcmp(classes[i].name, token->name) != 0)
			continue;
		member.kind = classes[i].kind;
		return partition_add_member(partition, &member);
	}
	errno = 0;
	member.guid = strtoull(token->name, &end, 0);
	if (end == token->name || *end || errno || !member.guid || token->name[0] == '-')
		return fail(reader,
			    "'%s' is neither a port GUID nor ALL, ALL_CAS, ALL_SWITCHES, "
			    "ALL_ROUTERS or SELF",
			    token->name);
	return partition_add_member(partition, &member);
}

static int read_properties(struct reader *reader, struct partition *partition)
{
	struct policy_token token;
	int error;

	do {
		/* A group ends with its line, so a newline is a delimiter only after mgid. */
		const char *start = reader->text.next;
		unsigned line = reader->text.line;

		error = policy_text_read(&reader->text, ",;", &token);
		if (!error && strcmp(token.name, "mgid") == 0) {
			reader->text.next = start;
			reader->text.line = line;
			error = policy_text_read(&reader->text, ",;\n", &token);
			if (!error)
				error = read_group(reader, partition, &token);
		} else if (!error && token.name[0]) {
			error = read_member(reader, partition, &token);
		}
		if (!error && !token.delimiter)
			error = fail(reader, "a ';' is missing at the end of partition '%s'",
				     partition->name);
	} while (!error && token.delimiter != ';');
	return error;
}

int partitions_parse(struct partitions *partitions, const char *text, size_t text_bytes,
		     struct policy_error *ret_error)
{
	struct reader reader = {
		.partitions = partitions,
		.text = {.next = text, .end = text + text_bytes, .line = 1, .error = ret_error}};
	struct partition *partition = NULL;
	int error = 0;

	memset(partitions, 0, sizeof(*partitions));
	policy_text_skip_blanks(&reader.text);
	while (!error && reader.text.next < reader.text.end) {
		error = read_definition(&reader, &partition);
		if (!error)
			error = read_properties(&reader, partition);
		policy_text_skip_blanks(&reader.text);
	}
	if (!error)
		error = partitions_complete(partitions);
	if (error)
		partitions_release(partitions);
	return error;
}
