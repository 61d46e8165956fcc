/* SPDX-License-Identifier: Apache-2.0 */
/* The datagram queue pair of a console program. */
#include "io/console/programs/console_port.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	PORT_NUMBER = 1,
	SENDS = 256,
	GRH_BYTES = 40,
	RECEIVE_BYTES = GRH_BYTES + CONSOLE_FRAME_BYTES_MAX,
	SEND_ID = CONSOLE_RECEIVES, /* wr_ids below are those of receives */
};

time_ns console_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (time_ns)now.tv_sec * SECONDS(1) + (time_ns)now.tv_nsec;
}

static int open_device(struct console_port *port)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (devices && devices[0])
		port->context = ibv_open_device(devices[0]);
	if (devices)
		ibv_free_device_list(devices);
	if (!port->context)
		return -ENODEV;
	return ibv_query_gid(port->context, PORT_NUMBER, 0, &port->gid) ? -errno : 0;
}

static int make_objects(struct console_port *port)
{
	struct ibv_qp_init_attr attributes = {.qp_type = IBV_QPT_UD,
					      .cap = {.max_send_wr = SENDS,
						      .max_recv_wr = CONSOLE_RECEIVES,
						      .max_send_sge = 1,
						      .max_recv_sge = 1,
						      .max_inline_data = CONSOLE_FRAME_BYTES_MAX}};
	const int access = IBV_ACCESS_LOCAL_WRITE;

	port->bytes = calloc(CONSOLE_RECEIVES, RECEIVE_BYTES);
	port->pd = ibv_alloc_pd(port->context);
	port->channel = ibv_create_comp_channel(port->context);
	if (!port->bytes || !port->pd || !port->channel)
		return -errno;
	port->mr = ibv_reg_mr(port->pd, port->bytes, CONSOLE_RECEIVES * RECEIVE_BYTES, access);
	port->cq = ibv_create_cq(port->context, SENDS + CONSOLE_RECEIVES, NULL, port->channel, 0);
	attributes.send_cq = port->cq;
	attributes.recv_cq = port->cq;
	if (port->cq)
		port->qp = ibv_create_qp(port->pd, &attributes);
	if (!port->mr || !port->cq || !port->qp)
		return -errno;
	return fcntl(port->channel->fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static int post_receive(struct console_port *port, uint64_t index)
{
	struct ibv_sge place = {.addr = (uintptr_t)(port->bytes + index * RECEIVE_BYTES),
				.length = RECEIVE_BYTES,
				.lkey = port->mr->lkey};
	struct ibv_recv_wr request = {.wr_id = index, .sg_list = &place, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return -ibv_post_recv(port->qp, &request, &bad);
}

static int start_queue_pair(struct console_port *port)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT_NUMBER, .qkey = RDMA_UDP_QKEY};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	int error = ibv_modify_qp(port->qp, &init,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	for (unsigned index = 0; index < CONSOLE_RECEIVES && !error; index++)
		error = -post_receive(port, index);
	if (!error)
		error = ibv_modify_qp(port->qp, &rtr, IBV_QP_STATE);
	if (!error)
		error = ibv_modify_qp(port->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return -error;
}

int console_port_open(struct console_port *ret_port)
{
	struct console_port port = {.context = NULL};
	int error = open_device(&port);

	if (!error)
		error = make_objects(&port);
	if (!error)
		error = start_queue_pair(&port);
	if (error) {
		fprintf(stderr, "softib console: no queue pair: %s\n", strerror(-error));
		console_port_close(&port);
		return error;
	}
	*ret_port = port;
	return 0;
}

void console_port_close(struct console_port *port)
{
	if (port->qp)
		ibv_destroy_qp(port->qp);
	if (port->cq)
		ibv_destroy_cq(port->cq);
	if (port->mr)
		ibv_dereg_mr(port->mr);
	if (port->channel)
		ibv_destroy_comp_channel(port->channel);
	if (port->pd)
		ibv_dealloc_pd(port->pd);
	if (port->context)
		ibv_close_device(port->context);
	free(port->bytes);
}

void console_port_send(struct console_port *port, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
		       const uint8_t *bytes, size_t byte_count)
{
	struct ibv_sge text = {.addr = (uintptr_t)bytes, .length = (uint32_t)byte_count};
	struct ibv_send_wr request = {.wr_id = SEND_ID,
				      .sg_list = &text,
				      .num_sge = 1,
				      .opcode = IBV_WR_SEND,
				      .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
				      .wr.ud = {ah, qpn, qkey}};
	struct ibv_send_wr *bad;
	int error = ibv_post_send(port->qp, &request, &bad);

	/* The frame is sent again when nobody acknowledges it. */
	(void)error;
}

bool console_port_receive(struct console_port *port, struct console_arrival *ret_arrival)
{
	struct ibv_wc completion;

	while (ibv_poll_cq(port->cq, 1, &completion) == 1) {
		if (completion.wr_id >= CONSOLE_RECEIVES || completion.status != IBV_WC_SUCCESS ||
		    completion.byte_len < GRH_BYTES)
			continue;

		uint8_t *place = port->bytes + completion.wr_id * RECEIVE_BYTES;

		*ret_arrival = (struct console_arrival){
			.bytes = place + GRH_BYTES,
			.byte_count = completion.byte_len - GRH_BYTES,
			.completion = completion,
			.grh = (struct ibv_grh *)place,
		};
		return true;
	}
	return false;
}

void console_port_give_back(struct console_port *port, const struct console_arrival *arrival)
{
	/* A queue pair in error takes none; the program ends with its fabric then. */
	if (post_receive(port, arrival->completion.wr_id) != 0)
		return;
}

void console_port_arm(struct console_port *port)
{
	struct ibv_cq *cq;
	void *context;

	while (ibv_get_cq_event(port->channel, &cq, &context) == 0)
		ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(port->cq, 0) != 0)
		fprintf(stderr, "softib console: no completion events\n");
}
