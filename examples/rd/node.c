/* SPDX-License-Identifier: Apache-2.0 */
/* A node of the Reliable Datagram examples. */
#include "node.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC
};
enum { POLLS_PER_LOOK = 1024, GIDS_BYTES = NODES_MAX * sizeof(union ibv_gid) };
enum { QUEUE_DEPTH_MAX = 4096, ACK_TIMEOUT = 18, RETRIES = 7, MIN_RNR_TIMER = 12 };

static struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
	for (unsigned i = 0; list[i]; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	return NULL;
}

static int open_device(struct node *node)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device;

	if (!list) {
		perror("Failed to get IB devices list");
		return 1;
	}
	device = find_device(list, node->options.device_name);
	if (!device) {
		fprintf(stderr, "IB device %s not found\n",
			node->options.device_name ? node->options.device_name : "(any)");
		ibv_free_device_list(list);
		return 1;
	}
	node->context = ibv_open_device(device);
	if (!node->context)
		fprintf(stderr, "Couldn't get context for %s\n", ibv_get_device_name(device));
	ibv_free_device_list(list);
	return !node->context;
}

static int open_port(struct node *node)
{
	struct ibv_port_attr port;

	if (ibv_query_port(node->context, (uint8_t)node->options.ib_port, &port)) {
		fprintf(stderr, "Couldn't get port info\n");
		return 1;
	}
	node->address.lid = port.lid;
	if (port.active_mtu < node->options.mtu)
		node->options.mtu = port.active_mtu;
	if (node->options.gid_index < 0)
		return 0;
	if (ibv_query_gid(node->context, (uint8_t)node->options.ib_port, node->options.gid_index,
			  &node->address.gid)) {
		fprintf(stderr, "can't read sgid of index %d\n", node->options.gid_index);
		return 1;
	}
	return 0;
}

static int make_memory(struct node *node, unsigned slot_count)
{
	uint32_t message_bytes = node->options.message_bytes;
	/* The slot also carries the GIDs of an exchange's nodes. */
	uint32_t slot_bytes = message_bytes < GIDS_BYTES ? GIDS_BYTES : message_bytes;
	size_t byte_count = (size_t)slot_bytes * slot_count * 2;

	node->slot_bytes = slot_bytes;
	node->slot_count = slot_count;
	node->bytes = aligned_alloc(4096, (byte_count + 4096) & ~(size_t)4095);
	node->pd = ibv_alloc_pd(node->context);
	if (!node->bytes || !node->pd) {
		fprintf(stderr, "Couldn't allocate PD and work buf\n");
		return 1;
	}
	memset(node->bytes, 0x7b, byte_count);
	node->mr = ibv_reg_mr(node->pd, node->bytes, byte_count, ALL_ACCESS);
	if (!node->mr) {
		fprintf(stderr, "Couldn't register MR\n");
		return 1;
	}
	node->address.memory = (uintptr_t)node->bytes;
	node->address.rkey = node->mr->rkey;
	return 0;
}

static int make_queues(struct node *node)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = node->slot_count,
			.max_recv_wr = node->slot_count,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = SOFTIB_QPT_RD,
		.sq_sig_all = 1,
	};

	if (node->options.uses_events) {
		node->channel = ibv_create_comp_channel(node->context);
		if (!node->channel) {
			fprintf(stderr, "Couldn't create completion channel\n");
			return 1;
		}
	}
	node->cq = ibv_create_cq(node->context, (int)node->slot_count * 2, NULL, node->channel, 0);
	if (!node->cq) {
		fprintf(stderr, "Couldn't create CQ\n");
		return 1;
	}
	node->rdd = softib_alloc_rdd(node->context);
	if (!node->rdd) {
		fprintf(stderr, "Couldn't allocate RD domain\n");
		return 1;
	}
	attr.send_cq = node->cq;
	attr.recv_cq = node->cq;
	node->qp = softib_create_rd_qp(node->pd, node->rdd, &attr);
	if (!node->qp) {
		fprintf(stderr, "Couldn't create QP\n");
		return 1;
	}
	node->address.qpn = node->qp->qp_num;
	return node->channel ? ibv_req_notify_cq(node->cq, 0) : 0;
}

/* An RD QP needs no peer to reach RTS. */
static int ready_queues(struct node *node)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qkey = NODE_QKEY,
				   .qp_access_flags = ALL_ACCESS,
				   .min_rnr_timer = MIN_RNR_TIMER};

	if (ibv_modify_qp(node->qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS)) {
		fprintf(stderr, "Failed to modify QP to INIT\n");
		return 1;
	}
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(node->qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER)) {
		fprintf(stderr, "Failed to modify QP to RTR\n");
		return 1;
	}
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(node->qp, &attr, IBV_QP_STATE)) {
		fprintf(stderr, "Failed to modify QP to RTS\n");
		return 1;
	}
	return 0;
}

static int make_contexts(struct node *node, unsigned node_count, unsigned own_rank)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = (uint8_t)node->options.ib_port};

	for (unsigned rank = 0; rank < node_count; rank++) {
		if (rank == own_rank)
			continue;
		node->eecs[rank] = softib_create_eec(node->rdd, NULL);
		if (!node->eecs[rank]) {
			fprintf(stderr, "Couldn't create EE context\n");
			return 1;
		}
		if (softib_modify_eec(node->eecs[rank], &attr,
				      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)) {
			fprintf(stderr, "Failed to modify EE context to INIT\n");
			return 1;
		}
		node->address.eecns[rank] = node->eecs[rank]->eec_num;
	}
	return 0;
}

int node_open(struct node *node, unsigned node_count, unsigned rank, unsigned slot_count)
{
	if (slot_count > QUEUE_DEPTH_MAX || open_device(node) || open_port(node) ||
	    make_memory(node, slot_count) || make_queues(node) || ready_queues(node))
		return 1;
	srand48(getpid() * time(NULL));
	node->address.psn = lrand48() & 0xffffff;
	return make_contexts(node, node_count, rank);
}

static struct ibv_ah_attr path_to(const struct node *node, const struct node_address *remote)
{
	struct ibv_ah_attr path = {
		.dlid = (uint16_t)remote->lid,
		.sl = (uint8_t)node->options.sl,
		.port_num = (uint8_t)node->options.ib_port,
	};

	if (node->options.gid_index >= 0) {
		path.is_global = 1;
		path.grh.hop_limit = 1;
		path.grh.dgid = remote->gid;
		path.grh.sgid_index = (uint8_t)node->options.gid_index;
	}
	return path;
}

int node_connect(struct node *node, unsigned rank, unsigned own_rank,
		 const struct node_address *remote)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = node->options.mtu,
		.dest_qp_num = remote->eecns[own_rank],
		.rq_psn = remote->psn,
		.sq_psn = node->address.psn,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = RETRIES,
		.ah_attr = path_to(node, remote),
	};

	if (softib_modify_eec(node->eecs[rank], &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC)) {
		fprintf(stderr, "Failed to modify EE context to RTR\n");
		return 1;
	}
	attr.qp_state = IBV_QPS_RTS;
	if (softib_modify_eec(node->eecs[rank], &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)) {
		fprintf(stderr, "Failed to modify EE context to RTS\n");
		return 1;
	}
	return 0;
}

int node_close(struct node *node)
{
	int error = 0;

	if (node->events_taken)
		ibv_ack_cq_events(node->cq, node->events_taken);
	error |= ibv_destroy_qp(node->qp);
	for (unsigned rank = 0; rank < NODES_MAX; rank++)
		if (node->eecs[rank])
			error |= softib_destroy_eec(node->eecs[rank]);
	error |= softib_dealloc_rdd(node->rdd);
	error |= ibv_destroy_cq(node->cq);
	error |= ibv_dereg_mr(node->mr);
	error |= ibv_dealloc_pd(node->pd);
	if (node->channel)
		error |= ibv_destroy_comp_channel(node->channel);
	error |= ibv_close_device(node->context);
	free(node->bytes);
	if (error)
		fprintf(stderr, "Couldn't destroy everything\n");
	return error != 0;
}

uint8_t *node_receive_slot(const struct node *node, unsigned slot)
{
	return node->bytes + (size_t)slot * node->slot_bytes;
}

uint8_t *node_send_slot(const struct node *node, unsigned slot)
{
	return node_receive_slot(node, node->slot_count + slot);
}

int node_post_receive(struct node *node, unsigned slot)
{
	struct ibv_sge sge = {(uintptr_t)node_receive_slot(node, slot), node->slot_bytes,
			      node->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(node->qp, &wr, &bad)) {
		perror("Couldn't post receive");
		return 1;
	}
	return 0;
}

int node_post_send(struct node *node, unsigned slot, unsigned rank, uint32_t remote_qpn)
{
	return node_post_send_bytes(node, slot, node->options.message_bytes, rank, remote_qpn);
}

int node_post_send_bytes(struct node *node, unsigned slot, uint32_t byte_count, unsigned rank,
			 uint32_t remote_qpn)
{
	struct ibv_sge sge = {(uintptr_t)node_send_slot(node, slot), byte_count, node->mr->lkey};
	struct softib_rd_send_wr wr = {
		.wr = {.wr_id = node->slot_count + slot,
		       .sg_list = &sge,
		       .num_sge = 1,
		       .opcode = IBV_WR_SEND,
		       .send_flags = IBV_SEND_SIGNALED},
		.eec_num = node->eecs[rank]->eec_num,
		.remote_qpn = remote_qpn,
		.remote_qkey = NODE_QKEY,
	};
	struct softib_rd_send_wr *bad;

	if (softib_post_rd_send(node->qp, &wr, &bad)) {
		perror("Couldn't post send");
		return 1;
	}
	return 0;
}

/* Checked now and then while nothing arrives. */
static bool has_hung_up(const struct node *node, int timeout_ms)
{
	int channel_fd = node->channel ? node->channel->fd : -1;
	struct pollfd watched[] = {{.fd = node->hangup_fd, .events = POLLIN},
				   {.fd = channel_fd, .events = POLLIN}};

	return node->hangup_fd && poll(watched, 2, timeout_ms) > 0 && watched[0].revents &&
	       !watched[1].revents;
}

/* Arms the CQ. Completions that came before are found by polling. */
static int wait_for_event(struct node *node)
{
	struct ibv_cq *cq;
	void *context;

	if (has_hung_up(node, -1))
		return 0;
	if (ibv_get_cq_event(node->channel, &cq, &context) || ibv_req_notify_cq(cq, 0)) {
		fprintf(stderr, "Failed to get cq_event\n");
		return 1;
	}
	node->events_taken++;
	return 0;
}

int node_wait(struct node *node, struct softib_wc *ret_wc)
{
	bool is_over = false;
	int count;

	for (unsigned tries = 1; (count = softib_poll_cq(node->cq, 1, ret_wc)) == 0; tries++) {
		/* Everything that the peer sent before it closed has been polled by now. */
		if (is_over) {
			fprintf(stderr, "the other side hung up\n");
			return 1;
		}
		if (node->channel && wait_for_event(node))
			return 1;
		is_over = (node->channel || tries % POLLS_PER_LOOK == 0) && has_hung_up(node, 0);
	}
	if (count < 0) {
		fprintf(stderr, "poll CQ failed %d\n", count);
		return 1;
	}
	if (ret_wc->wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "Failed status %s (%d) for wr_id %d\n",
			ibv_wc_status_str(ret_wc->wc.status), ret_wc->wc.status,
			(int)ret_wc->wc.wr_id);
		return 1;
	}
	return 0;
}

void node_print_address(const char *whose, const struct node_address *address, uint32_t eecn)
{
	char gid[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, &address->gid, gid, sizeof(gid));
	printf("  %s address: %sLID 0x%04x, QPN 0x%06x, EECN 0x%06x, PSN 0x%06x, GID %s\n", whose,
	       whose[0] == 'l' ? " " : "", address->lid, address->qpn, eecn, address->psn, gid);
}
