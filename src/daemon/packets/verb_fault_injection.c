/* SPDX-License-Identifier: Apache-2.0 */
/* Injected verb faults: calls, completions and events that fail on purpose at the programs of a
 * host. */
#include "daemon/packets/verb_fault_injection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/daemon_core.h"

enum { ERRNO_MAX = 133 };

#define CHANCE_CERTAIN (UINT64_C(1) << 32)

bool verb_faults_are_named(const json_t *words)
{
	static const char *const keys[] = {"verb=", "completion=", "event="};
	size_t index;
	const json_t *value;

	json_array_foreach (words, index, value) {
		const char *word = json_string_value(value);

		for (unsigned key = 0; word && key < ARRAY_COUNT(keys); key++)
			if (strncmp(word, keys[key], strlen(keys[key])) == 0)
				return true;
	}
	return false;
}

static int find_name(const char *const *names, unsigned name_count, const char *text)
{
	for (unsigned index = 0; index < name_count; index++)
		if (strcasecmp(names[index], text) == 0)
			return (int)index;
	return -1;
}

static int parse_errno(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end != text && !*end && number > 0 && number <= ERRNO_MAX)
		return (int)number;
	for (int error = 1; error <= ERRNO_MAX; error++) {
		const char *name = strerrorname_np(error);

		if (name && strcasecmp(name, text) == 0)
			return error;
	}
	return -1;
}

static bool parse_count(const char *text, uint64_t *ret_count)
{
	char *end;
	unsigned long long count = strtoull(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || count > UINT32_MAX)
		return false;
	*ret_count = count;
	return true;
}

static bool parse_chance(const char *text, uint64_t *ret_chance)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 1))
		return false;
	*ret_chance = (uint64_t)(value * (double)CHANCE_CERTAIN + 0.5);
	return true;
}

/* The words of a request; -1 and false where the request does not say. */
struct verb_fault_request {
	int call, error, status, event;
	bool has_skip, has_times, has_chance;
	struct verb_fault fault;
};

/* Returns NULL, or why not: the end of a sentence that begins with the word. */
static const char *read_word(const char *word, struct verb_fault_request *request)
{
	const char *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : "";
	size_t length = equals ? (size_t)(equals - word) : 0;

	if (length == 4 && strncmp(word, "verb", length) == 0) {
		request->call = find_name(verb_call_names, VERB_CALL_COUNT, value);
		return request->call < 0 ? "is not a call that can be made to fail" : NULL;
	}
	if (length == 5 && strncmp(word, "errno", length) == 0) {
		request->error = parse_errno(value);
		return request->error < 0 ? "is not an errno" : NULL;
	}
	if (length == 10 && strncmp(word, "completion", length) == 0) {
		if (strncasecmp(value, "IBV_WC_", 7) == 0)
			value += 7;
		request->status =
			find_name(completion_status_names, COMPLETION_STATUS_COUNT, value);
		return request->status <= 0 ? "is not the status of a failed completion" : NULL;
	}
	if (length == 5 && strncmp(word, "event", length) == 0) {
		if (strncasecmp(value, "IBV_EVENT_", 10) == 0)
			value += 10;
		request->event = find_name(async_event_names, ASYNC_EVENT_COUNT, value);
		return request->event < 0 ? "is not an asynchronous event" : NULL;
	}
	if (length == 5 && strncmp(word, "after", length) == 0) {
		request->has_skip = true;
		return parse_count(value, &request->fault.skip_count) ? NULL : "is not a number";
	}
	if (length == 5 && strncmp(word, "times", length) == 0) {
		request->has_times = true;
		return parse_count(value, &request->fault.times) ? NULL : "is not a number";
	}
	if (length == 11 && strncmp(word, "probability", length) == 0) {
		request->has_chance = true;
		return parse_chance(value, &request->fault.chance)
			       ? NULL
			       : "is not a probability from 0 to 1";
	}
	return "is not a verb fault: use verb, errno, completion, event, after, times, probability";
}

/* Returns NULL, or why the words do not go together. */
static const char *complete(struct verb_fault_request *request)
{
	struct verb_fault *fault = &request->fault;
	bool has_conditions = request->has_skip || request->has_times || request->has_chance;

	if ((request->call >= 0) + (request->status >= 0) + (request->event >= 0) != 1)
		return "name exactly one of verb, completion and event";
	if ((request->call >= 0) != (request->error >= 0))
		return "verb needs errno, and nothing else takes it";
	if (request->event >= 0 && has_conditions)
		return "an event happens once, at once: it takes no after, times or probability";
	fault->kind = request->call >= 0     ? VERB_FAULT_CALL
		      : request->status >= 0 ? VERB_FAULT_COMPLETION
					     : VERB_FAULT_EVENT;
	fault->call = (uint32_t)(request->call >= 0 ? request->call : 0);
	fault->error = request->error >= 0 ? request->error : 0;
	fault->status = (uint32_t)(request->status >= 0 ? request->status : 0);
	fault->event = (uint32_t)(request->event >= 0 ? request->event : 0);
	if (!request->has_chance)
		fault->chance = CHANCE_CERTAIN;
	/* "after=3" alone means the fourth call only, not all later ones. */
	if (request->has_skip && !request->has_times)
		fault->times = 1;
	return NULL;
}

static int read_words(const json_t *words, struct verb_fault_request *request, char *ret_text,
		      char *reason, size_t reason_bytes)
{
	size_t index, length = 0;
	const json_t *value;

	ret_text[0] = '\0';
	json_array_foreach (words, index, value) {
		const char *word = json_string_value(value);
		const char *why = word ? read_word(word, request) : "is not a word";

		if (why) {
			snprintf(reason, reason_bytes, "%.60s %s", word ? word : "that", why);
			return -EINVAL;
		}

		int written = snprintf(ret_text + length, VERB_FAULT_TEXT_BYTES - length, "%s%s",
				       index ? " " : "", word);

		if (written > 0 && (size_t)written < VERB_FAULT_TEXT_BYTES - length)
			length += (size_t)written;
	}

	const char *why = complete(request);

	if (why)
		snprintf(reason, reason_bytes, "%s", why);
	return why ? -EINVAL : 0;
}

void verb_faults_send(struct client *client)
{
	const struct verb_fault_log *log = client->host ? client->host->verb_faults : NULL;

	if (!log || !client->updates.adapters_used)
		return;
	while (client->updates.verb_faults_sent < log->count) {
		const struct verb_fault *fault = &log->records[client->updates.verb_faults_sent];

		if (!client_send_record(client, RECORD_VERB_FAULT, 0, 0, fault, sizeof(*fault)))
			return;
		client->updates.verb_faults_sent++;
	}
}

/* Events at the start of the log happened before this program was there. */
void verb_faults_send_active(struct client *client)
{
	const struct verb_fault_log *log = client->host->verb_faults;

	if (!log || client->updates.verb_faults_sent)
		return;
	client->updates.verb_faults_sent = log->first;
	while (client->updates.verb_faults_sent < log->count &&
	       log->records[client->updates.verb_faults_sent].kind == VERB_FAULT_EVENT)
		client->updates.verb_faults_sent++;
	verb_faults_send(client);
}

static int append(struct host *host, const struct verb_fault *fault, const char *text)
{
	if (!host->verb_faults)
		host->verb_faults = calloc(1, sizeof(*host->verb_faults));

	struct verb_fault_log *log = host->verb_faults;

	if (!log)
		return -ENOMEM;
	if (log->count == VERB_FAULT_RECORDS_MAX)
		return -ENOSPC;
	log->records[log->count] = *fault;
	snprintf(log->texts[log->count], VERB_FAULT_TEXT_BYTES, "%s", text);
	log->count++;
	list_for_each (link, &host->programs)
		verb_faults_send(container_of(link, struct client, host_link));
	return 0;
}

static unsigned active_count(const struct verb_fault_log *log)
{
	unsigned count = 0;

	for (uint32_t index = log ? log->first : 0; log && index < log->count; index++)
		count += log->records[index].kind != VERB_FAULT_EVENT &&
			 log->records[index].kind != VERB_FAULT_NONE;
	return count;
}

int verb_faults_add(struct daemon_core *core, const char *host_name, const json_t *words,
		    uint64_t seed, char *ret_reason, size_t reason_bytes)
{
	struct verb_fault_request request = {.call = -1, .error = -1, .status = -1, .event = -1};
	struct host *host = host_table_find(&core->hosts, host_name);
	char text[VERB_FAULT_TEXT_BYTES];
	int error = read_words(words, &request, text, ret_reason, reason_bytes);

	if (error)
		return error;
	if (!host) {
		snprintf(ret_reason, reason_bytes,
			 "no host %.64s in fabric %s: verb faults are injected at hosts", host_name,
			 core->fabric_name);
		return -ENOENT;
	}
	if (request.fault.kind == VERB_FAULT_EVENT && list_is_empty(&host->programs)) {
		snprintf(ret_reason, reason_bytes, "no program on %.64s has a device open",
			 host_name);
		return -ESRCH;
	}
	if (active_count(host->verb_faults) >= VERB_FAULTS_MAX)
		error = -ENOSPC;
	request.fault.seed = seed;
	if (!error)
		error = append(host, &request.fault, text);
	if (error)
		snprintf(ret_reason, reason_bytes, "%s: %s", host_name,
			 error == -ENOSPC ? "too many faults; \"softib fault clear\" removes them"
					  : strerror(-error));
	return error;
}

static unsigned clear_host(struct host *host)
{
	const struct verb_fault none = {.kind = VERB_FAULT_NONE};
	struct verb_fault_log *log = host->verb_faults;
	unsigned count = active_count(log);

	/* The log keeps old records; programs that attach from now on start behind them. */
	if (count && append(host, &none, "") == 0)
		log->first = log->count;
	return count;
}

unsigned verb_faults_clear(struct daemon_core *core, struct host *host)
{
	unsigned count = 0;

	if (host)
		return clear_host(host);
	for (uint32_t index = 0; index < core->hosts.host_count; index++)
		count += clear_host(core->hosts.hosts[index]);
	return count;
}

json_t *verb_faults_describe(const struct daemon_core *core)
{
	json_t *rows = json_array();

	for (uint32_t index = 0; index < core->hosts.host_count; index++) {
		const struct host *host = core->hosts.hosts[index];
		const struct verb_fault_log *log = host->verb_faults;

		for (uint32_t record = log ? log->first : 0; log && record < log->count; record++)
			if (log->records[record].kind < VERB_FAULT_EVENT)
				json_array_append_new(rows,
						      json_pack("{s:s, s:s}", "host", host->name,
								"settings", log->texts[record]));
	}
	return rows;
}
