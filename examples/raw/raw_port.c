/* SPDX-License-Identifier: Apache-2.0 */
/* The raw QP of a port, for the raw datagram example. */
#include "raw_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MULTICAST_LID_FIRST = 0xc000 };

static int failed(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (unsigned i = 0; devices && devices[i] && !context; i++)
		if (!name || strcmp(ibv_get_device_name(devices[i]), name) == 0)
			context = ibv_open_device(devices[i]);
	if (devices)
		ibv_free_device_list(devices);
	if (!context)
		fprintf(stderr, "no such device\n");
	return context;
}

static int post_receive(struct raw_port *port, unsigned slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(port->bytes + (size_t)slot * RAW_PORT_SLOT_BYTES),
			      .length = RAW_PORT_SLOT_BYTES,
			      .lkey = port->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(port->qp, &wr, &bad) ? failed("ibv_post_recv") : 0;
}

/* Raw QPs need no attribute for any transition. */
static int start(struct raw_port *port)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};

	for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct ibv_qp_attr attr = {.qp_state = states[i]};

		if (ibv_modify_qp(port->qp, &attr, IBV_QP_STATE))
			return failed("ibv_modify_qp");
		for (unsigned slot = 0; i == 0 && slot < RAW_PORT_SLOTS; slot++)
			if (post_receive(port, slot))
				return 1;
	}
	return 0;
}

int raw_port_open(struct raw_port *port, const char *device_name, uint8_t number, uint8_t sl,
		  enum ibv_qp_type type)
{
	size_t byte_count = (size_t)(RAW_PORT_SLOTS + 1) * RAW_PORT_SLOT_BYTES;

	*port = (struct raw_port){.number = number, .sl = sl};
	port->context = open_device(device_name);
	if (!port->context)
		return 1;
	if (ibv_query_port(port->context, number, &port->attributes) ||
	    ibv_query_gid(port->context, number, 0, &port->gid))
		return failed("no such port");
	port->bytes = calloc(1, byte_count);
	port->pd = ibv_alloc_pd(port->context);
	port->cq = ibv_create_cq(port->context, RAW_PORT_SLOTS + 1, NULL, NULL, 0);
	if (!port->bytes || !port->pd || !port->cq)
		return failed("no memory, PD or CQ");
	port->mr = ibv_reg_mr(port->pd, port->bytes, byte_count, IBV_ACCESS_LOCAL_WRITE);
	if (!port->mr)
		return failed("ibv_reg_mr");

	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.send_cq = port->cq,
		.recv_cq = port->cq,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = 1,
			.max_recv_wr = RAW_PORT_SLOTS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	port->qp = softib_create_raw_qp(port->pd, number, &attr);
	return port->qp ? start(port) : failed("softib_create_raw_qp");
}

int raw_port_join(struct raw_port *port, uint16_t lid)
{
	port->group_lid = lid;
	if (ibv_attach_mcast(port->qp, &port->group, lid)) {
		port->group_lid = 0;
		return failed("ibv_attach_mcast");
	}
	return 0;
}

void raw_port_close(struct raw_port *port)
{
	if (port->group_lid)
		ibv_detach_mcast(port->qp, &port->group, port->group_lid);
	if (port->qp)
		ibv_destroy_qp(port->qp);
	if (port->cq)
		ibv_destroy_cq(port->cq);
	if (port->mr)
		ibv_dereg_mr(port->mr);
	if (port->pd)
		ibv_dealloc_pd(port->pd);
	if (port->context)
		ibv_close_device(port->context);
	free(port->bytes);
}

uint8_t *raw_port_outbox(const struct raw_port *port)
{
	return port->bytes + (size_t)RAW_PORT_SLOTS * RAW_PORT_SLOT_BYTES;
}

/* Sends one packet and waits for its completion. Receive completions that come meanwhile are
 * kept. */
int raw_port_send(struct raw_port *port, uint16_t dlid, uint32_t ethertype, uint32_t byte_count)
{
	struct ibv_ah_attr where = {.dlid = dlid, .sl = port->sl, .port_num = port->number};
	struct ibv_ah *ah;
	struct ibv_sge sge = {.addr = (uintptr_t)raw_port_outbox(port),
			      .length = byte_count,
			      .lkey = port->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = RAW_PORT_SLOTS,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};
	struct ibv_send_wr *bad;

	/* The GRH flag tells that the destination is a multicast group, although a raw packet has
	 * no GRH. */
	if (dlid >= MULTICAST_LID_FIRST) {
		where.is_global = 1;
		where.grh.dgid = port->group;
	}
	ah = ibv_create_ah(port->pd, &where);
	if (!ah)
		return failed("ibv_create_ah");
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = ethertype;

	int error = ibv_post_send(port->qp, &wr, &bad);

	ibv_destroy_ah(ah);
	return error ? failed("ibv_post_send") : 0;
}

int raw_port_receive(struct raw_port *port, struct raw_packet *ret_packet)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(port->cq, 1, &wc);

	*ret_packet = (struct raw_packet){0};
	if (count < 0)
		return failed("ibv_poll_cq");
	if (count == 0)
		return 0;
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "%s failed: %s\n", wc.wr_id == RAW_PORT_SLOTS ? "send" : "receive",
			ibv_wc_status_str(wc.status));
		return 1;
	}
	if (wc.wr_id == RAW_PORT_SLOTS)
		return 0;
	*ret_packet = (struct raw_packet){
		.bytes = port->bytes + wc.wr_id * RAW_PORT_SLOT_BYTES,
		.byte_count = wc.byte_len,
		.ethertype = wc.src_qp,
		.slid = wc.slid,
		.slot = (unsigned)wc.wr_id,
	};
	return 0;
}

int raw_port_give_back(struct raw_port *port, const struct raw_packet *packet)
{
	return post_receive(port, packet->slot);
}
