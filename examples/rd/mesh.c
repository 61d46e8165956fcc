/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes of the RD examples connect all to all by communication management. */
#include "mesh.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "call.h"

enum { LOOK_MS = 1 };

/* The rank of the node that an id's context points to. */
static unsigned rank_of(const struct mesh *mesh, const struct softib_cm_id *id)
{
	return (unsigned)((struct softib_cm_id **)id->id_context - mesh->ids);
}

static void learn(struct mesh *mesh, unsigned rank, const struct softib_cm_event *event)
{
	mesh->addresses[rank].qpn = event->remote_qpn;
	mesh->addresses[rank].gid = event->remote_gid;
}

static int accept_call(struct mesh *mesh, const struct softib_cm_event *event)
{
	const struct node *node = mesh->node;
	const struct softib_eec_offer offer = call_offer(node);
	unsigned rank = event->private_data[0];

	if (rank <= node->options.rank || rank >= node->options.node_count || mesh->ids[rank]) {
		softib_reject_eec(event->id, 0, NULL, 0);
		return softib_destroy_cm_id(event->id);
	}

	int error = softib_accept_eec(event->id, node->eecs[rank], &offer);

	if (error) {
		fprintf(stderr, "softib_accept_eec: %s\n", strerror(error));
		return 1;
	}
	mesh->ids[rank] = event->id;
	event->id->id_context = &mesh->ids[rank];
	learn(mesh, rank, event);
	return 0;
}

static int act_on(struct mesh *mesh, const struct softib_cm_event *event)
{
	switch (event->type) {
	case SOFTIB_CM_REQUEST:
		return accept_call(mesh, event);
	case SOFTIB_CM_ESTABLISHED:
		mesh->is_established[rank_of(mesh, event->id)] = true;
		/* The requesting side knows the QPN already. */
		if (event->remote_qpn)
			learn(mesh, rank_of(mesh, event->id), event);
		return 0;
	case SOFTIB_CM_DISCONNECTED:
		mesh->has_ended[rank_of(mesh, event->id)] = true;
		return 0;
	case SOFTIB_CM_TIMEWAIT_EXIT:
	case SOFTIB_CM_ALTERNATE_PATH:
		return 0;
	case SOFTIB_CM_REJECTED:
	case SOFTIB_CM_UNREACHABLE:
	case SOFTIB_CM_ERROR:
		break;
	}
	fprintf(stderr, "%s, status %d\n", softib_cm_event_str(event->type), event->status);
	return 1;
}

static int take_event(struct mesh *mesh)
{
	struct softib_cm_event event;
	int error = softib_get_cm_event(mesh->channel, &event);

	if (error) {
		fprintf(stderr, "softib_get_cm_event: %s\n", strerror(error));
		return 1;
	}
	/* A rejected request's id is destroyed; its event counts for the listener. */
	error = act_on(mesh, &event);
	softib_ack_cm_event(&event);
	return error;
}

/* Called while all nodes are running. */
static int await_established(struct mesh *mesh, unsigned rank)
{
	while (!mesh->is_established[rank] || mesh->has_ended[rank]) {
		if (mesh->has_ended[rank]) {
			fprintf(stderr, "node %u hung up\n", rank);
			return 1;
		}
		if (take_event(mesh))
			return 1;
	}
	return 0;
}

static int dial(struct mesh *mesh, unsigned rank, const union ibv_gid *gid)
{
	const struct node *node = mesh->node;
	const uint8_t own_rank = (uint8_t)node->options.rank;
	const struct softib_eec_call to = {.dgid = *gid,
					   .service_id = call_service(node, rank),
					   .port_num = (uint8_t)node->options.ib_port};
	struct softib_eec_offer offer = call_offer(node);

	offer.private_data = &own_rank;
	offer.private_data_len = sizeof(own_rank);
	mesh->ids[rank] =
		softib_connect_eec(mesh->channel, node->eecs[rank], &to, &offer, &mesh->ids[rank]);
	if (!mesh->ids[rank])
		perror("softib_connect_eec");
	return !mesh->ids[rank];
}

/* Receives the GIDs from rank 0; other nodes may connect meanwhile. */
static int await_gids(struct mesh *mesh, union ibv_gid gids[NODES_MAX])
{
	struct pollfd events = {.fd = mesh->channel->fd, .events = POLLIN};
	struct node *node = mesh->node;
	struct softib_wc wc;
	int count;

	while ((count = softib_poll_cq(node->cq, 1, &wc)) == 0) {
		if (mesh->has_ended[0] || (poll(&events, 1, LOOK_MS) > 0 && take_event(mesh)))
			count = -1;
		if (count < 0)
			break;
	}
	if (count < 0 || wc.wc.status != IBV_WC_SUCCESS ||
	    wc.wc.byte_len != sizeof(*gids) * node->options.node_count) {
		fprintf(stderr, "node 0 does not say where the others are\n");
		return 1;
	}
	memcpy(gids, node_receive_slot(node, (unsigned)wc.wc.wr_id), wc.wc.byte_len);
	return node_post_receive(node, (unsigned)wc.wc.wr_id);
}

/* All sends use one slot that no round uses. */
static int tell_gids(struct mesh *mesh, unsigned *ret_sends_outstanding)
{
	struct node *node = mesh->node;
	unsigned count = node->options.node_count;
	union ibv_gid *gids = (union ibv_gid *)(void *)node_send_slot(node, count);

	for (unsigned rank = 1; rank < count; rank++)
		gids[rank] = mesh->addresses[rank].gid;
	for (unsigned rank = 1; rank < count; rank++) {
		if (node_post_send_bytes(node, count, (uint32_t)(sizeof(*gids) * count), rank,
					 mesh->addresses[rank].qpn))
			return 1;
		++*ret_sends_outstanding;
	}
	return 0;
}

static int call_lower_ranks(struct mesh *mesh)
{
	const struct node *node = mesh->node;
	union ibv_gid gids[NODES_MAX];

	if (call_find_gid(node->options.server_name, &gids[0]) || dial(mesh, 0, &gids[0]) ||
	    await_established(mesh, 0) || await_gids(mesh, gids))
		return 1;
	for (unsigned rank = 1; rank < node->options.rank; rank++)
		if (dial(mesh, rank, &gids[rank]))
			return 1;
	return 0;
}

int mesh_meet(struct mesh *mesh, struct node *node, struct node_address addresses[NODES_MAX],
	      unsigned *ret_sends_outstanding)
{
	unsigned own_rank = node->options.rank;

	*ret_sends_outstanding = 0;
	mesh->node = node;
	mesh->addresses = addresses;
	mesh->channel = softib_create_cm_channel(node->context);
	if (!mesh->channel) {
		perror("softib_create_cm_channel");
		return 1;
	}
	mesh->listener = softib_listen_eec(mesh->channel, (uint8_t)node->options.ib_port,
					   call_service(node, own_rank), NODES_MAX, NULL);
	if (!mesh->listener) {
		perror("softib_listen_eec");
		return 1;
	}
	printf("  listening for service 0x%016llx\n",
	       (unsigned long long)call_service(node, own_rank));
	fflush(stdout);
	if (own_rank && call_lower_ranks(mesh))
		return 1;
	for (unsigned rank = 0; rank < node->options.node_count; rank++)
		if (rank != own_rank && await_established(mesh, rank))
			return 1;
	node->hangup_fd = mesh->channel->fd;
	return own_rank ? 0 : tell_gids(mesh, ret_sends_outstanding);
}

static int await_end(struct mesh *mesh, unsigned rank)
{
	while (!mesh->has_ended[rank])
		if (take_event(mesh))
			return 1;
	return 0;
}

int mesh_part(struct mesh *mesh)
{
	const struct node *node = mesh->node;
	unsigned own_rank = node->options.rank, count = node->options.node_count;
	int error = own_rank ? await_end(mesh, 0) : 0;

	for (unsigned rank = own_rank + 1; !error && rank < count; rank++)
		error = softib_disconnect_eec(mesh->ids[rank]);
	for (unsigned rank = 0; !error && rank < count; rank++)
		error = rank == own_rank ? 0 : await_end(mesh, rank);
	if (error) {
		fprintf(stderr, "Couldn't end the connections\n");
		return 1;
	}
	for (unsigned rank = 0; rank < count; rank++)
		if (rank != own_rank)
			softib_destroy_cm_id(mesh->ids[rank]);
	softib_destroy_cm_id(mesh->listener);
	softib_destroy_cm_channel(mesh->channel);
	return 0;
}
