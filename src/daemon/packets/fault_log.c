/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of link faults so far: kept, written as text, and read back to be repeated. */
#include "daemon/packets/fault_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fabric/faults/fault_text.h"

static const char heading[] = "softib-faults 1";

void fault_log_release(struct fault_log *log)
{
	free(log->entries);
	*log = (struct fault_log){0};
}

void fault_log_clear(struct fault_log *log)
{
	log->entry_count = 0;
	log->forgotten = 0;
}

static bool reserve(struct fault_log *log)
{
	size_t capacity = log->capacity ? log->capacity * 2 : 1024;

	if (log->entry_count < log->capacity)
		return true;
	if (capacity > FAULT_LOG_ENTRIES_MAX)
		return false;

	struct fault_log_entry *entries = realloc(log->entries, capacity * sizeof(*entries));

	if (!entries)
		return false;
	log->entries = entries;
	log->capacity = capacity;
	return true;
}

void fault_log_note(void *context, const struct link_faults *faults,
		    const struct fault_decision *decision)
{
	struct fault_log *log = context;

	if (!reserve(log)) {
		log->forgotten++;
		return;
	}
	log->entries[log->entry_count++] =
		(struct fault_log_entry){.output = faults->output, .decision = *decision};
}

static int compare_entries(const void *left, const void *right)
{
	const struct fault_log_entry *a = left, *b = right;
	uint64_t a_guid = a->output->node->info.node_guid, b_guid = b->output->node->info.node_guid;

	if (a_guid != b_guid)
		return a_guid < b_guid ? -1 : 1;
	if (a->output->number != b->output->number)
		return a->output->number < b->output->number ? -1 : 1;
	return (a->decision.sequence > b->decision.sequence) -
	       (a->decision.sequence < b->decision.sequence);
}

void fault_log_sort(struct fault_log *log)
{
	if (log->entry_count)
		qsort(log->entries, log->entry_count, sizeof(*log->entries), compare_entries);
}

/* The settings without probabilities: a script decides instead. */
static struct fault_settings without_chances(const struct fault_settings *settings)
{
	return (struct fault_settings){.delay = settings->delay,
				       .bits_per_second = settings->bits_per_second,
				       .flap_up = settings->flap_up,
				       .flap_down = settings->flap_down,
				       .includes_mads = settings->includes_mads};
}

static size_t write_link(const struct fabric *fabric, size_t index,
			 char ret_line[static FAULT_LINE_BYTES])
{
	list_for_each (link, &fabric->faults.links) {
		const struct link_faults *faults = container_of(link, struct link_faults, link);
		struct fault_settings settings = without_chances(&faults->judge.settings);
		char text[FAULT_TEXT_BYTES];

		if (index-- != 0)
			continue;
		fault_text_write(&settings, text);
		return (size_t)snprintf(ret_line, FAULT_LINE_BYTES, "link %016" PRIx64 ":%u %s",
					faults->output->node->info.node_guid,
					faults->output->number, text);
	}
	return 0;
}

size_t fault_log_line(const struct fault_log *log, const struct fabric *fabric, size_t index,
		      char ret_line[static FAULT_LINE_BYTES])
{
	char text[FAULT_TEXT_BYTES];

	if (index == 0)
		return (size_t)snprintf(ret_line, FAULT_LINE_BYTES, "%s", heading);
	index--;
	if (index < fabric->faults.link_count)
		return write_link(fabric, index, ret_line);
	index -= fabric->faults.link_count;
	if (index >= log->entry_count)
		return 0;

	const struct fault_log_entry *entry = &log->entries[index];

	fault_text_write_decision(&entry->decision, text);
	return (size_t)snprintf(ret_line, FAULT_LINE_BYTES, "at %016" PRIx64 ":%u %" PRIu64 " %s",
				entry->output->node->info.node_guid, entry->output->number,
				entry->decision.sequence, text);
}

struct replayed_link {
	struct port *output;
	struct fault_settings settings;
	struct fault_decision *script;
	size_t script_count;
	size_t script_capacity;
};

struct record {
	const struct fabric *fabric;
	struct replayed_link *links;
	size_t link_count;
	size_t line_number;
	char *reason;
	size_t reason_bytes;
};

static int refuse(const struct record *record, int error, const char *why)
{
	snprintf(record->reason, record->reason_bytes, "line %zu %s", record->line_number, why);
	return error;
}

static struct replayed_link *find_link(const struct record *record, const struct port *output)
{
	for (size_t index = 0; index < record->link_count; index++)
		if (record->links[index].output == output)
			return &record->links[index];
	return NULL;
}

/* GUID:PORT */
static struct port *read_port(const struct record *record, const char *word)
{
	char *end;
	uint64_t guid = strtoull(word, &end, 16);
	unsigned long number = *end == ':' ? strtoul(end + 1, &end, 10) : 0;
	struct node *node = *end ? NULL : fabric_find_guid(record->fabric, guid);

	if (!node || number < 1 || number > node->port_count || !node->ports[number].peer)
		return NULL;
	return &node->ports[number];
}

static int read_link(struct record *record, struct port *output, char **rest)
{
	struct replayed_link link = {.output = output};
	char *word;

	if (find_link(record, output))
		return refuse(record, -EINVAL, "names a link again");
	while ((word = strtok_r(NULL, " ", rest))) {
		if (fault_text_parse(word, &link.settings))
			return refuse(record, -EINVAL, "has an unknown fault");
	}

	struct replayed_link *links =
		realloc(record->links, (record->link_count + 1) * sizeof(*links));

	if (!links)
		return refuse(record, -ENOMEM, "needs more memory than there is");
	links[record->link_count++] = link;
	record->links = links;
	return 0;
}

static int append_decision(struct record *record, struct replayed_link *link,
			   const struct fault_decision *decision)
{
	if (link->script_count == link->script_capacity) {
		size_t capacity = link->script_capacity ? link->script_capacity * 2 : 64;
		struct fault_decision *script = realloc(link->script, capacity * sizeof(*script));

		if (!script)
			return refuse(record, -ENOMEM, "needs more memory than there is");
		link->script = script;
		link->script_capacity = capacity;
	}
	link->script[link->script_count++] = *decision;
	return 0;
}

static int read_decision(struct record *record, struct port *output, char **rest)
{
	struct replayed_link *link = find_link(record, output);
	const char *sequence = strtok_r(NULL, " ", rest);
	struct fault_decision decision = {0};
	char *end = NULL, *word;

	if (!link)
		return refuse(record, -EINVAL, "comes before its link");
	decision.sequence = sequence ? strtoull(sequence, &end, 10) : 0;
	if (!decision.sequence || *end)
		return refuse(record, -EINVAL, "has no packet number");
	if (link->script_count &&
	    link->script[link->script_count - 1].sequence >= decision.sequence)
		return refuse(record, -EINVAL, "is out of order");
	while ((word = strtok_r(NULL, " ", rest))) {
		if (!fault_text_parse_decision(word, &decision))
			return refuse(record, -EINVAL, "has an unknown fault");
	}
	return append_decision(record, link, &decision);
}

static int read_line(struct record *record, char *line)
{
	char *rest = NULL;
	char *kind = strtok_r(line, " ", &rest);

	if (record->line_number == 1)
		return kind && strcmp(kind, "softib-faults") == 0 && rest && strcmp(rest, "1") == 0
			       ? 0
			       : refuse(record, -EINVAL,
					"is not \"softib-faults 1\": not a record of faults");
	if (!kind || kind[0] == '#')
		return 0;

	const char *name = strtok_r(NULL, " ", &rest);
	struct port *output = name ? read_port(record, name) : NULL;

	if (strcmp(kind, "link") != 0 && strcmp(kind, "at") != 0)
		return refuse(record, -EINVAL, "starts with neither link nor at");
	if (!output)
		return refuse(record, -ENOENT, "names a port that is not in this fabric");
	return kind[0] == 'l' ? read_link(record, output, &rest)
			      : read_decision(record, output, &rest);
}

static int read_record(struct record *record, const char *text)
{
	int error = 0;

	while (*text && !error) {
		size_t length = strcspn(text, "\n");
		char line[FAULT_LINE_BYTES];

		record->line_number++;
		if (length >= sizeof(line))
			return refuse(record, -EINVAL, "is too long");
		memcpy(line, text, length);
		line[length] = '\0';
		text += length + (text[length] == '\n');
		error = read_line(record, line);
	}
	if (!error && record->line_number == 0)
		error = refuse(record, -EINVAL, "is missing: the record is empty");
	return error;
}

static void clear_all(struct fabric *fabric, time_ns now)
{
	while (!list_is_empty(&fabric->faults.links))
		faults_clear(
			fabric,
			container_of(list_first(&fabric->faults.links), struct link_faults, link)
				->output,
			now);
}

int fault_log_replay(struct fabric *fabric, const char *text, time_ns now, char *ret_reason,
		     size_t reason_bytes)
{
	struct record record = {
		.fabric = fabric, .reason = ret_reason, .reason_bytes = reason_bytes};
	int error = read_record(&record, text);

	if (!error)
		clear_all(fabric, now);
	for (size_t index = 0; index < record.link_count; index++) {
		struct replayed_link *link = &record.links[index];
		/* A link without decisions still needs a script, an empty one. */
		struct fault_decision *script =
			link->script ? link->script : calloc(1, sizeof(*script));

		if (!error && !script)
			error = -ENOMEM;
		if (!error)
			error = faults_replay(fabric, link->output, &link->settings, script,
					      link->script_count, now);
		if (error)
			free(script);
	}
	free(record.links);
	return error;
}
