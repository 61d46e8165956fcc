/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-to-all among N nodes: a mesh of reliable connections beside one RD queue pair and one EE
 * context per peer in each node.
 *
 * The adapters are in one process and packets cross as encoded bytes in steps of one wire latency,
 * so that the figures are the engines' own: memory of a node's adapter (malloc), receive buffers
 * that it must keep posted, messages per second of CPU time, and how many wire latencies one round
 * takes (each node sends one message to each other node).
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "net/hca/ee_contexts.h"
#include "net/hca/hca.h"
#include "net/hca/rdd.h"
#include "wire/packet.h"
#include "wire/subnet_attributes.h"

enum {
	NODES_MAX = 64,
	MESSAGE_BYTES = 64,
	RECEIVES_PER_PEER =
		16, /* of a connection; a node with one queue needs this many plus two per peer */
	FIRST_LID = 1,
	QPNS = 1024,
	MTU_CODE = 3,
	FLIGHT_BYTES = 256,
	FLIGHTS_MAX = 1 << 16,
	STEPS_MAX = 1 << 20,
	QKEY = 1,
};

struct node {
	struct hca hca;
	struct protection_domain *pd;
	struct cq *cq;
	struct region *region;
	struct rdd *rdd;
	struct qp_object *qps[NODES_MAX];  /* by peer; RD: one, at the node's own index */
	struct qp_object *eecs[NODES_MAX]; /* RD: by peer */
	uint8_t *bytes;
};

struct flight {
	uint16_t dlid;
	uint16_t byte_count;
	uint8_t bytes[FLIGHT_BYTES];
};

static struct node nodes[NODES_MAX];
static unsigned node_count;
static bool is_rd;
static struct flight *flights[2];
static unsigned flight_counts[2];
static time_ns now = SECONDS(1);
static uint64_t received;

static void require(bool is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "bench-rd-mesh: %s\n", what);
	exit(1);
}

static void ignore_event(void *context, const struct hca_event *event)
{
	(void)context;
	(void)event;
}

static void ignore_notify(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
}

static unsigned receives_of_a_queue(void)
{
	return is_rd ? RECEIVES_PER_PEER + 2 * node_count : RECEIVES_PER_PEER;
}

static void modify(struct qp_object *object, const struct qp_attributes *attributes, uint32_t mask)
{
	require(qp_object_modify(object, now, attributes, mask | QP_HAS_STATE) == 0, "modify");
}

/* Takes a connection or a context to RTS. */
static void connect(struct qp_object *object, unsigned peer, uint32_t number)
{
	uint32_t of_queues = is_rd ? 0 : QP_HAS_ACCESS;
	uint32_t of_receives = is_rd ? 0 : QP_HAS_MIN_RNR_TIMER;
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.port_number = 1,
		.address = {.dlid = (uint16_t)(FIRST_LID + peer), .port_number = 1},
		.path_mtu_code = MTU_CODE,
		.destination_qpn = number,
		.timeout = 18,
		.retry_count = 7,
		.rnr_retry = 7,
		.initiator_depth = 1,
		.responder_resources = 1,
		.min_rnr_timer = 1,
	};

	modify(object, &attributes, QP_HAS_PKEY_INDEX | QP_HAS_PORT | of_queues);
	attributes.state = QP_RTR;
	modify(object, &attributes,
	       QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
		       QP_HAS_RESPONDER_RESOURCES | of_receives);
	attributes.state = QP_RTS;
	modify(object, &attributes,
	       QP_HAS_SQ_PSN | QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
		       QP_HAS_INITIATOR_DEPTH);
}

static void ready_rd(struct qp_object *object)
{
	struct qp_attributes attributes = {.state = QP_INIT, .qkey = QKEY, .min_rnr_timer = 1};

	modify(object, &attributes, QP_HAS_QKEY | QP_HAS_ACCESS);
	attributes.state = QP_RTR;
	modify(object, &attributes, QP_HAS_MIN_RNR_TIMER);
	attributes.state = QP_RTS;
	modify(object, &attributes, 0);
}

static void post_receive(struct node *node, struct qp_object *qp)
{
	const struct sge sge = {(uintptr_t)node->bytes, MESSAGE_BYTES, node->region->key};
	const struct receive_request request = {.wr_id = 1, .sge_count = 1, .sges = &sge};

	require(qp_object_post_receive(qp, now, &request) == 0, "post a receive");
}

static struct qp_object *make_qp(struct node *node)
{
	const struct qp_options options = {
		.type = is_rd ? QP_RD : QP_RC,
		.pd = node->pd,
		.send_cq = node->cq,
		.receive_cq = node->cq,
		.rdd = is_rd ? node->rdd : NULL,
		.capabilities = {is_rd ? RECEIVES_PER_PEER + node_count : RECEIVES_PER_PEER,
				 receives_of_a_queue(), 1, 1, 0},
	};
	struct qp_object *qp;

	require(qp_object_create(&node->hca, &options, &qp) == 0, "create a queue pair");
	return qp;
}

static void node_init(struct node *node, unsigned index)
{
	const struct hca_owner owner = {.event = ignore_event, .cq_notify = ignore_notify};
	const struct port_view view = {
		.number = 1,
		.state = PORT_ACTIVE,
		.mtu_code = 5,
		.mtu_cap_code = 5,
		.lid = (uint16_t)(FIRST_LID + index),
		.pkey_count = 1,
		.gid_count = 1,
		.pkeys = {0xffff},
	};

	require(hca_init(&node->hca, &hca_limits_default, &owner, index + 1, 1) == 0,
		"make an adapter");
	require(hca_add_qpns(&node->hca, (index + 1) * QPNS, QPNS) == 0, "take numbers");
	hca_port_update(&node->hca, &view, false);
	require(hca_pd_alloc(&node->hca, &node->pd) == 0 &&
			cq_create(&node->hca, 8192, NULL, &node->cq) == 0,
		"make a CQ");
	node->bytes = calloc(1, 4096);
	require(node->bytes && region_register(&node->hca.memory, node->pd, node->bytes, 4096,
					       (uintptr_t)node->bytes, ACCESS_LOCAL_WRITE,
					       &node->region) == 0,
		"register");
}

/* The resources that this service needs in each node. */
static void add_service(struct node *node, unsigned index)
{
	if (is_rd) {
		require(rdd_alloc(&node->hca, &node->rdd) == 0, "make a domain");
		node->qps[index] = make_qp(node);
		ready_rd(node->qps[index]);
	}
	for (unsigned peer = 0; peer < node_count; peer++) {
		if (peer == index)
			continue;
		if (is_rd)
			require(eec_create(node->rdd, NULL, &node->eecs[peer]) == 0,
				"make a context");
		else
			node->qps[peer] = make_qp(node);
	}
}

static void connect_all(void)
{
	for (unsigned i = 0; i < node_count; i++)
		for (unsigned j = 0; j < node_count; j++)
			if (i != j && is_rd)
				connect(nodes[i].eecs[j], j, nodes[j].eecs[i]->qp.qpn);
			else if (i != j)
				connect(nodes[i].qps[j], j, nodes[j].qps[i]->qp.qpn);
	for (unsigned i = 0; i < node_count; i++)
		for (unsigned j = 0; j < node_count; j++)
			for (unsigned n = 0; nodes[i].qps[j] && n < receives_of_a_queue(); n++)
				post_receive(&nodes[i], nodes[i].qps[j]);
}

static void post_to_all(unsigned index)
{
	struct node *node = &nodes[index];
	const struct sge sge = {(uintptr_t)node->bytes, MESSAGE_BYTES, node->region->key};

	for (unsigned peer = 0; peer < node_count; peer++) {
		struct send_request request = {
			.opcode = SEND_SEND, .flags = SEND_SIGNALED, .sge_count = 1, .sges = &sge};

		if (peer == index)
			continue;
		if (is_rd) {
			request.eecn = node->eecs[peer]->qp.qpn;
			request.remote_qpn = nodes[peer].qps[peer]->qp.qpn;
			request.remote_qkey = QKEY;
		}
		require(qp_object_post_send(node->qps[is_rd ? index : peer], now, &request) == 0,
			"post a send");
	}
}

static void transmit(struct node *node)
{
	struct packet packets[8];
	struct qp_route route;
	struct qp *qp;

	while ((qp = hca_ready_first(&node->hca))) {
		if (!qp_next_route(qp, now, &route)) {
			hca_ready_remove(&node->hca, qp);
			continue;
		}

		unsigned count = qp_transmit(qp, now, 8, 1, packets);

		for (unsigned i = 0; i < count; i++) {
			struct flight *flight = &flights[1][flight_counts[1]++];

			require(flight_counts[1] < FLIGHTS_MAX &&
					packet_bytes(&packets[i]) <= FLIGHT_BYTES,
				"room in flight");
			flight->dlid = packets[i].lrh.dlid;
			flight->byte_count = (uint16_t)packet_encode(&packets[i], flight->bytes);
		}
	}
}

static void poll(struct node *node)
{
	const struct completion *completion;

	while ((completion = cq_first(node->cq))) {
		require(completion->status == COMPLETION_SUCCESS, "a completion failed");
		if (completion->opcode == COMPLETED_RECEIVE) {
			struct qp_object *qp = index_table_get(&node->hca.qps, completion->qpn);

			received++;
			post_receive(node, qp);
		}
		cq_advance(node->cq);
	}
}

/* One wire latency. Returns whether anything moved. */
static bool step(void)
{
	struct flight *arriving = flights[1];

	for (unsigned i = 0; i < node_count; i++)
		transmit(&nodes[i]);
	flights[1] = flights[0];
	flights[0] = arriving;
	flight_counts[0] = flight_counts[1];
	flight_counts[1] = 0;
	for (unsigned i = 0; i < flight_counts[0]; i++) {
		struct flight *flight = &flights[0][i];
		struct packet packet;

		require(packet_decode(flight->bytes, flight->byte_count, 1, &packet) == PACKET_OK,
			"decode");
		hca_receive(&nodes[flight->dlid - FIRST_LID].hca, now, 1, &packet);
	}
	for (unsigned i = 0; i < node_count; i++)
		poll(&nodes[i]);
	return flight_counts[0];
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	require(argc == 4, "usage: bench-rd-mesh rc|rd NODES ROUNDS");
	is_rd = !strcmp(argv[1], "rd");
	node_count = (unsigned)strtoul(argv[2], NULL, 0);

	unsigned rounds = (unsigned)strtoul(argv[3], NULL, 0);

	require(node_count >= 2 && node_count <= NODES_MAX && rounds, "2 to 64 nodes");
	flights[0] = malloc(sizeof(struct flight) * FLIGHTS_MAX);
	flights[1] = malloc(sizeof(struct flight) * FLIGHTS_MAX);
	for (unsigned i = 0; i < node_count; i++)
		node_init(&nodes[i], i);

	size_t before = mallinfo2().uordblks;

	for (unsigned i = 0; i < node_count; i++)
		add_service(&nodes[i], i);
	connect_all();

	size_t bytes = (mallinfo2().uordblks - before) / node_count;
	unsigned queues = is_rd ? 1 : node_count - 1;
	uint64_t steps = 0;
	double start = cpu_seconds();

	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < node_count; i++)
			post_to_all(i);
		while (step())
			require(++steps < (uint64_t)STEPS_MAX * rounds, "it ends");
	}

	double seconds = cpu_seconds() - start;

	require(received == (uint64_t)rounds * node_count * (node_count - 1), "every message came");
	printf("%s %u nodes: %zu adapter bytes, %zu receive buffer bytes, %.0f messages/s, %.1f latencies/round\n",
	       argv[1], node_count, bytes, (size_t)queues * receives_of_a_queue() * MESSAGE_BYTES,
	       (double)received / seconds, (double)steps / rounds);
	return 0;
}
