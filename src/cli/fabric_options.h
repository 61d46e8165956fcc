/* SPDX-License-Identifier: Apache-2.0 */
/* The options of subcommands that ask a fabric something: which fabric, and how to print. */
#ifndef SOFTIB_CLI_FABRIC_OPTIONS_H
#define SOFTIB_CLI_FABRIC_OPTIONS_H

#include <stdbool.h>
#include <jansson.h>
#include "base/attributes.h"

struct subcommand;

struct fabric_options {
	const char *fabric;
	bool wants_json;
};

enum fabric_option_set { FABRIC_NAME_ONLY, FABRIC_NAME_AND_JSON };

/* Returns -1, with optind behind the options, or the exit code when there is nothing more to do. */
MUST_USE int fabric_options_read(const struct subcommand *self, enum fabric_option_set accepted,
				 int argument_count, char **arguments,
				 struct fabric_options *ret_options);
/* The same where nothing may stand behind the options. */
MUST_USE int fabric_options_read_all(const struct subcommand *self, enum fabric_option_set accepted,
				     int argument_count, char **arguments,
				     struct fabric_options *ret_options);

/* Prints an answer as was asked for, as JSON or by this function, and lets go of it. Returns the
 * exit code; no answer is a failure that has been told. */
MUST_USE int fabric_options_print(const struct fabric_options *options, json_t *answer,
				  void (*print)(const json_t *answer));

#endif
