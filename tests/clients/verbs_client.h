/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the verbs test programs: one device, endpoints on it that exchange messages, and checks
 * that print the failure. */
#ifndef SOFTIB_TESTS_CLIENTS_VERBS_CLIENT_H
#define SOFTIB_TESTS_CLIENTS_VERBS_CLIENT_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s (errno %d: %s)\n", __FILE__,          \
				__LINE__, #condition, errno, strerror(errno));                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define CHECK_EQUAL(actual, expected)                                                              \
	do {                                                                                       \
		long long actual_value = (long long)(actual);                                      \
		long long expected_value = (long long)(expected);                                  \
		if (actual_value != expected_value) {                                              \
			fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__,       \
				#actual, actual_value, expected_value);                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum {
	BUFFER_BYTES = 4 << 20,
	QUEUE_DEPTH = 64,
	SGES = 4,
	GRH_BYTES = 40,
	QKEY = 0x11111111,
	/* 0.5 s: softibd may have to wait for a processor longer than the packets take. */
	ACK_TIMEOUT = 17,
	/* 1 s, where two processes at full speed share the processors with it. */
	SLOW_ACK_TIMEOUT = 18,
	/* 4 ms: where nobody will answer, so that no machine is too slow for it. */
	HASTY_ACK_TIMEOUT = 10,
	POLL_SECONDS_MAX = 60
};

struct device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_port_attr port;
	union ibv_gid gid;
};

struct endpoint {
	struct device *device;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *bytes;
};

static inline struct device device_open(void)
{
	struct device device = {0};
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	CHECK(list);
	CHECK(count >= 1);
	device.context = ibv_open_device(list[0]);
	CHECK(device.context);
	ibv_free_device_list(list);
	CHECK_EQUAL(ibv_query_port(device.context, 1, &device.port), 0);
	CHECK_EQUAL(device.port.state, IBV_PORT_ACTIVE);
	CHECK_EQUAL(ibv_query_gid(device.context, 1, 0, &device.gid), 0);
	device.pd = ibv_alloc_pd(device.context);
	CHECK(device.pd);
	return device;
}

static inline void device_close(struct device *device)
{
	CHECK_EQUAL(ibv_dealloc_pd(device->pd), 0);
	CHECK_EQUAL(ibv_close_device(device->context), 0);
}

enum {
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC
};

static inline void endpoint_register(struct endpoint *endpoint)
{
	endpoint->bytes = calloc(1, BUFFER_BYTES);
	CHECK(endpoint->bytes);
	endpoint->mr = ibv_reg_mr(endpoint->device->pd, endpoint->bytes, BUFFER_BYTES, ALL_ACCESS);
	CHECK(endpoint->mr);
}

static inline struct ibv_qp_init_attr qp_options(const struct endpoint *endpoint,
						 enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){
		.send_cq = endpoint->cq,
		.recv_cq = endpoint->cq,
		.srq = endpoint->srq,
		.cap = {QUEUE_DEPTH, QUEUE_DEPTH, SGES, SGES, 256},
		.qp_type = type,
	};
}

static inline struct endpoint endpoint_open(struct device *device, enum ibv_qp_type type)
{
	struct endpoint endpoint = {.device = device};

	endpoint_register(&endpoint);
	endpoint.cq = ibv_create_cq(device->context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(endpoint.cq);

	struct ibv_qp_init_attr options = qp_options(&endpoint, type);

	endpoint.qp = ibv_create_qp(device->pd, &options);
	CHECK(endpoint.qp);
	return endpoint;
}

static inline void endpoint_close(struct endpoint *endpoint)
{
	CHECK_EQUAL(ibv_destroy_qp(endpoint->qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(endpoint->cq), 0);
	if (endpoint->srq)
		CHECK_EQUAL(ibv_destroy_srq(endpoint->srq), 0);
	CHECK_EQUAL(ibv_dereg_mr(endpoint->mr), 0);
	free(endpoint->bytes);
}

/* The attributes that a queue pair of this type needs on its way to a state. */
static inline int attributes_wanted(enum ibv_qp_type type, enum ibv_qp_state state)
{
	bool is_datagram = type == IBV_QPT_UD, is_unreliable = is_datagram || type == IBV_QPT_UC;
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			(is_datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (state == IBV_QPS_RTR && !is_datagram)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (state == IBV_QPS_RTR && !is_unreliable)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (state == IBV_QPS_RTS)
		mask |= IBV_QP_SQ_PSN;
	if (state == IBV_QPS_RTS && !is_unreliable)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

/* A connection to the queue pair of this number; tests change the attributes that they need
 * otherwise. */
static inline struct ibv_qp_attr connection_to(uint16_t dlid, uint32_t qpn)
{
	return (struct ibv_qp_attr){
		.port_num = 1,
		.qp_access_flags = ALL_ACCESS,
		.qkey = QKEY,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn,
		.rq_psn = 0xfffff0,
		.sq_psn = 0xfffff0,
		.ah_attr = {.dlid = dlid, .port_num = 1},
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
}

static inline void qp_modify_to(struct ibv_qp *qp, enum ibv_qp_state state, struct ibv_qp_attr attr)
{
	attr.qp_state = state;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, attributes_wanted(qp->qp_type, state)), 0);
}

/* From Init on. */
static inline void qp_connect(struct ibv_qp *qp, struct ibv_qp_attr attr)
{
	qp_modify_to(qp, IBV_QPS_RTR, attr);
	qp_modify_to(qp, IBV_QPS_RTS, attr);
}

static inline void to_init(struct endpoint *endpoint, unsigned access)
{
	struct ibv_qp_attr attr = connection_to(0, 0);

	attr.qp_access_flags = access;
	qp_modify_to(endpoint->qp, IBV_QPS_INIT, attr);
}

/* From Init on. A datagram queue pair has no peer. */
static inline void to_rts(struct endpoint *endpoint, const struct endpoint *peer,
			  uint8_t retry_count)
{
	struct ibv_qp_attr attr =
		connection_to(endpoint->device->port.lid, peer ? peer->qp->qp_num : 0);

	attr.retry_cnt = retry_count;
	attr.rnr_retry = retry_count;
	qp_connect(endpoint->qp, attr);
}

static inline void connect_endpoints(struct endpoint *a, struct endpoint *b)
{
	to_init(a, ALL_ACCESS);
	to_init(b, ALL_ACCESS);
	to_rts(a, b, 3);
	to_rts(b, a, 3);
}

/* Connects once more, before any message: this attempt is in vain, and must not take long. */
static inline void reconnect_in_vain(struct endpoint *endpoint, const struct endpoint *peer)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_attr attr = connection_to(endpoint->device->port.lid, peer->qp->qp_num);

	CHECK_EQUAL(ibv_modify_qp(endpoint->qp, &reset, IBV_QP_STATE), 0);
	to_init(endpoint, ALL_ACCESS);
	attr.timeout = HASTY_ACK_TIMEOUT;
	attr.retry_cnt = 3;
	qp_connect(endpoint->qp, attr);
}

static inline void fill(uint8_t *bytes, size_t byte_count, unsigned seed)
{
	for (size_t i = 0; i < byte_count; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

static inline struct ibv_sge sge_of(const struct endpoint *endpoint, size_t offset,
				    size_t byte_count)
{
	return (struct ibv_sge){(uintptr_t)endpoint->bytes + offset, (uint32_t)byte_count,
				endpoint->mr->lkey};
}

static inline void post_receive(struct endpoint *endpoint, uint64_t wr_id, size_t offset,
				size_t byte_count)
{
	struct ibv_sge sge = sge_of(endpoint, offset, byte_count);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (endpoint->srq)
		CHECK_EQUAL(ibv_post_srq_recv(endpoint->srq, &wr, &bad), 0);
	else
		CHECK_EQUAL(ibv_post_recv(endpoint->qp, &wr, &bad), 0);
}

/* One signaled request of one SGE; remote says where the other side's memory is. */
static inline struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge,
					 const struct endpoint *remote, size_t offset)
{
	return (struct ibv_send_wr){
		.wr_id = 100u + opcode,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)remote->bytes + offset, remote->mr->rkey},
	};
}

static inline void post(struct endpoint *endpoint, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	CHECK_EQUAL(ibv_post_send(endpoint->qp, wr, &bad), 0);
}

/* The next completion, whatever it is. */
static inline struct ibv_wc wait_completion(struct ibv_cq *cq)
{
	time_t end = time(NULL) + POLL_SECONDS_MAX;
	struct ibv_wc wc;

	for (;;) {
		int count = ibv_poll_cq(cq, 1, &wc);

		CHECK(count >= 0);
		if (count == 1)
			return wc;
		if (time(NULL) > end) {
			fprintf(stderr, "no completion within %d s\n", POLL_SECONDS_MAX);
			abort();
		}
	}
}

static inline struct ibv_wc expect_status(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc = wait_completion(cq);

	if (wc.status != status) {
		fprintf(stderr, "status is \"%s\", not \"%s\"\n", ibv_wc_status_str(wc.status),
			ibv_wc_status_str(status));
		abort();
	}
	return wc;
}

#endif
