/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of services at subnet administration: softib services register, find and
 * unregister (management 4.8). */
#include "cli/service_directory.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/sa_session.h"
#include "cli/subcommand.h"
#include "wire/sa_components.h"

enum { KEY_DIGITS_MAX = 32, LEASE_TEXT_BYTES = 24, OPTION_ID = 256, OPTION_KEY, OPTION_PKEY };

static const struct option options_known[] = {
	{"fabric", required_argument, NULL, 'n'},
	{"host", required_argument, NULL, 'H'},
	{"name", required_argument, NULL, 'N'},
	{"id", required_argument, NULL, OPTION_ID},
	{"key", required_argument, NULL, OPTION_KEY},
	{"pkey", required_argument, NULL, OPTION_PKEY},
	{"lease", required_argument, NULL, 'l'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool read_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	return end != text && !*end && !errno && *ret_number <= max && text[0] != '-';
}

/* 128 bits in hexadecimal, with or without 0x. */
static bool read_key(const char *text, struct service_record_id *id)
{
	uint64_t high = 0, low = 0;

	if (strncmp(text, "0x", 2) == 0)
		text += 2;

	size_t digit_count = strlen(text);

	if (!digit_count || digit_count > KEY_DIGITS_MAX ||
	    strspn(text, "0123456789abcdefABCDEF") != digit_count)
		return false;
	for (size_t index = 0; index < digit_count; index++) {
		char digit[2] = {text[index]};

		high = high << 4 | low >> 60;
		low = low << 4 | strtoull(digit, NULL, 16);
	}
	id->key_high = high;
	id->key_low = low;
	return true;
}

static bool set_name(const char *name, struct service_request *request)
{
	size_t length = strlen(name);

	if (!length || length >= SERVICE_NAME_BYTES)
		return false;
	memset(request->record.name, 0, sizeof(request->record.name));
	memcpy(request->record.name, name, length);
	request->components |= SA_COMPONENT(SR_NAME);
	return true;
}

static bool set_id(const char *text, struct service_request *request)
{
	request->components |= SA_COMPONENT(SR_ID);
	return read_number(text, UINT64_MAX, &request->record.id.id);
}

/* One option that is part of the record. false: a bad value. */
static bool take_option(int option, const char *value, struct service_request *request)
{
	uint64_t number;

	switch (option) {
	case 'N':
		return set_name(value, request);
	case OPTION_ID:
		return set_id(value, request);
	case OPTION_KEY:
		request->components |= SA_COMPONENT(SR_KEY);
		return read_key(value, &request->record.id);
	case OPTION_PKEY:
		if (!read_number(value, UINT16_MAX, &number) || !number)
			return false;
		request->components |= SA_COMPONENT(SR_PKEY);
		request->record.id.pkey = (uint16_t)number;
		return true;
	case 'l':
		/* A lease of no time would be over before the answer. */
		if (!read_number(value, UINT32_MAX, &number) || !number)
			return false;
		request->components |= SA_COMPONENT(SR_LEASE);
		request->record.id.lease_s = (uint32_t)number;
		return true;
	default:
		return false;
	}
}

const char *service_request_read(int argument_count, char **arguments,
				 struct service_request *ret_request)
{
	struct service_request request = {.fabric = NULL};
	bool is_register = strcmp(arguments[0], "register") == 0;
	int option;

	optind = 0; /* from the start, whatever was read before */
	while ((option = getopt_long(argument_count, arguments, "n:H:jl:h", options_known, NULL)) !=
	       -1) {
		if (option == 'n')
			request.fabric = optarg;
		else if (option == 'H')
			request.host = optarg;
		else if (option == 'j')
			request.wants_json = true;
		else if (option == 'h' || option == '?')
			return "";
		else if (!take_option(option, optarg, &request))
			return "a value is not a number, a key or a name of its option";
	}
	if (is_register) {
		if (argument_count - optind != 2 || !set_name(arguments[optind], &request) ||
		    !set_id(arguments[optind + 1], &request))
			return "register needs a NAME of at most 63 bytes and a service ID";
	} else if (optind < argument_count) {
		return "unexpected argument: only options are accepted";
	}
	if (strcmp(arguments[0], "unregister") == 0 && !(request.components & SA_COMPONENT(SR_ID)))
		return "unregister needs --id";
	*ret_request = request;
	return NULL;
}

static json_t *describe(const struct service_record *record)
{
	char id[20], gid[40], pkey[8];
	int name_bytes = (int)strnlen((const char *)record->name, SERVICE_NAME_BYTES);
	uint64_t prefix = record->id.gid_prefix, guid = record->id.gid_guid;

	snprintf(id, sizeof(id), "0x%016" PRIx64, record->id.id);
	snprintf(gid, sizeof(gid), "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x",
		 (unsigned)(prefix >> 48), (unsigned)(prefix >> 32 & 0xffff),
		 (unsigned)(prefix >> 16 & 0xffff), (unsigned)(prefix & 0xffff),
		 (unsigned)(guid >> 48), (unsigned)(guid >> 32 & 0xffff),
		 (unsigned)(guid >> 16 & 0xffff), (unsigned)(guid & 0xffff));
	snprintf(pkey, sizeof(pkey), "0x%04x", record->id.pkey);

	json_t *row = json_pack("{s:s, s:s, s:s}", "service_id", id, "gid", gid, "pkey", pkey);
	json_t *name = json_stringn((const char *)record->name, (size_t)name_bytes);

	json_object_set_new(row, "name", name ? name : json_string("(not text)"));
	/* Without a lease the service never ends. */
	if (record->id.lease_s != SERVICE_LEASE_ENDLESS)
		json_object_set_new(row, "lease_s", json_integer(record->id.lease_s));
	return row;
}

static void print_rows(const json_t *rows)
{
	const json_t *row;
	size_t index;

	printf("%-24s %-18s  %-39s %-6s %s\n", "NAME", "SERVICE ID", "GID", "P_KEY", "LEASE");
	json_array_foreach (rows, index, row) {
		const json_t *lease = json_object_get(row, "lease_s");
		char text[LEASE_TEXT_BYTES] = "endless";

		if (lease)
			snprintf(text, sizeof(text), "%lld s",
				 (long long)json_integer_value(lease));
		printf("%-24s %-18s  %-39s %-6s %s\n", fabric_client_text(row, "name"),
		       fabric_client_text(row, "service_id"), fabric_client_text(row, "gid"),
		       fabric_client_text(row, "pkey"), text);
	}
}

static void print_records(const struct service_request *request, const uint8_t *bytes,
			  size_t record_count, size_t record_bytes)
{
	json_t *rows = json_array();

	for (size_t index = 0; index < record_count; index++) {
		struct service_record record;

		service_record_decode(bytes + index * record_bytes, &record);
		json_array_append_new(rows, describe(&record));
	}
	if (request->wants_json) {
		json_t *answer = json_pack("{s:o}", "services", rows);

		print_json(answer);
		json_decref(answer);
	} else {
		print_rows(rows);
		json_decref(rows);
	}
}

static int find(struct sa_session *session, const struct service_request *request)
{
	uint8_t data[SERVICE_RECORD_BYTES];
	struct sa_client_result result;
	int error;

	service_record_encode(&request->record, data);
	error = sa_session_ask(session, MAD_GET_TABLE, SA_SERVICE_RECORD, request->components, data,
			       sizeof(data), &result);
	if (error)
		return error;
	if (result.record_count && result.record_bytes < SERVICE_RECORD_BYTES) {
		free(result.table);
		return -EPROTO;
	}
	print_records(request, result.table, result.record_count, result.record_bytes);
	free(result.table);
	return result.record_count ? 0 : -ENOENT;
}

/* Set or Delete of a service of this port. */
static int change(struct sa_session *session, struct service_request *request,
		  enum mad_method method)
{
	uint8_t data[SERVICE_RECORD_BYTES];
	struct sa_client_result result;
	int error;

	request->record.id.gid_prefix = GID_PREFIX_LINK_LOCAL;
	request->record.id.gid_guid = session->port.host.port_guid;
	request->components |= SA_COMPONENT(SR_GID);
	service_record_encode(&request->record, data);
	error = sa_session_ask(session, method, SA_SERVICE_RECORD, request->components, data,
			       sizeof(data), &result);
	if (!error)
		print_records(request, result.data, 1, SERVICE_RECORD_BYTES);
	return error;
}

bool service_directory_knows(const char *word)
{
	return strcmp(word, "register") == 0 || strcmp(word, "find") == 0 ||
	       strcmp(word, "unregister") == 0;
}

int service_directory_run(const struct subcommand *self, int argument_count, char **arguments)
{
	struct service_request request;
	struct sa_session session;
	const char *reason = service_request_read(argument_count, arguments, &request);
	int error;

	if (reason)
		return *reason ? subcommand_misuse(self, reason) : subcommand_help(self);
	if (sa_session_open("services", fabric_name_or_default(request.fabric), request.host,
			    &session) != 0)
		return EXIT_FAILURE;
	if (strcmp(arguments[0], "find") == 0)
		error = find(&session, &request);
	else
		error = change(&session, &request,
			       strcmp(arguments[0], "register") == 0 ? MAD_SET : MAD_DELETE);
	sa_session_close(&session);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
