/* SPDX-License-Identifier: Apache-2.0 */
/* Every call that the library exports, with a NULL in the place of each pointer it needs, and with
 * what was destroyed, or is of another kind, in the place of each object: EINVAL as that call says
 * it, and nothing has happened. (What verbs.h expands in the program itself follows the pointers
 * before the library sees them.)
 * Covers: api/libibverbs/objects/handles.c */
#include "verbs_client.h"
#include "api/libibverbs/extended_mr.h"

extern int ibv_query_port_speed(struct ibv_context *context, uint32_t port_number,
				uint64_t *port_speed);

static struct device device;
static struct endpoint rc, ud;
static struct ibv_srq *srq;
static struct ibv_comp_channel *channel;

/* The errno of calls that return a pointer, -1 or nothing. */
static int pointer(const void *object)
{
	return object ? 0 : errno;
}

static int minus_one(int result)
{
	return result < 0 ? errno : 0;
}

static int negative(ssize_t result)
{
	return result < 0 ? (int)-result : 0;
}

#define EXPECT(call)                                                                               \
	do {                                                                                       \
		errno = 0;                                                                         \
		int said = call;                                                                   \
		if (said != EINVAL)                                                                \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                            \
		CHECK_EQUAL(said, EINVAL);                                                         \
	} while (0)

static void devices_and_ports(void)
{
	struct ibv_context *context = device.context;
	struct ibv_device_attr attr;
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	__be16 pkey;
	uint64_t speed;

	ibv_free_device_list(NULL);
	CHECK(!ibv_get_device_name(NULL));
	CHECK_EQUAL(ibv_get_device_guid(NULL), 0);
	CHECK_EQUAL(ibv_get_device_index(NULL), -1);
	EXPECT(pointer(ibv_open_device(NULL)));
	EXPECT(minus_one(-ibv_close_device(NULL)));
	EXPECT(ibv_query_device(NULL, &attr));
	EXPECT(ibv_query_device(context, NULL));
	EXPECT(ibv_query_port(context, 1, NULL));
	EXPECT(minus_one(ibv_query_gid(NULL, 1, 0, &gid)));
	EXPECT(minus_one(ibv_query_gid(context, 1, 0, NULL)));
	EXPECT(minus_one(ibv_query_pkey(NULL, 1, 0, &pkey)));
	EXPECT(minus_one(ibv_query_pkey(context, 1, 0, NULL)));
	EXPECT(minus_one(ibv_get_pkey_index(NULL, 1, 0xffff)));
	EXPECT(_ibv_query_gid_ex(NULL, 1, 0, &entry, 0, sizeof(entry)));
	EXPECT(_ibv_query_gid_ex(context, 1, 0, NULL, 0, sizeof(entry)));
	EXPECT(negative(_ibv_query_gid_table(NULL, &entry, 1, 0, sizeof(entry))));
	EXPECT(negative(_ibv_query_gid_table(context, NULL, 1, 0, sizeof(entry))));
	EXPECT(ibv_query_port_speed(NULL, 1, &speed));
	EXPECT(ibv_query_port_speed(context, 1, NULL));
	EXPECT(ibv_query_rt_values_ex(context, NULL));
}

static void memory(void)
{
	struct ibv_mr_init_attr attr = {.length = 1, .comp_mask = IBV_REG_MR_MASK_ADDR};
	char byte;

	EXPECT(pointer(ibv_alloc_pd(NULL)));
	EXPECT(ibv_dealloc_pd(NULL));
	EXPECT(pointer((ibv_reg_mr)(NULL, &byte, 1, 0)));
	EXPECT(pointer((ibv_reg_mr_iova)(NULL, &byte, 1, 0, 0)));
	EXPECT(pointer(ibv_reg_mr_iova2(NULL, &byte, 1, 0, 0)));
	EXPECT(pointer(ibv_reg_mr_ex(NULL, &attr)));
	EXPECT(pointer(ibv_reg_mr_ex(device.pd, NULL)));
	CHECK_EQUAL(ibv_rereg_mr(NULL, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), -1);
	CHECK_EQUAL(errno, EINVAL);
	EXPECT(ibv_dereg_mr(NULL));
	EXPECT(pointer(ibv_alloc_dm(device.context, NULL)));
	EXPECT(pointer(ibv_import_pd(NULL, 1)));
	EXPECT(pointer(ibv_import_mr(NULL, 1)));
	EXPECT(pointer(ibv_import_dm(NULL, 1)));
	ibv_unimport_pd(NULL);
	ibv_unimport_mr(NULL);
	ibv_unimport_dm(NULL);
}

static void queues(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq_attr limits;
	struct ibv_cq *cq;
	void *context;

	EXPECT(pointer(ibv_create_comp_channel(NULL)));
	EXPECT(ibv_destroy_comp_channel(NULL));
	EXPECT(minus_one(ibv_get_cq_event(NULL, &cq, &context)));
	EXPECT(minus_one(ibv_get_cq_event(channel, NULL, &context)));
	EXPECT(minus_one(ibv_get_cq_event(channel, &cq, NULL)));
	ibv_ack_cq_events(NULL, 1);
	EXPECT(pointer(ibv_create_cq(NULL, 1, NULL, NULL, 0)));
	EXPECT(pointer(ibv_create_cq_ex(device.context, NULL)));
	EXPECT(ibv_resize_cq(NULL, 1));
	EXPECT(ibv_modify_cq(rc.cq, NULL));
	EXPECT(ibv_destroy_cq(NULL));
	EXPECT(pointer(ibv_create_srq(NULL, &srq_attr)));
	EXPECT(pointer(ibv_create_srq(device.pd, NULL)));
	EXPECT(ibv_modify_srq(NULL, &limits, IBV_SRQ_LIMIT));
	EXPECT(ibv_modify_srq(srq, NULL, IBV_SRQ_LIMIT));
	EXPECT(ibv_query_srq(NULL, &limits));
	EXPECT(ibv_query_srq(srq, NULL));
	EXPECT(ibv_destroy_srq(NULL));
	EXPECT(ibv_get_srq_num(srq, NULL));
}

static void queue_pairs(void)
{
	struct ibv_qp_init_attr init = qp_options(&rc, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct ibv_ece ece = {.vendor_id = 1};
	union ibv_gid gid = {.raw = {0xff, 0x12}};

	EXPECT(pointer(ibv_create_qp(NULL, &init)));
	EXPECT(pointer(ibv_create_qp(device.pd, NULL)));
	EXPECT(ibv_modify_qp(NULL, &attr, IBV_QP_STATE));
	EXPECT(ibv_modify_qp(rc.qp, NULL, IBV_QP_STATE));
	EXPECT(ibv_modify_qp_rate_limit(rc.qp, NULL));
	EXPECT(ibv_query_qp(NULL, &attr, IBV_QP_STATE, &init));
	EXPECT(ibv_query_qp(rc.qp, NULL, IBV_QP_STATE, &init));
	EXPECT(ibv_query_qp(rc.qp, &attr, IBV_QP_STATE, NULL));
	EXPECT(ibv_destroy_qp(NULL));
	CHECK(!ibv_qp_to_qp_ex(NULL));
	EXPECT(pointer(ibv_open_qp(device.context, NULL)));
	EXPECT(ibv_attach_mcast(NULL, &gid, 0xc000));
	EXPECT(ibv_attach_mcast(ud.qp, NULL, 0xc000));
	EXPECT(ibv_detach_mcast(NULL, &gid, 0xc000));
	EXPECT(ibv_detach_mcast(ud.qp, NULL, 0xc000));
	EXPECT(ibv_query_ece(NULL, &ece));
	EXPECT(ibv_query_ece(rc.qp, NULL));
	EXPECT(ibv_set_ece(NULL, &ece));
	EXPECT(ibv_set_ece(rc.qp, NULL));
	EXPECT(pointer(ibv_open_xrcd(device.context, NULL)));
	EXPECT(pointer(ibv_alloc_td(device.context, NULL)));
	EXPECT(pointer(ibv_alloc_parent_domain(device.context, NULL)));
}

static void addresses_and_events(void)
{
	struct ibv_ah_attr attr = {.dlid = device.port.lid, .port_num = 1};
	struct ibv_async_event event;
	struct ibv_wc wc = {.slid = device.port.lid};
	struct ibv_wc with_grh = {.slid = device.port.lid, .wc_flags = IBV_WC_GRH};
	struct ibv_grh grh = {0};

	EXPECT(pointer(ibv_create_ah(NULL, &attr)));
	EXPECT(pointer(ibv_create_ah(device.pd, NULL)));
	EXPECT(minus_one(ibv_init_ah_from_wc(NULL, 1, &wc, &grh, &attr)));
	EXPECT(minus_one(ibv_init_ah_from_wc(device.context, 1, NULL, &grh, &attr)));
	EXPECT(minus_one(ibv_init_ah_from_wc(device.context, 1, &with_grh, NULL, &attr)));
	EXPECT(minus_one(ibv_init_ah_from_wc(device.context, 1, &wc, &grh, NULL)));
	EXPECT(pointer(ibv_create_ah_from_wc(NULL, &wc, &grh, 1)));
	EXPECT(pointer(ibv_create_ah_from_wc(device.pd, NULL, &grh, 1)));
	EXPECT(pointer(ibv_create_ah_from_wc(device.pd, &with_grh, NULL, 1)));
	EXPECT(ibv_destroy_ah(NULL));
	EXPECT(minus_one(ibv_get_async_event(NULL, &event)));
	EXPECT(minus_one(ibv_get_async_event(device.context, NULL)));
	ibv_ack_async_event(NULL);
}

/* Calls for a queue pair that does not exist. */
static void expect_no_qp(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_ece ece = {.vendor_id = 1};
	union ibv_gid gid = {.raw = {0xff, 0x12}};

	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	EXPECT(ibv_attach_mcast(qp, &gid, 0xc000));
	EXPECT(ibv_detach_mcast(qp, &gid, 0xc000));
	EXPECT(ibv_query_ece(qp, &ece));
	EXPECT(ibv_set_ece(qp, &ece));
	EXPECT(ibv_destroy_qp(qp));
}

static void expect_no_pd(struct ibv_pd *pd)
{
	struct ibv_qp_init_attr init = qp_options(&rc, IBV_QPT_RC);
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_ah_attr attr = {.dlid = device.port.lid, .port_num = 1};
	char byte;

	EXPECT(pointer(ibv_create_qp(pd, &init)));
	EXPECT(pointer(ibv_create_srq(pd, &srq_attr)));
	EXPECT(pointer(ibv_create_ah(pd, &attr)));
	EXPECT(pointer((ibv_reg_mr)(pd, &byte, 1, 0)));
	EXPECT(ibv_dealloc_pd(pd));
}

static void expect_no_mr(struct ibv_mr *mr)
{
	CHECK_EQUAL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), -1);
	CHECK_EQUAL(errno, EINVAL);
	EXPECT(ibv_dereg_mr(mr));
}

static void expect_no_srq(struct ibv_srq *gone)
{
	struct ibv_srq_attr limits = {.srq_limit = 1};

	EXPECT(ibv_modify_srq(gone, &limits, IBV_SRQ_LIMIT));
	EXPECT(ibv_query_srq(gone, &limits));
	EXPECT(ibv_destroy_srq(gone));
}

static void expect_no_cq(struct ibv_cq *cq)
{
	EXPECT(ibv_resize_cq(cq, 16));
	EXPECT(ibv_destroy_cq(cq));
}

/* Each is destroyed once more, and otherwise used, right after it was destroyed. */
static void destroyed_objects(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_ah_attr attr = {.dlid = device.port.lid, .port_num = 1};
	struct endpoint endpoint = endpoint_open(&device, IBV_QPT_RC);
	struct ibv_srq *queue = ibv_create_srq(device.pd, &srq_attr);
	struct ibv_comp_channel *events = ibv_create_comp_channel(device.context);
	struct ibv_pd *pd = ibv_alloc_pd(device.context);
	struct ibv_ah *ah = ibv_create_ah(device.pd, &attr);

	CHECK(queue && events && pd && ah);
	CHECK_EQUAL(ibv_destroy_qp(endpoint.qp), 0);
	expect_no_qp(endpoint.qp);
	CHECK_EQUAL(ibv_destroy_cq(endpoint.cq), 0);
	expect_no_cq(endpoint.cq);
	CHECK_EQUAL(ibv_dereg_mr(endpoint.mr), 0);
	expect_no_mr(endpoint.mr);
	CHECK_EQUAL(ibv_destroy_srq(queue), 0);
	expect_no_srq(queue);
	CHECK_EQUAL(ibv_destroy_comp_channel(events), 0);
	EXPECT(ibv_destroy_comp_channel(events));
	CHECK_EQUAL(ibv_dealloc_pd(pd), 0);
	expect_no_pd(pd);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	EXPECT(ibv_destroy_ah(ah));
	free(endpoint.bytes);

	struct ibv_context *context = ibv_open_device(device.context->device);

	CHECK(context);
	CHECK_EQUAL(ibv_close_device(context), 0);
	EXPECT(minus_one(-ibv_close_device(context)));
	EXPECT(pointer(ibv_alloc_pd(context)));
	EXPECT(pointer(ibv_create_cq(context, 1, NULL, NULL, 0)));
	EXPECT(pointer(ibv_create_comp_channel(context)));
}

/* Something else of the program, or its own memory. */
static void objects_of_another_kind(void)
{
	static uint64_t memory_of_its_own[64];
	void *const others[] = {device.pd, rc.mr, rc.cq, rc.qp, srq, memory_of_its_own};

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i] != device.pd)
			expect_no_pd(others[i]);
		if (others[i] != rc.mr)
			expect_no_mr(others[i]);
		if (others[i] != rc.cq)
			expect_no_cq(others[i]);
		if (others[i] != rc.qp)
			expect_no_qp(others[i]);
		if (others[i] != srq)
			expect_no_srq(others[i]);
	}
}

/* Nothing of it had an effect. */
static void everything_still_works(void)
{
	struct ibv_sge sge = sge_of(&rc, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &rc, 4096);

	CHECK_EQUAL(rc.qp->state, IBV_QPS_RTS);
	fill(rc.bytes, 64, 3);
	post(&rc, &wr);
	expect_status(rc.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(memcmp(rc.bytes, rc.bytes + 4096, 64), 0);
}

int main(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};

	device = device_open();
	srq = ibv_create_srq(device.pd, &srq_attr);
	channel = ibv_create_comp_channel(device.context);
	CHECK(srq && channel);
	rc = endpoint_open(&device, IBV_QPT_RC);
	ud = endpoint_open(&device, IBV_QPT_UD);
	to_init(&rc, ALL_ACCESS);
	to_rts(&rc, &rc, 3);
	devices_and_ports();
	memory();
	queues();
	queue_pairs();
	addresses_and_events();
	destroyed_objects();
	objects_of_another_kind();
	everything_still_works();
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	endpoint_close(&rc);
	endpoint_close(&ud);
	device_close(&device);
	puts("nulls: ok");
	return 0;
}
