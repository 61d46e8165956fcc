/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of "softib redirect": the classes that a port redirects, and where to (management 1.6).
 */
#include <errno.h>
#include <inttypes.h>
#include "daemon/commands.h"
#include "daemon/control/named_port.h"
#include "daemon/control/request_fields.h"
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "fabric/topology/port_names.h"
#include "mgmt/agents/redirects.h"
#include "net/node/node.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { REDIRECTS_PER_ANSWER = 256, SL_LAST = 15, FLOW_LABEL_LAST = 0xfffff };

/* NULL with an error in the reply: the management port of the node and a class that can be
 * redirected. */
static struct port *find_source(struct client *client, const json_t *request, uint32_t *ret_class,
				struct reply *ret_reply)
{
	struct port *port =
		named_port_find(client_daemon(client), request, "node", "port", ret_reply);

	if (!port)
		return NULL;
	if (!request_integer(request, "class", UINT8_MAX, ret_class) || *ret_class == 0 ||
	    *ret_class == MAD_CLASS_SUBNET_LID || *ret_class == MAD_CLASS_SUBNET_DIRECTED) {
		reply_error(ret_reply, EINVAL,
			    "name a general service class: subnet management has no redirection");
		return NULL;
	}
	return node_management_port(port->node, port->number);
}

/* Reads an optional number; false with an error in the reply. */
static bool read_number(const json_t *request, const char *name, uint32_t last, uint32_t *number,
			struct reply *ret_reply)
{
	if (!json_object_get(request, name) || request_integer(request, name, last, number))
		return true;
	reply_error(ret_reply, ERANGE, "%s is at most %" PRIu32 " (0x%" PRIx32 ")", name, last,
		    last);
	return false;
}

static bool read_place(const json_t *request, const struct port *target,
		       struct class_port_info *ret_place, struct reply *ret_reply)
{
	uint32_t qpn = QPN_GSI, pkey = PKEY_DEFAULT_FULL, qkey = QKEY_GSI;
	uint32_t sl = 0, traffic_class = 0, flow_label = 0;
	bool is_by_gid = json_is_true(json_object_get(request, "gid"));

	if (!read_number(request, "qp", QPN_MAX, &qpn, ret_reply) ||
	    !read_number(request, "pkey", UINT16_MAX, &pkey, ret_reply) ||
	    !read_number(request, "qkey", UINT32_MAX, &qkey, ret_reply) ||
	    !read_number(request, "sl", SL_LAST, &sl, ret_reply) ||
	    !read_number(request, "tclass", UINT8_MAX, &traffic_class, ret_reply) ||
	    !read_number(request, "flow", FLOW_LABEL_LAST, &flow_label, ret_reply))
		return false;
	*ret_place = (struct class_port_info){
		.redirect_lid = is_by_gid ? 0 : target->info.lid,
		.redirect_qpn = qpn,
		.redirect_pkey = (uint16_t)pkey,
		.redirect_qkey = qkey,
		.redirect_sl = (uint8_t)sl,
		.redirect_traffic_class = (uint8_t)traffic_class,
		.redirect_flow_label = flow_label,
	};
	/* Traffic class and flow label need a GRH, which needs a GID. REJ 25 has nothing else. */
	if (is_by_gid || traffic_class || flow_label ||
	    json_is_true(json_object_get(request, "connections"))) {
		ret_place->redirect_gid_prefix = target->info.gid_prefix;
		ret_place->redirect_gid_guid = target->guid;
	}
	return true;
}

/* Connections stay with the connection manager that accepts them, so with its node. */
static const char *fault_of(const struct redirect *redirect, const struct port *target)
{
	if (redirect->scope == REDIRECT_CONNECTIONS) {
		if (redirect->management_class != MAD_CLASS_COMMUNICATION)
			return "only cm can redirect connections";
		return target->node == redirect->port->node && target != redirect->port
			       ? NULL
			       : "connections go to another port of the same node";
	}
	if (!redirect->place.redirect_qpn ||
	    (target == redirect->port && redirect->place.redirect_qpn == QPN_GSI))
		return "a port can't redirect a class to QP0, nor to its own QP1";
	return NULL;
}

static void run_redirect(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	uint32_t management_class;
	struct port *source = find_source(client, request, &management_class, ret_reply);
	struct port *target =
		source ? named_port_find(daemon, request, "to", "to_port", ret_reply) : NULL;
	struct redirect redirect = {
		.port = source,
		.condition = json_is_true(json_object_get(request, "when_busy"))
				     ? REDIRECT_WHEN_BUSY
				     : REDIRECT_ALWAYS,
		.scope = json_is_true(json_object_get(request, "connections"))
				 ? REDIRECT_CONNECTIONS
				 : REDIRECT_ALL,
	};
	const char *fault;

	if (!target)
		return;
	target = node_management_port(target->node, target->number);
	redirect.management_class = (uint8_t)management_class;
	if (!read_place(request, target, &redirect.place, ret_reply))
		return;
	if (!lid_is_unicast(target->info.lid)) {
		reply_error(ret_reply, ENETUNREACH, "the target has no LID yet");
		return;
	}
	fault = fault_of(&redirect, target);
	if (fault) {
		reply_error(ret_reply, EINVAL, "%s", fault);
		return;
	}
	if (redirect_set(&daemon->core.fabric.agent_memory, &redirect) != 0) {
		reply_error(ret_reply, ENOMEM, "no memory");
		return;
	}
	log_line("%s:%d redirects class 0x%02" PRIx32 " to %s:%d QP 0x%" PRIx32,
		 source->node->description, (int)source->number, management_class,
		 target->node->description, (int)target->number, redirect.place.redirect_qpn);
	reply_ok(ret_reply, json_object());
}

static void run_redirect_off(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	uint32_t management_class;
	struct port *source = find_source(client, request, &management_class, ret_reply);

	if (!source)
		return;
	if (!redirect_end(&daemon->core.fabric.agent_memory, source, (uint8_t)management_class)) {
		reply_error(ret_reply, ENOENT, "%s does not redirect class 0x%02" PRIx32,
			    source->node->description, management_class);
		return;
	}
	reply_ok(ret_reply, json_object());
}

static json_t *describe(const struct redirect *redirect)
{
	const struct class_port_info *place = &redirect->place;
	char name[PORT_NAME_BYTES];
	json_t *row;

	port_name_text(redirect->port, name);
	row = json_pack("{s:s, s:i, s:i, s:I, s:i, s:I, s:i, s:i, s:i, s:b, s:b}", "port", name,
			"class", (int)redirect->management_class, "lid", (int)place->redirect_lid,
			"qp", (json_int_t)place->redirect_qpn, "pkey", (int)place->redirect_pkey,
			"qkey", (json_int_t)place->redirect_qkey, "sl", (int)place->redirect_sl,
			"tclass", (int)place->redirect_traffic_class, "flow",
			(int)place->redirect_flow_label, "when_busy",
			redirect->condition == REDIRECT_WHEN_BUSY, "connections",
			redirect->scope == REDIRECT_CONNECTIONS);
	if (place->redirect_gid_guid)
		json_object_set_new(row, "gid",
				    json_sprintf("0x%016" PRIx64 "%016" PRIx64,
						 place->redirect_gid_prefix,
						 place->redirect_gid_guid));
	return row;
}

static void run_redirects(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const struct agent_memory *memory = &client_daemon(client)->core.fabric.agent_memory;
	json_int_t from = request_from(request);
	json_int_t index = 0;
	json_t *rows = json_array();

	for (const struct redirect *redirect = redirect_next(memory, NULL); redirect;
	     redirect = redirect_next(memory, redirect), index++) {
		if (index >= from && index < from + REDIRECTS_PER_ANSWER)
			json_array_append_new(rows, describe(redirect));
	}
	reply_ok(ret_reply, json_pack("{s:o}", "redirects", rows));
	if (index > from + REDIRECTS_PER_ANSWER)
		json_object_set_new(ret_reply->object, "next",
				    json_integer(from + REDIRECTS_PER_ANSWER));
}

const struct command redirect_commands[] = {
	{"redirect", run_redirect, FOR_OPERATORS},
	{"redirect_off", run_redirect_off, FOR_OPERATORS},
	{"redirects", run_redirects},
	{NULL, NULL},
};
