/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about I/O units: plugging and pulling controllers, and listing them (management 6.3). A
 * controller that a program plugs is pulled when its connection ends. One that a tool plugs into a
 * named node stays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/control/request_fields.h"
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "mgmt/agents/io_unit.h"

/* The list that fits one message; "next" says where the next request starts. */
enum { ROWS_MAX = 100, SERVICES_LISTED_MAX = 200, NAME_SHOWN = 64 };

/* The adapter of the program's host with this name, or the first one. */
static struct node *own_node(const struct client *client, const char *adapter_name)
{
	const struct host *host = client->host;

	for (uint32_t i = 0; host && i < host->adapter_count; i++) {
		if (!adapter_name || strcmp(host->adapters[i]->name, adapter_name) == 0)
			return host->adapters[i]->node;
	}
	return NULL;
}

/* The node that the request names, or an adapter of the client's host. NULL with an error in the
 * reply. Only operators name nodes. */
static struct node *named_node(const struct client *client, const json_t *request,
			       struct reply *reply)
{
	const char *name = json_string_value(json_object_get(request, "node"));
	const char *adapter = json_string_value(json_object_get(request, "adapter"));
	struct node *node;

	if (name && !client->is_operator) {
		reply_not_operator(reply, "node");
		return NULL;
	}
	node = name ? daemon_core_find_node(client->core, name) : own_node(client, adapter);
	if (!node)
		reply_error(reply, ENODEV, "no adapter %.*s", NAME_SHOWN,
			    name      ? name
			    : adapter ? adapter
				      : "on this host");
	else if (!node_is_adapter(node))
		reply_error(reply, EINVAL, "%.*s is not an adapter: only adapters have I/O units",
			    NAME_SHOWN, name);
	else
		return node;
	return NULL;
}

/* A number, or text in C's notation: JSON's numbers have one bit less than 64. */
static bool read_number(const json_t *value, unsigned bit_count, uint64_t *ret_number)
{
	const char *text = json_string_value(value);
	unsigned long long number;
	char *end;

	if (json_is_integer(value)) {
		if (json_integer_value(value) < 0)
			return false;
		number = (unsigned long long)json_integer_value(value);
	} else {
		errno = 0;
		number = text ? strtoull(text, &end, 0) : 0;
		if (!text || errno || end == text || *end || *text == '-')
			return false;
	}
	if (bit_count < 64 && number >> bit_count)
		return false;
	*ret_number = number;
	return true;
}

static const struct attribute_field *profile_field(const char *name)
{
	for (size_t i = 0; i < io_controller_profile_layout.field_count; i++) {
		if (strcmp(io_controller_profile_layout.fields[i].name, name) == 0)
			return &io_controller_profile_layout.fields[i];
	}
	return NULL;
}

static bool read_text(const json_t *value, size_t room, char *ret_text)
{
	const char *text = json_string_value(value);

	if (!text || json_string_length(value) >= room || strlen(text) != json_string_length(value))
		return false;
	memcpy(ret_text, text, strlen(text) + 1);
	return true;
}

/* false with an error in the reply. */
static bool read_profile(const json_t *profile, struct io_controller *controller,
			 struct reply *reply)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)profile, name, value) {
		const struct attribute_field *field = profile_field(name);
		uint64_t number;

		if (strcmp(name, "id_string") == 0) {
			if (read_text(value, sizeof(controller->id_string), controller->id_string))
				continue;
			reply_error(reply, EINVAL, "an ID string is a text of at most %d bytes",
				    IO_ID_STRING_BYTES - 1);
			return false;
		}
		if (!field || !read_number(value, field->bit_count, &number)) {
			reply_error(reply, EINVAL, "%.*s: no such field, or not a value of it",
				    NAME_SHOWN, name);
			return false;
		}
		attribute_field_set(field, number, &controller->profile);
	}
	return true;
}

/* The caller frees the services. false with an error in the reply. */
static bool read_services(const json_t *services, struct io_controller *controller,
			  struct reply *reply)
{
	size_t count = json_array_size(services);
	json_t *service;
	size_t index;

	controller->profile.service_entries = 0;
	if (count > IO_SERVICES_MAX) {
		reply_error(reply, EINVAL, "a controller has at most %d services", IO_SERVICES_MAX);
		return false;
	}
	controller->services = calloc(count + 1, sizeof(controller->services[0]));
	if (!controller->services) {
		reply_error(reply, ENOMEM, "no memory");
		return false;
	}
	json_array_foreach (services, index, service) {
		struct io_service_entry *entry = &controller->services[index];

		if (!read_text(json_object_get(service, "name"), sizeof(entry->name),
			       entry->name) ||
		    !read_number(json_object_get(service, "id"), 64, &entry->id)) {
			reply_error(reply, EINVAL,
				    "service %zu needs a name of at most %d bytes and an id", index,
				    IO_SERVICE_NAME_BYTES - 1);
			return false;
		}
	}
	controller->profile.service_entries = (uint8_t)count;
	return true;
}

static const char *plug_reason(int error)
{
	switch (-error) {
	case EBUSY:
		return "the slot is taken";
	case ENOSPC:
		return "every slot of the unit is taken";
	case EEXIST:
		return "another controller of the unit has that GUID";
	case EADDRINUSE:
		return "another service of the unit has that service ID";
	case EINVAL:
		return "no such slot, or a name that is empty, used twice or not printable";
	default:
		return strerror(-error);
	}
}

static void plug(struct client *client, struct node *node, const struct io_controller *controller,
		 uint32_t wanted, struct reply *ret_reply)
{
	struct daemon_core *core = client->core;
	unsigned slot;
	int error =
		io_unit_plug(&core->fabric.agents, node, core->loop.now, controller, wanted, &slot);

	if (error) {
		reply_error(ret_reply, -error, "%s", plug_reason(error));
		return;
	}

	const struct io_controller *plugged =
		io_unit_controller(io_unit_find(&core->fabric.agent_memory, node), slot);

	log_line("I/O controller \"%s\" plugged into slot %u of %s", plugged->id_string, slot,
		 node->host);
	reply_ok(ret_reply, json_pack("{s:i, s:o}", "slot", (int)slot, "guid",
				      guid_to_json(plugged->profile.guid)));
}

static void run_plug(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct node *node = named_node(client, request, ret_reply);
	struct io_controller controller = {0};
	uint32_t slot = 0;

	if (!node)
		return;
	if (json_object_get(request, "slot") &&
	    !request_integer(request, "slot", IO_SLOTS_MAX, &slot)) {
		reply_error(ret_reply, EINVAL, "slots have numbers from 1 to %d", IO_SLOTS_MAX);
		return;
	}
	if (read_profile(json_object_get(request, "profile"), &controller, ret_reply) &&
	    read_services(json_object_get(request, "services"), &controller, ret_reply)) {
		controller.owner = json_object_get(request, "node") ? NULL : client;
		plug(client, node, &controller, slot, ret_reply);
	}
	free(controller.services);
}

/* A program pulls its own controllers. */
static bool may_pull(const struct client *client, const struct node *node, unsigned slot)
{
	const struct io_controller *controller =
		io_unit_controller(io_unit_find(&client->core->fabric.agent_memory, node), slot);

	return client->is_operator || (controller && controller->owner == client);
}

static void run_pull(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon_core *core = client->core;
	struct node *node = named_node(client, request, ret_reply);
	uint32_t slot = 0;

	if (!node)
		return;
	if (!request_integer(request, "slot", IO_SLOTS_MAX, &slot) ||
	    !may_pull(client, node, slot) ||
	    io_unit_pull(&core->fabric.agents, node, core->loop.now, slot) != 0)
		reply_error(ret_reply, ENOENT, "there is no controller in that slot");
	else
		reply_ok(ret_reply, json_object());
}

static void run_slots(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon_core *core = client->core;
	struct node *node = named_node(client, request, ret_reply);
	uint32_t slot_count = 0;
	int error;

	if (!node)
		return;
	error = request_integer(request, "slots", UINT16_MAX, &slot_count)
			? io_unit_set_slots(&core->fabric.agents, node, core->loop.now, slot_count)
			: -EINVAL;
	if (error == -EBUSY)
		reply_error(ret_reply, EBUSY, "a controller is in a slot beyond %u", slot_count);
	else if (error)
		reply_error(ret_reply, -error, "a unit has 1 to %d slots", IO_SLOTS_MAX);
	else
		reply_ok(ret_reply, json_object());
}

/* The code with which the controller's next self-test ends. */
static void run_outcome(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct node *node = named_node(client, request, ret_reply);
	struct io_controller *controller;
	uint32_t slot = 0, code = 0;

	if (!node)
		return;
	if (!request_integer(request, "slot", IO_SLOTS_MAX, &slot) ||
	    !request_integer(request, "code", UINT16_MAX, &code)) {
		reply_error(ret_reply, EINVAL, "a slot and a code of 16 bits are needed");
		return;
	}
	controller =
		io_unit_controller(io_unit_find(&client->core->fabric.agent_memory, node), slot);
	if (!controller) {
		reply_error(ret_reply, ENOENT, "there is no controller in that slot");
		return;
	}
	controller->test.next_outcome = (uint16_t)code;
	reply_ok(ret_reply, json_object());
}

static json_t *describe_controller(const struct io_unit *unit, unsigned slot)
{
	const struct io_controller *controller = unit->controllers[slot];
	const struct client *owner = controller->owner;
	const struct io_controller_profile *profile = &controller->profile;
	json_t *services = json_array();

	for (unsigned i = 0; i < profile->service_entries; i++)
		json_array_append_new(services,
				      json_pack("{s:s, s:o}", "name", controller->services[i].name,
						"id", guid_to_json(controller->services[i].id)));
	return json_pack("{s:s, s:i, s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:o}", "node",
			 unit->node->host, "slot", (int)slot, "guid", guid_to_json(profile->guid),
			 "id_string", controller->id_string, "io_class", (int)profile->io_class,
			 "io_subclass", (int)profile->io_subclass, "protocol",
			 (int)profile->protocol, "protocol_version", (int)profile->protocol_version,
			 "diag_code", (int)controller->test.diag_code, "is_on",
			 controller->power != POWER_OFF, "pid", owner ? (int)owner->pid : 0,
			 "services", services);
}

static json_t *describe_unit(const struct agent_memory *memory, const struct node *node)
{
	const struct io_unit *unit = io_unit_find(memory, node);

	return json_pack("{s:s, s:b, s:i, s:i, s:i}", "node", node->host, "target", node->is_target,
			 "slots", (int)io_unit_slot_count(memory, node), "change_id",
			 unit ? (int)unit->change_id : 0, "controllers",
			 unit ? (int)unit->controller_count : 0);
}

static void run_units(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const struct fabric *fabric = &client->core->fabric;
	json_int_t from = json_integer_value(json_object_get(request, "from"));
	json_t *rows = json_array();
	uint32_t index = from > 0 && from < UINT32_MAX ? (uint32_t)from : 0;

	for (; index < fabric->node_count && json_array_size(rows) < ROWS_MAX; index++) {
		const struct node *node = fabric->by_index[index];

		if (node->is_target || io_unit_find(&fabric->agent_memory, node))
			json_array_append_new(rows, describe_unit(&fabric->agent_memory, node));
	}
	reply_ok(ret_reply, json_pack("{s:o}", "units", rows));
	if (index < fabric->node_count)
		json_object_set_new(ret_reply->object, "next", json_integer(index));
}

/* A place in the list is a node's index and a slot. */
static void run_list(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const struct fabric *fabric = &client->core->fabric;
	json_int_t from = json_integer_value(json_object_get(request, "from"));
	uint64_t place = from > 0 ? (uint64_t)from : 0;
	uint64_t end = (uint64_t)fabric->node_count << 8;
	json_t *rows = json_array();
	unsigned service_count = 0;

	while (place < end && json_array_size(rows) < ROWS_MAX &&
	       service_count < SERVICES_LISTED_MAX) {
		const struct io_unit *unit =
			io_unit_find(&fabric->agent_memory, fabric->by_index[place >> 8]);
		unsigned slot = place & 0xff;

		if (io_unit_controller(unit, slot)) {
			service_count += unit->controllers[slot]->profile.service_entries;
			json_array_append_new(rows, describe_controller(unit, slot));
		}
		place = unit ? place + 1 : (place | 0xff) + 1;
	}
	reply_ok(ret_reply, json_pack("{s:o}", "controllers", rows));
	if (place < end)
		json_object_set_new(ret_reply->object, "next", json_integer((json_int_t)place));
}

const struct command io_commands[] = {
	{"io", run_list},
	{"io-units", run_units},
	{"io-plug", run_plug},
	{"io-pull", run_pull},
	{"io-slots", run_slots, FOR_OPERATORS},
	{"io-test-outcome", run_outcome, FOR_OPERATORS},
	{NULL, NULL},
};
