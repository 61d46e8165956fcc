/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that a proxy sends to. */
#include "cli/snmp_targets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>
#include "cli/fabric_client.h"
#include "ipc/control_socket.h"
#include "wire/pkey.h"
#include "wire/subnet_attributes.h"

/* LIDs may change and nodes may come. */
#define KNOWN_TIME   SECONDS(5)
#define UNKNOWN_TIME SECONDS(1)
#define ASKED_TIME   SECONDS(5)

/* softibd's answer to "get", or NULL. The names come from strangers, so nothing is printed. */
static json_t *ask(struct snmp_targets *targets, const char *name, int port, const char *attribute)
{
	struct control_message message;
	json_t *request = json_pack("{s:s, s:s, s:s}", "command", "get", "node", name, "attribute",
				    attribute);
	json_t *answer = NULL;

	if (!request)
		return NULL;
	if (port >= 0)
		json_object_set_new(request, "port", json_integer(port));
	if (targets->control < 0)
		targets->control = control_connect_operator(targets->fabric);
	if (targets->control < 0) {
		json_decref(request);
		return NULL;
	}
	/* A late answer would be taken for that of the next question. */
	if (fabric_client_exchange(targets->control, request, ANSWER_TIMEOUT_MS, &message,
				   &answer) != 0) {
		close(targets->control);
		targets->control = -1;
		return NULL;
	}
	control_message_release(&message);
	if (json_is_true(json_object_get(answer, "ok")))
		return answer;
	json_decref(answer);
	return NULL;
}

static uint64_t number_of(const json_t *value)
{
	if (json_is_string(value))
		return strtoull(json_string_value(value), NULL, 0);
	return (uint64_t)json_integer_value(value);
}

static uint64_t field_of(const json_t *answer, const char *field)
{
	return number_of(json_object_get(json_object_get(answer, "fields"), field));
}

/* The GID of this port; false: the port has no LID. */
static bool port_gid(struct snmp_targets *targets, const char *name, int port, struct gid *ret_gid)
{
	json_t *info = ask(targets, name, port, "port_info");
	json_t *guids = ask(targets, name, port, "guids");
	uint64_t guid = number_of(json_array_get(json_object_get(guids, "entries"), 0));
	bool is_reachable = info && guid && field_of(info, "lid") &&
			    field_of(info, "port_state") == PORT_ACTIVE;

	*ret_gid = gid_from(info ? field_of(info, "gid_prefix") : 0, guid);
	json_decref(info);
	json_decref(guids);
	return is_reachable;
}

/* A port in this subnet, else any that is Active. */
static bool find_gid(struct snmp_targets *targets, const char *name, struct gid *ret_gid)
{
	json_t *node = ask(targets, name, -1, "node_info");
	bool is_switch = node && field_of(node, "node_type") == NODE_SWITCH;
	int last = node && !is_switch ? (int)field_of(node, "port_count") : 0;
	bool is_found = false;
	struct gid gid;

	if (is_switch)
		is_found = port_gid(targets, name, 0, ret_gid);
	for (int port = 1; port <= last; port++) {
		if (!port_gid(targets, name, port, &gid))
			continue;
		if (gid_prefix(&gid) == gid_prefix(&targets->own_gid)) {
			*ret_gid = gid;
			is_found = true;
			break;
		}
		if (!is_found)
			*ret_gid = gid;
		is_found = true;
	}
	json_decref(node);
	return is_found;
}

static struct snmp_target *find_or_replace(struct snmp_targets *targets, const char *name)
{
	struct snmp_target *free_one = NULL;

	for (unsigned i = 0; i < SNMP_TARGETS_MAX; i++) {
		struct snmp_target *target = &targets->targets[i];

		if (target->state == TARGET_FREE && !free_one)
			free_one = target;
		if (target->state != TARGET_FREE && strcmp(target->name, name) == 0)
			return target;
	}
	if (!free_one) {
		free_one = &targets->targets[targets->next++ % SNMP_TARGETS_MAX];
		sa_client_cancel(targets->sa, free_one);
	}
	*free_one = (struct snmp_target){.state = TARGET_UNKNOWN};
	snprintf(free_one->name, sizeof(free_one->name), "%s", name);
	return free_one;
}

static void ask_path(struct snmp_targets *targets, struct snmp_target *target,
		     const struct gid *gid, time_ns now)
{
	const struct path_record wanted = {
		.dgid_prefix = gid_prefix(gid),
		.dgid_guid = gid_guid(gid),
		.sgid_prefix = gid_prefix(&targets->own_gid),
		.sgid_guid = gid_guid(&targets->own_gid),
		.reversible = 1,
		.path_count = 1,
	};
	const uint64_t components = SA_COMPONENT(PR_DGID) | SA_COMPONENT(PR_SGID) |
				    SA_COMPONENT(PR_REVERSIBLE) | SA_COMPONENT(PR_PATH_COUNT);

	if (sa_client_query_path(targets->sa, &wanted, components,
				 (struct mad_purpose){.subject = target}) != 0)
		return;
	target->state = TARGET_ASKED;
	target->due_at = now + ASKED_TIME;
}

struct snmp_target *snmp_targets_find(struct snmp_targets *targets, const char *name, time_ns now)
{
	struct snmp_target *target = find_or_replace(targets, name);
	struct gid gid;

	if (now < target->due_at)
		return target;
	target->state = TARGET_UNKNOWN;
	target->due_at = now + UNKNOWN_TIME;
	if (find_gid(targets, name, &gid))
		ask_path(targets, target, &gid, now);
	return target;
}

void snmp_target_resolve(struct snmp_target *target, const struct sa_client_result *result,
			 const struct gid *own_gid, time_ns now)
{
	struct path_record path;

	target->state = TARGET_UNKNOWN;
	target->due_at = now + UNKNOWN_TIME;
	if (result->outcome != SA_CLIENT_ANSWERED)
		return;
	path_record_decode(result->data, &path);
	target->state = TARGET_KNOWN;
	target->due_at = now + KNOWN_TIME;
	target->address = (struct mad_address){
		.lid = path.dlid,
		.sl = path.sl,
		.qpn = QPN_GSI,
		.qkey = QKEY_GSI,
		.pkey = path.pkey,
		.has_grh = path.dgid_prefix != gid_prefix(own_gid),
		.gid = gid_from(path.dgid_prefix, path.dgid_guid),
		.hop_limit = path.hop_limit,
		.traffic_class = path.traffic_class,
		.flow_label = path.flow_label,
	};
}
