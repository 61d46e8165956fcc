/* SPDX-License-Identifier: Apache-2.0 */
/* Alternate paths of programs' connections: LAP and APR to the peer, records to the process with
 * the queue pair (vol 1, 12.8). */
#include "daemon/cm/cm_alternates.h"

#include <errno.h>
#include <string.h>
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/core/client.h"
#include "daemon/core/host_table.h"
#include "ipc/alternate_path.h"

/* No queue pair has number 0. */
static uint64_t loading_key(unsigned adapter_index, uint32_t qpn)
{
	return (uint64_t)adapter_index << 32 | qpn;
}

static void stop_loading(struct cm_id *id)
{
	if (id->alternate.loading_key)
		hash_table_remove(&id->program->host->loading, id->alternate.loading_key);
	id->alternate.loading_key = 0;
}

/* false: another id says that it has this queue pair, and its path is being loaded. */
static bool start_loading(struct cm_id *id, unsigned adapter_index)
{
	uint64_t key = loading_key(adapter_index, cm_id_offered_number(id));

	stop_loading(id);
	if (hash_table_put(&id->program->host->loading, key, id) != 0)
		return false;
	id->alternate.loading_key = key;
	return true;
}

/* Sends the path to the process that owns the queue pair; it loads the path and answers by a
 * record. false: the process can't be reached. */
static bool hand_to_program(struct cm_id *id, const struct cm_port *port,
			    const struct alternate_path *path)
{
	struct adapter_entry *adapter = port->endpoint->adapter;
	uint32_t number = cm_id_offered_number(id);
	struct client *client = qpn_space_owner(&adapter->qpns, number);

	if (!client || client->host != adapter->host || !start_loading(id, adapter->index))
		return false;
	if (client_send_record(client, RECORD_ALTERNATE_PATH, adapter->index << 8, number, path,
			       sizeof(*path)))
		return true;
	stop_loading(id);
	return false;
}

static struct alternate_path from_record(const struct cm_port *port, const struct path_record *path,
					 uint8_t timeout)
{
	const struct cm_vector vector = cm_path_vector(port, path);
	struct alternate_path made;

	/* Padding included, because all of its bytes go to another process. */
	memset(&made, 0, sizeof(made));
	made.address.dlid = vector.dlid;
	made.address.sl = vector.sl;
	made.address.source_path_bits = vector.path_bits;
	made.address.static_rate = vector.rate;
	made.address.port_number = (uint8_t)port->endpoint->port->number;
	made.address.is_global = vector.has_grh;
	made.address.hop_limit = vector.hop_limit;
	made.address.traffic_class = vector.traffic_class;
	made.address.flow_label = vector.flow_label;
	made.address.dgid = vector.dgid;
	made.timeout = timeout;
	if (!cm_port_pkey_index(port, path->pkey, &made.pkey_index))
		made.pkey_index = 0;
	return made;
}

/* A queue pair has ports of one adapter only. */
static struct cm_port *own_port(const struct cm_id *id, const struct gid *gid)
{
	struct cm_port *port = cm_host_find_gid(id->program->host, gid);

	return port && port->endpoint->adapter == id->port->endpoint->adapter ? port : NULL;
}

/* Whether a path from this port, NULL if it is not ours, can be loaded now. */
static int check_alternate(const struct cm_id *id, const struct cm_port *port)
{
	if (id->state != CM_ID_CONNECTED)
		return -EINVAL;
	if (!port)
		return -EADDRNOTAVAIL;
	return id->alternate.state == CM_ALTERNATE_NONE ? 0 : -EINVAL;
}

int cm_id_load_alternate(struct cm_id *id, const struct path_record *path)
{
	struct cm_host *host = id->program->host;
	const struct gid sgid = gid_from(path->sgid_prefix, path->sgid_guid);
	struct cm_port *port = own_port(id, &sgid);
	const struct cm_private_data nothing = {0};

	int error = check_alternate(id, port);

	if (error)
		return error;

	uint8_t timeout = cm_ack_timeout(id, path, CM_ACK_DELAY);
	const struct cm_lap lap = {
		.remote_response_timeout = CM_RESPONSE_TIMEOUT,
		.local_lid = path->slid,
		.remote_lid = path->dlid,
		.local_gid_prefix = path->sgid_prefix,
		.local_gid_guid = path->sgid_guid,
		.remote_gid_prefix = path->dgid_prefix,
		.remote_gid_guid = path->dgid_guid,
		.flow_label = path->flow_label,
		.traffic_class = path->traffic_class,
		.hop_limit = path->hop_limit,
		.packet_rate = path->rate,
		.sl = path->sl,
		.subnet_local = path->hop_limit <= 1,
		.ack_timeout = timeout,
	};

	error = cm_load_alternate(id->connection, cm_host_now(host), &lap, nothing);

	if (error)
		return error;
	id->alternate.state = CM_ALTERNATE_ASKED;
	id->alternate.port = port;
	id->alternate.path = *path;
	id->alternate.timeout = timeout;
	cm_host_wake(host);
	return 0;
}

/* EE contexts have an event for the outcome, librdmacm has none. A connection that has ended had
 * its own event. */
static void tell(struct cm_id *id, int error)
{
	if (id->qp_type == CM_QP_RD && id->state == CM_ID_CONNECTED)
		cm_id_tell(id, CM_PROGRAM_ALTERNATE_PATH, error);
}

int cm_id_find_alternate(struct cm_id *id, const struct gid *sgid, const struct gid *dgid)
{
	struct cm_port *port = own_port(id, sgid);
	const struct path_record wanted = {
		.dgid_prefix = gid_prefix(dgid),
		.dgid_guid = gid_guid(dgid),
		.sgid_prefix = gid_prefix(sgid),
		.sgid_guid = gid_guid(sgid),
		.reversible = 1,
		.path_count = 1,
		.pkey = id->route.pkey,
	};
	const uint64_t components = SA_COMPONENT(PR_DGID) | SA_COMPONENT(PR_SGID) |
				    SA_COMPONENT(PR_REVERSIBLE) | SA_COMPONENT(PR_PATH_COUNT) |
				    SA_COMPONENT(PR_PKEY);
	const struct mad_purpose purpose = {id, CM_SA_REQUEST_ALTERNATE};

	int error = check_alternate(id, port);

	if (!error)
		error = sa_client_query_path(cm_port_sa(port), &wanted, components, purpose);
	if (error)
		return error;
	id->alternate.state = CM_ALTERNATE_RESOLVING;
	id->alternate.port = port;
	cm_host_wake(id->program->host);
	return 0;
}

void cm_alternate_found(struct cm_id *id, const struct sa_client_result *result)
{
	struct path_record path;
	int error = -EHOSTUNREACH;

	id->alternate.state = CM_ALTERNATE_NONE;
	if (result->outcome == SA_CLIENT_ANSWERED) {
		path_record_decode(result->data, &path);
		/* The connection keeps its path MTU, so the new path must allow it. */
		if (path.mtu >= id->terms.path_mtu)
			error = cm_id_load_alternate(id, &path);
	}
	if (error)
		tell(id, error);
}

void cm_alternate_forget(struct cm_id *id)
{
	if (id->alternate.state == CM_ALTERNATE_RESOLVING)
		sa_client_cancel(&id->alternate.port->sa, id);
	stop_loading(id);
}

static void answer(struct cm_id *id, enum cm_apr_status status)
{
	struct cm_host *host = id->program->host;
	const struct cm_private_data nothing = {0};

	id->alternate.state = CM_ALTERNATE_NONE;
	/* The peer may have ended the connection meanwhile, and wants no answer. */
	if (id->connection &&
	    cm_answer_alternate(id->connection, cm_host_now(host), status, nothing) == 0)
		cm_host_wake(host);
}

void cm_alternate_asked(struct cm_id *id, const struct cm_event *event)
{
	struct cm_lap lap;

	cm_lap_decode(event->data, &lap);

	/* A LAP describes the path as its sender sees it; ours is the reverse. */
	const struct gid own = gid_from(lap.remote_gid_prefix, lap.remote_gid_guid);
	struct cm_port *port = own_port(id, &own);
	const struct path_record path = {
		.dgid_prefix = lap.local_gid_prefix,
		.dgid_guid = lap.local_gid_guid,
		.sgid_prefix = lap.remote_gid_prefix,
		.sgid_guid = lap.remote_gid_guid,
		.dlid = lap.subnet_local ? lap.local_lid : event->address->lid,
		.slid = lap.remote_lid,
		.flow_label = lap.flow_label,
		.hop_limit = lap.hop_limit,
		.traffic_class = lap.traffic_class,
		.pkey = id->route.pkey,
		.sl = lap.sl,
		.rate = lap.packet_rate,
	};

	if (!port) {
		answer(id, CM_APR_GID_REJECTED);
		return;
	}
	if (lap.subnet_local &&
	    (lap.remote_lid ^ port->endpoint->port->info.lid) >> port->endpoint->port->info.lmc) {
		answer(id, CM_APR_LID_REJECTED);
		return;
	}

	const struct alternate_path made = from_record(port, &path, lap.ack_timeout);

	id->alternate.state = CM_ALTERNATE_LOADING;
	if (!hand_to_program(id, port, &made))
		answer(id, CM_APR_REJECTED);
}

void cm_alternate_answered(struct cm_id *id, const struct cm_event *event)
{
	struct cm_apr apr;

	if (id->alternate.state != CM_ALTERNATE_ASKED)
		return;
	id->alternate.state = CM_ALTERNATE_NONE;
	if (event->kind != CM_EVENT_ALTERNATE_ANSWER) {
		tell(id, -ETIMEDOUT);
		return;
	}
	cm_apr_decode(event->data, &apr);
	if (apr.status != CM_APR_LOADED) {
		tell(id, -ECONNREFUSED);
		return;
	}

	const struct alternate_path made =
		from_record(id->alternate.port, &id->alternate.path, id->alternate.timeout);

	/* If the process can't be reached, the queue pair stays as it is, as after a refusal. */
	if (hand_to_program(id, id->alternate.port, &made))
		id->alternate.state = CM_ALTERNATE_GRANTED;
	else
		tell(id, -ENOMEM);
}

void cm_alternate_take_record(const struct client *client, const struct ring_record *record)
{
	const struct cm_host *host = client->host->cm;
	struct cm_id *id =
		host ? hash_table_get(&host->loading, loading_key(record->port >> 8, record->word))
		     : NULL;
	bool is_loaded = record->kind == RECORD_ALTERNATE_LOADED;

	if (!id)
		return;
	stop_loading(id);
	if (id->alternate.state == CM_ALTERNATE_LOADING) {
		answer(id, is_loaded ? CM_APR_LOADED : CM_APR_REJECTED);
		return;
	}
	id->alternate.state = CM_ALTERNATE_NONE;
	tell(id, is_loaded ? 0 : -EINVAL);
}
