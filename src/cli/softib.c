/* SPDX-License-Identifier: Apache-2.0 */
/* softib: finds the subcommand and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "cli/subcommand.h"
#include "softib_version.h"

static const struct subcommand *const subcommands[] = {
	&subcommand_up,	      &subcommand_down, &subcommand_status,  &subcommand_hosts,
	&subcommand_services, &subcommand_link, &subcommand_run,     &subcommand_sm,
	&subcommand_get,      &subcommand_set,	&subcommand_capture, &subcommand_fault,
	&subcommand_explain,  &subcommand_sim,	&subcommand_io,
};

int subcommand_help(const struct subcommand *self)
{
	fputs(self->usage, stdout);
	return EXIT_SUCCESS;
}

int subcommand_misuse(const struct subcommand *self, const char *reason)
{
	if (reason)
		fprintf(stderr, "softib %s: %s\n", self->name, reason);
	fprintf(stderr, "Try: softib %s --help\n", self->name);
	return EXIT_USAGE;
}

static void print_help(FILE *file)
{
	fputs("Usage: softib COMMAND [OPTION]...\n"
	      "InfiniBand in software: virtual hosts, switches and a subnet manager on this "
	      "machine.\n"
	      "\n",
	      file);
	for (unsigned index = 0; index < ARRAY_COUNT(subcommands); index++)
		fprintf(file, "  %-8s %s\n", subcommands[index]->name, subcommands[index]->summary);
	fputs("\n"
	      "softib COMMAND --help describes a command. For a first try:\n"
	      "  softib up --hosts 2\n"
	      "  softib run -H h1 -- ibv_devinfo\n"
	      "  softib down\n"
	      "\n"
	      "SOFTIB_FABRIC and SOFTIB_HOST set the default fabric and host.\n",
	      file);
}

int main(int argument_count, char **arguments)
{
	const char *name = argument_count > 1 ? arguments[1] : NULL;

	if (!name) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		print_help(stdout);
		return EXIT_SUCCESS;
	}
	if (strcmp(name, "--version") == 0) {
		puts("softib " SOFTIB_VERSION);
		return EXIT_SUCCESS;
	}
	for (unsigned index = 0; index < ARRAY_COUNT(subcommands); index++) {
		if (strcmp(subcommands[index]->name, name) == 0)
			return subcommands[index]->run(subcommands[index], argument_count - 1,
						       arguments + 1);
	}
	fprintf(stderr, "softib: unknown command %s; softib --help lists the commands\n", name);
	return EXIT_USAGE;
}
