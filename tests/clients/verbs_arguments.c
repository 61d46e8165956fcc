/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that are wrong, absurd or for another kind of adapter: each call says so by errno, and
 * changes nothing.
 * Covers: api/libibverbs/verbs_multicast.c api/libibverbs/srq_tags.c api/libibverbs/parent_domain.c
 */
#include "verbs_client.h"

static struct device device;
static struct endpoint connected, datagram; /* in RTS */
static struct ibv_srq *srq;
static struct ibv_device_attr limits;

/* The errno of a call that returns an object: 0 when there is an object, which is a mistake here.
 */
static int refusal(const void *object)
{
	return object ? 0 : errno;
}

/* The errno of a call that returns -1. */
static int failure(int result)
{
	return result == -1 ? errno : 0;
}

static int create_cq(int cqe_count, int vector)
{
	return refusal(ibv_create_cq(device.context, cqe_count, NULL, NULL, vector));
}

static int create_cq_ex(struct ibv_cq_init_attr_ex attr)
{
	attr.cqe = 16;
	return refusal(ibv_create_cq_ex(device.context, &attr));
}

static int create_srq_ex(struct ibv_srq_init_attr_ex attr)
{
	attr.attr = (struct ibv_srq_attr){.max_wr = 4, .max_sge = 1};
	return refusal(ibv_create_srq_ex(device.context, &attr));
}

static int create_qp(struct ibv_qp_init_attr attr)
{
	attr.cap = (struct ibv_qp_cap){4, 4, 1, 1, 0};
	return refusal(ibv_create_qp(device.pd, &attr));
}

static int create_qp_ex(struct ibv_qp_init_attr_ex attr)
{
	attr.cap = (struct ibv_qp_cap){4, 4, 1, 1, 0};
	attr.send_cq = attr.recv_cq = connected.cq;
	return refusal(ibv_create_qp_ex(device.context, &attr));
}

static int create_ah(struct ibv_ah_attr attr)
{
	return refusal(ibv_create_ah(device.pd, &attr));
}

static int modify_qp(struct ibv_qp_attr attr, int mask)
{
	return ibv_modify_qp(connected.qp, &attr, mask);
}

static int modify_srq(struct ibv_srq_attr attr, int mask)
{
	return ibv_modify_srq(srq, &attr, mask);
}

static int send_one(struct endpoint *endpoint, struct ibv_send_wr wr)
{
	static struct ibv_sge sges[64];
	struct ibv_send_wr *bad = NULL;

	for (unsigned i = 0; i < 64; i++)
		sges[i] = sge_of(endpoint, 0, 64);
	wr.sg_list = sges;

	int error = ibv_post_send(endpoint->qp, &wr, &bad);

	if (error)
		CHECK(bad == &wr);
	return error;
}

static int receive_one(struct ibv_recv_wr wr)
{
	static struct ibv_sge sges[64];
	struct ibv_recv_wr *bad = NULL;

	wr.sg_list = sges;

	int error = ibv_post_recv(connected.qp, &wr, &bad);
	int shared_error = ibv_post_srq_recv(srq, &wr, &bad);

	CHECK_EQUAL(error, shared_error);
	return error;
}

static int tag_operation(struct ibv_ops_wr wr)
{
	struct ibv_ops_wr *bad = NULL;
	int error = ibv_post_srq_ops(srq, &wr, &bad);

	CHECK(bad == &wr);
	return error;
}

static int attach(struct endpoint *endpoint, uint8_t first_byte, uint16_t lid)
{
	union ibv_gid gid = {.raw = {first_byte, 0x12}};

	return ibv_attach_mcast(endpoint->qp, &gid, lid);
}

static int detach_unattached(void)
{
	union ibv_gid gid = {.raw = {0xff, 0x12}};

	return ibv_detach_mcast(datagram.qp, &gid, 0xc000);
}

static int modify_cq(struct ibv_modify_cq_attr attr)
{
	return ibv_modify_cq(connected.cq, &attr);
}

static int port(uint8_t number)
{
	struct ibv_port_attr attr;

	return ibv_query_port(device.context, number, &attr);
}

static int gid(uint8_t number, int index)
{
	union ibv_gid value;

	return failure(ibv_query_gid(device.context, number, index, &value));
}

static int pkey(uint8_t number, int index)
{
	__be16 value;

	return failure(ibv_query_pkey(device.context, number, index, &value));
}

static int open_qp(struct ibv_qp_open_attr attr)
{
	return refusal(ibv_open_qp(device.context, &attr));
}

static int parent_domain(struct ibv_parent_domain_init_attr attr)
{
	return refusal(ibv_alloc_parent_domain(device.context, &attr));
}

static int device_memory(size_t byte_count)
{
	struct ibv_alloc_dm_attr attr = {.length = byte_count};

	return refusal(ibv_alloc_dm(device.context, &attr));
}

/* Calls for adapters with an Ethernet port. */
static int work_queue(void)
{
	struct ibv_wq_init_attr attr = {.wq_type = IBV_WQT_RQ,
					.max_wr = 1,
					.max_sge = 1,
					.pd = device.pd,
					.cq = connected.cq};

	return refusal(ibv_create_wq(device.context, &attr));
}

static int indirection_table(void)
{
	struct ibv_rwq_ind_table_init_attr attr = {0};

	return refusal(ibv_create_rwq_ind_table(device.context, &attr));
}

static int flow(void)
{
	struct ibv_flow_attr attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(attr), .port = 1};

	return refusal(ibv_create_flow(datagram.qp, &attr));
}

static int counters(void)
{
	struct ibv_counters_init_attr attr = {0};

	return refusal(ibv_create_counters(device.context, &attr));
}

static int flow_action(void)
{
	struct ibv_flow_action_esp_attr attr = {0};

	return refusal(ibv_create_flow_action_esp(device.context, &attr));
}

#define EXPECT(call, expected)                                                                     \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK_EQUAL(call, expected);                                                       \
	} while (0)
#define CQ_EX(...)  create_cq_ex((struct ibv_cq_init_attr_ex){__VA_ARGS__})
#define SRQ_EX(...) create_srq_ex((struct ibv_srq_init_attr_ex){__VA_ARGS__})
#define QP(...)	    create_qp((struct ibv_qp_init_attr){__VA_ARGS__})
#define QP_EX(...)  create_qp_ex((struct ibv_qp_init_attr_ex){__VA_ARGS__})
#define AH(...)	    create_ah((struct ibv_ah_attr){__VA_ARGS__})
#define SEND(...)   send_one(&connected, (struct ibv_send_wr){__VA_ARGS__})

static void completion_queues(void)
{
	EXPECT(create_cq(0, 0), EINVAL);
	EXPECT(create_cq(-1, 0), EINVAL);
	EXPECT(create_cq(INT32_MAX, 0), EINVAL);
	EXPECT(create_cq(16, -1), EINVAL);
	EXPECT(create_cq(16, device.context->num_comp_vectors), EINVAL);
	EXPECT(CQ_EX(.comp_vector = UINT32_MAX), EINVAL);
	EXPECT(CQ_EX(.comp_mask = 1u << 31), EINVAL);
	EXPECT(CQ_EX(.wc_flags = 1ull << 40), EOPNOTSUPP);
	EXPECT(CQ_EX(.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 1u << 31), EOPNOTSUPP);
	EXPECT(ibv_resize_cq(connected.cq, 0), EINVAL);
	EXPECT(ibv_resize_cq(connected.cq, -1), EINVAL);
	EXPECT(ibv_resize_cq(connected.cq, INT32_MAX), EINVAL);
	EXPECT(modify_cq((struct ibv_modify_cq_attr){.attr_mask = 0}), EINVAL);
	EXPECT(modify_cq((struct ibv_modify_cq_attr){.attr_mask = 6}), EINVAL);
	EXPECT(ibv_destroy_cq(connected.cq), EBUSY);
}

static void shared_receive_queues(void)
{
	const uint32_t typed = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;

	EXPECT(SRQ_EX(.comp_mask = 0), EINVAL);
	EXPECT(SRQ_EX(.comp_mask = IBV_SRQ_INIT_ATTR_PD), EINVAL);
	EXPECT(SRQ_EX(.comp_mask = 1u << 31, .pd = device.pd), EINVAL);
	EXPECT(SRQ_EX(.comp_mask = typed, .srq_type = 99, .pd = device.pd), EINVAL);
	EXPECT(SRQ_EX(.comp_mask = typed, .srq_type = IBV_SRQT_XRC, .pd = device.pd), EINVAL);
	EXPECT(SRQ_EX(.comp_mask = typed, .srq_type = IBV_SRQT_TM, .pd = device.pd), EINVAL);
	EXPECT(SRQ_EX(.comp_mask = typed | IBV_SRQ_INIT_ATTR_TM | IBV_SRQ_INIT_ATTR_CQ,
		      .srq_type = IBV_SRQT_TM, .pd = device.pd, .cq = connected.cq),
	       EINVAL);
	EXPECT(modify_srq((struct ibv_srq_attr){0}, 1 << 8), EINVAL);
	EXPECT(modify_srq((struct ibv_srq_attr){.srq_limit = UINT32_MAX}, IBV_SRQ_LIMIT), EINVAL);
	EXPECT(modify_srq((struct ibv_srq_attr){.max_wr = UINT32_MAX}, IBV_SRQ_MAX_WR), EINVAL);
	EXPECT(modify_srq((struct ibv_srq_attr){.max_wr = 0}, IBV_SRQ_MAX_WR), EINVAL);
	EXPECT(tag_operation((struct ibv_ops_wr){.opcode = IBV_WR_TAG_ADD}), EINVAL);
	EXPECT(tag_operation((struct ibv_ops_wr){.opcode = 77}), EINVAL);
	EXPECT(tag_operation((struct ibv_ops_wr){.opcode = IBV_WR_TAG_ADD, .tm.add.num_sge = -1}),
	       EINVAL);
}

static void queue_pairs(void)
{
	struct ibv_cq *cq = connected.cq;

	EXPECT(QP(.qp_type = IBV_QPT_RC), EINVAL);
	EXPECT(QP(.qp_type = IBV_QPT_RC, .send_cq = cq), EINVAL);
	EXPECT(QP(.qp_type = IBV_QPT_RC, .recv_cq = cq), EINVAL);
	EXPECT(QP(.qp_type = 0, .send_cq = cq, .recv_cq = cq), EINVAL);
	EXPECT(QP(.qp_type = 77, .send_cq = cq, .recv_cq = cq), EINVAL);
	EXPECT(QP(.qp_type = IBV_QPT_RAW_PACKET, .send_cq = cq, .recv_cq = cq), EOPNOTSUPP);
	EXPECT(QP(.qp_type = IBV_QPT_DRIVER, .send_cq = cq, .recv_cq = cq), EOPNOTSUPP);
	EXPECT(QP_EX(.qp_type = IBV_QPT_RC), EINVAL);
	EXPECT(QP_EX(.qp_type = IBV_QPT_RC, .comp_mask = IBV_QP_INIT_ATTR_PD), EINVAL);
	EXPECT(QP_EX(.qp_type = IBV_QPT_RC, .comp_mask = 1u << 31, .pd = device.pd), EOPNOTSUPP);
	EXPECT(QP_EX(.qp_type = IBV_QPT_XRC_RECV), EINVAL);
	EXPECT(QP_EX(.qp_type = IBV_QPT_UD, .pd = device.pd,
		     .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		     .send_ops_flags = IBV_QP_EX_WITH_RDMA_READ),
	       EOPNOTSUPP);
	EXPECT(open_qp((struct ibv_qp_open_attr){0}), EINVAL);
	EXPECT(open_qp((struct ibv_qp_open_attr){.comp_mask = 1u << 31}), EOPNOTSUPP);
	EXPECT(modify_qp((struct ibv_qp_attr){.qp_state = 99}, IBV_QP_STATE), EINVAL);
	EXPECT(modify_qp((struct ibv_qp_attr){.qp_state = IBV_QPS_INIT}, IBV_QP_STATE), EINVAL);
	EXPECT(modify_qp((struct ibv_qp_attr){.qp_state = IBV_QPS_RTS}, INT32_MAX), EINVAL);
	EXPECT(attach(&connected, 0xff, 0xc000), EINVAL);
	EXPECT(attach(&datagram, 0xfe, 0xc000), EINVAL);
	EXPECT(attach(&datagram, 0xff, 0xbfff), EINVAL);
	EXPECT(attach(&datagram, 0xff, 0xffff), EINVAL);
	EXPECT(detach_unattached(), EINVAL);
}

static void work_requests(void)
{
	EXPECT(SEND(.opcode = 77, .num_sge = 1), EINVAL);
	EXPECT(SEND(.opcode = (enum ibv_wr_opcode)UINT32_MAX, .num_sge = 1), EINVAL);
	EXPECT(SEND(.opcode = IBV_WR_TSO, .num_sge = 1), EINVAL);
	EXPECT(SEND(.opcode = IBV_WR_SEND, .num_sge = -1), EINVAL);
	EXPECT(SEND(.opcode = IBV_WR_SEND, .num_sge = INT32_MAX), EINVAL);
	EXPECT(SEND(.opcode = IBV_WR_SEND, .num_sge = -1, .send_flags = IBV_SEND_INLINE), EINVAL);
	EXPECT(SEND(.opcode = IBV_WR_SEND, .num_sge = 64, .send_flags = IBV_SEND_INLINE), EINVAL);
	EXPECT(SEND(.opcode = IBV_WR_RDMA_READ, .num_sge = 1, .send_flags = IBV_SEND_INLINE),
	       EINVAL);
	EXPECT(send_one(&datagram, (struct ibv_send_wr){.opcode = IBV_WR_SEND, .num_sge = 1}),
	       EINVAL);
	EXPECT(send_one(&datagram, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE}), EINVAL);
	EXPECT(receive_one((struct ibv_recv_wr){.num_sge = -1}), EINVAL);
	EXPECT(receive_one((struct ibv_recv_wr){.num_sge = INT32_MAX}), EINVAL);
}

static void addresses_and_ports(void)
{
	const uint16_t lid = device.port.lid;

	EXPECT(AH(.dlid = lid, .port_num = 0), EINVAL);
	EXPECT(AH(.dlid = lid, .port_num = 99), EINVAL);
	EXPECT(AH(.dlid = 0, .port_num = 1), EINVAL);
	EXPECT(AH(.dlid = lid, .port_num = 1, .is_global = 1, .grh.sgid_index = 255), EINVAL);
	EXPECT(port(0), EINVAL);
	EXPECT(port(255), EINVAL);
	EXPECT(gid(0, 0), EINVAL);
	EXPECT(gid(1, -1), EINVAL);
	EXPECT(gid(1, INT32_MAX), EINVAL);
	EXPECT(pkey(9, 0), EINVAL);
	EXPECT(pkey(1, -1), EINVAL);
	EXPECT(pkey(1, limits.max_pkeys), EINVAL);
	EXPECT(failure(ibv_get_pkey_index(device.context, 1, 0x1234)), ENOENT);
}

static void domains_and_memory(void)
{
	EXPECT(parent_domain((struct ibv_parent_domain_init_attr){0}), EINVAL);
	EXPECT(parent_domain((struct ibv_parent_domain_init_attr){.pd = device.pd,
								  .comp_mask = 1u << 31}),
	       EINVAL);
	EXPECT(device_memory(SIZE_MAX), ENOMEM);
	EXPECT(ibv_dealloc_pd(device.pd), EBUSY);
}

static void things_of_ethernet_adapters(void)
{
	EXPECT(work_queue(), EOPNOTSUPP);
	EXPECT(indirection_table(), EOPNOTSUPP);
	EXPECT(flow(), EOPNOTSUPP);
	EXPECT(counters(), EOPNOTSUPP);
	EXPECT(flow_action(), EOPNOTSUPP);
}

int main(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = SGES}};

	device = device_open();
	CHECK_EQUAL(ibv_query_device(device.context, &limits), 0);
	srq = ibv_create_srq(device.pd, &srq_attr);
	CHECK(srq);
	connected = endpoint_open(&device, IBV_QPT_RC);
	datagram = endpoint_open(&device, IBV_QPT_UD);
	to_init(&connected, ALL_ACCESS);
	to_rts(&connected, &connected, 3);
	to_init(&datagram, 0);
	to_rts(&datagram, NULL, 0);

	completion_queues();
	shared_receive_queues();
	queue_pairs();
	work_requests();
	addresses_and_ports();
	domains_and_memory();
	things_of_ethernet_adapters();

	/* Nothing of it had an effect. */
	struct ibv_wc wc;

	CHECK_EQUAL(ibv_poll_cq(connected.cq, 1, &wc), 0);
	CHECK_EQUAL(connected.qp->state, IBV_QPS_RTS);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	endpoint_close(&connected);
	endpoint_close(&datagram);
	device_close(&device);
	puts("arguments: ok");
	return 0;
}
