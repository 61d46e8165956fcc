/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may ask for beyond the plain calls: options of a connection (ECE), flags of a new
 * queue pair, and the calls of newer headers.
 * Covers: api/libibverbs/ece.c api/libibverbs/extended_mr.c api/libibverbs/port_speed.c */
#include "verbs_client.h"
#include "api/libibverbs/extended_mr.h"

/* Of headers since 62. */
extern int ibv_query_port_speed(struct ibv_context *context, uint32_t port_number,
				uint64_t *port_speed);

enum { OPTION_CREDITS = 1, MULTICAST_LID = 0xc00f, MULTICAST_QPN = 0xffffff, MESSAGES = 200 };

static struct device device;

static struct ibv_ece query(const struct endpoint *endpoint)
{
	struct ibv_ece ece = {.vendor_id = 99, .options = 99, .comp_mask = 99};

	CHECK_EQUAL(ibv_query_ece(endpoint->qp, &ece), 0);
	CHECK_EQUAL(ece.comp_mask, 0);
	return ece;
}

/* As two connecting programs do: each side ends with the options that both support. */
static void options_are_agreed_on(void)
{
	struct endpoint a = endpoint_open(&device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(&device, IBV_QPT_RC);
	struct ibv_ece ece = query(&a);
	struct ibv_device_attr attr;

	CHECK_EQUAL(ibv_query_device(device.context, &attr), 0);
	CHECK_EQUAL(ece.vendor_id, attr.vendor_id);
	CHECK_EQUAL(ece.options, OPTION_CREDITS);
	ece.options |= 0xff00; /* of some later release */
	CHECK_EQUAL(ibv_set_ece(b.qp, &ece), 0);
	ece = query(&b);
	CHECK_EQUAL(ece.options, OPTION_CREDITS);
	CHECK_EQUAL(ibv_set_ece(a.qp, &ece), 0);
	connect_endpoints(&a, &b);
	/* The peer relies on it from now on. */
	CHECK_EQUAL(ibv_set_ece(a.qp, &ece), EINVAL);

	/* More messages than receives: nothing is lost, and a sender with few retries lives. */
	struct ibv_sge sge = sge_of(&a, 0, 64);

	for (unsigned i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

		post_receive(&b, i, 0, 64);
		post(&a, &wr);
		expect_status(a.cq, IBV_WC_SUCCESS);
		CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	endpoint_close(&a);
	endpoint_close(&b);
}

static void options_that_make_no_sense(void)
{
	struct endpoint a = endpoint_open(&device, IBV_QPT_RC);
	struct endpoint datagram = endpoint_open(&device, IBV_QPT_UD);
	struct ibv_ece ece = {.vendor_id = 0x15b3, .options = 1};

	CHECK_EQUAL(ibv_set_ece(a.qp, &ece), EINVAL);
	ece.vendor_id = 0;
	CHECK_EQUAL(ibv_set_ece(a.qp, &ece), EOPNOTSUPP);
	ece = query(&a);
	ece.comp_mask = 1;
	CHECK_EQUAL(ibv_set_ece(a.qp, &ece), EINVAL);
	CHECK_EQUAL(query(&a).options, OPTION_CREDITS);
	/* None, on purpose. */
	ece = (struct ibv_ece){.vendor_id = ece.vendor_id};
	CHECK_EQUAL(ibv_set_ece(a.qp, &ece), 0);
	CHECK_EQUAL(query(&a).options, 0);
	CHECK_EQUAL(query(&datagram).options, 0);
	endpoint_close(&a);
	endpoint_close(&datagram);
}

static void create_with_flags(struct endpoint *endpoint, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = endpoint->cq,
		.recv_cq = endpoint->cq,
		.cap = {4, 4, 1, 1, 0},
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = device.pd,
		.create_flags = flags,
	};

	endpoint->qp = ibv_create_qp_ex(device.context, &attr);
}

/* Of two receivers of a group, the sender that wants no copy gets none. */
static void own_multicast_is_blocked(void)
{
	const union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 11}};
	struct ibv_ah_attr address = {
		.dlid = MULTICAST_LID, .port_num = 1, .is_global = 1, .grh.dgid = group};
	struct ibv_ah *ah = ibv_create_ah(device.pd, &address);
	struct endpoint sides[2];

	CHECK(ah);
	for (unsigned i = 0; i < 2; i++) {
		sides[i] = endpoint_open(&device, IBV_QPT_UD);
		CHECK_EQUAL(ibv_destroy_qp(sides[i].qp), 0);
		create_with_flags(&sides[i], IBV_QP_CREATE_BLOCK_SELF_MCAST_LB |
						     IBV_QP_CREATE_PCI_WRITE_END_PADDING);
		CHECK(sides[i].qp);
		to_init(&sides[i], 0);
		to_rts(&sides[i], NULL, 0);
		CHECK_EQUAL(ibv_attach_mcast(sides[i].qp, &group, MULTICAST_LID), 0);
		post_receive(&sides[i], 1, 4096, GRH_BYTES + 64);
	}
	/* Each in turn, so that a copy which the first has not got can't be under way. */
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_sge sge = sge_of(&sides[i], 0, 64);
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &sides[i], 0);

		wr.wr_id = 2;
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = MULTICAST_QPN;
		wr.wr.ud.remote_qkey = QKEY;
		post(&sides[i], &wr);
		CHECK_EQUAL(expect_status(sides[i].cq, IBV_WC_SUCCESS).wr_id, 2);

		struct ibv_wc wc = expect_status(sides[1 - i].cq, IBV_WC_SUCCESS);

		CHECK_EQUAL(wc.wr_id, 1);
		CHECK_EQUAL(wc.src_qp, sides[i].qp->qp_num);
	}
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(ibv_detach_mcast(sides[i].qp, &group, MULTICAST_LID), 0);
		endpoint_close(&sides[i]);
	}
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);

	struct endpoint other = endpoint_open(&device, IBV_QPT_UD);
	struct ibv_qp *qp = other.qp;

	errno = 0;
	create_with_flags(&other, IBV_QP_CREATE_SCATTER_FCS);
	CHECK(!other.qp && errno == EOPNOTSUPP);
	other.qp = qp;
	endpoint_close(&other);
}

static void expect_refusal(struct ibv_mr_init_attr attr, int expected)
{
	errno = 0;
	CHECK(!ibv_reg_mr_ex(device.pd, &attr));
	CHECK_EQUAL(errno, expected);
}

static void registration_by_a_struct(void)
{
	uint8_t *bytes = calloc(1, 4096);
	struct ibv_mr_init_attr attr = {
		.length = 4096,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = bytes,
		.iova = 0x10000,
	};
	struct ibv_mr *mr = ibv_reg_mr_ex(device.pd, &attr);

	CHECK(bytes && mr);
	CHECK(mr->addr == bytes && mr->length == 4096);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	mr = ibv_reg_mr_ex(device.pd, &attr);
	CHECK(mr);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);

	expect_refusal((struct ibv_mr_init_attr){.length = 1}, EINVAL);
	attr.comp_mask |= IBV_REG_MR_MASK_DMAH;
	expect_refusal(attr, EOPNOTSUPP);
	attr.comp_mask = IBV_REG_MR_MASK_ADDR | 1u << 31;
	expect_refusal(attr, EOPNOTSUPP);
	attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD;
	expect_refusal(attr, EINVAL);
	attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
	expect_refusal(attr, EINVAL);
	attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	expect_refusal(attr, EOPNOTSUPP);
	free(bytes);
}

static void speed_of_a_port(void)
{
	static const unsigned lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2};
	uint64_t speed = 0;

	CHECK_EQUAL(ibv_query_port_speed(device.context, 0, &speed), EINVAL);
	CHECK_EQUAL(ibv_query_port_speed(device.context, 99, &speed), EINVAL);
	CHECK_EQUAL(ibv_query_port_speed(device.context, 1, &speed), 0);
	CHECK(speed > 0);
	CHECK_EQUAL(speed % lanes[device.port.active_width], 0);
}

int main(void)
{
	device = device_open();
	options_are_agreed_on();
	options_that_make_no_sense();
	own_multicast_is_blocked();
	registration_by_a_struct();
	speed_of_a_port();
	device_close(&device);
	puts("options: ok");
	return 0;
}
