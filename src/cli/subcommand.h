/* SPDX-License-Identifier: Apache-2.0 */
/* softib's subcommands: each has a name, a summary, a help text and a function that gets its
 * arguments. */
#ifndef SOFTIB_CLI_SUBCOMMAND_H
#define SOFTIB_CLI_SUBCOMMAND_H

enum { EXIT_USAGE = 2 };

struct subcommand {
	const char *name;
	const char *summary;
	const char *usage; /* the whole text of --help */
	int (*run)(const struct subcommand *self, int argument_count, char **arguments);
};

extern const struct subcommand subcommand_up;
extern const struct subcommand subcommand_down;
extern const struct subcommand subcommand_status;
extern const struct subcommand subcommand_hosts;
extern const struct subcommand subcommand_link;
extern const struct subcommand subcommand_services;
extern const struct subcommand subcommand_get;
extern const struct subcommand subcommand_set;
extern const struct subcommand subcommand_run;
extern const struct subcommand subcommand_sm;
extern const struct subcommand subcommand_capture;
extern const struct subcommand subcommand_fault;
extern const struct subcommand subcommand_explain;
extern const struct subcommand subcommand_sim;
extern const struct subcommand subcommand_io;

/* Print the help text, or the error and a hint, and return the exit code. */
int subcommand_help(const struct subcommand *self);
int subcommand_misuse(const struct subcommand *self, const char *reason);

#endif
