/* SPDX-License-Identifier: Apache-2.0 */
/* Redirected calls: a path to the place that the peer names, then the same call to that place
 * (management 7.1). The program sees none of it, as with a REQ that is sent again. */
#include "daemon/cm/cm_redirects.h"

#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/core/host_table.h"
#include "net/node/node.h"

/* RedirectP_Key must be one of ours; it is used with the membership of our table. */
static bool take_pkey(const struct cm_port *port, struct class_port_info *place)
{
	uint16_t index;

	if (!(place->redirect_pkey & 0x7fff))
		return true;
	if (!cm_port_pkey_index(port, place->redirect_pkey, &index))
		return false;
	place->redirect_pkey = port->endpoint->port->pkeys[index];
	return true;
}

static int ask_for_path(struct cm_id *id, const struct class_port_info *place)
{
	bool is_by_gid = place->redirect_gid_guid;
	const struct path_record wanted = {
		.dgid_prefix = place->redirect_gid_prefix,
		.dgid_guid = place->redirect_gid_guid,
		.sgid_prefix = gid_prefix(&id->route.sgid),
		.sgid_guid = gid_guid(&id->route.sgid),
		.dlid = place->redirect_lid,
		.reversible = 1,
		.path_count = 1,
		.pkey = id->route.pkey,
	};
	uint64_t components = SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_REVERSIBLE) |
			      SA_COMPONENT(PR_PATH_COUNT) | SA_COMPONENT(PR_PKEY) |
			      (is_by_gid ? SA_COMPONENT(PR_DGID) : SA_COMPONENT(PR_DLID));

	return sa_client_query_path(cm_port_sa(id->port), &wanted, components,
				    (struct mad_purpose){id, CM_SA_REQUEST_REDIRECT});
}

bool cm_redirect_follow(struct cm_id *id, const struct cm_event *event)
{
	struct cm_redirection redirection;

	if (id->is_passive || id->state != CM_ID_CONNECTING ||
	    !cm_redirection_read(event, &redirection) || !take_pkey(id->port, &redirection.place) ||
	    ask_for_path(id, &redirection.place) != 0)
		return false;
	id->redirection = redirection;
	id->is_redirected = true;
	cm_host_wake(id->program->host);
	return true;
}

static bool call_there(struct cm_id *id, const struct path_record *path)
{
	struct cm_host *host = id->program->host;
	struct mad_address address;

	if (!cm_redirection_address(&id->redirection, path, &address))
		return false;
	id->route.path = *path;
	id->route.dgid = gid_from(path->dgid_prefix, path->dgid_guid);

	const struct cm_place place = {
		.address = address,
		.packet_life_time = path->packet_life_time,
		.path_mtu = path->mtu,
		.primary = cm_path_of_req(id),
	};

	return cm_call_elsewhere(id->connection, cm_host_now(host), &place) == 0;
}

void cm_redirect_path_found(struct cm_id *id, const struct sa_client_result *result)
{
	bool is_sidr = !id->redirection.reason;
	struct path_record path;

	id->is_redirected = false;
	cm_host_wake(id->program->host);
	if (result->outcome == SA_CLIENT_ANSWERED) {
		path_record_decode(result->data, &path);
		if (call_there(id, &path))
			return;
	}
	/* The program is told what it would have been told at once. */
	id->state = CM_ID_DISCONNECTED;
	if (is_sidr)
		cm_id_tell(id, CM_PROGRAM_UNREACHABLE, CM_SIDR_REDIRECT);
	else
		cm_id_tell(id, CM_PROGRAM_REJECTED, id->redirection.reason);
}

void cm_redirect_forget(struct cm_id *id)
{
	if (id->is_redirected)
		sa_client_cancel(&id->port->sa, id);
}
