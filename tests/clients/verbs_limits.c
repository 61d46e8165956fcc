/* SPDX-License-Identifier: Apache-2.0 */
/* What ibv_query_device promises can be had, and what lies beyond it is refused with the errno that
 * the man pages name. bad_wr names the first request of a list that was not taken.
 * Covers: api/libibverbs/verbs_query.c api/libibverbs/srq_tags.c api/libibverbs/verbs_multicast.c
 */
#include "verbs_client.h"

enum { MANY = 20000, LIST_LENGTH = 5 };

static struct ibv_device_attr attr;
static struct ibv_device_attr_ex attr_ex;

static struct ibv_qp *make_qp(struct device *device, struct ibv_cq *cq, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = IBV_QPT_RC};

	return ibv_create_qp(device->pd, &init);
}

static void queue_pairs_of_every_size(struct device *device)
{
	struct ibv_cq *cq = ibv_create_cq(device->context, 16, NULL, NULL, 0);
	const uint32_t wr = (uint32_t)attr.max_qp_wr, sge = (uint32_t)attr.max_sge;
	const struct ibv_qp_cap given[] = {
		{wr, 1, 1, 1, 0}, {1, wr, 1, 1, 0},  {1, 1, sge, 1, 0},	   {1, 1, 1, sge, 0},
		{0, 0, 0, 0, 0},  {wr, wr, 1, 1, 0}, {64, 64, sge, sge, 0}};
	const struct ibv_qp_cap refused[] = {
		{wr + 1, 1, 1, 1, 0},	  {1, wr + 1, 1, 1, 0},	    {1, 1, sge + 1, 1, 0},
		{1, 1, 1, sge + 1, 0},	  {UINT32_MAX, 1, 1, 1, 0}, {1, UINT32_MAX, 1, 1, 0},
		{1, 1, UINT32_MAX, 1, 0}, {1, 1, 1, UINT32_MAX, 0}, {1, 1, 1, 1, UINT32_MAX}};

	CHECK(cq);
	for (unsigned i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		struct ibv_qp *qp = make_qp(device, cq, given[i]);

		CHECK(qp);
		CHECK_EQUAL(ibv_destroy_qp(qp), 0);
	}
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		errno = 0;
		CHECK(!make_qp(device, cq, refused[i]));
		CHECK_EQUAL(errno, EINVAL);
	}
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
}

static void completion_queues_of_every_size(struct device *device)
{
	struct ibv_cq *cq = ibv_create_cq(device->context, attr.max_cqe, NULL, NULL, 0);

	CHECK(cq);
	CHECK(cq->cqe >= attr.max_cqe);
	CHECK_EQUAL(ibv_resize_cq(cq, 1), 0);
	CHECK_EQUAL(ibv_resize_cq(cq, attr.max_cqe), 0);
	CHECK_EQUAL(ibv_resize_cq(cq, attr.max_cqe + 1), EINVAL);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	errno = 0;
	CHECK(!ibv_create_cq(device->context, attr.max_cqe + 1, NULL, NULL, 0));
	CHECK_EQUAL(errno, EINVAL);
}

static void shared_queues_of_every_size(struct device *device)
{
	const uint32_t wr = (uint32_t)attr.max_srq_wr, sge = (uint32_t)attr.max_srq_sge;
	struct ibv_srq_init_attr whole = {.attr = {.max_wr = wr, .max_sge = sge}};
	struct ibv_srq_init_attr refused[] = {{.attr = {.max_wr = wr + 1, .max_sge = 1}},
					      {.attr = {.max_wr = 1, .max_sge = sge + 1}},
					      {.attr = {.max_wr = UINT32_MAX, .max_sge = 1}}};
	struct ibv_srq *srq = ibv_create_srq(device->pd, &whole);
	struct ibv_sge none = {0};
	struct ibv_recv_wr receive = {.sg_list = &none, .num_sge = 1}, *bad;

	CHECK(srq);
	for (uint32_t i = 0; i < wr; i++)
		CHECK_EQUAL(ibv_post_srq_recv(srq, &receive, &bad), 0);
	CHECK_EQUAL(ibv_post_srq_recv(srq, &receive, &bad), ENOMEM);
	CHECK(bad == &receive);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		errno = 0;
		CHECK(!ibv_create_srq(device->pd, &refused[i]));
		CHECK_EQUAL(errno, EINVAL);
	}
}

static void many_objects(struct device *device)
{
	static struct ibv_pd *pds[MANY];
	static struct ibv_mr *mrs[MANY];
	static struct ibv_ah *ahs[MANY];
	static char byte;
	struct ibv_ah_attr to = {.dlid = device->port.lid, .port_num = 1};

	CHECK(attr.max_pd >= MANY && attr.max_mr >= MANY && attr.max_ah >= MANY);
	for (unsigned i = 0; i < MANY; i++) {
		pds[i] = ibv_alloc_pd(device->context);
		CHECK(pds[i]);
		mrs[i] = ibv_reg_mr(pds[i], &byte, 1, IBV_ACCESS_LOCAL_WRITE);
		CHECK(mrs[i]);
		ahs[i] = ibv_create_ah(pds[i], &to);
		CHECK(ahs[i]);
	}
	for (unsigned i = 0; i < MANY; i++) {
		CHECK_EQUAL(ibv_destroy_ah(ahs[i]), 0);
		CHECK_EQUAL(ibv_dereg_mr(mrs[i]), 0);
		CHECK_EQUAL(ibv_dealloc_pd(pds[i]), 0);
	}
}

/* A list in which one request has too many SGEs: all before it are taken, and bad_wr names it. */
static void bad_wr_names_the_first_not_taken(struct device *device)
{
	for (unsigned place = 0; place < LIST_LENGTH; place++) {
		struct endpoint a = endpoint_open(device, IBV_QPT_RC);
		struct endpoint b = endpoint_open(device, IBV_QPT_RC);
		struct ibv_send_wr sends[LIST_LENGTH], *bad_send = NULL;
		struct ibv_recv_wr receives[LIST_LENGTH], *bad_receive = NULL;
		struct ibv_sge sges[SGES + 1];

		connect_endpoints(&a, &b);
		for (unsigned i = 0; i <= SGES; i++)
			sges[i] = sge_of(&a, 0, 1);
		for (unsigned i = 0; i < LIST_LENGTH; i++) {
			int sge_count = i == place ? SGES + 1 : 1;
			bool is_last = i + 1 == LIST_LENGTH;

			sends[i] = request(IBV_WR_RDMA_WRITE, sges, &b, 0);
			sends[i].num_sge = sge_count;
			sends[i].next = is_last ? NULL : &sends[i + 1];
			receives[i] = (struct ibv_recv_wr){.sg_list = sges, .num_sge = sge_count};
			receives[i].next = is_last ? NULL : &receives[i + 1];
		}
		CHECK_EQUAL(ibv_post_recv(a.qp, receives, &bad_receive), EINVAL);
		CHECK(bad_receive == &receives[place]);
		CHECK_EQUAL(ibv_post_send(a.qp, sends, &bad_send), EINVAL);
		CHECK(bad_send == &sends[place]);
		for (unsigned i = 0; i < place; i++)
			expect_status(a.cq, IBV_WC_SUCCESS);
		endpoint_close(&a);
		endpoint_close(&b);
	}
}

static void full_queues_say_so(struct device *device)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&a, 0, 1);
	struct ibv_recv_wr receive = {.sg_list = &sge, .num_sge = 1}, *bad_receive = NULL;
	struct ibv_qp_attr now;
	struct ibv_qp_init_attr init;

	connect_endpoints(&a, &b);
	CHECK_EQUAL(ibv_query_qp(a.qp, &now, IBV_QP_CAP, &init), 0);
	for (uint32_t i = 0; i < init.cap.max_recv_wr; i++)
		CHECK_EQUAL(ibv_post_recv(a.qp, &receive, &bad_receive), 0);
	CHECK_EQUAL(ibv_post_recv(a.qp, &receive, &bad_receive), ENOMEM);
	CHECK(bad_receive == &receive);

	/* Unsignaled requests give no slot back. */
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, 0), *bad = NULL;

	wr.send_flags = 0;
	for (uint32_t i = 0; i < init.cap.max_send_wr; i++)
		CHECK_EQUAL(ibv_post_send(a.qp, &wr, &bad), 0);
	CHECK_EQUAL(ibv_post_send(a.qp, &wr, &bad), ENOMEM);
	CHECK(bad == &wr);
	endpoint_close(&a);
	endpoint_close(&b);
}

static void tags_up_to_the_limit(struct device *device)
{
	struct ibv_cq *cq = ibv_create_cq(device->context, 16, NULL, NULL, 0);
	struct ibv_srq_init_attr_ex init = {
		.attr = {.max_wr = 16, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = device->pd,
		.cq = cq,
		.tm_cap = {.max_num_tags = attr_ex.tm_caps.max_num_tags,
			   .max_ops = attr_ex.tm_caps.max_ops},
	};
	struct ibv_srq *srq = ibv_create_srq_ex(device->context, &init);
	struct ibv_ops_wr wr = {.opcode = IBV_WR_TAG_ADD}, *bad = NULL;

	CHECK(srq);
	for (uint32_t i = 0; i < attr_ex.tm_caps.max_num_tags; i++)
		CHECK_EQUAL(ibv_post_srq_ops(srq, &wr, &bad), 0);
	CHECK_EQUAL(ibv_post_srq_ops(srq, &wr, &bad), ENOMEM);
	CHECK(bad == &wr);
	wr.opcode = IBV_WR_TAG_DEL;
	CHECK_EQUAL(ibv_post_srq_ops(srq, &wr, &bad), 0);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	init.tm_cap.max_num_tags++;
	errno = 0;
	CHECK(!ibv_create_srq_ex(device->context, &init));
	CHECK_EQUAL(errno, EINVAL);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
}

static void multicast_groups_up_to_the_limit(struct device *device)
{
	struct endpoint endpoint = endpoint_open(device, IBV_QPT_UD);
	union ibv_gid gid = {.raw = {0xff, 0x12}};
	uint32_t group;

	for (group = 0; group < (uint32_t)attr.max_mcast_grp; group++) {
		memcpy(gid.raw + 12, &group, sizeof(group));
		CHECK_EQUAL(ibv_attach_mcast(endpoint.qp, &gid, 0xc000), 0);
	}
	memcpy(gid.raw + 12, &group, sizeof(group));
	CHECK_EQUAL(ibv_attach_mcast(endpoint.qp, &gid, 0xc000), ENOMEM);
	CHECK_EQUAL(ibv_destroy_qp(endpoint.qp), EBUSY);
	for (group = 0; group < (uint32_t)attr.max_mcast_grp; group++) {
		memcpy(gid.raw + 12, &group, sizeof(group));
		CHECK_EQUAL(ibv_detach_mcast(endpoint.qp, &gid, 0xc000), 0);
	}
	CHECK_EQUAL(ibv_detach_mcast(endpoint.qp, &gid, 0xc000), EINVAL);
	endpoint_close(&endpoint);
}

int main(void)
{
	struct device device = device_open();

	CHECK_EQUAL(ibv_query_device(device.context, &attr), 0);
	CHECK_EQUAL(ibv_query_device_ex(device.context, NULL, &attr_ex), 0);
	queue_pairs_of_every_size(&device);
	completion_queues_of_every_size(&device);
	shared_queues_of_every_size(&device);
	many_objects(&device);
	bad_wr_names_the_first_not_taken(&device);
	full_queues_say_so(&device);
	tags_up_to_the_limit(&device);
	multicast_groups_up_to_the_limit(&device);
	device_close(&device);
	puts("limits: ok");
	return 0;
}
