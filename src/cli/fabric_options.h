/* SPDX-License-Identifier: Apache-2.0 */
/* Options shared by subcommands that query a fabric: --name and --json. */
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

/* Returns -1, with optind after the options, or the exit code if the command is done. */
MUST_USE int fabric_options_read(const struct subcommand *self, enum fabric_option_set accepted,
				 int argument_count, char **arguments,
				 struct fabric_options *ret_options);
/* fabric_options_read() for a command without other arguments. */
MUST_USE int fabric_options_read_all(const struct subcommand *self, enum fabric_option_set accepted,
				     int argument_count, char **arguments,
				     struct fabric_options *ret_options);

/* Prints and releases an answer, as JSON or by this function. Returns the exit code. NULL: the
 * error has been printed, so only fails. */
MUST_USE int fabric_options_print(const struct fabric_options *options, json_t *answer,
				  void (*print)(const json_t *answer));

/* A whole command without other arguments: reads the options, sends the command of this name to the
 * fabric and prints the answer. Returns the exit code. */
MUST_USE int fabric_options_query(const struct subcommand *self, int argument_count,
				  char **arguments, const char *command,
				  void (*print)(const json_t *answer));

#endif
