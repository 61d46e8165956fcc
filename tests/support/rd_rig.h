/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters with RD queue pairs and EE contexts, on a virtual clock, with a wire from each to each
 * other. */
#ifndef SOFTIB_TESTS_SUPPORT_RD_RIG_H
#define SOFTIB_TESTS_SUPPORT_RD_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "net/hca/ee_contexts.h"
#include "net/hca/hca.h"
#include "net/hca/rdd.h"
#include "support/qp_wire.h"

enum {
	RIG_NODES_MAX = 4,
	RIG_EVENTS_MAX = 16,
	RIG_BYTES = 1 << 20, /* of a node's memory, all of it registered */
	RIG_PSN = 0xfffff0,  /* the first request PSN, near the wrap */
	RIG_QKEY = 0x1234,
	RIG_ACK_TIMEOUT = 8,
};

struct rd_node {
	struct hca hca;
	struct protection_domain *pd;
	struct cq *sent;
	struct cq *received;
	struct rdd *rdd;
	struct region *region;
	uint8_t *bytes;
	struct hca_event events[RIG_EVENTS_MAX];
	unsigned event_count;
};

struct rd_rig {
	struct rd_node nodes[RIG_NODES_MAX];
	unsigned node_count;
	struct qp_wire *wires[RIG_NODES_MAX][RIG_NODES_MAX]; /* [from][to] */
	time_ns now;
	uint32_t train_bytes_max;
};

void rd_rig_init(struct rd_rig *rig, unsigned node_count);
void rd_rig_release(struct rd_rig *rig);

/* A queue pair in RTS with Q_Key RIG_QKEY and every right. */
struct qp_object *rd_rig_qp(struct rd_rig *rig, unsigned node);
/* Makes contexts in RTS, from a to b and from b to a. */
void rd_rig_connect(struct rd_rig *rig, unsigned a, unsigned b, struct qp_object *ret_eecs[2]);
/* The attributes and single steps of rd_rig_connect(), for tests that stop half way. */
struct qp_attributes rd_rig_eec_attributes(uint16_t dlid, uint32_t destination_eecn);
void rd_rig_to_init(struct rd_rig *rig, struct qp_object *eec);
void rd_rig_to_rtr(struct rd_rig *rig, struct qp_object *eec, unsigned to, uint32_t eecn);
void rd_rig_to_rts(struct rd_rig *rig, struct qp_object *eec);
int rd_rig_set_state(struct rd_rig *rig, struct qp_object *object, enum qp_state state);

/* A SEND of this many bytes at that offset of the node's memory; tests change it to other
 * requests. */
struct send_request rd_request(struct rd_node *node, const struct qp_object *eec, uint32_t qpn,
			       uint32_t offset, uint32_t byte_count, struct sge *ret_sge);
int rd_post(struct rd_rig *rig, struct qp_object *qp, const struct send_request *request);
void rd_send(struct rd_rig *rig, struct qp_object *qp, const struct qp_object *eec, uint32_t qpn,
	     uint32_t offset, uint32_t byte_count, uint64_t wr_id);
void rd_receive(struct rd_rig *rig, struct qp_object *qp, uint32_t offset, uint32_t byte_count,
		uint64_t wr_id);

/* Runs until then, or until nothing moves and no timer is armed. */
void rd_run_until(struct rd_rig *rig, time_ns until);
void rd_run(struct rd_rig *rig);

/* The oldest completion, which must be there. */
struct completion rd_take(struct cq *cq);
void rd_expect_sent(struct rd_node *node, uint64_t wr_id, enum completion_status status);
void rd_expect_received(struct rd_node *node, uint64_t wr_id, enum completion_status status);
void rd_expect_none(struct cq *cq);

#endif
