/* SPDX-License-Identifier: Apache-2.0 */
/* softib baseboard play: sets sensors at the times that a script names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli/baseboard_node.h"
#include "cli/subcommand.h"
#include "launch/text_file.h"

enum { SCRIPT_BYTES_MAX = 1 << 20, WORDS_MAX = 16 };

/* Splits the line at blanks, in place. Returns the number of words; a comment begins with #. */
static int split(char *line, char *ret_words[static WORDS_MAX])
{
	char *next = NULL;
	int count = 0;

	line[strcspn(line, "#")] = '\0';
	for (char *word = strtok_r(line, " \t\r", &next); word && count < WORDS_MAX;
	     word = strtok_r(NULL, " \t\r", &next))
		ret_words[count++] = word;
	return count;
}

static void wait_until(const struct timespec *start, double seconds)
{
	struct timespec at = *start;

	at.tv_sec += (time_t)seconds;
	at.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* SECONDS NODE NAME=VALUE... Times are from the start, and do not go back. */
static int play_line(const struct subcommand *self, const struct baseboard_options *options,
		     const struct timespec *start, int word_count, char **words, double *last)
{
	char *end;
	double at = strtod(words[0], &end);

	if (*end || end == words[0] || !(at >= *last && at <= 1e6) || word_count < 3)
		return EXIT_USAGE;
	*last = at;
	wait_until(start, at);
	return baseboard_sensor_action(self, options, word_count - 1, words + 1);
}

int baseboard_play(const struct subcommand *self, const struct baseboard_options *options,
		   int argument_count, char **arguments)
{
	struct timespec start;
	char *text = NULL, *next = NULL, *words[WORDS_MAX];
	size_t byte_count;
	double last = 0;
	int error, code = EXIT_SUCCESS;

	if (argument_count != 1)
		return subcommand_misuse(self, "play takes a file");
	error = text_file_read(arguments[0], SCRIPT_BYTES_MAX, &text, &byte_count);
	if (error) {
		fprintf(stderr, "softib baseboard: %s: %s\n", arguments[0], strerror(-error));
		return EXIT_FAILURE;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (char *line = strtok_r(text, "\n", &next); line && code == EXIT_SUCCESS;
	     line = strtok_r(NULL, "\n", &next)) {
		int word_count = split(line, words);

		if (word_count)
			code = play_line(self, options, &start, word_count, words, &last);
		if (code == EXIT_USAGE)
			fprintf(stderr,
				"softib baseboard: %s: a line is SECONDS NODE NAME=VALUE..., in "
				"the order of time\n",
				arguments[0]);
	}
	free(text);
	return code;
}
