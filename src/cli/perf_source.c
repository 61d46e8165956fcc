/* SPDX-License-Identifier: Apache-2.0 */
/* Where softib perf gets its figures from: softibd's performance manager, or one in this process.
 */
#include "cli/perf_source.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/answer_pages.h"
#include "cli/fabric_client.h"
#include "mgmt/perf/perf_report.h"
#include "wire/performance.h"
#include "wire/pkey.h"

enum { POLL_MS_MAX = 20, SWEEP_SECONDS_MAX = 120, MILLISECONDS_PER_SECOND = 1000 };

static time_ns clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (time_ns)time.tv_sec * SECONDS(1) + (time_ns)time.tv_nsec;
}

int perf_source_open(struct perf_source *source, const char *fabric, const char *host)
{
	if (host)
		return perf_source_open_own(source, fabric, host);
	*source = (struct perf_source){.socket = fabric_client_open(fabric),
				       .thresholds = perf_thresholds_default};
	return source->socket < 0 ? source->socket : 0;
}

static int register_agents(struct perf_source *source, struct perf_options *options)
{
	struct mad_agent_identity identity;
	const struct mad_agent_options performance = {.management_class = MAD_CLASS_PERFORMANCE,
						      .class_version = PERFORMANCE_CLASS_VERSION};
	const struct mad_agent_options administration = {.management_class =
								 MAD_CLASS_SUBNET_ADMINISTRATION,
							 .class_version = SA_CLASS_VERSION};
	int error = mad_engine_register(&source->port, &performance, &identity);

	if (error)
		return error;
	options->agent_number = identity.number;
	error = mad_engine_register(&source->port, &administration, &identity);
	options->sa_agent_number = identity.number;
	return error;
}

int perf_source_open_own(struct perf_source *source, const char *fabric, const char *host)
{
	struct perf_options options = {.thresholds = perf_thresholds_default};
	int error;

	*source = (struct perf_source){.socket = -1, .thresholds = perf_thresholds_default};
	error = host_port_open("perf", fabric, host, 0, &source->port.host);
	if (error)
		return error;
	error = register_agents(source, &options);
	if (!error)
		error = perf_manager_init(&source->manager, &options);
	if (error)
		mad_engine_close(&source->port);
	return error;
}

void perf_source_close(struct perf_source *source)
{
	json_decref(source->changed_thresholds);
	if (source->socket >= 0) {
		close(source->socket);
		return;
	}
	perf_manager_release(&source->manager);
	mad_engine_close(&source->port);
}

static uint64_t gid_prefix_of(const struct host_port *port)
{
	char path[sizeof(port->tree) + 96];
	char text[64];
	uint64_t prefix = 0;
	char *next = NULL;
	unsigned group = 0;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports/%u/gids/0", port->tree,
		 port->adapter, port->port_number);
	host_port_read_text(path, text, sizeof(text));
	for (char *word = strtok_r(text, ":", &next); word && group < 4;
	     word = strtok_r(NULL, ":", &next), group++)
		prefix = prefix << 16 | (strtoul(word, NULL, 16) & 0xffff);
	return prefix;
}

void perf_source_refresh_port(struct perf_source *source)
{
	const struct host_port *host = &source->port.host;
	struct perf_own_port port = {.pkey = PKEY_DEFAULT_FULL,
				     .gid = gid_from(gid_prefix_of(host), host->port_guid)};

	host_port_find_sa(host, &port.sm_lid, &port.sm_sl);
	perf_manager_set_port(&source->manager, &port);
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	perf_manager_receive(&((struct perf_source *)context)->manager, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	return perf_manager_transmit(&((struct perf_source *)context)->manager, now, messages_max,
				     ret_messages);
}

static time_ns deadline(const void *context)
{
	return perf_manager_deadline(&((const struct perf_source *)context)->manager);
}

static bool is_done(void *context, time_ns now)
{
	(void)now;
	return perf_manager_is_idle(&((struct perf_source *)context)->manager);
}

static int sweep_here(struct perf_source *source, enum perf_sweep_kind kind)
{
	const struct mad_engine engine = {.context = source,
					  .receive = receive,
					  .transmit = transmit,
					  .deadline = deadline,
					  .is_done = is_done,
					  .descriptor = -1};
	int error;

	source->manager.options.thresholds = source->thresholds;
	perf_source_refresh_port(source);
	if (source->details_port)
		perf_manager_ask_sample(
			&source->manager, source->details_port,
			MILLISECONDS(kind == PERF_SWEEP_READ ? source->sample_ms : 0));
	if (kind == PERF_SWEEP_CLEAR)
		perf_manager_ask_clear(&source->manager);
	else
		perf_manager_ask_sweep(&source->manager);
	error = mad_engine_run(&source->port, &engine);
	if (error)
		return error;
	return perf_manager_is_idle(&source->manager) ? 0 : -EINTR;
}

/* Whether softibd's managers have all ended the sweeps with these numbers. -errno after printing
 * the error. */
static int sweeps_have_ended(struct perf_source *source, const json_t *awaited)
{
	json_t *answer = fabric_client_ask(
		source->socket, json_pack("{s:s, s:s}", "command", "perf-report", "part", "sweep"),
		ANSWER_TIMEOUT_MS);
	const json_t *numbers = json_object_get(json_object_get(answer, "sweep"), "numbers");
	int have_ended = 1;

	if (!answer)
		return -EIO;
	for (size_t i = 0; i < json_array_size(awaited); i++)
		if (json_integer_value(json_array_get(numbers, i)) <
		    json_integer_value(json_array_get(awaited, i)))
			have_ended = 0;
	json_decref(answer);
	return have_ended;
}

static int wait_for_sweeps(struct perf_source *source, const json_t *awaited)
{
	time_ns end = clock_now() + SECONDS(SWEEP_SECONDS_MAX);
	int wait_ms = 1;

	for (;;) {
		int have_ended = sweeps_have_ended(source, awaited);

		if (have_ended)
			return have_ended < 0 ? have_ended : 0;
		if (clock_now() >= end) {
			fprintf(stderr, "softib perf: the sweep does not end\n");
			return -ETIMEDOUT;
		}
		if (!perf_source_wait(source, wait_ms))
			return -EINTR;
		wait_ms = wait_ms < POLL_MS_MAX / 2 ? wait_ms * 2 : POLL_MS_MAX;
	}
}

static int sweep_in_softibd(struct perf_source *source, enum perf_sweep_kind kind)
{
	json_t *request =
		json_pack("{s:s, s:b}", "command", "perf-sweep", "clear", kind == PERF_SWEEP_CLEAR);

	if (source->changed_thresholds)
		json_object_set(request, "thresholds", source->changed_thresholds);
	if (source->details_port)
		json_object_set_new(request, "details", json_string(source->details_port));
	if (source->sample_ms && kind == PERF_SWEEP_READ)
		json_object_set_new(request, "sample_ms", json_integer(source->sample_ms));
	if (source->interval_seconds >= 0)
		json_object_set_new(request, "interval", json_integer(source->interval_seconds));

	json_t *answer = fabric_client_ask(source->socket, request, ANSWER_TIMEOUT_MS);
	int error = answer ? wait_for_sweeps(source, json_object_get(answer, "numbers")) : -EIO;

	json_decref(answer);
	return error;
}

int perf_source_sweep(struct perf_source *source, enum perf_sweep_kind kind)
{
	return source->socket >= 0 ? sweep_in_softibd(source, kind) : sweep_here(source, kind);
}

static json_t *part_from_here(const struct perf_source *source, const char *part, unsigned top)
{
	const struct perf_report_range range = {.count = UINT32_MAX, .top = top};
	const struct perf_manager *manager = &source->manager;
	const struct perf_subnets subnets = {.managers = &manager, .count = 1};
	enum perf_report_part which;
	char *text = NULL;
	size_t byte_count = 0;
	FILE *file = open_memstream(&text, &byte_count);
	json_t *object = NULL;

	if (file && perf_report_part_find(part, &which) &&
	    perf_report_write(&subnets, clock_now(), which, &range, file) == 0 && fflush(file) == 0)
		object = json_loadb(text, byte_count, 0, NULL);
	if (file)
		fclose(file);
	free(text);
	if (!object)
		fprintf(stderr, "softib perf: out of memory\n");
	return object;
}

json_t *perf_source_part(struct perf_source *source, const char *part, unsigned top)
{
	if (source->socket < 0)
		return part_from_here(source, part, top);
	return answer_pages_collect(source->socket,
				    json_pack("{s:s, s:s, s:i}", "command", "perf-report", "part",
					      part, "top", (int)top),
				    "rows");
}

/* softibd sends nothing unasked, so its socket is readable only when softibd has gone. */
bool perf_source_wait(const struct perf_source *source, int milliseconds)
{
	struct pollfd file = {.fd = source->socket, .events = source->socket >= 0 ? POLLIN : 0};

	return poll(&file, 1, milliseconds) == 0;
}
