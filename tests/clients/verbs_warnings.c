/* SPDX-License-Identifier: Apache-2.0 */
/* Misuse is warned of in one line per place with SOFTIB_WARN=1, and in none without. Each case runs
 * in a process of its own, once with and once without the variable.
 * Covers: api/libibverbs/diagnostics/misuse.c api/libibverbs/diagnostics/warnings.c */
#include "verbs_client.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = 16384 };

struct pair {
	struct device device;
	struct endpoint a, b;
};

static struct pair pair_open(enum ibv_qp_type type)
{
	struct pair pair = {.device = device_open()};

	pair.a = endpoint_open(&pair.device, type);
	pair.b = endpoint_open(&pair.device, type);
	return pair;
}

/* The endpoints point at a device that has moved since. */
static void pair_connect(struct pair *pair)
{
	pair->a.device = &pair->device;
	pair->b.device = &pair->device;
	connect_endpoints(&pair->a, &pair->b);
}

static void pair_close(struct pair *pair)
{
	endpoint_close(&pair->a);
	endpoint_close(&pair->b);
	device_close(&pair->device);
}

static void send_with_key(struct pair *pair, uint32_t key, uint64_t address, uint32_t byte_count)
{
	struct ibv_sge sge = {address, byte_count, key};
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &pair->b, 0);

	post(&pair->a, &wr);
	expect_status(pair->a.cq, IBV_WC_LOC_PROT_ERR);
}

static void unknown_key(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);

	pair_connect(&pair);
	send_with_key(&pair, 0x77777777, (uintptr_t)pair.a.bytes, 8);
	pair_close(&pair);
}

static void key_after_dereg(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_mr *mr = ibv_reg_mr(pair.device.pd, pair.a.bytes, 4096, ALL_ACCESS);
	uint32_t key = mr->lkey;

	pair_connect(&pair);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	send_with_key(&pair, key, (uintptr_t)pair.a.bytes, 8);
	pair_close(&pair);
}

static void other_domain(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_pd *pd = ibv_alloc_pd(pair.device.context);
	struct ibv_mr *mr = ibv_reg_mr(pd, pair.a.bytes, 4096, ALL_ACCESS);

	pair_connect(&pair);
	send_with_key(&pair, mr->lkey, (uintptr_t)pair.a.bytes, 8);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK_EQUAL(ibv_dealloc_pd(pd), 0);
	pair_close(&pair);
}

/* Twice at the same place: one line. */
static void read_only_region(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_mr *mr = ibv_reg_mr(pair.device.pd, pair.b.bytes, 4096, IBV_ACCESS_REMOTE_READ);
	struct ibv_sge sge = {(uintptr_t)pair.b.bytes, 8, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	pair_connect(&pair);
	CHECK_EQUAL(ibv_post_recv(pair.b.qp, &wr, &bad), 0);
	CHECK_EQUAL(ibv_post_recv(pair.b.qp, &wr, &bad), 0);
	CHECK_EQUAL(ibv_destroy_qp(pair.b.qp), 0);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);

	struct ibv_qp_init_attr options = qp_options(&pair.b, IBV_QPT_RC);

	pair.b.qp = ibv_create_qp(pair.device.pd, &options);
	pair_close(&pair);
}

static void out_of_bounds(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);

	pair_connect(&pair);
	send_with_key(&pair, pair.a.mr->lkey, (uintptr_t)pair.a.bytes + BUFFER_BYTES - 4, 8);
	pair_close(&pair);
}

static void unsignaled_queue(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &pair.b, 0);
	struct ibv_send_wr *bad;

	pair_connect(&pair);
	wr.send_flags = 0;
	for (unsigned i = 0; i < QUEUE_DEPTH; i++)
		post(&pair.a, &wr);
	CHECK_EQUAL(ibv_post_send(pair.a.qp, &wr, &bad), ENOMEM);
	pair_close(&pair);
}

static void signaled_in_time(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &pair.b, 0);

	pair_connect(&pair);
	for (unsigned i = 1; i <= 3 * QUEUE_DEPTH; i++) {
		wr.send_flags = i % QUEUE_DEPTH ? 0 : IBV_SEND_SIGNALED;
		post(&pair.a, &wr);
		if (wr.send_flags)
			expect_status(pair.a.cq, IBV_WC_SUCCESS);
	}
	pair_close(&pair);
}

static void send_before_rts(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &pair.b, 0);
	struct ibv_send_wr *bad;

	CHECK_EQUAL(ibv_post_send(pair.a.qp, &wr, &bad), EINVAL);
	pair_close(&pair);
}

static void read_without_depth(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &sge, &pair.b, 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .max_rd_atomic = 0,
				   .timeout = 10,
				   .retry_cnt = 3,
				   .rnr_retry = 3};
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = pair.b.qp->qp_num,
				    .min_rnr_timer = 1,
				    .max_dest_rd_atomic = 1,
				    .ah_attr = {.dlid = pair.device.port.lid, .port_num = 1}};

	pair_connect(&pair);
	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &reset, IBV_QP_STATE), 0);
	to_init(&pair.a, ALL_ACCESS);
	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &ready,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER),
		    0);
	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &attr,
				  IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
	post(&pair.a, &wr);
	CHECK(wait_completion(pair.a.cq).status != IBV_WC_SUCCESS);
	pair_close(&pair);
}

static void unaligned_atomic(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, &pair.b, 0);

	pair_connect(&pair);
	wr.wr.atomic.remote_addr = (uintptr_t)pair.b.bytes + 3;
	wr.wr.atomic.rkey = pair.b.mr->rkey;
	post(&pair.a, &wr);
	CHECK(wait_completion(pair.a.cq).status != IBV_WC_SUCCESS);
	pair_close(&pair);
}

static void no_room_for_grh(void)
{
	struct pair pair = pair_open(IBV_QPT_UD);

	pair_connect(&pair);
	post_receive(&pair.b, 1, 0, 32);
	pair_close(&pair);
}

static void small_cq(void)
{
	struct device device = device_open();
	struct ibv_cq *cq = ibv_create_cq(device.context, 16, NULL, NULL, 0);
	struct endpoint endpoint = {.device = &device, .cq = cq};
	struct ibv_qp_init_attr options = qp_options(&endpoint, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp(device.pd, &options);

	CHECK(qp);
	CHECK_EQUAL(ibv_destroy_qp(qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	device_close(&device);
}

static void no_retries(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);

	pair_connect(&pair);

	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE), 0);
	to_init(&pair.a, ALL_ACCESS);
	to_rts(&pair.a, &pair.b, 0);
	pair_close(&pair);
}

static void no_timeout(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .timeout = 0};

	pair_connect(&pair);
	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT), 0);
	pair_close(&pair);
}

static void dry_receive_queue(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &pair.b, 0);

	pair_connect(&pair);
	post(&pair.a, &wr);
	expect_status(pair.a.cq, IBV_WC_RNR_RETRY_EXC_ERR);
	post_receive(&pair.b, 1, 0, 8);
	pair_close(&pair);
}

/* The event that tells of it is never read either. */
static void refused_write(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &pair.b, 0);

	pair_connect(&pair);
	wr.wr.rdma.rkey = 1;
	post(&pair.a, &wr);
	expect_status(pair.a.cq, IBV_WC_REM_ACCESS_ERR);
	pair_close(&pair);
}

static struct ibv_comp_channel *use_channel(struct pair *pair)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(pair->device.context);
	struct endpoint *b = &pair->b;

	CHECK(channel);
	CHECK_EQUAL(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK), 0);
	CHECK_EQUAL(ibv_destroy_qp(b->qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(b->cq), 0);
	b->cq = ibv_create_cq(pair->device.context, 4 * QUEUE_DEPTH, NULL, channel, 0);
	CHECK(b->cq);

	struct ibv_qp_init_attr options = qp_options(b, IBV_QPT_RC);

	b->qp = ibv_create_qp(pair->device.pd, &options);
	CHECK(b->qp);
	pair_connect(pair);
	return channel;
}

static void send_to_b(struct pair *pair)
{
	struct ibv_sge sge = sge_of(&pair->a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &pair->b, 0);

	post_receive(&pair->b, 1, 0, 8);
	post(&pair->a, &wr);
	expect_status(pair->a.cq, IBV_WC_SUCCESS);
}

static void nothing_armed(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_comp_channel *channel = use_channel(&pair);
	struct ibv_cq *cq;
	void *context;

	CHECK(ibv_get_cq_event(channel, &cq, &context) == -1 && errno == EAGAIN);
	endpoint_close(&pair.a);
	endpoint_close(&pair.b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	device_close(&pair.device);
}

/* Where arming is strict; else the event comes at once. */
static void armed_too_late(void)
{
	setenv("SOFTIB_EVENTS", "strict", 1);

	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_comp_channel *channel = use_channel(&pair);
	struct ibv_cq *cq;
	void *context;

	send_to_b(&pair);
	CHECK_EQUAL(ibv_req_notify_cq(pair.b.cq, 0), 0);
	CHECK(ibv_get_cq_event(channel, &cq, &context) == -1 && errno == EAGAIN);
	endpoint_close(&pair.a);
	endpoint_close(&pair.b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	device_close(&pair.device);
}

static void armed_in_time(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_comp_channel *channel = use_channel(&pair);
	struct pollfd item = {.fd = channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	CHECK_EQUAL(ibv_req_notify_cq(pair.b.cq, 0), 0);
	send_to_b(&pair);
	CHECK_EQUAL(poll(&item, 1, POLL_SECONDS_MAX * 1000), 1);
	CHECK_EQUAL(ibv_get_cq_event(channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	endpoint_close(&pair.a);
	endpoint_close(&pair.b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	device_close(&pair.device);
}

/* Stderr goes through here while the thread waits for the warning. */
struct detour {
	int fds[2];
	int stderr_fd;
	struct ibv_cq *cq;
};

static void *acknowledge_when_warned(void *argument)
{
	struct detour *detour = argument;
	const char *setting = getenv("SOFTIB_WARN");
	char line[512];

	if (setting && *setting == '1') {
		ssize_t length = read(detour->fds[0], line, sizeof(line));

		CHECK(length > 0);
		CHECK_EQUAL(write(detour->stderr_fd, line, (size_t)length), length);
	}
	ibv_ack_cq_events(detour->cq, 1);
	return NULL;
}

static void unacknowledged(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_comp_channel *channel = use_channel(&pair);
	struct pollfd item = {.fd = channel->fd, .events = POLLIN};
	struct detour detour = {.stderr_fd = dup(STDERR_FILENO)};
	void *context;
	pthread_t thread;

	CHECK_EQUAL(ibv_req_notify_cq(pair.b.cq, 0), 0);
	send_to_b(&pair);
	CHECK_EQUAL(poll(&item, 1, POLL_SECONDS_MAX * 1000), 1);
	CHECK_EQUAL(ibv_get_cq_event(channel, &detour.cq, &context), 0);
	CHECK_EQUAL(pipe(detour.fds), 0);
	dup2(detour.fds[1], STDERR_FILENO);
	CHECK_EQUAL(pthread_create(&thread, NULL, acknowledge_when_warned, &detour), 0);
	endpoint_close(&pair.b);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	dup2(detour.stderr_fd, STDERR_FILENO);
	endpoint_close(&pair.a);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	device_close(&pair.device);
}

static void overrun(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &pair.b, 0);
	struct pollfd item = {.fd = pair.device.context->async_fd, .events = POLLIN};
	struct ibv_send_wr *bad;

	CHECK_EQUAL(ibv_destroy_qp(pair.a.qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(pair.a.cq), 0);
	pair.a.cq = ibv_create_cq(pair.device.context, 1, NULL, NULL, 0);

	struct ibv_qp_init_attr options = qp_options(&pair.a, IBV_QPT_RC);

	pair.a.qp = ibv_create_qp(pair.device.pd, &options);
	pair_connect(&pair);
	for (unsigned i = 0; i < QUEUE_DEPTH; i++)
		CHECK(ibv_post_send(pair.a.qp, &wr, &bad) == 0 || errno);
	CHECK_EQUAL(poll(&item, 1, POLL_SECONDS_MAX * 1000), 1);
	pair_close(&pair);
}

static void busy(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_comp_channel *channel = use_channel(&pair);

	CHECK_EQUAL(ibv_destroy_cq(pair.b.cq), EBUSY);
	CHECK_EQUAL(ibv_dealloc_pd(pair.device.pd), EBUSY);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), EBUSY);
	endpoint_close(&pair.a);
	endpoint_close(&pair.b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	device_close(&pair.device);
}

static void region_in_use(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);

	pair_connect(&pair);
	post_receive(&pair.b, 1, 0, 8);
	CHECK_EQUAL(ibv_dereg_mr(pair.b.mr), 0);
	pair.b.mr = ibv_reg_mr(pair.device.pd, pair.b.bytes, 4096, ALL_ACCESS);
	pair_close(&pair);
}

static void window_in_the_way(void)
{
	struct pair pair = pair_open(IBV_QPT_RC);
	struct ibv_mw *mw = ibv_alloc_mw(pair.device.pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr = ibv_reg_mr(pair.device.pd, pair.a.bytes, 4096,
				       IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {mr, (uintptr_t)pair.a.bytes, 4096, IBV_ACCESS_REMOTE_WRITE}};

	CHECK(mw && mr);
	pair_connect(&pair);
	CHECK_EQUAL(ibv_bind_mw(pair.a.qp, mw, &bind), 0);
	expect_status(pair.a.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_dereg_mr(mr), EBUSY);
	CHECK_EQUAL(ibv_dealloc_mw(mw), 0);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	pair_close(&pair);
}

static struct ibv_send_wr datagram(struct pair *pair, struct ibv_sge *sge, struct ibv_ah *ah,
				   uint32_t qkey)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, sge, &pair->b, 0);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = pair->b.qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	return wr;
}

static struct ibv_ah *own_address(struct pair *pair)
{
	struct ibv_ah_attr attr = {.dlid = pair->device.port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(pair->device.pd, &attr);

	CHECK(ah);
	return ah;
}

/* Links of this fabric have no rate that a source could keep below. */
static void static_rate(void)
{
	struct pair pair = pair_open(IBV_QPT_UD);
	struct ibv_ah_attr attr = {
		.dlid = pair.device.port.lid, .port_num = 1, .static_rate = IBV_RATE_10_GBPS};
	struct ibv_ah *ah = ibv_create_ah(pair.device.pd, &attr);

	CHECK(ah);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	CHECK_EQUAL(ibv_destroy_ah(own_address(&pair)), 0);
	pair_close(&pair);
}

/* A drained queue keeps what is posted. */
static void address_in_use(void)
{
	struct pair pair = pair_open(IBV_QPT_UD);
	struct ibv_ah *ah = own_address(&pair);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = datagram(&pair, &sge, ah, QKEY);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD};

	pair_connect(&pair);
	CHECK_EQUAL(ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE), 0);
	post(&pair.a, &wr);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	pair_close(&pair);
}

/* A good datagram after the bad one shows when that one has arrived. */
static void wrong_qkey(void)
{
	struct pair pair = pair_open(IBV_QPT_UD);
	struct ibv_ah *ah = own_address(&pair);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr bad = datagram(&pair, &sge, ah, QKEY + 1);
	struct ibv_send_wr good = datagram(&pair, &sge, ah, QKEY);

	pair_connect(&pair);
	post_receive(&pair.b, 1, 0, 64);
	post(&pair.a, &bad);
	post(&pair.a, &good);
	expect_status(pair.a.cq, IBV_WC_SUCCESS);
	expect_status(pair.a.cq, IBV_WC_SUCCESS);
	expect_status(pair.b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	pair_close(&pair);
}

/* Where the port has a second partition. */
static void wrong_pkey(void)
{
	struct pair pair = pair_open(IBV_QPT_UC);
	struct ibv_sge sge = sge_of(&pair.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &pair.b, 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .pkey_index = 1};

	pair.a.device = &pair.device;
	pair.b.device = &pair.device;
	to_init(&pair.a, ALL_ACCESS);
	CHECK_EQUAL(
		ibv_modify_qp(pair.b.qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	to_rts(&pair.a, &pair.b, 3);
	to_rts(&pair.b, &pair.a, 3);
	post(&pair.a, &wr);
	expect_status(pair.a.cq, IBV_WC_SUCCESS);
	pair_close(&pair);
}

/* Asked in a child too: the environment counts when the first device is opened. */
static bool has_second_partition(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		struct device device = device_open();
		__be16 pkey = 0;

		CHECK_EQUAL(ibv_query_pkey(device.context, 1, 1, &pkey), 0);
		device_close(&device);
		exit(pkey ? 2 : 3);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) >= 2);
	return WEXITSTATUS(status) == 2;
}

static void objects_left(void)
{
	struct device device = device_open();

	CHECK_EQUAL(ibv_close_device(device.context), 0);
	CHECK_EQUAL(ibv_dealloc_pd(device.pd), 0);
}

struct misuse {
	const char *name;
	void (*commit)(void);
	const char *lines[4]; /* parts of what is printed, all of them; none: nothing is */
};

static const struct misuse misuses[] = {
	{"unknown key", unknown_key, {"ibv_post_send: L_Key 0x77777777 belongs to no region"}},
	{"key after dereg", key_after_dereg, {"is used after ibv_dereg_mr"}},
	{"other protection domain", other_domain, {"in another protection domain"}},
	{"read-only region", read_only_region, {"ibv_post_recv: the region of L_Key"}},
	{"out of bounds", out_of_bounds, {"ibv_post_send: 8 bytes at"}},
	{"unsignaled queue", unsignaled_queue, {"full of 64 unsignaled requests"}},
	{"signaled in time", signaled_in_time, {NULL}},
	{"send before RTS", send_before_rts, {"before it is in RTS"}},
	{"read without depth", read_without_depth, {"max_rd_atomic 0"}},
	{"unaligned atomic", unaligned_atomic, {"8-byte aligned remote address"}},
	{"no room for GRH", no_room_for_grh, {"the first 40 are for the GRH"}},
	{"small CQ", small_cq, {"ibv_create_qp: up to 128 requests"}},
	{"no retries", no_retries, {"retry_cnt 0", "rnr_retry 0"}},
	{"no timeout", no_timeout, {"timeout 0"}},
	{"static rate", static_rate, {"ibv_create_ah: static_rate 3 slows nothing down"}},
	{"dry receive queue", dry_receive_queue, {"ibv_post_recv: a message came to queue pair"}},
	{"refused write",
	 refused_write,
	 {"ibv_modify_qp: queue pair 0x", "ibv_get_async_event: an asynchronous event"}},
	{"nothing armed", nothing_armed, {"ibv_get_cq_event: no CQ of this channel is armed"}},
	{"armed too late", armed_too_late, {"poll it once more after arming"}},
	{"armed in time", armed_in_time, {NULL}},
	{"unacknowledged", unacknowledged, {"ibv_destroy_cq: 1 events are not acknowledged"}},
	{"overrun", overrun, {"has overrun"}},
	{"busy",
	 busy,
	 {"ibv_destroy_cq: refused with EBUSY: 2 queues", "ibv_dealloc_pd: refused with EBUSY: 4",
	  "ibv_destroy_comp_channel: refused with EBUSY: 1 CQs"}},
	{"region in use", region_in_use, {"ibv_dereg_mr: 1 posted requests still use"}},
	{"window in the way", window_in_the_way, {"ibv_dereg_mr: refused with EBUSY: 1 windows"}},
	{"address in use", address_in_use, {"ibv_destroy_ah: 1 posted requests still use"}},
	{"wrong Q_Key", wrong_qkey, {"dropped 1 datagrams with a Q_Key"}},
	{"objects left", objects_left, {"ibv_close_device: 1 PDs"}},
};

static const struct misuse of_partitions = {
	"wrong P_Key", wrong_pkey, {"dropped 1 packets with a P_Key"}};

/* Runs the case in a child, and returns what the child wrote to stderr. */
static void run(const struct misuse *misuse, const char *setting, char ret_text[TEXT_BYTES_MAX])
{
	int fds[2];
	int status;
	size_t length = 0;

	CHECK_EQUAL(pipe(fds), 0);

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		if (setting)
			setenv("SOFTIB_WARN", setting, 1);
		else
			unsetenv("SOFTIB_WARN");
		dup2(fds[1], STDERR_FILENO);
		close(fds[1]);
		close(fds[0]);
		misuse->commit();
		exit(0);
	}
	close(fds[1]);
	for (ssize_t count = 1; count > 0 && length < TEXT_BYTES_MAX - 1;) {
		count = read(fds[0], ret_text + length, TEXT_BYTES_MAX - 1 - length);
		length += count > 0 ? (size_t)count : 0;
	}
	ret_text[length] = 0;
	close(fds[0]);
	CHECK(waitpid(child, &status, 0) == child);
	if (status) {
		fprintf(stderr, "%s: wait status %d: %s\n", misuse->name, status, ret_text);
		exit(1);
	}
}

static unsigned occurrences(const char *text, const char *part)
{
	unsigned count = 0;

	for (const char *place = strstr(text, part); place; place = strstr(place + 1, part))
		count++;
	return count;
}

static void expect(const struct misuse *misuse, const char *text, const char *part, unsigned count)
{
	if (occurrences(text, part) == count)
		return;
	fprintf(stderr, "%s: \"%s\" is there %u times, not %u, in:\n%s", misuse->name, part,
		occurrences(text, part), count, text);
	exit(1);
}

static void check(const struct misuse *misuse)
{
	char text[TEXT_BYTES_MAX];

	run(misuse, "1", text);
	for (unsigned line = 0; line < 4 && misuse->lines[line]; line++)
		expect(misuse, text, misuse->lines[line], 1);
	if (misuse->lines[0])
		expect(misuse, text, "softib: warning: ibv_", occurrences(text, "\n"));
	else
		expect(misuse, text, "softib: warning", 0);
	run(misuse, "0", text);
	expect(misuse, text, "softib: warning", 0);
	run(misuse, NULL, text);
	expect(misuse, text, "softib: warning", 0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++)
		check(&misuses[i]);
	if (has_second_partition())
		check(&of_partitions);
	puts("ok");
	return 0;
}
