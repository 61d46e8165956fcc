/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters with RD queue pairs and EE contexts, for tests. */
#include "support/rd_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/packet.h"
#include "wire/subnet_attributes.h"

enum {
	FIRST_LID = 10,
	FIRST_QPN = 0x1000,
	QPNS = 2048,
	CQES = 4096,
	MTU_CODE_256 = 1,
	RUNS_MAX = 10000000,
};

#define ACCESS_ALL                                                                                 \
	(ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC |    \
	 ACCESS_WINDOW_BIND | ACCESS_FLUSH_GLOBAL)

static void record_event(void *context, const struct hca_event *event)
{
	struct rd_node *node = context;

	if (node->event_count < RIG_EVENTS_MAX)
		node->events[node->event_count] = *event;
	node->event_count++;
}

static void ignore_notify(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
}

static void node_init(struct rd_node *node, unsigned index)
{
	const struct hca_owner owner = {
		.event = record_event, .cq_notify = ignore_notify, .context = node};
	struct port_view view = {
		.number = 1,
		.state = PORT_ACTIVE,
		.physical_state = 5,
		.mtu_code = 5,
		.mtu_cap_code = 5,
		.lid = (uint16_t)(FIRST_LID + index),
		.sm_lid = 1,
		.gid_prefix = GID_PREFIX_LINK_LOCAL,
		.guid = 0x1000 + index,
		.pkey_count = 4,
		.gid_count = 1,
		.pkeys = {0xffff, 0x8001},
	};

	view.gids[0] = gid_from(view.gid_prefix, view.guid);
	assert_int_equal(hca_init(&node->hca, &hca_limits_default, &owner, 0x100 + index, 1), 0);
	assert_int_equal(hca_add_qpns(&node->hca, FIRST_QPN + index * QPNS, QPNS), 0);
	hca_port_update(&node->hca, &view, false);
	assert_int_equal(hca_pd_alloc(&node->hca, &node->pd), 0);
	assert_int_equal(cq_create(&node->hca, CQES, NULL, &node->sent), 0);
	assert_int_equal(cq_create(&node->hca, CQES, NULL, &node->received), 0);
	assert_int_equal(rdd_alloc(&node->hca, &node->rdd), 0);
	node->bytes = calloc(1, RIG_BYTES);
	assert_non_null(node->bytes);
	assert_int_equal(region_register(&node->hca.memory, node->pd, node->bytes, RIG_BYTES,
					 (uintptr_t)node->bytes, ACCESS_ALL, &node->region),
			 0);
}

void rd_rig_init(struct rd_rig *rig, unsigned node_count)
{
	memset(rig, 0, sizeof(*rig));
	rig->now = SECONDS(1);
	rig->node_count = node_count;
	rig->train_bytes_max = 1;
	for (unsigned i = 0; i < node_count; i++) {
		node_init(&rig->nodes[i], i);
		for (unsigned j = 0; j < node_count; j++) {
			rig->wires[i][j] = malloc(sizeof(struct qp_wire));
			assert_non_null(rig->wires[i][j]);
			qp_wire_init(rig->wires[i][j], RIG_PSN, RIG_PSN);
		}
	}
}

struct found {
	struct qp_object *objects[QPNS];
	unsigned count;
};

static void find(struct qp_object *object, void *context)
{
	struct found *found = context;

	found->objects[found->count++] = object;
}

void rd_rig_release(struct rd_rig *rig)
{
	for (unsigned i = 0; i < rig->node_count; i++) {
		struct rd_node *node = &rig->nodes[i];

		static struct found found;

		found.count = 0;
		hca_for_each_qp(&node->hca, find, &found);
		for (unsigned j = 0; j < found.count; j++)
			assert_int_equal(qp_object_destroy(found.objects[j]), 0);
		assert_int_equal(rdd_dealloc(node->rdd), 0);
		assert_int_equal(region_deregister(&node->hca.memory, node->region), 0);
		assert_int_equal(cq_destroy(node->sent), 0);
		assert_int_equal(cq_destroy(node->received), 0);
		assert_int_equal(hca_pd_dealloc(&node->hca, node->pd), 0);
		hca_release(&node->hca);
		free(node->bytes);
		for (unsigned j = 0; j < rig->node_count; j++) {
			qp_wire_release(rig->wires[i][j]);
			free(rig->wires[i][j]);
		}
	}
}

int rd_rig_set_state(struct rd_rig *rig, struct qp_object *object, enum qp_state state)
{
	const struct qp_attributes attributes = {.state = state};

	return qp_object_modify(object, rig->now, &attributes, QP_HAS_STATE);
}

struct qp_object *rd_rig_qp(struct rd_rig *rig, unsigned node_index)
{
	struct rd_node *node = &rig->nodes[node_index];
	const struct qp_options options = {
		.type = QP_RD,
		.pd = node->pd,
		.send_cq = node->sent,
		.receive_cq = node->received,
		.rdd = node->rdd,
		.signal_all = true,
		.capabilities = {16, 16, 2, 2, 64},
	};
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.qkey = RIG_QKEY,
		.access = ACCESS_ALL & ~(uint32_t)ACCESS_WINDOW_BIND,
		.min_rnr_timer = 1,
	};
	struct qp_object *object;

	assert_int_equal(qp_object_create(&node->hca, &options, &object), 0);
	assert_int_equal(qp_object_modify(object, rig->now, &attributes,
					  QP_HAS_STATE | QP_HAS_QKEY | QP_HAS_ACCESS),
			 0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(object, rig->now, &attributes,
					  QP_HAS_STATE | QP_HAS_MIN_RNR_TIMER),
			 0);
	assert_int_equal(rd_rig_set_state(rig, object, QP_RTS), 0);
	return object;
}

struct qp_attributes rd_rig_eec_attributes(uint16_t dlid, uint32_t destination_eecn)
{
	return (struct qp_attributes){
		.port_number = 1,
		.address = {.dlid = dlid, .port_number = 1},
		.path_mtu_code = MTU_CODE_256,
		.destination_qpn = destination_eecn,
		.rq_psn = {RIG_PSN},
		.sq_psn = {RIG_PSN},
		.responder_resources = 2,
		.initiator_depth = 2,
		.timeout = RIG_ACK_TIMEOUT,
		.retry_count = 7,
		.rnr_retry = 7,
	};
}

void rd_rig_to_init(struct rd_rig *rig, struct qp_object *eec)
{
	struct qp_attributes attributes = rd_rig_eec_attributes(0, 0);

	attributes.state = QP_INIT;
	assert_int_equal(qp_object_modify(eec, rig->now, &attributes,
					  QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT),
			 0);
}

void rd_rig_to_rtr(struct rd_rig *rig, struct qp_object *eec, unsigned to, uint32_t eecn)
{
	struct qp_attributes attributes = rd_rig_eec_attributes((uint16_t)(FIRST_LID + to), eecn);

	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(eec, rig->now, &attributes,
					  QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
						  QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
						  QP_HAS_RESPONDER_RESOURCES),
			 0);
}

void rd_rig_to_rts(struct rd_rig *rig, struct qp_object *eec)
{
	struct qp_attributes attributes = rd_rig_eec_attributes(0, 0);

	attributes.state = QP_RTS;
	assert_int_equal(qp_object_modify(eec, rig->now, &attributes,
					  QP_HAS_STATE | QP_HAS_SQ_PSN | QP_HAS_TIMEOUT |
						  QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
						  QP_HAS_INITIATOR_DEPTH),
			 0);
}

void rd_rig_connect(struct rd_rig *rig, unsigned a, unsigned b, struct qp_object *ret_eecs[2])
{
	const unsigned ends[2] = {a, b};

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(eec_create(rig->nodes[ends[i]].rdd, NULL, &ret_eecs[i]), 0);
		rd_rig_to_init(rig, ret_eecs[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		rd_rig_to_rtr(rig, ret_eecs[i], ends[!i], ret_eecs[!i]->qp.qpn);
		rd_rig_to_rts(rig, ret_eecs[i]);
	}
}

struct send_request rd_request(struct rd_node *node, const struct qp_object *eec, uint32_t qpn,
			       uint32_t offset, uint32_t byte_count, struct sge *ret_sge)
{
	*ret_sge = (struct sge){(uintptr_t)node->bytes + offset, byte_count, node->region->key};
	return (struct send_request){
		.opcode = SEND_SEND,
		.eecn = eec->qp.qpn,
		.remote_qpn = qpn,
		.remote_qkey = RIG_QKEY,
		.sge_count = 1,
		.sges = ret_sge,
	};
}

int rd_post(struct rd_rig *rig, struct qp_object *qp, const struct send_request *request)
{
	return qp_object_post_send(qp, rig->now, request);
}

void rd_send(struct rd_rig *rig, struct qp_object *qp, const struct qp_object *eec, uint32_t qpn,
	     uint32_t offset, uint32_t byte_count, uint64_t wr_id)
{
	struct rd_node *node = container_of(qp->hca, struct rd_node, hca);
	struct sge sge;
	struct send_request request = rd_request(node, eec, qpn, offset, byte_count, &sge);

	request.wr_id = wr_id;
	assert_int_equal(rd_post(rig, qp, &request), 0);
}

void rd_receive(struct rd_rig *rig, struct qp_object *qp, uint32_t offset, uint32_t byte_count,
		uint64_t wr_id)
{
	struct rd_node *node = container_of(qp->hca, struct rd_node, hca);
	const struct sge sge = {(uintptr_t)node->bytes + offset, byte_count, node->region->key};
	const struct receive_request request = {.wr_id = wr_id, .sge_count = 1, .sges = &sge};

	assert_int_equal(qp_object_post_receive(qp, rig->now, &request), 0);
}

static void transmit(struct rd_rig *rig, unsigned from)
{
	struct hca *hca = &rig->nodes[from].hca;
	struct qp *qp;

	while ((qp = hca_ready_first(hca))) {
		struct qp_route route;
		struct packet packets[4];

		if (!qp_next_route(qp, rig->now, &route)) {
			hca_ready_remove(hca, qp);
			continue;
		}

		unsigned count = qp_transmit(qp, rig->now, 4, rig->train_bytes_max, packets);

		for (unsigned i = 0; i < count; i++)
			qp_wire_send(rig->wires[from][packets[i].lrh.dlid - FIRST_LID], rig->now,
				     &packets[i]);
	}
}

static void deliver(struct rd_rig *rig, unsigned from, unsigned to)
{
	struct flight flight;

	while (qp_wire_arrived(rig->wires[from][to], rig->now, &flight)) {
		struct packet packet;

		assert_int_equal(packet_decode(flight.bytes, flight.byte_count, flight.packet_count,
					       &packet),
				 PACKET_OK);
		hca_receive(&rig->nodes[to].hca, rig->now, 1, &packet);
		free(flight.bytes);
	}
}

static time_ns deadline(const struct rd_rig *rig)
{
	time_ns earliest = TIME_NEVER;

	for (unsigned i = 0; i < rig->node_count; i++) {
		earliest = time_earlier(earliest, hca_deadline(&rig->nodes[i].hca));
		for (unsigned j = 0; j < rig->node_count; j++)
			earliest = time_earlier(earliest, qp_wire_deadline(rig->wires[i][j]));
	}
	return earliest;
}

void rd_run_until(struct rd_rig *rig, time_ns until)
{
	for (unsigned round = 0; round < RUNS_MAX; round++) {
		for (unsigned i = 0; i < rig->node_count; i++)
			transmit(rig, i);

		time_ns next = deadline(rig);

		if (next > until || next == TIME_NEVER) {
			if (until != TIME_NEVER)
				rig->now = until;
			return;
		}
		if (next > rig->now)
			rig->now = next;
		for (unsigned i = 0; i < rig->node_count; i++) {
			for (unsigned j = 0; j < rig->node_count; j++)
				deliver(rig, j, i);
			hca_expire(&rig->nodes[i].hca, rig->now);
		}
	}
	fail_msg("it never ends");
}

void rd_run(struct rd_rig *rig)
{
	rd_run_until(rig, TIME_NEVER);
}

struct completion rd_take(struct cq *cq)
{
	const struct completion *first = cq_first(cq);
	struct completion taken;

	assert_non_null(first);
	taken = *first;
	cq_advance(cq);
	return taken;
}

void rd_expect_sent(struct rd_node *node, uint64_t wr_id, enum completion_status status)
{
	struct completion completion = rd_take(node->sent);

	assert_int_equal(completion.wr_id, wr_id);
	assert_int_equal(completion.status, status);
}

void rd_expect_received(struct rd_node *node, uint64_t wr_id, enum completion_status status)
{
	struct completion completion = rd_take(node->received);

	assert_int_equal(completion.wr_id, wr_id);
	assert_int_equal(completion.status, status);
}

void rd_expect_none(struct cq *cq)
{
	assert_null(cq_first(cq));
}
