/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an XRC target that moves from one process to another (vol 1, annex A14). */
#include "net/transport/target_state.h"

#include <errno.h>
#include <string.h>
#include "net/memory/memory.h"
#include "net/transport/port_view.h"
#include "net/transport/responses.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

enum { COUNTER_MAX = 0xffffff, TIMER_MAX = 31, SL_MAX = 15 };

bool target_is_idle(const struct qp *qp)
{
	return !responses_are_due(qp) && qp->responder.inbound == INBOUND_IDLE &&
	       !qp->responder.has_receive;
}

static void take_saved(const struct responder *responder, struct target_state *ret_state)
{
	ret_state->saved_count = responder->saved_count;
	for (unsigned i = 0; i < responder->saved_count; i++) {
		struct saved_request *saved = &ret_state->saved[i];

		*saved = responder->saved[(responder->saved_tail + i) % responder->saved_count];
		/* The peer must ask again for a response that was not sent. */
		saved->next_packet = saved->packet_count;
		saved->was_answered = true;
	}
}

void target_state_take(struct qp *qp, struct target_state *ret_state)
{
	struct responder *responder = &qp->responder;

	assert(qp->type == QP_XRC_TGT && responder->saved_count <= TARGET_SAVED_MAX);
	responder->inbound = INBOUND_IDLE;
	responder->has_receive = false;
	responder->saved_pending = 0;
	responder->ack_is_due = false;
	responder->nak_is_due = false;
	qp->answers_last_nak = false;
	qp->receive_queue = NULL;
	*ret_state = (struct target_state){
		.attributes = qp->attributes,
		.expected_psn = responder->expected_psn,
		.msn = responder->msn,
		.state = (uint8_t)qp->state,
		.has_alternate = qp->alternate_port != NULL,
		.nak_was_sent = responder->nak_was_sent,
		.is_established = qp->is_established,
		.has_refused_migration = qp->has_refused_migration,
	};
	take_saved(responder, ret_state);
}

/* The bytes come from another process, so any value is possible. */
static bool is_bool(const bool *value)
{
	uint8_t byte;

	memcpy(&byte, value, sizeof(byte));
	return byte <= 1;
}

static bool bools_are_valid(const struct target_state *state)
{
	const struct qp_attributes *attributes = &state->attributes;

	return is_bool(&state->has_alternate) && is_bool(&state->nak_was_sent) &&
	       is_bool(&state->is_established) && is_bool(&state->has_refused_migration) &&
	       is_bool(&attributes->drained_notify) && is_bool(&attributes->is_draining) &&
	       is_bool(&attributes->address.is_global) &&
	       is_bool(&attributes->alternate_address.is_global);
}

/* The limits of a port: values that index its tables. */
static bool path_is_valid(const struct qp_ports *ports, uint8_t port_number, uint16_t pkey_index,
			  const struct address_vector *address)
{
	if (port_number < 1 || port_number > ports->count)
		return false;
	return pkey_index < PORT_PKEYS_MAX && address->sl <= SL_MAX &&
	       address->sgid_index < PORT_GIDS_MAX && address->dlid < LID_MULTICAST_FIRST;
}

static bool attributes_are_valid(const struct qp_ports *ports, const struct target_state *state)
{
	const struct qp_attributes *attributes = &state->attributes;
	bool has_port = attributes->port_number != 0;

	if (has_port && !path_is_valid(ports, attributes->port_number, attributes->pkey_index,
				       &attributes->address))
		return false;
	if (state->has_alternate &&
	    !path_is_valid(ports, attributes->alternate_address.port_number,
			   attributes->alternate_pkey_index, &attributes->alternate_address))
		return false;
	/* A target that works has a port; one that receives knows its path MTU. */
	if (state->state != QP_RESET && state->state != QP_ERROR && !has_port)
		return false;
	if (state->state >= QP_RTR && state->state != QP_ERROR &&
	    !mtu_bytes(attributes->path_mtu_code))
		return false;
	if (attributes->path_migration == PATH_ARMED && !state->has_alternate)
		return false;
	return attributes->path_migration <= PATH_ARMED &&
	       attributes->destination_qpn <= COUNTER_MAX &&
	       attributes->min_rnr_timer <= TIMER_MAX && attributes->timeout <= TIMER_MAX &&
	       attributes->rq_psn.value <= COUNTER_MAX && attributes->sq_psn.value <= COUNTER_MAX;
}

static bool saved_are_valid(const struct target_state *state)
{
	if (state->saved_count > TARGET_SAVED_MAX)
		return false;
	for (unsigned i = 0; i < state->saved_count; i++) {
		const struct saved_request *saved = &state->saved[i];

		if (saved->first_psn.value > COUNTER_MAX || saved->packet_count > COUNTER_MAX / 2 ||
		    saved->next_packet != saved->packet_count || !is_bool(&saved->is_atomic) ||
		    !is_bool(&saved->is_placement) || !is_bool(&saved->was_answered))
			return false;
	}
	return true;
}

static bool is_valid(const struct qp_ports *ports, const struct target_state *state)
{
	return bools_are_valid(state) && state->state <= QP_ERROR && state->state != QP_SQE &&
	       state->expected_psn.value <= COUNTER_MAX && state->msn <= COUNTER_MAX &&
	       saved_are_valid(state) && attributes_are_valid(ports, state);
}

static void install_path(struct qp *qp, const struct qp_ports *ports,
			 const struct target_state *state)
{
	const struct qp_attributes *attributes = &state->attributes;

	qp->attributes = *attributes;
	qp->port = attributes->port_number ? ports->views[attributes->port_number - 1] : NULL;
	qp->alternate_port = NULL;
	if (state->has_alternate)
		qp->alternate_port = ports->views[attributes->alternate_address.port_number - 1];
	qp->path_mtu = mtu_bytes(attributes->path_mtu_code);
	qp->is_established = state->is_established;
	qp->has_refused_migration = state->has_refused_migration;
}

int target_state_install(struct qp *qp, const struct qp_ports *ports,
			 const struct target_state *state)
{
	struct responder *responder = &qp->responder;

	assert(qp->type == QP_XRC_TGT);
	if (!is_valid(ports, state))
		return -EINVAL;

	int error = responses_resize(qp, state->saved_count);

	if (error)
		return error;
	for (unsigned i = 0; i < state->saved_count; i++)
		responder->saved[i] = state->saved[i];
	responder->saved_tail = 0;
	responder->saved_pending = 0;
	responder->expected_psn = state->expected_psn;
	responder->msn = state->msn;
	responder->nak_was_sent = state->nak_was_sent;
	responder->ack_is_due = false;
	responder->nak_is_due = false;
	responder->inbound = INBOUND_IDLE;
	responder->has_receive = false;
	qp->receive_queue = NULL;
	qp->answers_last_nak = false;
	install_path(qp, ports, state);
	qp->state = (enum qp_state)state->state;
	return 0;
}

void target_state_lose(struct qp *qp)
{
	struct target_state nothing;

	target_state_take(qp, &nothing);
	qp->state = QP_ERROR;
}
