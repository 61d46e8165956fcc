/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams under keys that the receiver does not have.
 *
 * "verbs_keys serve" prints "LID QPN" of a datagram queue pair with P_Key index 0 and Q_Key
 * 0x11111111; for each line that it reads it prints "pkey N qkey N received N".
 * "verbs_keys send LID QPN QKEY PKEY-INDEX COUNT" sends to it.
 * "verbs_keys controlled" gives queue pairs controlled Q_Keys and prints what comes of it; with a
 * fabric that allows it, it sends by one.
 */
#include <errno.h>
#include "verbs_client.h"

enum { CONTROLLED_QKEY = 0x80010001u, PSN = 1 };

static int modify(struct ibv_qp *qp, enum ibv_qp_state state, uint32_t qkey, uint16_t pkey_index)
{
	struct ibv_qp_attr attributes = {.qp_state = state,
					 .qkey = qkey,
					 .pkey_index = pkey_index,
					 .port_num = 1,
					 .sq_psn = PSN};

	if (state == IBV_QPS_INIT)
		return ibv_modify_qp(qp, &attributes,
				     IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_PKEY_INDEX | IBV_QP_PORT);
	return ibv_modify_qp(qp, &attributes,
			     state == IBV_QPS_RTS ? IBV_QP_STATE | IBV_QP_SQ_PSN : IBV_QP_STATE);
}

static struct endpoint open_ud(struct device *device, uint32_t qkey, uint16_t pkey_index)
{
	struct endpoint endpoint = {.device = device,
				    .cq = ibv_create_cq(device->context, 1024, NULL, NULL, 0)};
	struct ibv_qp_init_attr options;

	CHECK(endpoint.cq);
	endpoint_register(&endpoint);
	options = qp_options(&endpoint, IBV_QPT_UD);
	endpoint.qp = ibv_create_qp(device->pd, &options);
	CHECK(endpoint.qp);
	CHECK_EQUAL(modify(endpoint.qp, IBV_QPS_INIT, qkey, pkey_index), 0);
	CHECK_EQUAL(modify(endpoint.qp, IBV_QPS_RTR, 0, 0), 0);
	CHECK_EQUAL(modify(endpoint.qp, IBV_QPS_RTS, 0, 0), 0);
	return endpoint;
}

static void post_receives(struct endpoint *endpoint)
{
	struct ibv_sge sge = {(uintptr_t)endpoint->bytes, 4096, endpoint->mr->lkey};
	struct ibv_recv_wr request = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (unsigned i = 0; i < QUEUE_DEPTH; i++)
		CHECK_EQUAL(ibv_post_recv(endpoint->qp, &request, &bad), 0);
}

static int serve(void)
{
	struct device device = device_open();
	struct endpoint endpoint = open_ud(&device, QKEY, 0);
	struct ibv_wc completion;
	unsigned received = 0;
	char line[64];

	post_receives(&endpoint);
	printf("%u %u\n", device.port.lid, endpoint.qp->qp_num);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		while (ibv_poll_cq(endpoint.cq, 1, &completion) > 0)
			received++;
		CHECK_EQUAL(ibv_query_port(device.context, 1, &device.port), 0);
		printf("pkey %u qkey %u received %u\n", device.port.bad_pkey_cntr,
		       device.port.qkey_viol_cntr, received);
		fflush(stdout);
	}
	return 0;
}

static void send_one(struct endpoint *endpoint, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct ibv_sge sge = {(uintptr_t)endpoint->bytes, 64, endpoint->mr->lkey};
	struct ibv_send_wr request = {.sg_list = &sge,
				      .num_sge = 1,
				      .opcode = IBV_WR_SEND,
				      .send_flags = IBV_SEND_SIGNALED,
				      .wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = qkey}};
	struct ibv_send_wr *bad;
	struct ibv_wc completion;
	int count = 0;

	CHECK_EQUAL(ibv_post_send(endpoint->qp, &request, &bad), 0);
	while (!count)
		count = ibv_poll_cq(endpoint->cq, 1, &completion);
	CHECK_EQUAL(completion.status, IBV_WC_SUCCESS);
}

static struct ibv_ah *make_ah(struct device *device, uint16_t lid)
{
	struct ibv_ah_attr attributes = {.dlid = lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device->pd, &attributes);

	CHECK(ah);
	return ah;
}

static int send_to(char **arguments)
{
	struct device device = device_open();
	uint32_t qpn = (uint32_t)strtoul(arguments[1], NULL, 0);
	uint32_t qkey = (uint32_t)strtoul(arguments[2], NULL, 0);
	struct endpoint endpoint =
		open_ud(&device, 0x22222222, (uint16_t)strtoul(arguments[3], NULL, 0));
	struct ibv_ah *ah = make_ah(&device, (uint16_t)strtoul(arguments[0], NULL, 0));

	for (unsigned long left = strtoul(arguments[4], NULL, 0); left; left--)
		send_one(&endpoint, ah, qpn, qkey);
	return 0;
}

static int try_controlled(struct device *device, enum ibv_qp_type type)
{
	struct endpoint endpoint = {.device = device,
				    .cq = ibv_create_cq(device->context, 16, NULL, NULL, 0)};
	struct ibv_qp_init_attr options = qp_options(&endpoint, type);
	struct ibv_qp *qp = ibv_create_qp(device->pd, &options);
	int error;

	CHECK(qp);
	CHECK_EQUAL(modify(qp, IBV_QPS_INIT, QKEY, 0), 0);
	CHECK_EQUAL(modify(qp, IBV_QPS_RESET, 0, 0), 0);
	error = modify(qp, IBV_QPS_INIT, CONTROLLED_QKEY, 0);
	CHECK_EQUAL(ibv_destroy_qp(qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(endpoint.cq), 0);
	return error;
}

/* The request's Q_Key is controlled too, another one: the queue pair's own is sent. */
static void send_by_controlled(struct device *device)
{
	struct endpoint receiver = open_ud(device, CONTROLLED_QKEY, 0);
	struct endpoint sender = open_ud(device, CONTROLLED_QKEY, 0);
	struct ibv_wc completion;
	int count = 0;

	post_receives(&receiver);
	send_one(&sender, make_ah(device, device->port.lid), receiver.qp->qp_num, 0x80000000u);
	while (!count)
		count = ibv_poll_cq(receiver.cq, 1, &completion);
	CHECK_EQUAL(completion.status, IBV_WC_SUCCESS);
}

static int controlled(void)
{
	struct device device = device_open();
	int error = try_controlled(&device, IBV_QPT_UD);

	printf("%s\n", error ? strerror(error) : "allowed");
	if (!error)
		send_by_controlled(&device);
	return error;
}

int main(int argument_count, char **arguments)
{
	if (argument_count == 2 && strcmp(arguments[1], "serve") == 0)
		return serve();
	if (argument_count == 7 && strcmp(arguments[1], "send") == 0)
		return send_to(arguments + 2);
	if (argument_count == 2 && strcmp(arguments[1], "controlled") == 0)
		return controlled();
	return 2;
}
