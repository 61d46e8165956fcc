/* SPDX-License-Identifier: Apache-2.0 */
/* Options shared by subcommands that query a fabric: --name and --json. */
#include "cli/fabric_options.h"

#include <getopt.h>
#include <stdlib.h>
#include "cli/fabric_client.h"
#include "cli/subcommand.h"

static const struct option name_only[] = {
	{"name", required_argument, NULL, 'n'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct option name_and_json[] = {
	{"name", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int fabric_options_read(const struct subcommand *self, enum fabric_option_set accepted,
			int argument_count, char **arguments, struct fabric_options *ret_options)
{
	const struct option *long_options =
		accepted == FABRIC_NAME_AND_JSON ? name_and_json : name_only;
	const char *letters = accepted == FABRIC_NAME_AND_JSON ? "n:jh" : "n:h";
	const char *name = NULL;
	bool wants_json = false;
	int code;

	while ((code = getopt_long(argument_count, arguments, letters, long_options, NULL)) != -1) {
		if (code == 'n')
			name = optarg;
		else if (code == 'j')
			wants_json = true;
		else
			return code == 'h' ? subcommand_help(self) : subcommand_misuse(self, NULL);
	}
	*ret_options = (struct fabric_options){
		.fabric = fabric_name_or_default(name),
		.wants_json = wants_json,
	};
	return -1;
}

int fabric_options_read_all(const struct subcommand *self, enum fabric_option_set accepted,
			    int argument_count, char **arguments,
			    struct fabric_options *ret_options)
{
	int code = fabric_options_read(self, accepted, argument_count, arguments, ret_options);

	if (code < 0 && optind < argument_count)
		return subcommand_misuse(self, "unexpected argument: only options are accepted");
	return code;
}

int fabric_options_print(const struct fabric_options *options, json_t *answer,
			 void (*print)(const json_t *answer))
{
	if (!answer)
		return EXIT_FAILURE;
	/* "ok" carries no information for the user. */
	json_object_del(answer, "ok");
	if (options->wants_json)
		print_json(answer);
	else
		print(answer);
	json_decref(answer);
	return EXIT_SUCCESS;
}

int fabric_options_query(const struct subcommand *self, int argument_count, char **arguments,
			 const char *command, void (*print)(const json_t *answer))
{
	struct fabric_options options = {0};
	int code = fabric_options_read_all(self, FABRIC_NAME_AND_JSON, argument_count, arguments,
					   &options);

	if (code >= 0)
		return code;
	return fabric_options_print(
		&options, fabric_ask(options.fabric, json_pack("{s:s}", "command", command)),
		print);
}
