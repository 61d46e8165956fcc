/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a scenario: one line after the other, each by its first word. */
#include "sim/scenario.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fault_text.h"
#include "sim/scenario_words.h"
#include "wire/rate.h"

enum { LINE_BYTES_MAX = 4096, MESSAGE_BYTES_MAX = 1 << 24, DEPTH_MAX = 1024, ARRAY_STEP = 64 };

struct reader {
	struct scenario *scenario;
	const struct words *line;
	unsigned next; /* word */
	unsigned line_number;
	struct scenario_error *error;
};

static int PRINTF_LIKE(2, 3) refuse(struct reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->error->reason, sizeof(reader->error->reason), format, arguments);
	va_end(arguments);
	reader->error->line = reader->line_number;
	return -EINVAL;
}

/* The next word; "" at the end. */
static const char *take(struct reader *reader)
{
	const char *word = reader->line->words[reader->next];

	if (reader->next < reader->line->count)
		reader->next++;
	return word;
}

static bool is_at_end(const struct reader *reader)
{
	return reader->next == reader->line->count;
}

static int take_number(struct reader *reader, const char *what, uint64_t max, uint64_t *ret_number)
{
	const char *word = take(reader);

	if (word_number(word, max, ret_number))
		return 0;
	return refuse(reader, "%s must be a number up to %llu, not '%.40s'", what,
		      (unsigned long long)max, word);
}

static int take_time(struct reader *reader, const char *what, time_ns *ret_time)
{
	const char *word = take(reader);

	if (word_time(word, ret_time))
		return 0;
	return refuse(reader, "%s must be a time like 10us or 1.5ms, not '%.40s'", what, word);
}

static int take_name(struct reader *reader, const char *what, char ret_name[SCENARIO_NAME_BYTES])
{
	const char *word = take(reader);

	if (!*word)
		return refuse(reader, "%s is missing", what);
	if (strlen(word) >= SCENARIO_NAME_BYTES)
		return refuse(reader, "%s is too long", what);
	snprintf(ret_name, SCENARIO_NAME_BYTES, "%s", word);
	return 0;
}

/* Makes room for one more; NULL: out of memory or too many. */
static void *grow(void **array, uint32_t *count, size_t item_bytes, uint32_t count_max)
{
	if (*count == count_max)
		return NULL;
	if (*count % ARRAY_STEP == 0) {
		void *larger = realloc(*array, (*count + ARRAY_STEP) * item_bytes);

		if (!larger)
			return NULL;
		*array = larger;
	}

	void *item = (char *)*array + (*count)++ * item_bytes;

	memset(item, 0, item_bytes);
	return item;
}

/* --- the whole --- */

static int read_topology(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	const char *word = take(reader);

	scenario->topology_is_file = strcmp(word, "file") == 0;
	if (scenario->topology_is_file)
		word = take(reader);
	if (!*word || strlen(word) >= sizeof(scenario->topology))
		return refuse(reader, "a topology is a generator like star:4, or: file PATH");
	snprintf(scenario->topology, sizeof(scenario->topology), "%s", word);
	return 0;
}

static int read_engine(struct reader *reader)
{
	return take_name(reader, "the routing engine", reader->scenario->engine);
}

static int read_seed(struct reader *reader)
{
	return take_number(reader, "the seed", UINT64_MAX, &reader->scenario->seed);
}

static int read_duration(struct reader *reader)
{
	return take_time(reader, "the duration", &reader->scenario->duration);
}

static int read_warmup(struct reader *reader)
{
	return take_time(reader, "the warm-up", &reader->scenario->warmup);
}

static int read_vls(struct reader *reader)
{
	uint64_t count;
	int error = take_number(reader, "the number of data lanes", 15, &count);

	if (!error && count != 1 && count != 2 && count != 4 && count != 8 && count != 15)
		error = refuse(reader, "a port has 1, 2, 4, 8 or 15 data lanes");
	if (!error)
		reader->scenario->data_vl_count = (uint8_t)count;
	return error;
}

static int read_check(struct reader *reader)
{
	reader->scenario->checks = true;
	return 0;
}

/* --- ports --- */

struct choice {
	const char *name;
	unsigned value;
};

static int choose(struct reader *reader, const char *what, const struct choice *choices,
		  unsigned *ret_value)
{
	const char *word = take(reader);

	for (; choices->name; choices++) {
		if (strcmp(choices->name, word) == 0) {
			*ret_value = choices->value;
			return 0;
		}
	}
	return refuse(reader, "'%.40s' is no %s", word, what);
}

static const struct choice widths[] = {
	{"1x", LINK_WIDTH_1X}, {"2x", LINK_WIDTH_2X},	{"4x", LINK_WIDTH_4X},
	{"8x", LINK_WIDTH_8X}, {"12x", LINK_WIDTH_12X}, {NULL, 0}};

static const struct choice speeds[] = {
	{"sdr", LINK_SPEED_SDR}, {"ddr", LINK_SPEED_DDR}, {"qdr", LINK_SPEED_QDR},
	{"fdr", LINK_SPEED_FDR}, {"edr", LINK_SPEED_EDR}, {"hdr", LINK_SPEED_HDR},
	{"ndr", LINK_SPEED_NDR}, {NULL, 0}};

static int add_setting(struct reader *reader, enum setting_kind kind,
		       struct scenario_setting **ret_setting)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_setting *setting =
		grow((void **)&scenario->settings, &scenario->setting_count, sizeof(*setting),
		     SCENARIO_SETTINGS_MAX);

	if (!setting)
		return refuse(reader, "too many settings");
	setting->kind = kind;
	setting->line = reader->line_number;
	setting->limit = setting->head_of_queue_code = setting->switch_code = -1;
	*ret_setting = setting;
	return take_name(reader, "the port", setting->port);
}

static int read_link(struct reader *reader)
{
	struct scenario_setting *setting;
	int error = add_setting(reader, SETTING_LINK, &setting);

	while (!error && !is_at_end(reader)) {
		const char *word = take(reader);
		unsigned value = 0;

		if (strcmp(word, "width") == 0) {
			error = choose(reader, "link width", widths, &value);
			setting->width = (uint8_t)value;
		} else if (strcmp(word, "speed") == 0) {
			error = choose(reader, "link speed", speeds, &value);
			setting->speed = (uint16_t)value;
		} else {
			error = refuse(reader, "a link has a width and a speed, not '%.40s'", word);
		}
	}
	return error;
}

static int read_sl_to_vl(struct reader *reader)
{
	struct scenario_setting *setting;
	int error = add_setting(reader, SETTING_SL_TO_VL, &setting);

	for (unsigned sl = 0; !error && sl < SL_COUNT; sl++) {
		uint64_t vl = 0;

		error = take_number(reader, "a lane", VL_MANAGEMENT, &vl);
		setting->sl_to_vl[sl] = (uint8_t)vl;
	}
	return error;
}

/* VL:WEIGHT */
static bool read_entry(const char *word, uint8_t ret_entry[2])
{
	char lane[8];
	const char *colon = strchr(word, ':');
	uint64_t vl, weight;

	if (!colon || colon == word || (size_t)(colon - word) >= sizeof(lane))
		return false;
	memcpy(lane, word, (size_t)(colon - word));
	lane[colon - word] = '\0';
	if (!word_number(lane, 14, &vl) || !word_number(colon + 1, 255, &weight))
		return false;
	ret_entry[0] = (uint8_t)vl;
	ret_entry[1] = (uint8_t)weight;
	return true;
}

static int read_vl_arbitration(struct reader *reader)
{
	static const struct choice priorities[] = {{"high", 1}, {"low", 0}, {NULL, 0}};
	struct scenario_setting *setting;
	unsigned is_high = 0;
	int error = add_setting(reader, SETTING_VL_ARBITRATION, &setting);

	if (!error)
		error = choose(reader, "priority (high or low)", priorities, &is_high);
	if (!error)
		setting->is_high = is_high;
	while (!error && !is_at_end(reader)) {
		const char *word = take(reader);
		uint64_t limit = 0;

		if (strcmp(word, "limit") == 0) {
			error = take_number(reader, "the limit of high priority", 255, &limit);
			setting->limit = (int)limit;
		} else if (setting->entry_count == VL_ARBITRATION_ENTRIES) {
			error = refuse(reader, "a table has at most %d entries",
				       VL_ARBITRATION_ENTRIES);
		} else if (!read_entry(word, setting->entries[setting->entry_count++])) {
			error = refuse(reader, "an entry is VL:WEIGHT, not '%.40s'", word);
		}
	}
	return error;
}

static int read_lifetime(struct reader *reader)
{
	struct scenario_setting *setting;
	int error = add_setting(reader, SETTING_LIFETIME, &setting);

	while (!error && !is_at_end(reader)) {
		const char *word = take(reader);
		uint64_t code = 0;

		if (strcmp(word, "head-of-queue") == 0) {
			error = take_number(reader, "a lifetime code", 31, &code);
			setting->head_of_queue_code = (int)code;
		} else if (strcmp(word, "switch") == 0) {
			error = take_number(reader, "a lifetime code", 31, &code);
			setting->switch_code = (int)code;
		} else {
			error = refuse(reader, "'%.40s' has no lifetime", word);
		}
	}
	return error;
}

/* --- flows --- */

static const struct choice services[] = {
	{"rc", FLOW_RC}, {"uc", FLOW_UC}, {"ud", FLOW_UD}, {"load", FLOW_LOAD}, {NULL, 0}};

static int take_static_rate(struct reader *reader, struct scenario_flow *flow)
{
	const char *word = take(reader);
	uint64_t bits;

	if (word_rate(word, &bits))
		for (unsigned code = RATE_CODE_FIRST; code <= RATE_CODE_LAST; code++)
			if (rate_mbps(code) == bits / 1000000) {
				flow->static_rate = (uint8_t)code;
				return 0;
			}
	return refuse(reader, "'%.40s' is no link rate like 2.5Gbit or 100Gbit", word);
}

static int take_flow_option(struct reader *reader, struct scenario_flow *flow)
{
	const char *word = take(reader);
	uint64_t number = 0;
	unsigned service = flow->service;
	int error;

	if (strcmp(word, "service") == 0 && flow->service != FLOW_MULTICAST) {
		error = choose(reader, "service (rc, uc, ud, load)", services, &service);
		flow->service = (enum flow_service)service;
	} else if (strcmp(word, "size") == 0) {
		word = take(reader);
		error = word_bytes(word, MESSAGE_BYTES_MAX, &flow->message_bytes)
				? 0
				: refuse(reader, "'%.40s' is no size like 64 or 4K", word);
	} else if (strcmp(word, "rate") == 0) {
		word = take(reader);
		error = strcmp(word, "max") == 0 || word_rate(word, &flow->bits_per_second)
				? 0
				: refuse(reader, "'%.40s' is no rate like 10Gbit, or max", word);
	} else if (strcmp(word, "depth") == 0) {
		error = take_number(reader, "the depth", DEPTH_MAX, &number);
		flow->depth = (unsigned)number;
	} else if (strcmp(word, "count") == 0) {
		error = take_number(reader, "the number of messages", UINT32_MAX,
				    &flow->message_count);
	} else if (strcmp(word, "sl") == 0) {
		error = take_number(reader, "the SL", SL_COUNT - 1, &number);
		flow->sl = (uint8_t)number;
	} else if (strcmp(word, "start") == 0) {
		error = take_time(reader, "the start", &flow->start);
	} else if (strcmp(word, "stop") == 0) {
		error = take_time(reader, "the stop", &flow->stop);
	} else if (strcmp(word, "static-rate") == 0) {
		error = take_static_rate(reader, flow);
	} else {
		error = refuse(reader, "a flow has no '%.40s'", word);
	}
	return error;
}

static int take_members(struct reader *reader, struct scenario_flow *flow)
{
	const char *next = take(reader);

	flow->members = calloc(SCENARIO_MEMBERS_MAX, SCENARIO_NAME_BYTES);
	if (!flow->members)
		return -ENOMEM;
	while (*next) {
		size_t length = strcspn(next, ",");

		if (length == 0 || length >= SCENARIO_NAME_BYTES ||
		    flow->member_count == SCENARIO_MEMBERS_MAX)
			break;
		memcpy(flow->members[flow->member_count++], next, length);
		next += length;
		next += *next == ',';
	}
	if (*next || flow->member_count == 0)
		return refuse(reader, "members are up to %d hosts like h2,h3",
			      SCENARIO_MEMBERS_MAX);
	return 0;
}

static int expect(struct reader *reader, const char *word)
{
	return strcmp(take(reader), word) == 0 ? 0 : refuse(reader, "'%s' is missing", word);
}

static int take_flow(struct reader *reader, enum flow_service service)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_flow *flow = grow((void **)&scenario->flows, &scenario->flow_count,
					  sizeof(*flow), SCENARIO_FLOWS_MAX);

	if (!flow)
		return refuse(reader, "too many flows");
	flow->service = service;
	flow->line = reader->line_number;
	flow->message_bytes = 4096;
	flow->depth = 16;

	int error = take_name(reader, "the flow's name", flow->name);

	if (!error)
		error = expect(reader, "from");
	if (!error)
		error = take_name(reader, "the host it comes from", flow->from);
	if (!error)
		error = expect(reader, "to");
	if (!error)
		error = service == FLOW_MULTICAST
				? take_members(reader, flow)
				: take_name(reader, "the host it goes to", flow->to);
	while (!error && !is_at_end(reader))
		error = take_flow_option(reader, flow);
	if (!error && flow->depth == 0)
		error = refuse(reader, "the depth must be at least 1");
	return error;
}

static int read_flow(struct reader *reader)
{
	return take_flow(reader, FLOW_RC);
}

static int read_multicast(struct reader *reader)
{
	return take_flow(reader, FLOW_MULTICAST);
}

/* --- events --- */

static int read_link_event(struct reader *reader, struct scenario_event *event)
{
	static const struct choice states[] = {
		{"down", EVENT_LINK_DOWN}, {"up", EVENT_LINK_UP}, {NULL, 0}};
	unsigned kind = 0;
	int error = choose(reader, "state of a link (down or up)", states, &kind);

	event->kind = (enum event_kind)kind;
	return error ? error : take_name(reader, "the port", event->port);
}

static int read_fault_event(struct reader *reader, struct scenario_event *event)
{
	int error = take_name(reader, "the port", event->port);

	event->kind = EVENT_FAULT;
	if (!error && strcmp(event->port, "clear") == 0) {
		event->kind = EVENT_FAULT_CLEAR;
		return take_name(reader, "the port", event->port);
	}
	if (!error && is_at_end(reader))
		error = refuse(reader, "which fault?");
	while (!error && !is_at_end(reader)) {
		const char *word = take(reader);
		const char *reason = fault_text_parse(word, &event->faults);

		if (reason)
			error = refuse(reader, "%.40s %.160s", word, reason);
	}
	return error;
}

static int read_at(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_event *event = grow((void **)&scenario->events, &scenario->event_count,
					    sizeof(*event), SCENARIO_EVENTS_MAX);

	if (!event)
		return refuse(reader, "too many events");
	event->line = reader->line_number;

	int error = take_time(reader, "the event's time", &event->at);

	if (error)
		return error;

	const char *word = take(reader);

	if (strcmp(word, "link") == 0)
		return read_link_event(reader, event);
	if (strcmp(word, "fault") == 0)
		return read_fault_event(reader, event);
	return refuse(reader, "what happens is 'link' or 'fault', not '%.40s'", word);
}

/* --- lines --- */

static const struct {
	const char *word;
	int (*read)(struct reader *reader);
} lines[] = {
	{"topology", read_topology},
	{"engine", read_engine},
	{"seed", read_seed},
	{"duration", read_duration},
	{"warmup", read_warmup},
	{"vls", read_vls},
	{"check", read_check},
	{"link", read_link},
	{"sl2vl", read_sl_to_vl},
	{"vlarb", read_vl_arbitration},
	{"lifetime", read_lifetime},
	{"flow", read_flow},
	{"multicast", read_multicast},
	{"at", read_at},
};

static int read_line(struct reader *reader)
{
	const char *word = take(reader);
	int error;

	for (unsigned i = 0; i < ARRAY_COUNT(lines); i++) {
		if (strcmp(lines[i].word, word) != 0)
			continue;
		error = lines[i].read(reader);
		if (!error && !is_at_end(reader))
			error = refuse(reader, "'%.40s' is too much", take(reader));
		return error;
	}
	return refuse(reader, "no line begins with '%.40s'", word);
}

static int compare_events(const void *a, const void *b)
{
	const struct scenario_event *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

static int check_whole(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;

	reader->line_number = 0;
	if (!*scenario->topology)
		return refuse(reader, "there is no topology");
	if (scenario->warmup >= scenario->duration)
		return refuse(reader, "the warm-up is not shorter than the duration");
	if (scenario->event_count)
		qsort(scenario->events, scenario->event_count, sizeof(*scenario->events),
		      compare_events);
	return 0;
}

int scenario_read(const char *text, size_t byte_count, struct scenario *ret_scenario,
		  struct scenario_error *ret_error)
{
	struct scenario scenario = {
		.seed = 1, .duration = MILLISECONDS(10), .data_vl_count = 8};
	struct words words;
	struct reader reader = {.scenario = &scenario, .line = &words, .error = ret_error};
	int error = 0;

	for (size_t offset = 0; !error && offset < byte_count;) {
		const char *end = memchr(text + offset, '\n', byte_count - offset);
		size_t length = (end ? (size_t)(end - text) : byte_count) - offset;
		char line[LINE_BYTES_MAX];

		reader.line_number++;
		reader.next = 0;
		if (length >= sizeof(line) || memchr(text + offset, '\0', length)) {
			error = refuse(&reader, "the line is too long, or no text");
			break;
		}
		memcpy(line, text + offset, length);
		line[length] = '\0';
		offset += length + 1;
		if (!words_split(line, &words))
			error = refuse(&reader, "the line has too many words");
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
