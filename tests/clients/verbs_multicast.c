/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast within one host: each attached queue pair of the port gets its copy, the sender's own
 * too, and nobody else.
 * Covers: api/libibverbs/verbs_multicast.c */
#include "verbs_client.h"

enum { MULTICAST_LID = 0xc00f, MULTICAST_QPN = 0xffffff, MESSAGE_BYTES = 100, RECEIVERS = 3 };

static const union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 9}};

static struct endpoint open_receiver(struct device *device)
{
	struct endpoint endpoint = endpoint_open(device, IBV_QPT_UD);

	to_init(&endpoint, 0);
	to_rts(&endpoint, NULL, 0);
	post_receive(&endpoint, 1, 4096, GRH_BYTES + MESSAGE_BYTES);
	return endpoint;
}

static void send_to_group(struct endpoint *sender, struct ibv_ah *ah)
{
	struct ibv_sge sge = sge_of(sender, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = {
		.wr_id = 2,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {ah, MULTICAST_QPN, QKEY},
	};

	fill(sender->bytes, MESSAGE_BYTES, 5);
	post(sender, &wr);
}

static void expect_copy(struct endpoint *endpoint, const struct endpoint *sender)
{
	struct ibv_wc wc;

	/* The sender's own completion may come first or last. */
	do
		wc = expect_status(endpoint->cq, IBV_WC_SUCCESS);
	while (wc.opcode != IBV_WC_RECV);
	CHECK_EQUAL(wc.wr_id, 1);
	CHECK_EQUAL(wc.byte_len, GRH_BYTES + MESSAGE_BYTES);
	CHECK_EQUAL(wc.src_qp, sender->qp->qp_num);
	CHECK(wc.wc_flags & IBV_WC_GRH);
	CHECK(!memcmp(endpoint->bytes + 4096 + 24, group.raw, sizeof(group.raw)));
	CHECK(!memcmp(endpoint->bytes + 4096 + GRH_BYTES, sender->bytes, MESSAGE_BYTES));
}

int main(void)
{
	struct device device = device_open();
	struct ibv_ah_attr attr = {
		.dlid = MULTICAST_LID, .port_num = 1, .is_global = 1, .grh.dgid = group};
	struct ibv_ah *ah = ibv_create_ah(device.pd, &attr);
	struct endpoint receivers[RECEIVERS], stranger = open_receiver(&device);
	struct ibv_wc wc;

	CHECK(ah);
	for (unsigned i = 0; i < RECEIVERS; i++) {
		receivers[i] = open_receiver(&device);
		CHECK_EQUAL(ibv_attach_mcast(receivers[i].qp, &group, MULTICAST_LID), 0);
	}
	send_to_group(&receivers[0], ah);
	for (unsigned i = 0; i < RECEIVERS; i++)
		expect_copy(&receivers[i], &receivers[0]);
	CHECK_EQUAL(ibv_poll_cq(stranger.cq, 1, &wc), 0);
	for (unsigned i = 0; i < RECEIVERS; i++) {
		CHECK_EQUAL(ibv_destroy_qp(receivers[i].qp), EBUSY);
		CHECK_EQUAL(ibv_detach_mcast(receivers[i].qp, &group, MULTICAST_LID), 0);
		endpoint_close(&receivers[i]);
	}
	endpoint_close(&stranger);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	device_close(&device);
	puts("multicast: ok");
	return 0;
}
