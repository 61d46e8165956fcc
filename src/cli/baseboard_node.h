/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard of one node, asked by MADs from a port of a host. */
#ifndef SOFTIB_CLI_BASEBOARD_NODE_H
#define SOFTIB_CLI_BASEBOARD_NODE_H

#include <jansson.h>
#include "cli/baseboard_options.h"
#include "cli/mad_engine.h"
#include "mgmt/baseboard/baseboard_client.h"

struct baseboard_node {
	char name[128]; /* the node's description */
	uint16_t lid;
	uint64_t port_guid;
	bool has_power;
	bool is_open;
	struct mad_engine_port port;
	struct baseboard_client client;
};

/* Where the node is: NODE or NODE:PORT. Prints the error and returns the exit code, or 0. */
MUST_USE int baseboard_node_find(const struct subcommand *self,
				 const struct baseboard_options *options, const char *target,
				 struct baseboard_node *ret_node);
/* Opens the port of the host, from which the requests added to node->client go. */
MUST_USE int baseboard_node_open(const struct baseboard_options *options,
				 struct baseboard_node *node);
/* Sends the requests. Prints why one was refused or got no answer, and returns the exit code. */
MUST_USE int baseboard_node_run(struct baseboard_node *node);
void baseboard_node_close(struct baseboard_node *node);

/* The whole of an action with one command. */
MUST_USE int baseboard_node_command(const struct subcommand *self,
				    const struct baseboard_options *options, const char *target,
				    enum baseboard_command command, const uint8_t *parameters,
				    unsigned parameter_count);

/* A request to softibd about a node: {"command": ..., "node": ..., "port": ...}. NULL after
 * printing that the target is not NODE or NODE:PORT. */
json_t *baseboard_control_request(const struct subcommand *self, const char *command,
				  const char *target);
/* Sends it, which consumes it. Returns the exit code. */
MUST_USE int baseboard_control(const struct baseboard_options *options, json_t *request);

#endif
