/* SPDX-License-Identifier: Apache-2.0 */
/* The options of exactly_once.c. */
#ifndef SOFTIB_TESTS_CLIENTS_EXACTLY_ONCE_OPTIONS_H
#define SOFTIB_TESTS_CLIENTS_EXACTLY_ONCE_OPTIONS_H

#include "exactly_once_services.h"

struct options {
	unsigned seconds, seed, qps, size_max, timeout;
	enum service service;
	bool has_srq, has_thread, is_send_only, has_events;
};

static struct options read_options(int argument_count, char **arguments)
{
	struct options options = {
		.seconds = 10,
		.seed = 1,
		.qps = 1,
		.size_max = 4096,
		.timeout = 15,
		.service = SERVICE_RC,
	};

	for (int i = 3; i < argument_count; i++) {
		char *value = strchr(arguments[i], '=');
		unsigned number = value ? (unsigned)strtoul(value + 1, NULL, 10) : 0;

		CHECK(value);
		*value++ = 0;
		if (strcmp(arguments[i], "seconds") == 0)
			options.seconds = number;
		else if (strcmp(arguments[i], "seed") == 0)
			options.seed = number;
		else if (strcmp(arguments[i], "qps") == 0)
			options.qps = number;
		else if (strcmp(arguments[i], "size") == 0)
			options.size_max = number;
		else if (strcmp(arguments[i], "timeout") == 0)
			options.timeout = number;
		else if (strcmp(arguments[i], "srq") == 0)
			options.has_srq = number;
		else if (strcmp(arguments[i], "thread") == 0)
			options.has_thread = number;
		else if (strcmp(arguments[i], "send-only") == 0)
			options.is_send_only = number;
		else if (strcmp(arguments[i], "events") == 0)
			options.has_events = number;
		else if (strcmp(arguments[i], "type") == 0)
			options.service = service_named(value);
		else
			CHECK(false && "an option that is known");
	}
	return options;
}

#endif
