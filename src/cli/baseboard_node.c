/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard of one node, asked by MADs from a port of a host. */
#include "cli/baseboard_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/class_session.h"
#include "cli/fabric_client.h"
#include "cli/node_target.h"
#include "cli/subcommand.h"
#include "wire/pkey.h"
#include "wire/smp.h"

json_t *baseboard_control_request(const struct subcommand *self, const char *command,
				  const char *target)
{
	struct node_target parsed;
	json_t *request;

	if (!node_target_parse(target, &parsed)) {
		subcommand_misuse(self, "name NODE, or NODE:PORT with a port from 0 to 254");
		return NULL;
	}
	request = json_pack("{s:s, s:s}", "command", command, "node", parsed.node);
	if (parsed.port != NODE_TARGET_NO_PORT)
		json_object_set_new(request, "port", json_integer(parsed.port));
	return request;
}

int baseboard_control(const struct baseboard_options *options, json_t *request)
{
	json_t *answer = request ? fabric_ask(options->fabric, request) : NULL;

	if (!request)
		return EXIT_USAGE;
	if (!answer)
		return EXIT_FAILURE;
	json_decref(answer);
	return EXIT_SUCCESS;
}

int baseboard_node_find(const struct subcommand *self, const struct baseboard_options *options,
			const char *target, struct baseboard_node *ret_node)
{
	json_t *request = baseboard_control_request(self, "baseboard", target);
	json_t *answer = request ? fabric_ask(options->fabric, request) : NULL;

	if (!answer)
		return request ? EXIT_FAILURE : EXIT_USAGE;
	*ret_node = (struct baseboard_node){
		.lid = (uint16_t)fabric_client_number(answer, "lid"),
		.port_guid = strtoull(fabric_client_text(answer, "port_guid"), NULL, 0),
		.has_power = json_is_true(json_object_get(answer, "has_power")),
	};
	snprintf(ret_node->name, sizeof(ret_node->name), "%s", fabric_client_text(answer, "node"));
	json_decref(answer);
	return EXIT_SUCCESS;
}

int baseboard_node_open(const struct baseboard_options *options, struct baseboard_node *node)
{
	const struct mad_agent_options agent = {.management_class = MAD_CLASS_BASEBOARD,
						.class_version = BASEBOARD_CLASS_VERSION};
	const struct mad_address to = {
		.lid = node->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .pkey = PKEY_DEFAULT_FULL};
	struct class_client_options client;

	if (!node->lid) {
		fprintf(stderr, "softib baseboard: %s has no LID yet\n", node->name);
		return EXIT_FAILURE;
	}
	if (host_port_open("baseboard", options->fabric, options->host, 0, &node->port.host))
		return EXIT_FAILURE;
	if (class_session_register(&node->port, &agent, &client) ||
	    baseboard_client_init(&node->client, &client, &to,
				  bkey_of(&options->keys, node->port_guid))) {
		mad_engine_close(&node->port);
		return EXIT_FAILURE;
	}
	(void)class_session_set_port(&node->port, &node->client.client);
	node->is_open = true;
	return EXIT_SUCCESS;
}

void baseboard_node_close(struct baseboard_node *node)
{
	if (!node->is_open)
		return;
	baseboard_client_release(&node->client);
	mad_engine_close(&node->port);
	node->is_open = false;
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	baseboard_client_receive(context, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	return baseboard_client_transmit(context, now, messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	return baseboard_client_deadline(context);
}

static bool is_done(void *context, time_ns now)
{
	(void)now;
	return baseboard_client_is_done(context);
}

static int explain(const struct baseboard_node *node, const struct baseboard_request *request)
{
	const char *text = baseboard_status_text((uint8_t)request->status);

	if (request->outcome == BASEBOARD_ANSWERED && request->status == 0)
		return EXIT_SUCCESS;
	if (request->outcome == BASEBOARD_REDIRECTED)
		fprintf(stderr,
			"softib baseboard: %s redirects the class to a place that can't be "
			"reached\n",
			node->name);
	else if (request->outcome != BASEBOARD_ANSWERED)
		fprintf(stderr,
			"softib baseboard: %s does not answer: it can't be reached, or the B_Key "
			"is wrong (--key)\n",
			node->name);
	else if (request->method != MAD_SEND)
		fprintf(stderr, "softib baseboard: %s refuses: status 0x%04x\n", node->name,
			request->status);
	else
		fprintf(stderr, "softib baseboard: %s refuses: %s (status 0x%02x)\n", node->name,
			text ? text : "unknown", request->status);
	return EXIT_FAILURE;
}

int baseboard_node_run(struct baseboard_node *node)
{
	const struct mad_engine engine = {.context = &node->client,
					  .receive = receive,
					  .transmit = transmit,
					  .deadline = deadline,
					  .is_done = is_done};
	int code = EXIT_SUCCESS;

	if (mad_engine_run(&node->port, &engine))
		return EXIT_FAILURE;
	for (unsigned i = 0; i < node->client.request_count && code == EXIT_SUCCESS; i++)
		code = explain(node, &node->client.requests[i]);
	return code;
}

int baseboard_node_command(const struct subcommand *self, const struct baseboard_options *options,
			   const char *target, enum baseboard_command command,
			   const uint8_t *parameters, unsigned parameter_count)
{
	struct baseboard_node node;
	int code = baseboard_node_find(self, options, target, &node);

	if (code == EXIT_SUCCESS)
		code = baseboard_node_open(options, &node);
	if (code != EXIT_SUCCESS)
		return code;
	baseboard_client_add_command(&node.client, command, parameters, parameter_count);
	code = baseboard_node_run(&node);
	baseboard_node_close(&node);
	return code;
}
