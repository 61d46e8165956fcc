/* SPDX-License-Identifier: Apache-2.0 */
/* A connected queue pair on each of two hosts of a simulated fabric, and messages from one to the
 * other. */
#ifndef SOFTIB_TESTS_SIM_FABRIC_FLOW_H
#define SOFTIB_TESTS_SIM_FABRIC_FLOW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdlib.h>
#include "sim/checkers.h"
#include "sim/sim.h"

enum {
	FLOW_MESSAGES_MAX = 64,
	FLOW_MESSAGE_BYTES_MAX = 20000,
	FLOW_ACCESS = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ
};

struct flow_end {
	struct sim_host *host;
	struct protection_domain *pd;
	struct cq *cq;
	struct qp_object *qp;
	struct region *region;
	uint8_t *bytes; /* FLOW_MESSAGES_MAX slots */
};

struct flow {
	struct sim *sim;
	struct flow_end from, to;
	uint32_t message_bytes[FLOW_MESSAGES_MAX];
	unsigned posted, sent, received;
	uint64_t seed;
};

static inline uint8_t *flow_slot(const struct flow_end *end, unsigned message)
{
	return end->bytes + (size_t)message * FLOW_MESSAGE_BYTES_MAX;
}

static inline void flow_end_init(struct flow_end *end, struct sim_host *host)
{
	size_t byte_count = (size_t)FLOW_MESSAGES_MAX * FLOW_MESSAGE_BYTES_MAX;
	struct hca *hca = &host->hca;
	struct qp_options options = {
		.type = QP_RC,
		.signal_all = true,
		.capabilities = {.send_requests_max = FLOW_MESSAGES_MAX,
				 .receive_requests_max = FLOW_MESSAGES_MAX,
				 .send_sges_max = 1,
				 .receive_sges_max = 1},
	};

	assert_non_null(host);
	end->host = host;
	end->bytes = calloc(1, byte_count);
	assert_int_equal(hca_pd_alloc(hca, &end->pd), 0);
	assert_int_equal(cq_create(hca, 4 * FLOW_MESSAGES_MAX, NULL, &end->cq), 0);
	assert_int_equal(region_register(&hca->memory, end->pd, end->bytes, byte_count,
					 (uintptr_t)end->bytes, FLOW_ACCESS, &end->region),
			 0);
	options.pd = end->pd;
	options.send_cq = end->cq;
	options.receive_cq = end->cq;
	assert_int_equal(qp_object_create(hca, &options, &end->qp), 0);
}

static inline void flow_end_connect_by(struct flow_end *end, const struct flow_end *peer,
				       struct address_vector address, time_ns now)
{
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.port_number = 1,
		.access = FLOW_ACCESS,
		.address = address,
		.path_mtu_code = MTU_1024,
		.destination_qpn = peer->qp->qp.qpn,
		.responder_resources = 4,
		.initiator_depth = 4,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_count = 7,
		.rnr_retry = 7,
	};

	assert_int_equal(
		qp_object_modify(end->qp, now, &attributes,
				 QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_ACCESS),
		0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(end->qp, now, &attributes,
					  QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
						  QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
						  QP_HAS_RESPONDER_RESOURCES |
						  QP_HAS_MIN_RNR_TIMER),
			 0);
	attributes.state = QP_RTS;
	assert_int_equal(qp_object_modify(end->qp, now, &attributes,
					  QP_HAS_STATE | QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT |
						  QP_HAS_RNR_RETRY | QP_HAS_SQ_PSN |
						  QP_HAS_INITIATOR_DEPTH),
			 0);
}

static inline void flow_end_connect(struct flow_end *end, const struct flow_end *peer, time_ns now)
{
	const struct address_vector by_lid = {.dlid = peer->host->node->ports[1].info.lid,
					      .port_number = 1};

	flow_end_connect_by(end, peer, by_lid, now);
}

static inline void flow_init(struct flow *flow, struct sim *sim, struct sim_host *from,
			     struct sim_host *to, uint64_t seed)
{
	memset(flow, 0, sizeof(*flow));
	flow->sim = sim;
	flow->seed = seed;
	flow_end_init(&flow->from, from);
	flow_end_init(&flow->to, to);
	flow_end_connect(&flow->from, &flow->to, sim->now);
	flow_end_connect(&flow->to, &flow->from, sim->now);
}

static inline void flow_end_release(struct flow_end *end)
{
	assert_int_equal(qp_object_destroy(end->qp), 0);
	assert_int_equal(cq_destroy(end->cq), 0);
	assert_int_equal(region_deregister(&end->host->hca.memory, end->region), 0);
	assert_int_equal(hca_pd_dealloc(&end->host->hca, end->pd), 0);
	free(end->bytes);
}

static inline void flow_release(struct flow *flow)
{
	flow_end_release(&flow->from);
	flow_end_release(&flow->to);
}

static inline uint8_t flow_pattern(const struct flow *flow, unsigned message, uint32_t offset)
{
	return (uint8_t)(flow->seed + message * 31 + offset + offset / 251);
}

/* Posts the next message, of a size that the seed decides. */
static inline void flow_post(struct flow *flow)
{
	unsigned message = flow->posted++;
	struct random random = random_seeded(flow->seed * 1000 + message);
	uint32_t byte_count = (uint32_t)random_below(&random, FLOW_MESSAGE_BYTES_MAX);
	struct sge receive = {.address = (uintptr_t)flow_slot(&flow->to, message),
			      .byte_count = FLOW_MESSAGE_BYTES_MAX,
			      .lkey = flow->to.region->key};
	struct sge send = {.address = (uintptr_t)flow_slot(&flow->from, message),
			   .byte_count = byte_count,
			   .lkey = flow->from.region->key};
	struct receive_request receive_request = {
		.wr_id = message, .sge_count = 1, .sges = &receive};
	struct send_request send_request = {.wr_id = message,
					    .opcode = SEND_SEND,
					    .flags = SEND_SIGNALED,
					    .sge_count = 1,
					    .sges = &send};

	assert_true(message < FLOW_MESSAGES_MAX);
	flow->message_bytes[message] = byte_count;
	for (uint32_t i = 0; i < byte_count; i++)
		flow_slot(&flow->from, message)[i] = flow_pattern(flow, message, i);
	assert_int_equal(qp_object_post_receive(flow->to.qp, flow->sim->now, &receive_request), 0);
	assert_int_equal(qp_object_post_send(flow->from.qp, flow->sim->now, &send_request), 0);
}

/* Polls both CQs: each message arrives once, in order and whole. */
static inline void flow_check(struct flow *flow)
{
	const struct completion *completion;

	while ((completion = cq_first(flow->from.cq))) {
		assert_int_equal(completion->status, COMPLETION_SUCCESS);
		assert_int_equal(completion->wr_id, flow->sent++);
		cq_advance(flow->from.cq);
	}
	while ((completion = cq_first(flow->to.cq))) {
		unsigned message = flow->received++;

		assert_int_equal(completion->status, COMPLETION_SUCCESS);
		assert_int_equal(completion->wr_id, message);
		assert_int_equal(completion->byte_count, flow->message_bytes[message]);
		for (uint32_t i = 0; i < flow->message_bytes[message]; i++)
			assert_int_equal(flow_slot(&flow->to, message)[i],
					 flow_pattern(flow, message, i));
		cq_advance(flow->to.cq);
	}
}

/* Checks the invariants of an idle fabric. */
static inline void sim_check(struct sim *sim)
{
	char violation[VIOLATION_BYTES];

	if (!check_credits(&sim->fabric, violation) || !check_lids(&sim->fabric, violation) ||
	    !check_routes(&sim->fabric, violation))
		fail_msg("%s", violation);
}

static inline void sim_up(struct sim *sim, const char *topology, uint64_t seed)
{
	struct topology_error error;

	assert_int_equal(sim_init(sim, topology, seed, &error), 0);
	assert_int_equal(sim_start_sm(sim, &sim->hosts[0], 0, SECONDS(10)), 0);
	if (!sim_bring_up(sim, SECONDS(60)))
		fail_msg("%s does not come up (seed %llu)", topology, (unsigned long long)seed);
	sim_check(sim);
}

#endif
