/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a scenario line by line; the first word decides how a line is read. */
#include "sim/scenario.h"

#include "fabric/faults/fault_text.h"
#include "sim/scenario_reader.h"
#include "sim/scenario_words.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = 4096 };

static int read_topology(struct scenario_reader *reader)
{
	struct scenario *scenario = reader->scenario;
	const char *word = scenario_reader_take(reader);

	scenario->topology_is_file = strcmp(word, "file") == 0;
	if (scenario->topology_is_file)
		word = scenario_reader_take(reader);
	if (!*word || strlen(word) >= sizeof(scenario->topology))
		return scenario_reader_refuse(
			reader, "a topology is a generator like star:4, or: file PATH");
	snprintf(scenario->topology, sizeof(scenario->topology), "%s", word);
	return 0;
}

static int read_engine(struct scenario_reader *reader)
{
	return scenario_reader_take_name(reader, "the routing engine", reader->scenario->engine);
}

static int read_seed(struct scenario_reader *reader)
{
	return scenario_reader_take_number(reader, "the seed", UINT64_MAX, &reader->scenario->seed);
}

static int read_duration(struct scenario_reader *reader)
{
	return scenario_reader_take_time(reader, "the duration", &reader->scenario->duration);
}

static int read_warmup(struct scenario_reader *reader)
{
	return scenario_reader_take_time(reader, "the warm-up", &reader->scenario->warmup);
}

static int read_vls(struct scenario_reader *reader)
{
	uint64_t count;
	int error = scenario_reader_take_number(reader, "the number of data lanes", 15, &count);

	if (!error && count != 1 && count != 2 && count != 4 && count != 8 && count != 15)
		error = scenario_reader_refuse(reader, "a port has 1, 2, 4, 8 or 15 data lanes");
	if (!error)
		reader->scenario->data_vl_count = (uint8_t)count;
	return error;
}

static int read_check(struct scenario_reader *reader)
{
	reader->scenario->checks = true;
	return 0;
}

static int read_congestion(struct scenario_reader *reader)
{
	reader->scenario->controls_congestion = true;
	return 0;
}

static int read_link_event(struct scenario_reader *reader, struct scenario_event *event)
{
	static const struct scenario_choice states[] = {
		{"down", EVENT_LINK_DOWN}, {"up", EVENT_LINK_UP}, {NULL, 0}};
	unsigned kind = 0;
	int error = scenario_reader_choose(reader, "state of a link (down or up)", states, &kind);

	event->kind = (enum event_kind)kind;
	return error ? error : scenario_reader_take_name(reader, "the port", event->port);
}

static int read_fault_event(struct scenario_reader *reader, struct scenario_event *event)
{
	int error = scenario_reader_take_name(reader, "the port", event->port);

	event->kind = EVENT_FAULT;
	if (!error && strcmp(event->port, "clear") == 0) {
		event->kind = EVENT_FAULT_CLEAR;
		return scenario_reader_take_name(reader, "the port", event->port);
	}
	if (!error && scenario_reader_is_at_end(reader))
		error = scenario_reader_refuse(reader, "which fault?");
	while (!error && !scenario_reader_is_at_end(reader)) {
		const char *word = scenario_reader_take(reader);
		const char *reason = fault_text_parse(word, &event->faults);

		if (reason)
			error = scenario_reader_refuse(reader, "%.40s %.160s", word, reason);
	}
	return error;
}

static int read_at(struct scenario_reader *reader)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_event *event =
		scenario_reader_grow((void **)&scenario->events, &scenario->event_count,
				     sizeof(*event), SCENARIO_EVENTS_MAX);

	if (!event)
		return scenario_reader_refuse(reader, "too many events");
	event->line = reader->line_number;

	int error = scenario_reader_take_time(reader, "the event's time", &event->at);

	if (error)
		return error;

	const char *word = scenario_reader_take(reader);

	if (strcmp(word, "link") == 0)
		return read_link_event(reader, event);
	if (strcmp(word, "fault") == 0)
		return read_fault_event(reader, event);
	return scenario_reader_refuse(reader, "an event is 'link' or 'fault', not '%.40s'", word);
}

static const struct {
	const char *word;
	int (*read)(struct scenario_reader *reader);
} lines[] = {
	{"topology", read_topology},
	{"engine", read_engine},
	{"seed", read_seed},
	{"duration", read_duration},
	{"warmup", read_warmup},
	{"vls", read_vls},
	{"check", read_check},
	{"congestion", read_congestion},
	{"link", scenario_read_link},
	{"sl2vl", scenario_read_sl_to_vl},
	{"vlarb", scenario_read_vl_arbitration},
	{"lifetime", scenario_read_lifetime},
	{"flow", scenario_read_flow},
	{"multicast", scenario_read_multicast},
	{"at", read_at},
};

static int read_line(struct scenario_reader *reader)
{
	const char *word = scenario_reader_take(reader);
	int error;

	for (unsigned i = 0; i < ARRAY_COUNT(lines); i++) {
		if (strcmp(lines[i].word, word) != 0)
			continue;
		error = lines[i].read(reader);
		if (!error && !scenario_reader_is_at_end(reader))
			error = scenario_reader_refuse(reader, "unexpected '%.40s'",
						       scenario_reader_take(reader));
		return error;
	}
	return scenario_reader_refuse(reader, "no line begins with '%.40s'", word);
}

static int compare_events(const void *a, const void *b)
{
	const struct scenario_event *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

static int check_whole(struct scenario_reader *reader)
{
	struct scenario *scenario = reader->scenario;

	reader->line_number = 0;
	if (!*scenario->topology)
		return scenario_reader_refuse(reader, "there is no topology");
	if (scenario->warmup >= scenario->duration)
		return scenario_reader_refuse(reader,
					      "the warm-up is not shorter than the duration");
	if (scenario->event_count)
		qsort(scenario->events, scenario->event_count, sizeof(*scenario->events),
		      compare_events);
	return 0;
}

int scenario_read(const char *text, size_t byte_count, struct scenario *ret_scenario,
		  struct scenario_error *ret_error)
{
	struct scenario scenario = {.seed = 1, .duration = MILLISECONDS(10)};
	struct words words;
	struct scenario_reader reader = {.scenario = &scenario, .line = &words, .error = ret_error};
	int error = 0;

	for (size_t offset = 0; !error && offset < byte_count;) {
		const char *end = memchr(text + offset, '\n', byte_count - offset);
		size_t length = (end ? (size_t)(end - text) : byte_count) - offset;
		char line[LINE_BYTES_MAX];

		reader.line_number++;
		reader.next = 0;
		if (length >= sizeof(line) || memchr(text + offset, '\0', length)) {
			error = scenario_reader_refuse(&reader, "the line is too long or not text");
			break;
		}
		memcpy(line, text + offset, length);
		line[length] = '\0';
		offset += length + 1;
		if (!words_split(line, &words))
			error = scenario_reader_refuse(&reader, "the line has too many words");
		else if (words.count)
			error = read_line(&reader);
	}
	if (!error)
		error = check_whole(&reader);
	if (error)
		scenario_release(&scenario);
	else
		*ret_scenario = scenario;
	return error;
}

void scenario_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->flow_count; i++)
		free(scenario->flows[i].members);
	free(scenario->flows);
	free(scenario->settings);
	free(scenario->events);
	*scenario = (struct scenario){0};
}
