/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of management programs: opening a port, registering agents on it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/control/request_fields.h"
#include "daemon/daemon.h"
#include "daemon/mad/mad_files.h"

static const struct {
	const char *name;
	enum mad_agent_kind kind;
} kinds[] = {{"single", MAD_AGENT_SINGLE},
	     {"rmpp", MAD_AGENT_RMPP},
	     {"user-rmpp", MAD_AGENT_USER_RMPP},
	     {"raw", MAD_AGENT_RAW}};

static struct endpoint *named_endpoint(const struct client *client, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "adapter"));
	json_int_t port_number = json_integer_value(json_object_get(request, "port"));

	struct adapter_entry *device;

	if (!name || port_number < 0 || port_number > UINT8_MAX)
		return NULL;
	for (uint32_t index = 0; (device = host_device(client->host, index)); index++) {
		if (strcmp(device->name, name) == 0 &&
		    port_number >= (json_int_t)adapter_first_port(device) &&
		    port_number <= (json_int_t)adapter_last_port(device))
			return device->node->ports[port_number].endpoint;
	}
	return NULL;
}

static void run_mads(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct endpoint *endpoint = client->host ? named_endpoint(client, request) : NULL;

	if (!endpoint) {
		reply_error(ret_reply, ENODEV, "no such adapter and port on this host");
		return;
	}

	int program_end;
	int error = mad_file_open(&client_daemon(client)->mad_files, client->account, endpoint,
				  &program_end);

	if (error) {
		reply_error(ret_reply, -error, "can't open a socket for the port's MADs: %s",
			    strerror(-error));
		return;
	}
	ret_reply->descriptors[0] = program_end;
	ret_reply->descriptor_count = 1;
	ret_reply->gives_all = true;
	reply_ok(ret_reply, json_object());
}

/* The open port whose socket came with the request, on the client's own host; NULL with an error in
 * the reply. A process that has the socket owns the port's agents. */
static struct mad_file *given_file(const struct client *client, struct reply *reply)
{
	const struct mad_files *files = &client_daemon(client)->mad_files;
	struct mad_file *file = NULL;

	if (client->host)
		file = mad_file_find(files, client->given_descriptor);

	if (file && mad_file_endpoint(file)->device->host == client->host)
		return file;
	reply_error(reply, EBADF, "not an open port");
	return NULL;
}

static bool read_options(const json_t *request, struct mad_agent_options *ret_options)
{
	const char *kind = json_string_value(json_object_get(request, "kind"));
	uint32_t management_class, version, oui;

	*ret_options = (struct mad_agent_options){0};
	if (!request_integer(request, "class", UINT8_MAX, &management_class) ||
	    !request_integer(request, "version", UINT8_MAX, &version) ||
	    !request_integer(request, "oui", 0xffffff, &oui) ||
	    !request_hexadecimal(request, "methods_low", &ret_options->methods[0]) ||
	    !request_hexadecimal(request, "methods_high", &ret_options->methods[1]) || !kind)
		return false;
	ret_options->management_class = (uint8_t)management_class;
	ret_options->class_version = (uint8_t)version;
	ret_options->oui = oui;
	for (unsigned index = 0; index < ARRAY_COUNT(kinds); index++) {
		if (strcmp(kinds[index].name, kind) != 0)
			continue;
		ret_options->kind = kinds[index].kind;
		return true;
	}
	return false;
}

static void run_register(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct mad_file *file = given_file(client, ret_reply);
	struct mad_agent_identity identity;
	struct mad_agent_options options;

	if (!file)
		return;

	int error = read_options(request, &options) ? mad_file_add_agent(file, &options, &identity)
						    : -EINVAL;

	if (error)
		reply_error(ret_reply, -error, "can't register the agent: %s", strerror(-error));
	else
		reply_ok(ret_reply, json_pack("{s:I, s:I}", "id", (json_int_t)identity.id, "number",
					      (json_int_t)identity.number));
}

static void run_unregister(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct mad_file *file = given_file(client, ret_reply);
	uint32_t id;

	if (!file)
		return;
	if (!request_integer(request, "id", MAD_PORT_AGENTS_MAX - 1, &id) ||
	    mad_file_remove_agent(file, id) != 0)
		reply_error(ret_reply, EINVAL, "no such agent");
	else
		reply_ok(ret_reply, json_object());
}

const struct command mads_commands[] = {
	{"mads", run_mads},
	{"mad-register", run_register},
	{"mad-unregister", run_unregister},
	{NULL, NULL},
};
