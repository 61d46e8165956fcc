/* SPDX-License-Identifier: Apache-2.0 */
/* softib identify: turns the LEDs of a node on or off, by MADs (docs/vendor-class.md). */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "cli/fabric_client.h"
#include "cli/node_target.h"
#include "cli/subcommand.h"
#include "cli/vendor_client.h"
#include "wire/vendor_softib.h"

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'}, {"host", required_argument, NULL, 'H'},
	{"for", required_argument, NULL, 'f'},	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},	{NULL, 0, NULL, 0},
};

struct identify_options {
	const char *fabric, *host, *seconds;
	bool wants_json;
};

static bool parse_seconds(const char *text, uint32_t *ret_seconds)
{
	unsigned long seconds;
	char *end;

	errno = 0;
	seconds = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || seconds == 0 || seconds > UINT32_MAX)
		return false;
	*ret_seconds = (uint32_t)seconds;
	return true;
}

static void print_state(const struct identify *state, bool wants_json)
{
	if (wants_json) {
		json_t *object = json_pack("{s:b, s:I}", "on", (int)state->is_on, "seconds_left",
					   (json_int_t)state->seconds);

		print_json(object);
		json_decref(object);
	} else if (state->seconds) {
		printf("on, %" PRIu32 " s left\n", state->seconds);
	} else {
		puts(state->is_on ? "on" : "off");
	}
}

/* Without a word it asks only. */
static int identify(const struct identify_options *wanted, const struct subcommand *self,
		    const struct node_target *node, const char *word)
{
	struct vendor_client client;
	struct identify state = {.is_on = word && strcmp(word, "on") == 0};
	uint8_t data[IDENTIFY_BYTES];
	bool is_done;

	if (word && !state.is_on && strcmp(word, "off") != 0)
		return subcommand_misuse(self, "say on or off");
	if (wanted->seconds && (!state.is_on || !parse_seconds(wanted->seconds, &state.seconds)))
		return subcommand_misuse(self, "--for takes seconds, with on");
	if (vendor_client_open(&client, self->name, fabric_name_or_default(wanted->fabric),
			       wanted->host, node) != 0)
		return EXIT_FAILURE;
	identify_encode(&state, data);
	is_done = vendor_client_ask(&client, word ? MAD_SET : MAD_GET, ATTRIBUTE_IDENTIFY, 0, data,
				    sizeof(data));
	vendor_client_close(&client);
	if (!is_done)
		return EXIT_FAILURE;
	identify_decode(data, &state);
	print_state(&state, wanted->wants_json);
	return EXIT_SUCCESS;
}

static int run_identify(const struct subcommand *self, int argument_count, char **arguments)
{
	struct identify_options wanted = {0};
	struct node_target node;
	int letter;

	while ((letter = getopt_long(argument_count, arguments, "n:H:jh", options, NULL)) != -1) {
		switch (letter) {
		case 'n':
			wanted.fabric = optarg;
			break;
		case 'H':
			wanted.host = optarg;
			break;
		case 'f':
			wanted.seconds = optarg;
			break;
		case 'j':
			wanted.wants_json = true;
			break;
		case 'h':
			return subcommand_help(self);
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	if (optind == argument_count || argument_count - optind > 2 ||
	    !node_target_parse(arguments[optind], &node))
		return subcommand_misuse(self, "name one NODE, and on or off");
	return identify(&wanted, self, &node,
			optind + 1 < argument_count ? arguments[optind + 1] : NULL);
}

const struct subcommand subcommand_identify = {
	.name = "identify",
	.summary = "turn the LEDs of a node on or off",
	.usage =
		"Usage: softib identify NODE [on|off] [OPTION]...\n"
		"Turns the LEDs of a node on or off, as LedInfo shows them, or says how they are.\n"
		"A host's port asks the node by MADs of softib's vendor class.\n"
		"\n"
		"  --for SECONDS       turn them off by themselves after this time\n"
		"  -H, --host HOST     the host that asks (default: the first)\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -j, --json          print JSON\n",
	.run = run_identify,
};
