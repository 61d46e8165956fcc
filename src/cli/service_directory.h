/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of services at subnet administration, for softib services (management 4.8). */
#ifndef SOFTIB_CLI_SERVICE_DIRECTORY_H
#define SOFTIB_CLI_SERVICE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/sa_records.h"

struct subcommand;

/* A request as the arguments say it. */
struct service_request {
	const char *fabric; /* NULL: the default one */
	const char *host;   /* NULL: the first one */
	bool wants_json;
	struct service_record record;
	uint64_t components; /* those of the record that are given */
};

/* Whether the word is a subcommand of softib services. */
MUST_USE bool service_directory_knows(const char *word);

/* register, find or unregister, with its arguments. Returns the exit code. */
MUST_USE int service_directory_run(const struct subcommand *self, int argument_count,
				   char **arguments);

/* Reads the arguments of a subcommand; arguments[0] is its name. NULL, or what is wrong with them.
 */
const char *service_request_read(int argument_count, char **arguments,
				 struct service_request *ret_request);

#endif
