/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet manager's interface: SMPs and time in, SMPs out (management 3). */
#include "mgmt/sm/sm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "mgmt/routing/engines.h"
#include "mgmt/sm/mkeys.h"
#include "mgmt/sm/sweep.h"
#include "wire/smp.h"

enum { NOTE_BYTES = 200, PRIORITY_MAX = 15, LMC_MAX = 7, PROTECT_BITS_MAX = 3 };

static int init_transactions(struct sm *sm)
{
	struct mad_transactions_options options = {.requests_max = sm->options.smps_max,
						   .tries = sm->options.tries,
						   .timeout = sm->options.timeout,
						   .agent_number = sm->options.agent_number};
	int error = mad_transactions_init(&sm->transactions, &options);

	if (error)
		return error;
	sm->timeout = sm->transactions.options.timeout;
	options.requests_max = SM_CONTROLS_MAX;
	error = mad_transactions_init(&sm->election.controls, &options);
	/* Far from the other sequence numbers, so that no response matches both. */
	sm->election.controls.sequence = 1u << 21;
	if (error)
		mad_transactions_release(&sm->transactions);
	return error;
}

static int init_subnet(struct sm *sm)
{
	struct subnet *subnet = &sm->subnet;

	subnet_init(subnet);
	if (sm->options.gid_prefix)
		subnet->gid_prefix = sm->options.gid_prefix;
	subnet->lmc = sm->options.lmc;
	if (sm->options.partitions) {
		subnet->partitions = *sm->options.partitions;
		sm->options.partitions = NULL;
	} else {
		int error = partitions_init_default(&subnet->partitions);

		if (error)
			return error;
	}
	return partitions_create_groups(&subnet->partitions, &subnet->multicast_groups);
}

int sm_create(const struct sm_options *options, struct sm **ret_sm)
{
	struct sm *sm;
	int error;

	if (!routing_engine_find(options->routing_engine) || options->priority > PRIORITY_MAX ||
	    options->lmc > LMC_MAX || options->mkey_protect_bits > PROTECT_BITS_MAX)
		return -EINVAL;
	sm = calloc(1, sizeof(*sm));
	if (!sm)
		return -ENOMEM;
	sm->options = *options;
	if (!sm->options.sm_key)
		sm->options.sm_key = options->has_mkey_secret ? mkeys_sm_key(options->mkey_secret)
							      : SM_KEY_DEFAULT;
	if (!mkeys_are_set(sm))
		sm->options.mkey_lease_period = sm->options.mkey_protect_bits = 0;
	sm->engine = routing_engine_find(options->routing_engine);
	error = init_transactions(sm);
	if (error) {
		free(sm);
		return error;
	}
	error = init_subnet(sm);
	if (error) {
		sm_destroy(sm);
		return error;
	}
	if (options->qos)
		sm->qos = *options->qos;
	else
		qos_init(&sm->qos);
	sm->state = SM_DISCOVERING;
	sm->schedule.wanted_scope = SCOPE_ALL;
	sm->has_work = true;
	sm->schedule.next_sweep_at = TIME_NEVER;
	sm->schedule.next_look_at = TIME_NEVER;
	sm->schedule.next_renewal_at = TIME_NEVER;
	sm->election.next_poll_at = TIME_NEVER;
	sm->schedule.reacts_since = TIME_NEVER;
	*ret_sm = sm;
	return 0;
}

void sm_destroy(struct sm *sm)
{
	if (!sm)
		return;
	routing_graph_release(&sm->graph);
	mad_transactions_release(&sm->transactions);
	mad_transactions_release(&sm->election.controls);
	subnet_release(&sm->subnet);
	discovery_release(sm);
	free(sm);
}

void sm_note(struct sm *sm, enum sm_event event, const char *format, ...)
{
	char line[NOTE_BYTES];
	va_list arguments;

	if (!sm->options.owner.log)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	sm->options.owner.log(sm->options.owner.context, event, line);
}

void sm_receive(struct sm *sm, time_ns now, const struct mad_message *message)
{
	struct mad_header header;
	struct mad_purpose purpose;

	sm->now = now;
	if (!mad_header_decode(message->bytes, sizeof(message->bytes), &header))
		return;
	if (header.management_class != MAD_CLASS_SUBNET_DIRECTED &&
	    header.management_class != MAD_CLASS_SUBNET_LID)
		return;
	if (!(header.method & MAD_RESPONSE)) {
		sm_answer_request(sm, message, &header);
		return;
	}
	if (mad_transactions_receive(&sm->election.controls, message, &purpose)) {
		election_answered(sm, purpose, &header, message->bytes + SMP_DATA_OFFSET);
		return;
	}
	if (!mad_transactions_receive_timed(&sm->transactions, now, message, &purpose))
		return;
	sm->has_work = true;
	sweep_answered(sm, purpose, &header, message->bytes + SMP_DATA_OFFSET);
}

static unsigned empty_outbox(struct sm *sm, unsigned messages_max,
			     struct mad_message ret_messages[])
{
	unsigned message_count = sm->outbox_count < messages_max ? sm->outbox_count : messages_max;

	memcpy(ret_messages, sm->outbox, message_count * sizeof(*ret_messages));
	sm->outbox_count -= message_count;
	memmove(sm->outbox, sm->outbox + message_count, sm->outbox_count * sizeof(*sm->outbox));
	return message_count;
}

unsigned sm_transmit(struct sm *sm, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[])
{
	unsigned message_count = empty_outbox(sm, messages_max, ret_messages);

	sm->now = now;
	/* Transactions that are out of tries make room, and a phase may wait for them only. */
	mad_transactions_transmit(&sm->transactions, now, 0, NULL);
	mad_transactions_transmit(&sm->election.controls, now, 0, NULL);
	election_advance(sm, now);
	sweep_advance(sm, now);
	message_count +=
		mad_transactions_transmit(&sm->election.controls, now, messages_max - message_count,
					  ret_messages + message_count);
	message_count += mad_transactions_transmit(
		&sm->transactions, now, messages_max - message_count, ret_messages + message_count);
	sm->has_work = false;
	sm->counts.act += message_count;
	sm->counts.smps += message_count;
	return message_count;
}

time_ns sm_deadline(const struct sm *sm)
{
	time_ns deadline = election_deadline(sm);

	if (sm->has_work || sm->outbox_count)
		return 0;
	if (sm->state == SM_STANDBY || sm->state == SM_NOT_ACTIVE)
		return deadline;
	if (sm->phase != PHASE_IDLE)
		return time_earlier(deadline, mad_transactions_deadline(&sm->transactions));
	if (sm->schedule.wanted_scope != SCOPE_NOTHING)
		deadline = time_earlier(deadline, sm->schedule.wanted_at);
	if (sm->state != SM_MASTER)
		return deadline;
	deadline = time_earlier(deadline, sm->schedule.next_renewal_at);
	return time_earlier(deadline,
			    time_earlier(sm->schedule.next_sweep_at, sm->schedule.next_look_at));
}

void sm_request_sweep(struct sm *sm, time_ns now)
{
	sm->now = now;
	sweep_want(sm, SCOPE_ALL);
}

void sm_see_own_port(struct sm *sm, time_ns now, enum port_state state)
{
	if (state == PORT_INIT && sm->own_port_state != PORT_INIT && sm->state == SM_MASTER)
		sm_request_sweep(sm, now);
	sm->own_port_state = state;
}

void sm_leave(struct sm *sm, time_ns now)
{
	sm->now = now;
	sm->election.is_leaving = true;
	/* Discovery finds the manager to hand over to. */
	if (sm->state == SM_MASTER)
		sweep_want(sm, SCOPE_ALL);
	else
		sweep_abandon(sm);
	sm->schedule.gap_count = 0;
}

bool sm_is_leaving_done(const struct sm *sm)
{
	bool is_over = sm->state != SM_MASTER ||
		       (sm->phase == PHASE_IDLE && (sm->schedule.wanted_scope == SCOPE_NOTHING ||
						    sm->schedule.wanted_at > sm->now));

	return sm->election.is_leaving && is_over && sm->outbox_count == 0;
}

void sm_set_priority(struct sm *sm, time_ns now, uint8_t priority)
{
	sm->now = now;
	sm->options.priority = priority <= PRIORITY_MAX ? priority : PRIORITY_MAX;
	/* A master may have to hand over. A standby reports its higher priority at the next poll.
	 */
	if (sm->state == SM_MASTER)
		sweep_want(sm, SCOPE_ALL);
	else if (sm->state == SM_STANDBY)
		sm->election.next_poll_at = now;
}

const struct subnet *sm_subnet(const struct sm *sm)
{
	return &sm->subnet;
}

struct multicast_groups *sm_multicast_groups(struct sm *sm)
{
	return &sm->subnet.multicast_groups;
}

void sm_multicast_changed(struct sm *sm, uint16_t mlid)
{
	unsigned index = mlid - LID_MULTICAST_FIRST;

	if (!lid_is_multicast(mlid))
		return;
	sm->multicast.changed[index / 64] |= 1ull << (index % 64);
	if (sm->state == SM_MASTER)
		sweep_want(sm, SCOPE_TREES);
}

void sm_ask_reregistration(struct sm *sm, uint64_t port_guid)
{
	struct subnet_port *port = subnet_port_by_guid(&sm->subnet, port_guid);

	if (!port || sm->state != SM_MASTER)
		return;
	port->needs_reregister = true;
	/* A Set that is under way does not count: it may be answered before this request. */
	port->reregister_is_sent = false;
	sm->has_reregistrations = true;
	sweep_want(sm, SCOPE_TREES);
}

uint8_t sm_path_sl(const struct sm *sm, uint16_t pkey, uint64_t service_id)
{
	return qos_path_sl(&sm->qos, &sm->subnet.partitions, pkey, service_id);
}

uint64_t sm_key(const struct sm *sm)
{
	return sm->options.sm_key;
}

char *sm_lids_text(const struct sm *sm)
{
	return subnet_lids_text(&sm->subnet);
}

uint32_t sm_lids_remember(struct sm *sm, const char *text, size_t text_bytes)
{
	return subnet_lids_remember(&sm->subnet, text, text_bytes);
}

char *sm_neighbors_text(struct sm *sm)
{
	struct neighbors *neighbors = &sm->subnet.neighbors;

	if (!neighbors->is_changed)
		return NULL;
	neighbors->is_changed = false;
	return neighbors_text(neighbors);
}

uint32_t sm_neighbors_remember(struct sm *sm, const char *text)
{
	return neighbors_read(&sm->subnet.neighbors, text);
}

time_ns sm_reacts_since(const struct sm *sm)
{
	return sm->schedule.reacts_since;
}

uint32_t sm_change_count(const struct sm *sm)
{
	return sm->counts.changes;
}

void sm_status(const struct sm *sm, struct sm_status *ret_status)
{
	*ret_status = (struct sm_status){
		.state = sm->state,
		.subnet_is_up = sm->is_up,
		.sweep_count = sm->counts.sweeps,
		.node_count = sm->subnet.node_count,
		.switch_count = sm->subnet.switch_count,
		.port_count = sm->subnet.by_port_guid.count,
		.duplicate_count = sm->counts.duplicates,
		.silent_count = sm->counts.silent,
		.lid = !sm->own_port	   ? 0
		       : sm->own_port->lid ? sm->own_port->lid
					   : sm->own_port->info.lid,
		.priority = sm->options.priority,
		.smp_count = sm->counts.smps,
		.engine = sm->engine->name,
		.has_mkeys = mkeys_are_set(sm),
		.has_mkey_per_port = sm->options.has_mkey_secret,
		.mkey_protect_bits = sm->options.mkey_protect_bits,
		.mkey_lease_period = sm->options.mkey_lease_period,
		.mkey_refusal_count = sm->refusals.count,
		.mkey_refusal_source = sm->refusals.last_source_guid,
		.master_guid = sm->state == SM_MASTER	 ? sm->options.port_guid
			       : sm->state == SM_STANDBY ? sm->election.master.info.guid
							 : 0,
	};
}

bool sm_is_stranger(const struct sm *sm, uint64_t port_guid)
{
	const struct subnet_port *port = subnet_port_by_guid(&sm->subnet, port_guid);

	return sm->state == SM_MASTER && port && port->is_reported;
}
