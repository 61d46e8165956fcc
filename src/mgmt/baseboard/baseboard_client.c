/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the baseboard of one node (management 6.2). */
#include "mgmt/baseboard/baseboard_client.h"

#include <string.h>
#include "base/bytes.h"
#include "wire/smp.h"

/* A memory that is busy after a write has finished by then. */
#define BUSY_WAIT MILLISECONDS(5)

int baseboard_client_init(struct baseboard_client *client,
			  const struct class_client_options *options,
			  const struct mad_address *node, uint64_t key)
{
	*client = (struct baseboard_client){.node = *node, .key = key};
	return class_client_init(&client->client, options);
}

void baseboard_client_release(struct baseboard_client *client)
{
	class_client_release(&client->client);
}

void baseboard_client_add(struct baseboard_client *client, enum mad_method method,
			  uint16_t attribute_id, const uint8_t *data, size_t byte_count)
{
	struct baseboard_request *request = &client->requests[client->request_count];

	assert(client->request_count < BASEBOARD_REQUESTS_MAX);
	assert(byte_count <= sizeof(request->data));
	client->request_count++;
	*request =
		(struct baseboard_request){.method = (uint8_t)method, .attribute_id = attribute_id};
	if (data)
		memcpy(request->data, data, byte_count);
}

void baseboard_client_add_command(struct baseboard_client *client, enum baseboard_command command,
				  const uint8_t *parameters, unsigned parameter_count)
{
	struct baseboard_message message = {.sequence = (uint16_t)client->request_count,
					    .source_device = SOURCE_DEVICE_BM,
					    .parameter_count = (uint8_t)parameter_count};
	uint8_t data[MAD_BYTES - BASEBOARD_DATA_OFFSET];

	assert(parameter_count <= PARAMETERS_MAX);
	if (parameter_count)
		memcpy(message.parameters, parameters, parameter_count);
	baseboard_message_encode(&message, data);
	baseboard_client_add(client, MAD_SEND, (uint16_t)command, data, sizeof(data));
}

bool baseboard_client_is_done(const struct baseboard_client *client)
{
	return client->current == client->request_count;
}

void baseboard_mad_make(const struct mad_address *to, uint64_t key, uint8_t method,
			uint16_t attribute_id, struct mad_message *ret_message)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_BASEBOARD,
		.class_version = BASEBOARD_CLASS_VERSION,
		.method = method,
		.attribute_id = attribute_id,
	};

	*ret_message = (struct mad_message){.address = *to};
	mad_header_encode(&header, ret_message->bytes);
	put_be64(ret_message->bytes + CLASS_KEY_OFFSET, key);
}

static void send_current(struct baseboard_client *client)
{
	const struct baseboard_request *request = &client->requests[client->current];
	struct mad_message message;

	if (client->is_placed) {
		baseboard_mad_make(&client->node, client->key, request->method,
				   request->attribute_id, &message);
		memcpy(message.bytes + BASEBOARD_DATA_OFFSET, request->data, sizeof(request->data));
	} else {
		baseboard_mad_make(&client->node, client->key, MAD_GET, ATTRIBUTE_CLASS_PORT_INFO,
				   &message);
	}
	/* Without memory it is sent in the next turn. */
	client->is_sent = class_client_ask(&client->client, &message, (struct mad_purpose){0}) == 0;
}

/* False: the command has to be repeated. */
static bool read_answer(struct baseboard_client *client, struct baseboard_request *request,
			const struct mad_message *message)
{
	const uint8_t *data = message->bytes + BASEBOARD_DATA_OFFSET;
	struct baseboard_message answer;

	if (request->method != MAD_SEND) {
		request->status = get_be16(message->bytes + MAD_STATUS_OFFSET);
		memcpy(request->answer, data, sizeof(request->answer));
		request->answer_bytes = sizeof(request->answer);
		return true;
	}
	request->status = BASEBOARD_ERROR;
	if (!baseboard_message_decode(data, &answer) || answer.parameter_count == 0)
		return true;
	request->status = answer.parameters[0];
	request->answer_bytes = answer.parameter_count - 1u;
	memcpy(request->answer, answer.parameters + 1, request->answer_bytes);
	return request->status != BASEBOARD_BUSY || ++client->busy_count == BASEBOARD_BUSY_TRIES;
}

static void take_answer(struct baseboard_client *client, time_ns now,
			const struct class_client_result *result)
{
	struct baseboard_request *request = &client->requests[client->current];

	if (!client->is_placed) {
		client->node = result->place;
		client->is_placed = true;
		return;
	}
	if (!read_answer(client, request, &result->message)) {
		client->not_before = now + BUSY_WAIT;
		return;
	}
	request->outcome = BASEBOARD_ANSWERED;
	client->busy_count = 0;
	client->current++;
}

static void take_results(struct baseboard_client *client, time_ns now)
{
	struct class_client_result result;

	while (class_client_take_result(&client->client, &result)) {
		assert(!baseboard_client_is_done(client));
		client->is_sent = false;
		if (result.outcome == CLASS_CLIENT_ANSWERED) {
			take_answer(client, now, &result);
			continue;
		}
		/* The others would wait in vain too. */
		for (; client->current < client->request_count; client->current++)
			client->requests[client->current].outcome =
				result.outcome == CLASS_CLIENT_REDIRECTED ? BASEBOARD_REDIRECTED
									  : BASEBOARD_SILENT;
	}
}

void baseboard_client_receive(struct baseboard_client *client, time_ns now,
			      const struct mad_message *message)
{
	class_client_receive(&client->client, now, message);
	take_results(client, now);
}

unsigned baseboard_client_transmit(struct baseboard_client *client, time_ns now,
				   unsigned messages_max, struct mad_message ret_messages[])
{
	unsigned count;

	if (!baseboard_client_is_done(client) && !client->is_sent && client->not_before <= now)
		send_current(client);
	count = class_client_transmit(&client->client, now, messages_max, ret_messages);
	take_results(client, now);
	return count;
}

time_ns baseboard_client_deadline(const struct baseboard_client *client)
{
	if (!baseboard_client_is_done(client) && !client->is_sent)
		return client->not_before;
	return class_client_deadline(&client->client);
}
