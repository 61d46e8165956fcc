/* SPDX-License-Identifier: Apache-2.0 */
/* Communication ids of programs (struct rdma_cm_id): making them, moving them, their end. */
#include "daemon/cm/cm_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_channel.h"
#include "daemon/cm/cm_multicast.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/cm_redirects.h"
#include "daemon/cm/cm_routes.h"
#include "daemon/core/limits.h"
#include "wire/cm_ip_header.h"
#include "wire/ipoib.h"

enum {
	QKEY_DATAGRAMS = 0x01234567, /* RDMA_UDP_QKEY of Linux (management 8.2) */
};

static uint32_t next_number(struct cm_program *program)
{
	uint32_t number;

	do {
		number = ++program->last_id | CM_ID_OF_SOFTIBD;
	} while (hash_table_get(&program->ids, number));
	return number;
}

int cm_id_create(struct cm_program *program, struct cm_channel *channel, uint32_t number,
		 uint32_t port_space, enum cm_qp_type qp_type, struct cm_id **ret_id)
{
	if (number && hash_table_get(&program->ids, number))
		return -EEXIST;

	int error = account_take(program->account, LIMIT_CM_IDS, 1);
	struct cm_id *id = error ? NULL : calloc(1, sizeof(*id));

	if (error)
		return error;
	if (!id) {
		account_give(program->account, LIMIT_CM_IDS, 1);
		return -ENOMEM;
	}
	id->program = program;
	id->channel = channel;
	id->port_space = port_space;
	id->qp_type = qp_type;
	id->send_psn = (uint32_t)random_next(&program->host->random) & 0xffffff;
	id->route.qkey = port_space == CM_PORT_SPACE_IPOIB ? IPOIB_QKEY_USUAL : QKEY_DATAGRAMS;
	list_init(&id->service_link);
	list_init(&id->backlog.listener_link);
	list_init(&id->backlog.requests);
	list_init(&id->resolving_link);
	list_init(&id->groups);
	id->number = number ? number : next_number(program);
	if (hash_table_put(&program->ids, id->number, id) != 0) {
		account_give(program->account, LIMIT_CM_IDS, 1);
		free(id);
		return -ENOMEM;
	}
	*ret_id = id;
	return 0;
}

/* Requests whose listener is destroyed no longer count against its backlog. */
static void refuse_requests(struct cm_id *listener)
{
	for (struct list *link; (link = list_first(&listener->backlog.requests));) {
		struct cm_id *request = container_of(link, struct cm_id, backlog.listener_link);

		cm_id_leave_backlog(request);
	}
}

void cm_id_destroy(struct cm_id *id)
{
	struct cm_host *host = id->program->host;

	cm_routes_forget(id);
	cm_alternate_forget(id);
	cm_redirect_forget(id);
	cm_groups_leave_all(id);
	refuse_requests(id);
	cm_id_leave_backlog(id);
	if (id->connection) {
		cm_release(id->connection, cm_host_now(host));
		cm_host_wake(host);
	}
	cm_unbind(id);
	hash_table_remove(&id->program->ids, id->number);
	account_give(id->program->account, LIMIT_CM_IDS, 1);
	free(id);
}

int cm_id_migrate(struct cm_id *id, struct cm_channel *channel, int peer_socket,
		  uint32_t read_count)
{
	struct cm_channel *old = id->channel;

	if (old && old != channel && id->event_count != read_count) {
		int error = cm_channel_move_events(old, peer_socket, id->number, channel);

		if (error)
			return error;
	}
	id->channel = channel;
	return 0;
}
