/* SPDX-License-Identifier: Apache-2.0 */
/* A program's first question to softibd, and the answer that describes its host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/runtime_state.h"
#include "runtime/softibd_connection.h"
#include "ipc/protocol.h"

static int copy_text(const json_t *object, const char *name, size_t byte_count, char *ret_text)
{
	const char *text = json_string_value(json_object_get(object, name));

	if (!text || strlen(text) >= byte_count)
		return -EPROTO;
	memcpy(ret_text, text, strlen(text) + 1);
	return 0;
}

/* GUIDs have 64 bits and JSON's numbers 63, so GUIDs travel as text: 0x... */
static int read_guid(const json_t *object, const char *name, uint64_t *ret_guid)
{
	const char *text = json_string_value(json_object_get(object, name));
	char *end;

	if (!text)
		return -EPROTO;
	errno = 0;
	*ret_guid = strtoull(text, &end, 16);
	return errno || end == text || *end ? -EPROTO : 0;
}

static int read_adapter(const char *tree, const json_t *object,
			struct adapter_description *ret_adapter)
{
	struct adapter_description adapter;
	uint64_t index, port_count;
	int error = copy_text(object, "name", sizeof(adapter.name), adapter.name);

	if (!error)
		error = answer_number(object, "index", &index);
	if (!error)
		error = answer_number(object, "ports", &port_count);
	if (!error)
		error = read_guid(object, "node_guid", &adapter.node_guid);
	if (!error)
		error = read_guid(object, "system_image_guid", &adapter.system_image_guid);
	if (error)
		return error;
	if (index >= SESSION_ADAPTERS_MAX || port_count == 0 || port_count > HCA_PORTS_MAX)
		return -EPROTO;
	adapter.index = (uint32_t)index;
	adapter.port_count = (uint32_t)port_count;
	snprintf(adapter.device_name, sizeof(adapter.device_name), "uverbs%u", adapter.index);

	int a = snprintf(adapter.device_path, sizeof(adapter.device_path),
			 "%s/sys/class/infiniband_verbs/uverbs%u", tree, adapter.index);
	int b = snprintf(adapter.adapter_path, sizeof(adapter.adapter_path),
			 "%s/sys/class/infiniband/%s", tree,
			 json_string_value(json_object_get(object, "name")));

	if (a >= SESSION_PATH_BYTES || b >= SESSION_PATH_BYTES)
		return -ENAMETOOLONG;
	*ret_adapter = adapter;
	return 0;
}

static int read_hello(struct session *session, const json_t *answer)
{
	const json_t *adapters = json_object_get(answer, "adapters");
	int error = copy_text(answer, "host", sizeof(session->host), session->host);

	session->is_privileged = !json_is_false(json_object_get(answer, "privileged"));
	if (!error)
		error = copy_text(answer, "tree", sizeof(session->tree), session->tree);
	if (!error &&
	    (!json_is_array(adapters) || json_array_size(adapters) > SESSION_ADAPTERS_MAX))
		error = -EPROTO;
	for (size_t i = 0; !error && i < json_array_size(adapters); i++)
		error = read_adapter(session->tree, json_array_get(adapters, i),
				     &session->adapters[session->adapter_count++]);
	return error;
}

int session_ask_hello(struct session *session, json_t **ret_answer)
{
	const char *host = getenv("SOFTIB_HOST");
	json_t *question = json_pack("{s:s, s:i, s:s, s:i}", "command", "hello", "version",
				     PROTOCOL_VERSION, "kind", "program", "pid", (int)getpid());

	/* Without a name softibd takes its first host. */
	if (question && host && *host &&
	    json_object_set_new(question, "host", json_string(host)) != 0) {
		json_decref(question);
		return -EINVAL;
	}

	char *text = question ? json_dumps(question, JSON_COMPACT) : NULL;
	int error = text ? session_ask_plain(session, text, ret_answer) : -ENOMEM;

	free(text);
	json_decref(question);
	return error;
}

int session_say_hello(struct session *session)
{
	json_t *answer;
	int error = session_ask_hello(session, &answer);

	if (error)
		return error;
	error = read_hello(session, answer);
	json_decref(answer);
	return error;
}
