/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of a port of this program's host, for management programs. */
#include "runtime/mad_port.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/softibd_connection.h"
#include "runtime/session.h"
#include "ipc/mad_socket.h"

static const char *const kind_names[] = {
	[MAD_AGENT_SINGLE] = "single",
	[MAD_AGENT_RMPP] = "rmpp",
	[MAD_AGENT_USER_RMPP] = "user-rmpp",
	[MAD_AGENT_RAW] = "raw",
};

static char *text_of(json_t *question)
{
	char *text = question ? json_dumps(question, JSON_COMPACT) : NULL;

	json_decref(question);
	return text;
}

/* Asks softibd about the agents of an open port; takes ownership of the question. The port's socket
 * goes with it, which proves that the port is ours: its duplicates and those of children do, too.
 */
static int ask_about(int port, json_t *question, json_t **ret_answer)
{
	struct session *session;
	char *text = text_of(question);
	int error = port < 0 ? -EBADF : session_get(&session);

	if (!error)
		error = text ? session_ask_about(session, text, port, ret_answer) : -ENOMEM;
	free(text);
	return error;
}

/* Asks for a socket; takes ownership of the question. */
static int ask_for_socket(json_t *question, json_t **ret_answer,
			  struct control_message *ret_message)
{
	struct session *session;
	char *text = text_of(question);
	int error = session_get(&session);

	if (!error)
		error = text ? session_ask(session, text, ret_answer, ret_message) : -ENOMEM;
	free(text);
	return error;
}

int mad_port_open(const char *adapter, unsigned port_number)
{
	struct control_message message;
	json_t *answer;
	int error = ask_for_socket(json_pack("{s:s, s:s, s:i}", "command", "mads", "adapter",
					     adapter, "port", (int)port_number),
				   &answer, &message);

	if (error)
		return error;
	json_decref(answer);

	int port = message.descriptor_count == 1 ? control_message_take(&message, 0) : -EPROTO;

	control_message_release(&message);
	if (port >= 0 && fcntl(port, F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
		error = -errno;
		close(port);
		return error;
	}
	return port;
}

/* As text: JSON's numbers have one bit less than 64. */
static json_t *mask_to_json(uint64_t mask)
{
	return json_sprintf("0x%" PRIx64, mask);
}

int mad_port_register(int port, const struct mad_agent_options *options,
		      struct mad_agent_identity *ret_identity)
{
	json_t *answer;
	uint64_t id, number;
	int error = ask_about(port,
			      json_pack("{s:s, s:i, s:i, s:i, s:s, s:o, s:o}", "command",
					"mad-register", "class", (int)options->management_class,
					"version", (int)options->class_version, "oui",
					(int)options->oui, "kind", kind_names[options->kind],
					"methods_low", mask_to_json(options->methods[0]),
					"methods_high", mask_to_json(options->methods[1])),
			      &answer);
	if (error)
		return error;
	error = answer_number(answer, "id", &id);
	if (!error)
		error = answer_number(answer, "number", &number);
	json_decref(answer);
	if (!error && (id >= MAD_PORT_AGENTS_MAX || number > UINT32_MAX))
		error = -EPROTO;
	if (!error)
		*ret_identity =
			(struct mad_agent_identity){.id = (uint32_t)id, .number = (uint32_t)number};
	return error;
}

int mad_port_unregister(int port, uint32_t agent_id)
{
	json_t *answer;
	int error = ask_about(
		port,
		json_pack("{s:s, s:I}", "command", "mad-unregister", "id", (json_int_t)agent_id),
		&answer);

	if (!error)
		json_decref(answer);
	return error;
}

int mad_port_send(int port, uint32_t agent_id, const struct mad_message *message)
{
	const struct mad_port_header header = {.agent_id = agent_id,
					       .byte_count = MAD_PORT_SINGLE_BYTES,
					       .address = message->address,
					       .pkey_index = message->address.pkey};
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];

	mad_port_header_encode(&header, bytes);
	memcpy(bytes + MAD_PORT_HEADER_BYTES, message->bytes, MAD_BYTES);
	return mad_socket_send(port, bytes, sizeof(bytes));
}

int mad_port_receive(int port, uint32_t *ret_agent_id, struct mad_message *ret_message)
{
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];
	struct mad_port_header header;
	size_t byte_count;
	int error = mad_socket_read(port, sizeof(bytes), bytes, &byte_count);

	if (error)
		return error;
	if (byte_count != sizeof(bytes) || !mad_port_header_decode(bytes, byte_count, &header))
		return -EPROTO;
	*ret_agent_id = header.agent_id;
	ret_message->address = header.address;
	ret_message->address.pkey = header.pkey_index;
	memcpy(ret_message->bytes, bytes + MAD_PORT_HEADER_BYTES, MAD_BYTES);
	return 0;
}
