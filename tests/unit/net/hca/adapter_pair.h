/* SPDX-License-Identifier: Apache-2.0 */
/* Two adapters in one process, joined by a loop that carries each packet to the port its DLID
 * names. */
#ifndef SOFTIB_TESTS_UNIT_NET_HCA_ADAPTER_PAIR_H
#define SOFTIB_TESTS_UNIT_NET_HCA_ADAPTER_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/hca/hca.h"
#include "wire/packet.h"
#include "wire/subnet_attributes.h"

enum { EVENTS_MAX = 64, FIRST_LID = 10, FIRST_QPN = 0x1000, MTU_CODE_1024 = 3, ROUNDS_MAX = 10000 };

struct recorded_adapter {
	struct hca hca;
	struct hca_event events[EVENTS_MAX];
	unsigned event_count;
	unsigned notify_count;
	struct cq *notified_cq;
};

struct adapter_pair {
	struct recorded_adapter adapters[2];
	time_ns now;
};

static inline void record_event(void *context, const struct hca_event *event)
{
	struct recorded_adapter *adapter = context;

	if (adapter->event_count < EVENTS_MAX)
		adapter->events[adapter->event_count] = *event;
	adapter->event_count++;
}

static inline void record_notify(void *context, struct cq *cq)
{
	struct recorded_adapter *adapter = context;

	adapter->notify_count++;
	adapter->notified_cq = cq;
}

static inline struct port_view active_port(uint8_t number, uint16_t lid)
{
	struct port_view view = {
		.number = number,
		.state = PORT_ACTIVE,
		.physical_state = 5,
		.mtu_code = MTU_CODE_1024,
		.mtu_cap_code = 5,
		.lid = lid,
		.sm_lid = 1,
		.gid_prefix = GID_PREFIX_LINK_LOCAL,
		.guid = 0x1000u + lid,
		.pkey_count = 4,
		.gid_count = 2,
		.pkeys = {0xffff},
	};

	view.gids[0] = gid_from(view.gid_prefix, view.guid);
	return view;
}

static inline void adapter_pair_init(struct adapter_pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	pair->now = SECONDS(1);
	for (unsigned i = 0; i < 2; i++) {
		struct recorded_adapter *adapter = &pair->adapters[i];
		const struct hca_owner owner = {
			.event = record_event, .cq_notify = record_notify, .context = adapter};
		const struct port_view view = active_port(1, (uint16_t)(FIRST_LID + i));

		assert_int_equal(hca_init(&adapter->hca, &hca_limits_default, &owner, 0x100 + i, 1),
				 0);
		assert_int_equal(hca_add_qpns(&adapter->hca, FIRST_QPN + i * 1024u, 1024), 0);
		hca_port_update(&adapter->hca, &view, false);
		assert_int_equal(adapter->event_count, 0);
	}
}

static inline void adapter_pair_release(struct adapter_pair *pair)
{
	hca_release(&pair->adapters[0].hca);
	hca_release(&pair->adapters[1].hca);
}

/* Carries the packets of one adapter. Returns whether there were any. */
static inline bool carry_from(struct adapter_pair *pair, unsigned from)
{
	struct hca *hca = &pair->adapters[from].hca;
	bool has_carried = false;

	for (struct qp *qp = hca_ready_first(hca); qp; qp = hca_ready_first(hca)) {
		struct qp_route route;
		struct packet packets[4];

		if (!qp_next_route(qp, pair->now, &route)) {
			hca_ready_remove(hca, qp);
			continue;
		}

		unsigned count = qp_transmit(qp, pair->now, 4, 65536, packets);

		for (unsigned i = 0; i < count; i++) {
			unsigned to = packets[i].lrh.dlid - FIRST_LID;

			if (to < 2)
				hca_receive(&pair->adapters[to].hca, pair->now, 1, &packets[i]);
		}
		has_carried = true;
		if (count == 0)
			hca_ready_remove(hca, qp);
	}
	return has_carried;
}

/* Until no packet moves; time stands still. */
static inline void carry_packets(struct adapter_pair *pair)
{
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		bool first = carry_from(pair, 0);
		bool second = carry_from(pair, 1);

		if (!first && !second)
			return;
	}
	fail_msg("packets never stop");
}

/* As carry_packets, and lets timers expire until none is left. */
static inline void run_until_idle(struct adapter_pair *pair)
{
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		carry_packets(pair);

		time_ns deadline = time_earlier(hca_deadline(&pair->adapters[0].hca),
						hca_deadline(&pair->adapters[1].hca));

		if (deadline == TIME_NEVER)
			return;
		if (deadline > pair->now)
			pair->now = deadline;
		hca_expire(&pair->adapters[0].hca, pair->now);
		hca_expire(&pair->adapters[1].hca, pair->now);
	}
	fail_msg("timers never stop");
}

static inline struct qp_object *make_qp(struct hca *hca, enum qp_type type,
					struct protection_domain *pd, struct cq *cq,
					struct srq *srq)
{
	const struct qp_options options = {
		.type = type,
		.pd = pd,
		.send_cq = cq,
		.receive_cq = cq,
		.srq = srq,
		.signal_all = true,
		.capabilities = {16, 16, 2, 2, 64},
	};
	struct qp_object *object;

	assert_int_equal(qp_object_create(hca, &options, &object), 0);
	return object;
}

/* To RTS, towards a queue pair of the adapter with that LID. */
static inline void connect_rc(struct adapter_pair *pair, struct qp_object *object, uint16_t dlid,
			      uint32_t destination_qpn)
{
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC,
		.port_number = 1,
		.address = {.dlid = dlid, .port_number = 1},
		.path_mtu_code = MTU_CODE_1024,
		.destination_qpn = destination_qpn,
		.timeout = 8,
		.retry_count = 3,
		.rnr_retry = 1,
		.initiator_depth = 1,
		.responder_resources = 1,
		.min_rnr_timer = 1,
	};

	assert_int_equal(
		qp_object_modify(object, pair->now, &attributes,
				 QP_HAS_STATE | QP_HAS_ACCESS | QP_HAS_PKEY_INDEX | QP_HAS_PORT),
		0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(object, pair->now, &attributes,
					  QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
						  QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
						  QP_HAS_RESPONDER_RESOURCES |
						  QP_HAS_MIN_RNR_TIMER),
			 0);
	attributes.state = QP_RTS;
	assert_int_equal(qp_object_modify(object, pair->now, &attributes,
					  QP_HAS_STATE | QP_HAS_SQ_PSN | QP_HAS_TIMEOUT |
						  QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
						  QP_HAS_INITIATOR_DEPTH),
			 0);
}

#endif
