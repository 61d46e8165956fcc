/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of "softib baseboard" that no MAD carries: what the physical world does to a baseboard
 * (sensor values, the power button, the write protect switch, a hung bus), and where a node is. */
#include <errno.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/control/named_port.h"
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "mgmt/agents/baseboard.h"
#include "net/node/node.h"

enum { VALUE_MAX = 2000000 };

/* NULL with an error in the reply. */
static struct baseboard *find_baseboard(struct daemon *daemon, const json_t *request,
					struct reply *ret_reply)
{
	struct port *port = named_port_find(daemon, request, "node", "port", ret_reply);
	struct baseboard *baseboard =
		port ? baseboard_of(&daemon->core.fabric.agent_memory, port->node) : NULL;

	if (port && !baseboard)
		reply_error(ret_reply, ENOMEM, "no memory for a baseboard");
	return baseboard;
}

static void changed(struct daemon *daemon, struct baseboard *baseboard)
{
	baseboard_changed(&daemon->core.fabric.agents, baseboard, daemon->core.loop.now);
}

/* Where the node's baseboard is reached, and whether it has power. */
static void run_find(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	struct port *port = named_port_find(daemon, request, "node", "port", ret_reply);
	const struct baseboard *baseboard =
		port ? baseboard_find(&daemon->core.fabric.agent_memory, port->node) : NULL;

	if (!port)
		return;
	port = node_management_port(port->node, port->number);
	reply_ok(ret_reply, json_pack("{s:s, s:i, s:i, s:o, s:b}", "node", port->node->description,
				      "port", (int)port->number, "lid", (int)port->info.lid,
				      "port_guid", guid_to_json(port->guid), "has_power",
				      !baseboard || baseboard->power == NODE_POWER_ON));
}

static void run_sensor(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *name = json_string_value(json_object_get(request, "sensor"));
	const json_t *number = json_object_get(request, "value");
	double value = json_number_value(number);
	struct baseboard *baseboard = find_baseboard(daemon, request, ret_reply);
	struct sensor *sensor = baseboard && name ? sensors_find(baseboard->sensors, name) : NULL;

	if (!baseboard)
		return;
	if (!sensor) {
		reply_error(ret_reply, ENOENT,
			    "no sensor %.*s; choose from: temp1, temp2, in0, in1, fan1, fan2",
			    NAME_SHOWN, name ? name : "");
		return;
	}
	if (!json_is_number(number) || !(value >= -VALUE_MAX && value <= VALUE_MAX)) {
		reply_error(ret_reply, ERANGE, "%s takes a number from -%d to %d", name, VALUE_MAX,
			    VALUE_MAX);
		return;
	}
	sensor_set_value(sensor, (int32_t)(value * 1000 + (value < 0 ? -0.5 : 0.5)));
	changed(daemon, baseboard);
	reply_ok(ret_reply, json_pack("{s:s}", "level", sensor_level_name(sensor->level)));
}

/* The power button: works also where no MAD arrives. */
static void run_power(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const json_t *on = json_object_get(request, "on");
	struct baseboard *baseboard = find_baseboard(daemon, request, ret_reply);
	enum baseboard_power power = json_is_true(on) ? POWER_ON : POWER_OFF;

	if (!baseboard)
		return;
	if (!json_is_boolean(on)) {
		reply_error(ret_reply, EINVAL, "power takes on: true or false");
		return;
	}
	baseboard_set_unit_power(baseboard, daemon->core.loop.now, power, TIME_NEVER);
	baseboard_set_module_power(baseboard, daemon->core.loop.now, power, TIME_NEVER);
	changed(daemon, baseboard);
	log_line("power %s %s", power == POWER_ON ? "on" : "off", baseboard->node->description);
	reply_ok(ret_reply, json_object());
}

static void run_protect(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *name = json_string_value(json_object_get(request, "vpd"));
	const json_t *on = json_object_get(request, "on");
	struct baseboard *baseboard = find_baseboard(daemon, request, ret_reply);
	bool is_chassis = name && strcmp(name, "chassis") == 0;

	if (!baseboard)
		return;
	if (!name || (!is_chassis && strcmp(name, "module") != 0) || !json_is_boolean(on)) {
		reply_error(ret_reply, EINVAL, "protect takes module or chassis, on or off");
		return;
	}
	baseboard->vpds[is_chassis].is_protected = json_is_true(on);
	reply_ok(ret_reply, json_object());
}

static void run_hang(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct baseboard *baseboard = find_baseboard(client_daemon(client), request, ret_reply);

	if (!baseboard)
		return;
	baseboard->bus_is_hung = true;
	reply_ok(ret_reply, json_object());
}

const struct command baseboard_commands[] = {
	{"baseboard", run_find},
	{"baseboard-sensor", run_sensor, FOR_OPERATORS},
	{"baseboard-power", run_power, FOR_OPERATORS},
	{"baseboard-protect", run_protect, FOR_OPERATORS},
	{"baseboard-hang-bus", run_hang, FOR_OPERATORS},
	{NULL, NULL},
};
