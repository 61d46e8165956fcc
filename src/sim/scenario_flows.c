/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a scenario about traffic: flows between two hosts, and multicasts. */
#include "sim/scenario_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/scenario_words.h"
#include "wire/rate.h"

enum { MESSAGE_BYTES_MAX = 1 << 24, DEPTH_MAX = 1024 };

static const struct scenario_choice services[] = {
	{"rc", FLOW_RC}, {"uc", FLOW_UC}, {"ud", FLOW_UD}, {"load", FLOW_LOAD}, {NULL, 0}};

static int take_static_rate(struct scenario_reader *reader, struct scenario_flow *flow)
{
	const char *word = scenario_reader_take(reader);
	uint64_t bits;

	if (word_rate(word, &bits))
		for (unsigned code = RATE_CODE_FIRST; code <= RATE_CODE_LAST; code++)
			if (rate_mbps(code) == bits / 1000000) {
				flow->static_rate = (uint8_t)code;
				return 0;
			}
	return scenario_reader_refuse(reader, "'%.40s' is not a link rate like 2.5Gbit or 100Gbit",
				      word);
}

static int take_flow_option(struct scenario_reader *reader, struct scenario_flow *flow)
{
	const char *word = scenario_reader_take(reader);
	uint64_t number = 0;
	unsigned service = flow->service;
	int error;

	if (strcmp(word, "service") == 0 && flow->service != FLOW_MULTICAST) {
		error = scenario_reader_choose(reader, "service (rc, uc, ud, load)", services,
					       &service);
		flow->service = (enum flow_service)service;
	} else if (strcmp(word, "size") == 0) {
		word = scenario_reader_take(reader);
		error = word_bytes(word, MESSAGE_BYTES_MAX, &flow->message_bytes)
				? 0
				: scenario_reader_refuse(
					  reader, "'%.40s' is not a size like 64 or 4K", word);
	} else if (strcmp(word, "rate") == 0) {
		word = scenario_reader_take(reader);
		error = strcmp(word, "max") == 0 || word_rate(word, &flow->bits_per_second)
				? 0
				: scenario_reader_refuse(
					  reader, "'%.40s' is not a rate like 10Gbit, or max",
					  word);
	} else if (strcmp(word, "depth") == 0) {
		error = scenario_reader_take_number(reader, "the depth", DEPTH_MAX, &number);
		flow->depth = (unsigned)number;
	} else if (strcmp(word, "count") == 0) {
		error = scenario_reader_take_number(reader, "the number of messages", UINT32_MAX,
						    &flow->message_count);
	} else if (strcmp(word, "sl") == 0) {
		error = scenario_reader_take_number(reader, "the SL", SL_COUNT - 1, &number);
		flow->sl = (uint8_t)number;
	} else if (strcmp(word, "start") == 0) {
		error = scenario_reader_take_time(reader, "the start", &flow->start);
	} else if (strcmp(word, "stop") == 0) {
		error = scenario_reader_take_time(reader, "the stop", &flow->stop);
	} else if (strcmp(word, "static-rate") == 0) {
		error = take_static_rate(reader, flow);
	} else {
		error = scenario_reader_refuse(reader, "a flow has no setting '%.40s'", word);
	}
	return error;
}

static int take_members(struct scenario_reader *reader, struct scenario_flow *flow)
{
	const char *next = scenario_reader_take(reader);

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
		return scenario_reader_refuse(reader, "members are up to %d hosts like h2,h3",
					      SCENARIO_MEMBERS_MAX);
	return 0;
}

static int expect(struct scenario_reader *reader, const char *word)
{
	return strcmp(scenario_reader_take(reader), word) == 0
		       ? 0
		       : scenario_reader_refuse(reader, "'%s' is missing", word);
}

static int take_flow(struct scenario_reader *reader, enum flow_service service)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_flow *flow =
		scenario_reader_grow((void **)&scenario->flows, &scenario->flow_count,
				     sizeof(*flow), SCENARIO_FLOWS_MAX);

	if (!flow)
		return scenario_reader_refuse(reader, "too many flows");
	flow->service = service;
	flow->line = reader->line_number;
	flow->message_bytes = 4096;
	flow->depth = 16;

	int error = scenario_reader_take_name(reader, "the flow's name", flow->name);

	if (!error)
		error = expect(reader, "from");
	if (!error)
		error = scenario_reader_take_name(reader, "the host it comes from", flow->from);
	if (!error)
		error = expect(reader, "to");
	if (!error)
		error = service == FLOW_MULTICAST
				? take_members(reader, flow)
				: scenario_reader_take_name(reader, "the host it goes to",
							    flow->to);
	while (!error && !scenario_reader_is_at_end(reader))
		error = take_flow_option(reader, flow);
	if (!error && flow->depth == 0)
		error = scenario_reader_refuse(reader, "the depth must be at least 1");
	return error;
}

int scenario_read_flow(struct scenario_reader *reader)
{
	return take_flow(reader, FLOW_RC);
}

int scenario_read_multicast(struct scenario_reader *reader)
{
	return take_flow(reader, FLOW_MULTICAST);
}
