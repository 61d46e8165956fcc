/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the RD examples connect their EE contexts by communication management. */
#include "call.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

/* Any unused service ID: users may choose those that begin with 0. */
#define SERVICE_BASE 0x0053494200000000ull

enum { RESOLVE_MS = 5000, RETRIES = 7, DEPTH = 1 };

uint64_t call_service(const struct node *node, unsigned rank)
{
	return SERVICE_BASE | (uint64_t)rank << 16 | (uint64_t)node->options.tcp_port;
}

int call_find_gid(const char *name, union ibv_gid *ret_gid)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	if (inet_pton(AF_INET6, name, ret_gid) == 1)
		return 0;
	if (rdma_getaddrinfo(name, NULL, &hints, &info)) {
		fprintf(stderr, "No host %s\n", name);
		return 1;
	}
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		rdma_freeaddrinfo(info);
		return 1;
	}

	int error = rdma_resolve_addr(id, NULL, info->ai_dst_addr, RESOLVE_MS);

	if (error)
		perror("rdma_resolve_addr");
	else
		*ret_gid = id->route.addr.addr.ibaddr.dgid;
	rdma_destroy_id(id);
	rdma_freeaddrinfo(info);
	return error;
}

/* Takes and acknowledges the next event; nonzero unless it is of the expected type. */
static int expect(struct call *call, enum softib_cm_event_type type,
		  struct softib_cm_event *ret_event)
{
	int error = softib_get_cm_event(call->channel, ret_event);

	if (error) {
		fprintf(stderr, "softib_get_cm_event: %s\n", strerror(error));
		return 1;
	}
	softib_ack_cm_event(ret_event);
	if (ret_event->type == type)
		return 0;
	fprintf(stderr, "%s, status %d\n", softib_cm_event_str(ret_event->type), ret_event->status);
	return 1;
}

struct softib_eec_offer call_offer(const struct node *node)
{
	return (struct softib_eec_offer){
		.qp_num = node->qp->qp_num,
		.qkey = NODE_QKEY,
		.responder_resources = DEPTH,
		.initiator_depth = DEPTH,
		.retry_count = RETRIES,
		.rnr_retry_count = RETRIES,
	};
}

static int serve(struct call *call, struct node *node, unsigned peer,
		 struct softib_cm_event *ret_request)
{
	const struct softib_eec_offer offer = call_offer(node);
	struct softib_cm_event established;

	call->listener = softib_listen_eec(call->channel, (uint8_t)node->options.ib_port,
					   call_service(node, 0), 1, NULL);
	if (!call->listener) {
		perror("softib_listen_eec");
		return 1;
	}
	printf("  listening for service 0x%016llx\n", (unsigned long long)call_service(node, 0));
	fflush(stdout);
	if (expect(call, SOFTIB_CM_REQUEST, ret_request))
		return 1;
	call->id = ret_request->id;

	int error = softib_accept_eec(call->id, node->eecs[peer], &offer);

	if (error) {
		fprintf(stderr, "softib_accept_eec: %s\n", strerror(error));
		return 1;
	}
	return expect(call, SOFTIB_CM_ESTABLISHED, &established);
}

static int dial(struct call *call, struct node *node, unsigned peer,
		struct softib_cm_event *ret_answer)
{
	const struct softib_eec_offer offer = call_offer(node);
	struct softib_eec_call to = {.service_id = call_service(node, 0),
				     .port_num = (uint8_t)node->options.ib_port};

	if (call_find_gid(node->options.server_name, &to.dgid))
		return 1;
	call->id = softib_connect_eec(call->channel, node->eecs[peer], &to, &offer, NULL);
	if (!call->id) {
		perror("softib_connect_eec");
		return 1;
	}
	return expect(call, SOFTIB_CM_ESTABLISHED, ret_answer);
}

int call_meet(struct call *call, struct node *node, unsigned peer, struct node_address *ret_address)
{
	struct softib_cm_event event;
	struct ibv_qp_attr attr;

	call->channel = softib_create_cm_channel(node->context);
	if (!call->channel) {
		perror("softib_create_cm_channel");
		return 1;
	}
	if (node->options.server_name ? dial(call, node, peer, &event)
				      : serve(call, node, peer, &event))
		return 1;
	if (softib_query_eec(node->eecs[peer], &attr, 0)) {
		perror("softib_query_eec");
		return 1;
	}
	node->hangup_fd = call->channel->fd;
	node->address.psn = attr.sq_psn;
	*ret_address = (struct node_address){
		.lid = attr.ah_attr.dlid, .qpn = event.remote_qpn, .psn = attr.rq_psn};
	ret_address->eecns[node->options.rank] = event.remote_eec_num;
	memcpy(&ret_address->gid, &event.remote_gid, sizeof(ret_address->gid));
	return 0;
}

int call_part(struct call *call)
{
	struct softib_cm_event event;

	if (call->listener && softib_disconnect_eec(call->id)) {
		perror("softib_disconnect_eec");
		return 1;
	}
	if (expect(call, SOFTIB_CM_DISCONNECTED, &event))
		return 1;
	softib_destroy_cm_id(call->id);
	if (call->listener)
		softib_destroy_cm_id(call->listener);
	softib_destroy_cm_channel(call->channel);
	return 0;
}
