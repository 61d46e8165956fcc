/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a fabric's softibd, with error messages for the user. */
#include "cli/fabric_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ipc/control_socket.h"

const char *fabric_name_or_default(const char *name)
{
	const char *chosen = name ? name : getenv("SOFTIB_FABRIC");

	return chosen && *chosen ? chosen : "default";
}

void fabric_client_explain(const char *fabric, int error)
{
	switch (error) {
	case -ENOENT:
		fprintf(stderr, "softib: no fabric %s is up; start it with: softib up --name %s\n",
			fabric, fabric);
		break;
	case -ECONNREFUSED:
		fprintf(stderr,
			"softib: fabric %s has died and left its folder behind; clean up with "
			"\"softib down --name %s\", or start anew with \"softib up --name %s\"\n",
			fabric, fabric, fabric);
		break;
	case -EINVAL:
		fprintf(stderr,
			"softib: %s is not a valid fabric name: use at most 32 letters, digits, "
			"'-', '_' and '.'\n",
			fabric);
		break;
	case -EPERM:
		fprintf(stderr, "softib: the runtime directory belongs to another user; set "
				"SOFTIB_RUNTIME_DIR to a directory of your own\n");
		break;
	default:
		fprintf(stderr, "softib: cannot connect to fabric %s: %s\n", fabric,
			strerror(-error));
	}
}

int fabric_client_open(const char *fabric)
{
	int socket = control_connect_operator(fabric);

	if (socket < 0)
		fabric_client_explain(fabric, socket);
	return socket;
}

static void explain_silence(int error)
{
	if (error == -ETIMEDOUT)
		fprintf(stderr, "softib: softibd does not answer; see the log in its folder\n");
	else if (error == -ECONNRESET)
		fprintf(stderr, "softib: softibd has stopped; see the log in its folder\n");
	else
		fprintf(stderr, "softib: no answer from softibd: %s\n", strerror(-error));
}

int fabric_client_exchange(int socket, json_t *request, int timeout_ms,
			   struct control_message *ret_message, json_t **ret_answer)
{
	char *text = json_dumps(request, JSON_COMPACT);
	int error = text ? control_ask(socket, text, timeout_ms, ret_message) : -ENOMEM;

	free(text);
	json_decref(request);
	if (!error)
		*ret_answer = json_loadb(ret_message->text, ret_message->byte_count, 0, NULL);
	return error;
}

bool fabric_client_is_ok(const json_t *answer)
{
	if (json_is_true(json_object_get(answer, "ok")))
		return true;

	const char *reason = json_string_value(json_object_get(answer, "error"));

	fprintf(stderr, "softib: %s\n", reason ? reason : "softibd sent an invalid answer");
	return false;
}

json_t *fabric_client_ask(int socket, json_t *request, int timeout_ms)
{
	struct control_message message;
	json_t *answer;
	int error = fabric_client_exchange(socket, request, timeout_ms, &message, &answer);

	if (error) {
		explain_silence(error);
		return NULL;
	}
	control_message_release(&message);
	if (fabric_client_is_ok(answer))
		return answer;
	json_decref(answer);
	return NULL;
}

json_t *fabric_ask(const char *fabric, json_t *request)
{
	int socket = fabric_client_open(fabric);

	if (socket < 0) {
		json_decref(request);
		return NULL;
	}

	json_t *answer = fabric_client_ask(socket, request, ANSWER_TIMEOUT_MS);

	close(socket);
	return answer;
}

int fabric_client_number(const json_t *object, const char *key)
{
	return (int)json_integer_value(json_object_get(object, key));
}

const char *fabric_client_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

void print_json(const json_t *object)
{
	json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
}
