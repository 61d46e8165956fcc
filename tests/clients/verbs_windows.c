/* SPDX-License-Identifier: Apache-2.0 */
/* Memory windows of both types: bound, used, invalidated from both sides, refused.
 * Covers: api/libibverbs/mw.c api/libibverbs/data/mw_requests.c */
#include "verbs_client.h"

enum { WINDOW_OFFSET = 4096, WINDOW_BYTES = 1000 };

/* b owns the windows; a is the peer who uses them. */
static struct endpoint a, b;
static struct ibv_mr *target; /* b's memory, for windows only */

static void couple_open(struct device *device)
{
	a = endpoint_open(device, IBV_QPT_RC);
	b = endpoint_open(device, IBV_QPT_RC);
	connect_endpoints(&a, &b);
	target = ibv_reg_mr(device->pd, b.bytes, BUFFER_BYTES,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	CHECK(target);
}

static void couple_close(void)
{
	CHECK_EQUAL(ibv_dereg_mr(target), 0);
	endpoint_close(&a);
	endpoint_close(&b);
}

static struct ibv_mw_bind_info binding(void)
{
	return (struct ibv_mw_bind_info){
		.mr = target,
		.addr = (uintptr_t)b.bytes + WINDOW_OFFSET,
		.length = WINDOW_BYTES,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
}

static struct ibv_mw *window_of(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(b.device->pd, type);

	CHECK(mw);
	CHECK_EQUAL(mw->type, type);
	return mw;
}

static struct ibv_send_wr bind_request(struct ibv_mw *mw)
{
	return (struct ibv_send_wr){
		.wr_id = 7,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = binding()},
	};
}

static void bind_type_2(struct ibv_mw *mw)
{
	struct ibv_send_wr wr = bind_request(mw);

	post(&b, &wr);

	struct ibv_wc wc = expect_status(b.cq, IBV_WC_SUCCESS);

	CHECK_EQUAL(wc.opcode, IBV_WC_BIND_MW);
	CHECK_EQUAL(wc.wr_id, 7);
	mw->rkey = wr.bind_mw.rkey;
}

static enum ibv_wc_status write_through(uint32_t rkey, uint64_t address, uint32_t byte_count)
{
	struct ibv_sge sge = sge_of(&a, 0, byte_count);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, 0);

	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = address;
	post(&a, &wr);
	return wait_completion(a.cq).status;
}

static void type_1_is_bound_moved_and_unbound(struct device *device)
{
	uint64_t address;

	couple_open(device);
	fill(a.bytes, WINDOW_BYTES, 3);
	address = (uintptr_t)b.bytes + WINDOW_OFFSET;

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 5, .send_flags = IBV_SEND_SIGNALED, .bind_info = binding()};
	uint32_t first_key = mw->rkey;

	CHECK_EQUAL(ibv_bind_mw(b.qp, mw, &bind), 0);
	CHECK(mw->rkey != first_key);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
	CHECK_EQUAL(write_through(mw->rkey, address, WINDOW_BYTES), IBV_WC_SUCCESS);
	CHECK(memcmp(b.bytes + WINDOW_OFFSET, a.bytes, WINDOW_BYTES) == 0);
	CHECK_EQUAL(ibv_dereg_mr(target), EBUSY);

	int flags = IBV_REREG_MR_CHANGE_ACCESS;

	CHECK_EQUAL(ibv_rereg_mr(target, flags, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(errno, EBUSY);
	CHECK_EQUAL(ibv_dealloc_pd(device->pd), EBUSY);

	/* Bound again elsewhere: a new key, and the old one is dead. */
	first_key = mw->rkey;
	bind.bind_info.addr += 100;
	CHECK_EQUAL(ibv_bind_mw(b.qp, mw, &bind), 0);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(write_through(mw->rkey, address + 100, 8), IBV_WC_SUCCESS);

	/* A window of no length: bound to nothing. */
	bind.bind_info = (struct ibv_mw_bind_info){0};
	CHECK_EQUAL(ibv_bind_mw(b.qp, mw, &bind), 0);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(write_through(first_key, address, 8), IBV_WC_REM_ACCESS_ERR);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	couple_close();
}

static void type_2_is_invalidated_by_its_owner(struct device *device)
{
	couple_open(device);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_2);

	bind_type_2(mw);
	CHECK_EQUAL(write_through(mw->rkey, (uintptr_t)b.bytes + WINDOW_OFFSET, 8), IBV_WC_SUCCESS);

	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey,
	};

	post(&b, &wr);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
	CHECK_EQUAL(write_through(mw->rkey, (uintptr_t)b.bytes + WINDOW_OFFSET, 8),
		    IBV_WC_REM_ACCESS_ERR);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	couple_close();
}

static void type_2_is_invalidated_by_the_peer(struct device *device)
{
	couple_open(device);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_2);
	struct ibv_sge sge = sge_of(&a, 0, 16);
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, &sge, &b, 0);

	bind_type_2(mw);
	post_receive(&b, 9, 0, 64);
	wr.invalidate_rkey = mw->rkey;
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);

	struct ibv_wc wc = expect_status(b.cq, IBV_WC_SUCCESS);

	CHECK_EQUAL(wc.opcode, IBV_WC_RECV);
	CHECK_EQUAL(wc.wc_flags, IBV_WC_WITH_INV);
	CHECK_EQUAL(wc.invalidated_rkey, mw->rkey);
	/* Free again, so it can be bound again. */
	bind_type_2(mw);
	CHECK_EQUAL(write_through(mw->rkey, (uintptr_t)b.bytes + WINDOW_OFFSET, 8), IBV_WC_SUCCESS);

	uint32_t key = mw->rkey;

	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	CHECK_EQUAL(write_through(key, (uintptr_t)b.bytes + WINDOW_OFFSET, 8),
		    IBV_WC_REM_ACCESS_ERR);
	couple_close();
}

/* The receiver refuses to invalidate a region: its receive fails, the sender hears nothing. */
static void regions_are_not_invalidated_from_afar(struct device *device)
{
	couple_open(device);

	struct ibv_sge sge = sge_of(&a, 0, 16);
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, &sge, &b, 0);

	reconnect_in_vain(&a, &b);
	post_receive(&b, 9, 0, 64);
	wr.invalidate_rkey = b.mr->rkey;
	post(&a, &wr);
	expect_status(b.cq, IBV_WC_LOC_QP_OP_ERR);
	expect_status(a.cq, IBV_WC_RETRY_EXC_ERR);
	couple_close();
}

static void mistakes_are_bind_errors(struct device *device)
{
	struct ibv_pd *other_pd = ibv_alloc_pd(device->context);

	CHECK(other_pd);
	for (unsigned mistake = 0; mistake < 6; mistake++) {
		couple_open(device);

		struct ibv_mr *foreign = ibv_reg_mr(other_pd, b.bytes, 8192,
						    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		struct ibv_mw *mw = window_of(IBV_MW_TYPE_2);
		struct ibv_send_wr wr = bind_request(mw);
		struct ibv_mw_bind_info *info = &wr.bind_mw.bind_info;

		CHECK(foreign);
		switch (mistake) {
		case 0: /* beyond the region */
			info->length = BUFFER_BYTES;
			break;
		case 1: /* only type 1 is unbound so */
			info->length = 0;
			break;
		case 2: /* no right to be bound to */
			info->mr = b.mr;
			break;
		case 3: /* another protection domain */
			info->mr = foreign;
			break;
		case 4: /* no right that a window could give */
			info->mw_access_flags = IBV_ACCESS_MW_BIND;
			break;
		case 5: /* bound already */
			bind_type_2(mw);
			wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
			break;
		}
		wr.send_flags = 0;
		post(&b, &wr);
		CHECK_EQUAL(expect_status(b.cq, IBV_WC_MW_BIND_ERR).wr_id, wr.wr_id);
		CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
		CHECK_EQUAL(ibv_dereg_mr(foreign), 0);
		couple_close();
	}
	CHECK_EQUAL(ibv_dealloc_pd(other_pd), 0);
}

static void requests_that_can_not_be_posted(struct device *device)
{
	struct ibv_send_wr *bad = NULL;

	couple_open(device);

	struct ibv_mw *first = window_of(IBV_MW_TYPE_1);
	struct ibv_mw *second = window_of(IBV_MW_TYPE_2);
	struct ibv_mw_bind bind = {.bind_info = binding()};
	struct ibv_send_wr wr = bind_request(first);

	/* Type 1 has its own verb, and type 2 does not have it. */
	CHECK_EQUAL(ibv_post_send(b.qp, &wr, &bad), EINVAL);
	CHECK(bad == &wr);
	CHECK_EQUAL(ibv_bind_mw(b.qp, second, &bind), EINVAL);
	wr = bind_request(second);
	wr.bind_mw.mw = NULL;
	CHECK_EQUAL(ibv_post_send(b.qp, &wr, &bad), EINVAL);

	struct endpoint datagram = endpoint_open(device, IBV_QPT_UD);

	to_init(&datagram, 0);
	to_rts(&datagram, NULL, 3);
	CHECK_EQUAL(ibv_bind_mw(datagram.qp, first, &bind), EINVAL);
	endpoint_close(&datagram);
	CHECK_EQUAL(ibv_dealloc_mw(first), 0);
	CHECK_EQUAL(ibv_dealloc_mw(second), 0);
	couple_close();
}

/* A bind takes the low 8 bits of the key that it is given, and the window keeps its index; a key
 * that is used or taken back must be the whole one. */
static void binding_takes_the_tag_of_a_key_only(struct device *device)
{
	const uint32_t asked[] = {0, 0x000000ff, 0xffffff5a, 0x12345678};

	couple_open(device);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_2), *other = window_of(IBV_MW_TYPE_2);
	uint64_t address = (uintptr_t)b.bytes + WINDOW_OFFSET;
	uint32_t index = mw->rkey & ~0xffu;
	struct ibv_send_wr invalidate = {.opcode = IBV_WR_LOCAL_INV,
					 .send_flags = IBV_SEND_SIGNALED};

	bind_type_2(other);
	for (unsigned i = 0; i <= sizeof(asked) / sizeof(asked[0]); i++) {
		struct ibv_send_wr wr = bind_request(mw);

		/* The last is the key of another window, which stays as it is. */
		wr.bind_mw.rkey = i < sizeof(asked) / sizeof(asked[0]) ? asked[i] : other->rkey;
		post(&b, &wr);
		expect_status(b.cq, IBV_WC_SUCCESS);
		mw->rkey = index | (wr.bind_mw.rkey & 0xff);
		CHECK_EQUAL(write_through(mw->rkey, address, 8), IBV_WC_SUCCESS);
		CHECK_EQUAL(write_through(other->rkey, address, 8), IBV_WC_SUCCESS);
		invalidate.invalidate_rkey = mw->rkey;
		post(&b, &invalidate);
		expect_status(b.cq, IBV_WC_SUCCESS);
	}
	bind_type_2(mw);
	CHECK_EQUAL(write_through(ibv_inc_rkey(mw->rkey), address, 8), IBV_WC_REM_ACCESS_ERR);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	CHECK_EQUAL(ibv_dealloc_mw(other), 0);
	couple_close();
}

/* A key with another tag than the window's own invalidates nothing. */
static void invalidation_takes_the_whole_key(struct device *device)
{
	couple_open(device);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_2);
	struct ibv_send_wr invalidate = {.opcode = IBV_WR_LOCAL_INV,
					 .send_flags = IBV_SEND_SIGNALED};

	bind_type_2(mw);
	invalidate.invalidate_rkey = ibv_inc_rkey(mw->rkey);
	post(&b, &invalidate);
	CHECK(wait_completion(b.cq).status != IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	couple_close();
}

/* A window of type 1 is the one that is named, not the one that mw->rkey says. */
static void type_1_keeps_its_index(struct device *device)
{
	couple_open(device);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_1), *other = window_of(IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED, .bind_info = binding()};
	uint32_t index = mw->rkey & ~0xffu;

	mw->rkey = other->rkey;
	CHECK_EQUAL(ibv_bind_mw(b.qp, mw, &bind), 0);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(mw->rkey & ~0xffu, index);
	CHECK_EQUAL(write_through(mw->rkey, (uintptr_t)b.bytes + WINDOW_OFFSET, 8), IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	CHECK_EQUAL(ibv_dealloc_mw(other), 0);
	couple_close();
}

/* The window outlives the queue pair it was bound through, and holds nothing any more. */
static void queue_pair_goes_before_its_window(struct device *device)
{
	couple_open(device);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_2);

	bind_type_2(mw);
	CHECK_EQUAL(ibv_dereg_mr(target), EBUSY);
	endpoint_close(&b);
	CHECK_EQUAL(ibv_dereg_mr(target), 0);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	endpoint_close(&a);
}

static struct endpoint extended_open(struct device *device)
{
	struct endpoint endpoint = {.device = device};

	endpoint_register(&endpoint);
	endpoint.cq = ibv_create_cq(device->context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(endpoint.cq);

	struct ibv_qp_init_attr_ex options = {
		.send_cq = endpoint.cq,
		.recv_cq = endpoint.cq,
		.cap = {QUEUE_DEPTH, QUEUE_DEPTH, SGES, SGES, 256},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = device->pd,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV |
				  IBV_QP_EX_WITH_SEND_WITH_INV,
	};

	endpoint.qp = ibv_create_qp_ex(device->context, &options);
	CHECK(endpoint.qp);
	return endpoint;
}

/* Bound and taken back in one list, then bound again for the peer to take back. */
static void windows_by_the_extended_calls(struct device *device)
{
	a = extended_open(device);
	b = extended_open(device);
	connect_endpoints(&a, &b);
	target = ibv_reg_mr(device->pd, b.bytes, BUFFER_BYTES,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	CHECK(target);

	struct ibv_mw *mw = window_of(IBV_MW_TYPE_2);
	struct ibv_mw_bind_info info = binding();
	struct ibv_qp_ex *owner = ibv_qp_to_qp_ex(b.qp), *peer = ibv_qp_to_qp_ex(a.qp);
	uint32_t keys[2] = {ibv_inc_rkey(mw->rkey), ibv_inc_rkey(ibv_inc_rkey(mw->rkey))};

	ibv_wr_start(owner);
	owner->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(owner, mw, keys[0], &info);
	ibv_wr_local_inv(owner, keys[0]);
	ibv_wr_bind_mw(owner, mw, keys[1], &info);
	CHECK_EQUAL(ibv_wr_complete(owner), 0);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);

	post_receive(&b, 1, 0, 8);
	ibv_wr_start(peer);
	peer->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_inv(peer, keys[1]);
	CHECK_EQUAL(ibv_wr_complete(peer), 0);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).invalidated_rkey, keys[1]);
	expect_status(a.cq, IBV_WC_SUCCESS);

	/* A key of another index: its tag counts. Without a window nothing is posted. */
	ibv_wr_start(owner);
	ibv_wr_bind_mw(owner, mw, keys[0] + 0x100, &info);
	CHECK_EQUAL(ibv_wr_complete(owner), 0);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(write_through(keys[0], info.addr, 8), IBV_WC_SUCCESS);
	ibv_wr_start(owner);
	ibv_wr_bind_mw(owner, NULL, keys[0], &info);
	CHECK_EQUAL(ibv_wr_complete(owner), EINVAL);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	couple_close();
}

static void attributes_tell_of_windows(struct device *device)
{
	struct ibv_device_attr attr;

	CHECK_EQUAL(ibv_query_device(device->context, &attr), 0);
	CHECK(attr.max_mw > 0);
	CHECK(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	CHECK(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	CHECK(!(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A));
	CHECK(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
}

int main(void)
{
	struct device device = device_open();

	attributes_tell_of_windows(&device);
	type_1_is_bound_moved_and_unbound(&device);
	type_2_is_invalidated_by_its_owner(&device);
	type_2_is_invalidated_by_the_peer(&device);
	regions_are_not_invalidated_from_afar(&device);
	mistakes_are_bind_errors(&device);
	requests_that_can_not_be_posted(&device);
	binding_takes_the_tag_of_a_key_only(&device);
	invalidation_takes_the_whole_key(&device);
	type_1_keeps_its_index(&device);
	queue_pair_goes_before_its_window(&device);
	windows_by_the_extended_calls(&device);
	device_close(&device);
	puts("ok");
	return 0;
}
