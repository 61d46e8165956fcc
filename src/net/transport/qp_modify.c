/* SPDX-License-Identifier: Apache-2.0 */
/* Modifying a queue pair: the value checks, where the values are kept, and what a new state starts
 * (vol 1, chapters 10 and 11; transport 6). */
#include "net/transport/qp.h"

#include <errno.h>
#include "net/memory/memory.h"
#include "net/transport/rd/ee_context.h"
#include "net/transport/migration.h"
#include "net/transport/pacing.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_transitions.h"
#include "net/transport/rd/rd_queue.h"
#include "net/transport/report.h"
#include "net/transport/requester.h"
#include "net/transport/responses.h"
#include "net/transport/retry.h"
#include "net/transport/send_queue.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

static const struct port_view *chosen_port(const struct qp *qp, const struct qp_ports *ports,
					   const struct qp_attributes *attributes, uint32_t mask)
{
	if (!(mask & QP_HAS_PORT))
		return qp->port;
	if (attributes->port_number < 1 || attributes->port_number > ports->count)
		return NULL;
	return ports->views[attributes->port_number - 1];
}

static bool address_is_valid(const struct port_view *port, const struct qp_ports *ports,
			     const struct address_vector *address)
{
	if (address->port_number < 1 || address->port_number > ports->count)
		return false;
	if (address->sl > 15 || address->source_path_bits >> port->lmc)
		return false;
	/* A connection has one remote port, so no multicast LID. */
	if (address->dlid >= LID_MULTICAST_FIRST)
		return false;
	return !address->is_global ||
	       (address->sgid_index < port->gid_count && address->sgid_index < PORT_GIDS_MAX);
}

/* The alternate path has its own port, and so that port's tables. */
static bool alternate_is_valid(const struct qp_ports *ports, const struct qp_attributes *attributes)
{
	const struct address_vector *address = &attributes->alternate_address;

	if (address->port_number < 1 || address->port_number > ports->count)
		return false;

	const struct port_view *port = ports->views[address->port_number - 1];

	return address_is_valid(port, ports, address) &&
	       attributes->alternate_pkey_index < port->pkey_count &&
	       attributes->alternate_pkey_index < PORT_PKEYS_MAX &&
	       attributes->alternate_timeout <= 31;
}

/* A modify can't arm, only the peer's packets can; and REARM needs an alternate path (transport
 * 4.9). */
static bool migration_is_valid(const struct qp *qp, const struct qp_attributes *attributes,
			       uint32_t mask)
{
	if (attributes->path_migration == PATH_REARM)
		return qp->alternate_port || (mask & QP_HAS_ALTERNATE_PATH);
	return attributes->path_migration == PATH_MIGRATED;
}

static bool path_values_are_valid(const struct port_view *port, const struct qp_ports *ports,
				  const struct qp_attributes *attributes, uint32_t mask)
{
	if ((mask & QP_HAS_PKEY_INDEX) && (attributes->pkey_index >= port->pkey_count ||
					   attributes->pkey_index >= PORT_PKEYS_MAX))
		return false;
	if ((mask & QP_HAS_ADDRESS) && !address_is_valid(port, ports, &attributes->address))
		return false;
	if ((mask & QP_HAS_ALTERNATE_PATH) && !alternate_is_valid(ports, attributes))
		return false;
	return !(mask & QP_HAS_PATH_MTU) || (mtu_bytes(attributes->path_mtu_code) &&
					     attributes->path_mtu_code <= port->mtu_code);
}

/* 0 means no limit, and then there is no burst size. */
static bool rate_is_valid(const struct qp_attributes *attributes)
{
	if (attributes->rate_limit == 0)
		return attributes->burst_bytes == 0 && attributes->typical_packet_bytes == 0;
	return attributes->rate_limit >= RATE_LIMIT_MIN && attributes->rate_limit <= RATE_LIMIT_MAX;
}

static bool numbers_are_valid(const struct qp_ports *ports, const struct qp_attributes *attributes,
			      uint32_t mask)
{
	if ((mask & QP_HAS_ACCESS) &&
	    (attributes->access & ~(uint32_t)(ACCESS_KNOWN | ACCESS_OPTIONAL)))
		return false;
	if ((mask & QP_HAS_TIMEOUT) && attributes->timeout > 31)
		return false;
	if ((mask & QP_HAS_MIN_RNR_TIMER) && attributes->min_rnr_timer > 31)
		return false;
	if ((mask & QP_HAS_RETRY_COUNT) && attributes->retry_count > 7)
		return false;
	if ((mask & QP_HAS_RNR_RETRY) && attributes->rnr_retry > 7)
		return false;
	if ((mask & QP_HAS_INITIATOR_DEPTH) &&
	    attributes->initiator_depth > ports->initiator_depth_max)
		return false;
	if ((mask & QP_HAS_RESPONDER_RESOURCES) &&
	    attributes->responder_resources > ports->responder_resources_max)
		return false;
	if ((mask & QP_HAS_RATE_LIMIT) && !rate_is_valid(attributes))
		return false;
	return !(mask & QP_HAS_DESTINATION_QPN) || attributes->destination_qpn <= QPN_MAX;
}

static bool values_are_valid(const struct qp *qp, const struct qp_ports *ports,
			     const struct qp_attributes *attributes, uint32_t mask)
{
	const uint32_t needs_port = QP_HAS_PORT | QP_HAS_PKEY_INDEX | QP_HAS_ADDRESS |
				    QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MTU;
	const struct port_view *port = chosen_port(qp, ports, attributes, mask);

	if ((mask & QP_HAS_CURRENT_STATE) && attributes->current_state != qp->state)
		return false;
	if ((mask & needs_port) && !port)
		return false;
	if ((mask & needs_port) && !path_values_are_valid(port, ports, attributes, mask))
		return false;
	if ((mask & QP_HAS_PATH_MIGRATION) && !migration_is_valid(qp, attributes, mask))
		return false;
	return numbers_are_valid(ports, attributes, mask);
}

/* One row per attribute: where its value is kept. */
static void store(struct qp *qp, const struct qp_ports *ports, const struct qp_attributes *from,
		  uint32_t mask)
{
	struct qp_attributes *to = &qp->attributes;

#define STORE(bit, member)                                                                         \
	do {                                                                                       \
		if (mask & (bit))                                                                  \
			to->member = from->member;                                                 \
	} while (0)
	STORE(QP_HAS_DRAINED_NOTIFY, drained_notify);
	STORE(QP_HAS_ACCESS, access);
	STORE(QP_HAS_PKEY_INDEX, pkey_index);
	STORE(QP_HAS_PORT, port_number);
	STORE(QP_HAS_QKEY, qkey);
	STORE(QP_HAS_ADDRESS, address);
	STORE(QP_HAS_PATH_MTU, path_mtu_code);
	STORE(QP_HAS_TIMEOUT, timeout);
	STORE(QP_HAS_RETRY_COUNT, retry_count);
	STORE(QP_HAS_RNR_RETRY, rnr_retry);
	STORE(QP_HAS_RQ_PSN, rq_psn);
	STORE(QP_HAS_SQ_PSN, sq_psn);
	STORE(QP_HAS_INITIATOR_DEPTH, initiator_depth);
	STORE(QP_HAS_RESPONDER_RESOURCES, responder_resources);
	STORE(QP_HAS_MIN_RNR_TIMER, min_rnr_timer);
	STORE(QP_HAS_DESTINATION_QPN, destination_qpn);
	STORE(QP_HAS_RATE_LIMIT, rate_limit);
	STORE(QP_HAS_RATE_LIMIT, burst_bytes);
	STORE(QP_HAS_RATE_LIMIT, typical_packet_bytes);
#undef STORE
	if (mask & QP_HAS_RATE_LIMIT)
		pacing_restart(qp);
	if (mask & QP_HAS_PORT)
		qp->port = ports->views[from->port_number - 1];
	if (mask & QP_HAS_PATH_MTU)
		qp->path_mtu = mtu_bytes(from->path_mtu_code);
	to->rq_psn = psn_from(to->rq_psn.value);
	to->sq_psn = psn_from(to->sq_psn.value);
}

/* After a new alternate path the peer must show again that it has one too (transport 4.9). */
static void set_migration(struct qp *qp, const struct qp_ports *ports,
			  const struct qp_attributes *from, uint32_t mask)
{
	struct qp_attributes *to = &qp->attributes;

	if (mask & QP_HAS_PATH_MIGRATION && from->path_migration == PATH_MIGRATED &&
	    !migration_switch(qp))
		to->path_migration = PATH_MIGRATED;
	if (mask & QP_HAS_ALTERNATE_PATH) {
		to->alternate_address = from->alternate_address;
		to->alternate_pkey_index = from->alternate_pkey_index;
		to->alternate_timeout = from->alternate_timeout;
		qp->alternate_port = ports->views[from->alternate_address.port_number - 1];
		if (to->path_migration == PATH_ARMED)
			to->path_migration = PATH_REARM;
	}
	if (mask & QP_HAS_PATH_MIGRATION && from->path_migration == PATH_REARM) {
		to->path_migration = PATH_REARM;
		qp->has_refused_migration = false;
	}
}

/* Resets everything but what qp_init made. */
static void reset(struct qp *qp)
{
	struct send_queue queue = qp->requester.queue;
	struct receive_slot *taken = qp->responder.taken;

	timer_queue_cancel(qp->environment->timers, &qp->timer);
	responses_release(qp);
	report_revoke_zcopy(qp);
	send_queue_clear(&queue);
	qp->requester = (struct requester){
		.queue = queue,
		.retry_deadline = TIME_NEVER,
		.rnr_deadline = TIME_NEVER,
		.pacing_deadline = TIME_NEVER,
	};
	qp->responder = (struct responder){.taken = taken};
	qp->own_receives.head = qp->own_receives.tail;
	if (qp->type == QP_XRC_TGT || qp->type == QP_EEC)
		qp->receive_queue = NULL;
	qp->attributes = (struct qp_attributes){0};
	qp->port = NULL;
	qp->alternate_port = NULL;
	qp->path_mtu = 0;
	qp->is_established = false;
	qp->answers_last_nak = false;
	qp->requests_go_first = false;
}

static void start_sending(struct qp *qp)
{
	struct requester *requester = &qp->requester;

	requester->next_psn = qp->attributes.sq_psn;
	requester->oldest_psn = qp->attributes.sq_psn;
	requester->asked_psn = qp->attributes.sq_psn;
}

static void start_draining(struct qp *qp, time_ns now, uint32_t mask)
{
	if (!(mask & QP_HAS_DRAINED_NOTIFY))
		qp->attributes.drained_notify = false;
	if (qp->type == QP_UD) {
		report_revoke_zcopy(qp);
		report_zcopy(qp, now);
	}
	qp->attributes.is_draining = true;
	report_drain(qp);
	retry_ask(qp);
}

/* Called before the rest of the state is reset. */
static void leave_datagrams(struct qp *qp, time_ns now)
{
	if (qp->type == QP_RD)
		rd_queue_leave(qp, now);
	else if (qp->type == QP_EEC)
		eec_stop(qp, now);
}

/* The only function in which a modify changes the state. */
static void enter(struct qp *qp, time_ns now, enum qp_state to, uint32_t mask)
{
	enum qp_state from = qp->state;

	if (to == QP_ERROR) {
		qp_enter_error(qp, now);
		qp->answers_last_nak = false;
		return;
	}
	if (to == QP_RESET)
		leave_datagrams(qp, now);
	qp->state = to;
	if (to == QP_RESET)
		reset(qp);
	else if (to == QP_RTR)
		qp->responder.expected_psn = qp->attributes.rq_psn;
	else if (to == QP_RTS && from == QP_RTR)
		start_sending(qp);
	else if (to == QP_SQD && from == QP_RTS)
		start_draining(qp, now, mask);
	qp->requester.retries_left = qp->attributes.retry_count;
	qp->requester.rnr_retries_left = qp->attributes.rnr_retry;
}

int qp_modify(struct qp *qp, time_ns now, const struct qp_ports *ports,
	      const struct qp_attributes *attributes, uint32_t mask)
{
	enum qp_state to = mask & QP_HAS_STATE ? attributes->state : qp->state;

	if ((unsigned)to > QP_ERROR || !qp_transitions_allow(qp, to, mask))
		return -EINVAL;
	if (!values_are_valid(qp, ports, attributes, mask))
		return -EINVAL;
	/* While the send queue drains, it can't be modified (transport 4.8). */
	if (qp->state == QP_SQD && (to == QP_SQD || to == QP_RTS) && qp->attributes.is_draining)
		return -EINVAL;
	if (mask & QP_HAS_RESPONDER_RESOURCES) {
		int error = responses_resize(qp, attributes->responder_resources);

		if (error)
			return error;
	}
	qp_end_rma(qp);
	invalidate(qp->environment);
	store(qp, ports, attributes, mask);
	set_migration(qp, ports, attributes, mask);
	enter(qp, now, to, mask);
	if (qp->type == QP_RD)
		rd_queue_advance(qp, now);
	if (qp->type == QP_RD || qp->type == QP_EEC)
		qp_settle(qp, now);
	return 0;
}
