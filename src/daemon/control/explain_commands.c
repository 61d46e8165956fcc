/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that walks a packet through the tables.
 *
 *   {"command":"explain","source":"h1","destination":"h2"|"5"|"0x5","sl":N,"pkey":N,"size":N}   or
 * "mcast":"0xc001"|MGID
 *        -> "source","slid","dlid","dgid" (with a
 * GRH),"sl","pkey","delivered":N,"steps":[{"depth","port","text","end","reason"}...]
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/daemon.h"
#include "daemon/managers/managers.h"
#include "fabric/explain/explain.h"
#include "fabric/topology/port_names.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/multicast_groups.h"
#include "net/node/node.h"
#include "wire/gid.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

enum { REASON_BYTES = 256, STEPS_SHOWN_MAX = 300, HOP_LIMIT_USUAL = 64 };

/* The whole text as a nonzero 16-bit number. */
static bool read_lid(const char *text, uint16_t *ret_lid)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);

	if (!isdigit((unsigned char)text[0]) || *end || number == 0 || number > UINT16_MAX)
		return false;
	*ret_lid = (uint16_t)number;
	return true;
}

static int read_source(const struct daemon *daemon, const char *text, struct port **ret_port,
		       char *reason)
{
	struct port_list list = {0};
	int error = port_names_add(&daemon->core.fabric, text, &list, reason, REASON_BYTES);

	if (!error && list.ports[0]->kind != PORT_OF_ADAPTER) {
		snprintf(reason, REASON_BYTES, "%.64s is not a host: packets start at adapters",
			 text);
		error = -EINVAL;
	}
	if (!error)
		*ret_port = list.ports[0];
	port_list_release(&list);
	return error;
}

/* A LID, or the name of its port or switch. A port in another subnet is addressed by its GID. */
static int read_destination(const struct daemon *daemon, const struct port *source,
			    const char *text, struct explain_packet *packet, char *reason)
{
	struct port_list list = {0};

	if (read_lid(text, &packet->dlid))
		return 0;

	int error = port_names_add(&daemon->core.fabric, text, &list, reason, REASON_BYTES);

	if (!error) {
		const struct port *port =
			node_management_port(list.ports[0]->node, list.ports[0]->number);

		packet->dlid = port->info.lid;
		packet->has_grh = port->info.gid_prefix != source->info.gid_prefix;
		packet->hop_limit = HOP_LIMIT_USUAL;
		packet->dgid = gid_from(port->info.gid_prefix, port->guid);
		if (packet->dlid == 0) {
			snprintf(reason, REASON_BYTES, "%.64s has no LID yet", text);
			error = -ENOENT;
		}
	}
	port_list_release(&list);
	return error;
}

/* The groups come from the built-in manager of the source's subnet. Groups of an external manager
 * are known by their MLID only. */
static int read_group(struct daemon *daemon, const struct port *source, const char *text,
		      struct explain_packet *packet, char *reason)
{
	struct sm_runner *manager = managers_master_of(&daemon->managers, source->info.gid_prefix);
	const struct multicast_groups *groups = manager ? sm_multicast_groups(manager->sm) : NULL;
	const struct multicast_group *group = NULL;
	bool is_mlid = read_lid(text, &packet->dlid) && lid_is_multicast(packet->dlid);

	if (!is_mlid && inet_pton(AF_INET6, text, packet->dgid.bytes) != 1) {
		snprintf(reason, REASON_BYTES,
			 "%.64s is not a group: give an MLID from 0xc000 on, or an MGID", text);
		return -EINVAL;
	}
	if (groups)
		group = is_mlid ? multicast_groups_by_mlid(groups, packet->dlid)
				: multicast_groups_find(groups, &packet->dgid);
	if (group) {
		packet->dlid = group->mlid;
		packet->dgid = group->mgid;
		packet->has_grh = true;
		packet->hop_limit = HOP_LIMIT_USUAL;
		return 0;
	}
	if (is_mlid)
		return 0;
	snprintf(reason, REASON_BYTES,
		 "%.64s is not a group of the built-in manager; give its MLID", text);
	return -ENOENT;
}

/* A value from 0 to value_max; the default if the request has none. */
static int read_number(const json_t *request, const char *name, json_int_t value_max,
		       json_int_t value_default, json_int_t *ret_value, char *reason)
{
	const json_t *value = json_object_get(request, name);

	*ret_value = value ? json_integer_value(value) : value_default;
	if (*ret_value >= 0 && *ret_value <= value_max)
		return 0;
	snprintf(reason, REASON_BYTES, "%s must be a number from 0 to %d", name, (int)value_max);
	return -EINVAL;
}

static int read_packet(struct daemon *daemon, const struct port *source, const json_t *request,
		       struct explain_packet *ret_packet, char *reason)
{
	const char *destination = json_string_value(json_object_get(request, "destination"));
	const char *group = json_string_value(json_object_get(request, "mcast"));
	json_int_t sl, pkey, size;
	int error = read_number(request, "sl", 15, 0, &sl, reason);

	if (!error)
		error = read_number(request, "pkey", UINT16_MAX, PKEY_DEFAULT_FULL, &pkey, reason);
	if (!error)
		error = read_number(request, "size", MTU_BYTES_MAX, 0, &size, reason);
	if (!error)
		error = group ? read_group(daemon, source, group, ret_packet, reason)
			      : read_destination(daemon, source, destination ? destination : "",
						 ret_packet, reason);
	if (error)
		return error;
	ret_packet->sl = (uint8_t)sl;
	ret_packet->pkey = (uint16_t)pkey;
	ret_packet->payload_bytes = (uint32_t)size;
	return 0;
}

static void add_step(void *context, const struct explain_step *step)
{
	json_t *steps = context;
	char name[PORT_NAME_BYTES];

	if (json_array_size(steps) >= STEPS_SHOWN_MAX)
		return;
	port_name_text(step->port, name);

	json_t *row = json_pack("{s:i, s:s, s:s, s:b}", "depth", (int)step->depth, "port", name,
				"text", step->text, "end", step->is_end);

	if (step->reason != DROP_NONE)
		json_object_set_new(row, "reason", json_string(drop_reason_name(step->reason)));
	json_array_append_new(steps, row);
}

static void run_explain(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *source = json_string_value(json_object_get(request, "source"));
	struct explain_packet packet = {0};
	struct port *port = NULL;
	char reason[REASON_BYTES] = "", name[PORT_NAME_BYTES];
	int error = read_source(daemon, source ? source : "", &port, reason);

	if (!error)
		error = read_packet(daemon, port, request, &packet, reason);
	if (error) {
		reply_error(ret_reply, -error, "%s", reason);
		return;
	}

	json_t *steps = json_array();
	const struct explain_listener listener = {.step = add_step, .context = steps};
	unsigned delivered = explain(&daemon->core.fabric, port, &packet, &listener);

	port_name_text(port, name);
	reply_ok(ret_reply,
		 json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:o}", "source", name, "slid",
			   (int)port->info.lid, "dlid", (int)packet.dlid, "sl", (int)packet.sl,
			   "pkey", (int)packet.pkey, "delivered", (int)delivered, "steps", steps));
	if (packet.has_grh && inet_ntop(AF_INET6, packet.dgid.bytes, name, sizeof(name)))
		json_object_set_new(ret_reply->object, "dgid", json_string(name));
}

const struct command explain_commands[] = {{"explain", run_explain}, {NULL, NULL}};
