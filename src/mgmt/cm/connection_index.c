/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup of connections by the keys that messages carry: our communication id, the peer's id with
 * its CA GUID, the peer's QPN with its CA GUID (management 7.4). */
#include <errno.h>
#include <stdlib.h>
#include "mgmt/cm/cm_connection.h"

static uint64_t remote_hash(uint32_t number, uint64_t ca_guid)
{
	struct random mixer = random_seeded(ca_guid ^ (uint64_t)number << 32 ^ number);

	return random_next(&mixer);
}

static uint64_t id_hash(const struct cm_connection *connection)
{
	return remote_hash(connection->peer.comm_id, connection->peer.ca_guid);
}

static uint64_t qpn_hash(const struct cm_connection *connection)
{
	return remote_hash(remote_number(connection->peer.qpn, connection->is_datagram),
			   connection->peer.ca_guid);
}

static uint32_t take_comm_id(struct cm *cm)
{
	uint32_t id;

	/* There are far more ids than connections. 0 means "no id" in a REJ. */
	do {
		id = cm->next_id++ ^ cm->id_mask;
	} while (id == 0 || hash_table_get(&cm->by_local_id, id));
	return id;
}

int connection_create(struct cm *cm, uint32_t port_index, void *context,
		      struct cm_connection **ret_connection)
{
	if (cm->connection_count >= cm->options.connections_max)
		return -ENOMEM;

	struct cm_connection *connection = calloc(1, sizeof(*connection));

	if (!connection || timer_queue_reserve(&cm->timers, cm->connection_count + 1) != 0) {
		free(connection);
		return -ENOMEM;
	}
	connection->cm = cm;
	connection->context = context;
	connection->port_index = port_index;
	connection->local_comm_id = take_comm_id(cm);
	if (hash_table_put(&cm->by_local_id, connection->local_comm_id, connection) != 0) {
		free(connection);
		return -ENOMEM;
	}
	list_init(&connection->peer_link);
	list_append(&cm->connections, &connection->link);
	cm->connection_count++;
	*ret_connection = connection;
	return 0;
}

int connection_renew_id(struct cm_connection *connection)
{
	struct cm *cm = connection->cm;
	uint32_t id = take_comm_id(cm);

	if (hash_table_put(&cm->by_local_id, id, connection) != 0)
		return -ENOMEM;
	hash_table_remove(&cm->by_local_id, connection->local_comm_id);
	connection->local_comm_id = id;
	return 0;
}

void connection_free(struct cm_connection *connection)
{
	struct cm *cm = connection->cm;

	connection_cancel(connection);
	connection_unindex_remote_id(connection);
	connection_unindex_remote_qpn(connection);
	hash_table_remove(&cm->by_local_id, connection->local_comm_id);
	list_remove(&connection->link);
	list_remove(&connection->peer_link);
	cm->connection_count--;
	cm->released_count -= connection->is_released;
	free(connection);
}

struct cm_connection *connection_find(const struct cm *cm, uint32_t local_comm_id,
				      uint32_t remote_comm_id)
{
	struct cm_connection *connection = hash_table_get(&cm->by_local_id, local_comm_id);

	return connection && connection->peer.comm_id == remote_comm_id ? connection : NULL;
}

struct cm_connection *connection_find_remote_id(const struct cm *cm, uint32_t remote_comm_id,
						uint64_t remote_ca_guid)
{
	struct hash_link *link =
		hash_chain_first(&cm->by_remote_id, remote_hash(remote_comm_id, remote_ca_guid));

	for (; link; link = link->next) {
		struct cm_connection *connection =
			container_of(link, struct cm_connection, id_link);

		if (connection->peer.comm_id == remote_comm_id &&
		    connection->peer.ca_guid == remote_ca_guid)
			return connection;
	}
	return NULL;
}

struct cm_connection *connection_find_remote_qpn(const struct cm *cm, uint32_t number,
						 uint64_t remote_ca_guid)
{
	struct hash_link *link =
		hash_chain_first(&cm->by_remote_qpn, remote_hash(number, remote_ca_guid));

	for (; link; link = link->next) {
		struct cm_connection *connection =
			container_of(link, struct cm_connection, qpn_link);

		if (remote_number(connection->peer.qpn, connection->is_datagram) == number &&
		    connection->peer.ca_guid == remote_ca_guid)
			return connection;
	}
	return NULL;
}

int connection_index_remote_id(struct cm_connection *connection)
{
	int error = hash_chain_put(&connection->cm->by_remote_id, id_hash(connection),
				   &connection->id_link);

	if (!error)
		connection->is_by_remote_id = true;
	return error;
}

int connection_index_remote_qpn(struct cm_connection *connection)
{
	if (connection->shares_channel)
		return 0;

	int error = hash_chain_put(&connection->cm->by_remote_qpn, qpn_hash(connection),
				   &connection->qpn_link);

	if (!error)
		connection->is_by_remote_qpn = true;
	return error;
}

void connection_unindex_remote_id(struct cm_connection *connection)
{
	if (!connection->is_by_remote_id)
		return;
	connection->is_by_remote_id = false;
	hash_chain_remove(&connection->cm->by_remote_id, id_hash(connection), &connection->id_link);
}

void connection_unindex_remote_qpn(struct cm_connection *connection)
{
	if (!connection->is_by_remote_qpn)
		return;
	connection->is_by_remote_qpn = false;
	hash_chain_remove(&connection->cm->by_remote_qpn, qpn_hash(connection),
			  &connection->qpn_link);
}
