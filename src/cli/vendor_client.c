/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of softib's vendor class from a port of a host to any node. */
#include "cli/vendor_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/bytes.h"
#include "cli/class_session.h"
#include "cli/fabric_client.h"
#include "cli/node_target.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/smp.h"
#include "wire/vendor_softib.h"

static time_ns clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (time_ns)time.tv_sec * SECONDS(1) + (time_ns)time.tv_nsec;
}

/* The LID of the node's port; 0 after printing the error. */
static uint16_t find_lid(const char *user, const char *fabric, const struct node_target *node)
{
	json_t *request = json_pack("{s:s, s:s, s:s}", "command", "get", "node", node->node,
				    "attribute", "port_info");
	json_t *answer;
	json_int_t lid;

	if (node->port != NODE_TARGET_NO_PORT)
		json_object_set_new(request, "port", json_integer(node->port));
	answer = fabric_ask(fabric, request);
	if (!answer)
		return 0;
	lid = json_integer_value(json_object_get(json_object_get(answer, "fields"), "lid"));
	json_decref(answer);
	if (lid <= 0 || lid > UINT16_MAX) {
		fprintf(stderr, "softib %s: %s has no LID\n", user, node->node);
		return 0;
	}
	return (uint16_t)lid;
}

static int start_client(struct vendor_client *client)
{
	const struct mad_agent_options vendor = {.management_class = MAD_CLASS_SOFTIB,
						 .class_version = SOFTIB_CLASS_VERSION,
						 .oui = SOFTIB_OUI};
	struct class_client_options options;
	int error = class_session_register(&client->port, &vendor, &options);

	if (error)
		return error;
	options.timeout = SECONDS(1);
	error = class_client_init(&client->client, &options);
	if (!error)
		client->pkey = class_session_set_port(&client->port, &client->client);
	return error;
}

int vendor_client_open(struct vendor_client *client, const char *user, const char *fabric,
		       const char *host, const struct node_target *node)
{
	int error;

	*client = (struct vendor_client){.user = user, .lid = find_lid(user, fabric, node)};
	if (!client->lid)
		return -ENOENT;
	error = host_port_open(user, fabric, host, 0, &client->port.host);
	if (error)
		return error;
	error = start_client(client);
	if (error)
		mad_engine_close(&client->port);
	return error;
}

void vendor_client_close(struct vendor_client *client)
{
	class_client_release(&client->client);
	mad_engine_close(&client->port);
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	class_client_receive(&((struct vendor_client *)context)->client, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	return class_client_transmit(&((struct vendor_client *)context)->client, now, messages_max,
				     ret_messages);
}

static time_ns deadline(const void *context)
{
	const struct vendor_client *client = context;

	return time_earlier(client->wait_until, class_client_deadline(&client->client));
}

static bool is_done(void *context, time_ns now)
{
	struct vendor_client *client = context;

	if (!client->has_result)
		client->has_result = class_client_take_result(&client->client, &client->result);
	return client->has_result || client->wait_until <= now;
}

static bool run(struct vendor_client *client)
{
	const struct mad_engine engine = {
		.context = client,
		.receive = receive,
		.transmit = transmit,
		.deadline = deadline,
		.is_done = is_done,
		.descriptor = -1,
	};

	return mad_engine_run(&client->port, &engine) == 0;
}

static void make_request(const struct vendor_client *client, enum mad_method method,
			 uint16_t attribute_id, uint32_t modifier, struct mad_message *ret_request)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SOFTIB,
		.class_version = SOFTIB_CLASS_VERSION,
		.method = (uint8_t)method,
		.attribute_id = attribute_id,
		.attribute_modifier = modifier,
	};

	*ret_request = (struct mad_message){.address = {.lid = client->lid,
							.qpn = QPN_GSI,
							.qkey = QKEY_GSI,
							.pkey = client->pkey}};
	mad_header_encode(&header, ret_request->bytes);
	put_be24(ret_request->bytes + VENDOR_OUI_OFFSET, SOFTIB_OUI);
}

static void explain_redirection(const struct vendor_client *client)
{
	struct class_port_info info;
	uint16_t own;

	mad_redirect_read(&client->result.message, &info);
	if (info.redirect_pkey & 0x7fff &&
	    !host_port_own_pkey(&client->port.host, info.redirect_pkey, &own))
		fprintf(stderr,
			"softib %s: LID %d redirects the class into partition 0x%04x, which %s is "
			"not in\n",
			client->user, client->lid, info.redirect_pkey, client->port.host.name);
	else if (client->result.is_loop)
		fprintf(stderr,
			"softib %s: LID %d redirects the class, and so do the places that it "
			"names: a loop\n",
			client->user, client->lid);
	else
		fprintf(stderr,
			"softib %s: LID %d redirects the class to a GID without a path from %s\n",
			client->user, client->lid, client->port.host.name);
}

static bool is_answered(const struct vendor_client *client)
{
	unsigned status = get_be16(client->result.message.bytes + MAD_STATUS_OFFSET);

	switch (client->result.outcome) {
	case CLASS_CLIENT_ANSWERED:
		if (status)
			fprintf(stderr, "softib %s: LID %d answers with status 0x%04x%s\n",
				client->user, client->lid, status,
				status == MAD_STATUS_BUSY ? " (busy)" : "");
		return !status;
	case CLASS_CLIENT_REDIRECTED:
		explain_redirection(client);
		return false;
	case CLASS_CLIENT_TIMED_OUT:
		fprintf(stderr, "softib %s: no answer from LID %d\n", client->user,
			client->result.message.address.lid);
		return false;
	}
	return false;
}

bool vendor_client_ask(struct vendor_client *client, enum mad_method method, uint16_t attribute_id,
		       uint32_t modifier, uint8_t *data, size_t byte_count)
{
	struct mad_message request;

	assert(byte_count <= MAD_BYTES - VENDOR_DATA_OFFSET);
	make_request(client, method, attribute_id, modifier, &request);
	memcpy(request.bytes + VENDOR_DATA_OFFSET, data, byte_count);
	client->has_result = false;
	client->wait_until = TIME_NEVER;
	if (class_client_ask(&client->client, &request, (struct mad_purpose){0}) != 0 ||
	    !run(client))
		return false;
	/* Only a signal ends the engine without a result. */
	client->is_interrupted = !client->has_result;
	if (client->is_interrupted || !is_answered(client))
		return false;
	memcpy(data, client->result.message.bytes + VENDOR_DATA_OFFSET, byte_count);
	return true;
}

bool vendor_client_wait(struct vendor_client *client, time_ns time)
{
	client->has_result = false;
	client->wait_until = clock_now() + time;
	if (!run(client))
		return false;
	client->is_interrupted = clock_now() < client->wait_until;
	return !client->is_interrupted;
}
