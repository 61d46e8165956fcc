/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the built-in performance manager.
 *
 *   {"command":"perf-sweep","clear":bool,"thresholds":{"symbol_error":10,...},"interval":SECONDS,
 *	"details":"h1:1","sample_ms":N}
 *	-> "numbers": of each subnet the sweep that has begun or is to follow; the fields may be
 *	left out. A report has the numbers of the sweeps that have ended.
 *   {"command":"perf-report","part":"summary","top":N,"from":N} -> the part, as in
 *	mgmt/perf/perf_report.h, with "rows" and "next" while there are more
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/control/request_fields.h"
#include "daemon/daemon.h"
#include "launch/start_options.h"
#include "mgmt/perf/perf_report.h"

/* Rows that fit into a control message. */
enum { ROWS_PER_PAGE = 60, PORT_ROWS_PER_PAGE = 16 };

/* The thresholds with the changes of the request. */
static bool read_thresholds(const json_t *request, struct perf_thresholds *thresholds,
			    struct reply *ret_reply)
{
	const json_t *value;
	const char *name;

	json_object_foreach (json_object_get(request, "thresholds"), name, value) {
		if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		    !perf_thresholds_set(thresholds, name, (uint64_t)json_integer_value(value))) {
			reply_error(ret_reply, EINVAL, "there is no threshold %.40s of that value",
				    name);
			return false;
		}
	}
	return true;
}

/* -1: the request names none. */
static bool read_interval(const json_t *request, int64_t *ret_seconds, struct reply *ret_reply)
{
	uint32_t seconds;

	*ret_seconds = -1;
	if (!json_object_get(request, "interval"))
		return true;
	if (!request_integer(request, "interval", PERF_INTERVAL_SECONDS_MAX, &seconds)) {
		reply_error(ret_reply, EINVAL, "an interval has 0 to %d seconds",
			    PERF_INTERVAL_SECONDS_MAX);
		return false;
	}
	*ret_seconds = seconds;
	return true;
}

/* Returns the number of the sweep that will have done all that the request asks for. */
static uint64_t ask_sweep(struct perf_manager *manager, const json_t *request, uint32_t sample_ms)
{
	const char *details = json_string_value(json_object_get(request, "details"));
	uint64_t number = perf_manager_next_sweep(manager);

	if (details)
		perf_manager_ask_sample(manager, details, MILLISECONDS(sample_ms));
	if (json_is_true(json_object_get(request, "clear")))
		perf_manager_ask_clear(manager);
	else
		perf_manager_ask_sweep(manager);
	return number;
}

static void run_perf_sweep(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	struct perf_runners *perf = &daemon->managers.perf;
	int error = managers_start_perf(&daemon->managers, &daemon->mads, 0);
	struct perf_thresholds thresholds;
	uint32_t sample_ms = 0;
	int64_t seconds;

	if (error) {
		reply_error(ret_reply, -error, "no performance manager: %s",
			    error == -ENODEV ? "the fabric has no adapter with a cable"
					     : strerror(-error));
		return;
	}
	thresholds = perf->managers[0]->options.thresholds;
	if (!read_thresholds(request, &thresholds, ret_reply) ||
	    !read_interval(request, &seconds, ret_reply))
		return;

	if (json_object_get(request, "sample_ms") &&
	    !request_integer(request, "sample_ms", PORT_SAMPLING_MAX / MILLISECONDS(1),
			     &sample_ms)) {
		reply_error(ret_reply, EINVAL, "a sample takes up to 10000 ms");
		return;
	}

	json_t *numbers = json_array();

	for (uint32_t i = 0; i < perf->count; i++) {
		struct perf_manager *manager = &perf->runners[i].manager;

		manager->options.thresholds = thresholds;
		if (seconds >= 0)
			perf_manager_set_interval(manager, SECONDS((time_ns)seconds));
		json_array_append_new(
			numbers, json_integer((json_int_t)ask_sweep(manager, request, sample_ms)));
	}
	reply_ok(ret_reply, json_pack("{s:o}", "numbers", numbers));
}

/* NULL: out of memory. */
static json_t *write_part(const struct perf_runners *perf, time_ns now, enum perf_report_part part,
			  const struct perf_report_range *range)
{
	char *text = NULL;
	size_t byte_count = 0;
	FILE *file = open_memstream(&text, &byte_count);
	json_t *object = NULL;

	if (!file)
		return NULL;

	const struct perf_subnets subnets = {.managers = perf->managers, .count = perf->count};
	int error = perf_report_write(&subnets, now, part, range, file);

	if (fclose(file) == 0 && !error)
		object = json_loadb(text, byte_count, 0, NULL);
	free(text);
	return object;
}

static void run_perf_report(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const struct daemon *daemon = client_daemon(client);
	const struct perf_runners *perf = &daemon->managers.perf;
	const char *name = json_string_value(json_object_get(request, "part"));
	struct perf_report_range range = {.top = PERF_REPORT_TOP_MAX};
	enum perf_report_part part;

	if (!name || !perf_report_part_find(name, &part) ||
	    (json_object_get(request, "from") &&
	     !request_integer(request, "from", INT32_MAX, &range.from)) ||
	    (json_object_get(request, "top") &&
	     !request_integer(request, "top", PERF_REPORT_TOP_MAX, &range.top))) {
		reply_error(ret_reply, EINVAL, "a report needs a part, and rows up to %d",
			    PERF_REPORT_TOP_MAX);
		return;
	}
	if (!perf->count) {
		reply_error(ret_reply, ENOENT, "there has been no sweep of the fabric yet");
		return;
	}
	range.count = part == PERF_REPORT_PORTS ? PORT_ROWS_PER_PAGE : ROWS_PER_PAGE;

	json_t *object = write_part(perf, daemon->core.loop.now, part, &range);

	if (object)
		reply_ok(ret_reply, object);
	else
		reply_error(ret_reply, ENOMEM, "out of memory");
}

const struct command perf_commands[] = {
	{"perf-sweep", run_perf_sweep, FOR_OPERATORS},
	{"perf-report", run_perf_report},
	{NULL, NULL},
};
