/* SPDX-License-Identifier: Apache-2.0 */
/* Election of the master: SM states, control packets, polling, handover (management 3.1). */
#include "mgmt/sm/mkeys.h"

#include "wire/smp.h"

/* Attribute modifiers of Set(SMInfo) (management 3.1). */
enum sm_control {
	CONTROL_HANDOVER = 1,
	CONTROL_ACKNOWLEDGE,
	CONTROL_DISABLE,
	CONTROL_STANDBY,
	CONTROL_DISCOVER,
	CONTROL_COUNT,
};

void sm_info_now(const struct sm *sm, struct sm_info *ret_info)
{
	*ret_info = (struct sm_info){
		.guid = sm->options.port_guid,
		.sm_key = sm->options.sm_key,
		.act_count = sm->counts.act,
		.priority = sm->options.priority,
		.sm_state = (uint8_t)sm->state,
	};
}

/* Higher priority wins, then the lower GUID (management 3.1). */
bool election_is_better(const struct sm_info *a, const struct sm_info *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->guid < b->guid;
}

bool election_is_better_than_us(const struct sm *sm, const struct sm_info *other)
{
	struct sm_info own;

	sm_info_now(sm, &own);
	return election_is_better(other, &own);
}

/* Another master may have written any table. */
static void forget_all_tables(struct sm *sm)
{
	list_for_each (link, &sm->subnet.nodes)
		subnet_forget_tables(sweep_node(link));
	sm->multicast.all_changed = true;
}

void election_enter(struct sm *sm, enum sm_state state)
{
	static const char *const names[] = {"not active", "discovering", "standby", "master"};

	if (sm->state == state)
		return;
	sm->state = state;
	sm->election.missed_poll_count = 0;
	sm->election.next_poll_at = TIME_NEVER;
	sm->is_up = false;
	sm->schedule.next_renewal_at = TIME_NEVER;
	mad_transactions_cancel_all(&sm->election.controls);
	switch (state) {
	case SM_NOT_ACTIVE:
		sweep_abandon(sm);
		break;
	case SM_DISCOVERING:
		sweep_want(sm, SCOPE_ALL);
		break;
	case SM_STANDBY:
		sweep_abandon(sm);
		sm->election.next_poll_at = sm->now + polling_interval(sm);
		break;
	case SM_MASTER:
		sm->sweep.reregister_all = true;
		if (mkeys_renewal_interval(sm) != TIME_NEVER)
			sm->schedule.next_renewal_at = sm->now + mkeys_renewal_interval(sm);
		forget_all_tables(sm);
		/* LIDs that another master assigned stay, so that clients do not notice the change
		 * (management 3.3). */
		sm->subnet.prefers_present_lids = true;
		break;
	}
	if (state == SM_STANDBY)
		sm_note(sm, SM_EVENT_NOTE, "standby; the master is 0x%016llx, priority %u",
			(unsigned long long)sm->election.master.info.guid,
			sm->election.master.info.priority);
	else
		sm_note(sm, SM_EVENT_NOTE, "%s", names[state]);
	if (sm->options.owner.state_changed)
		sm->options.owner.state_changed(sm->options.owner.context, sm->now, state);
}

/* A manager with another SM_Key is left alone (management 3.1). Managers that share the secret show
 * each other the SM_Key, so one that shows none does not have the secret. */
static bool is_trusted(const struct sm *sm, const struct sm_info *info)
{
	if (info->sm_key == sm->options.sm_key)
		return true;
	return !sm->options.has_mkey_secret && (!info->sm_key || !sm->options.sm_key);
}

static void leave_alone(struct sm *sm, const struct sm_info *info)
{
	sm_note(sm, SM_EVENT_WARNING, "ignoring manager 0x%016llx, which has another SM_Key",
		(unsigned long long)info->guid);
}

bool election_is_entitled(const struct sm *sm, const struct sm_info *info,
			  const struct subnet_port *port)
{
	return is_trusted(sm, info) && (!mkeys_are_set(sm) || port->knows_mkey);
}

void election_add_peer(struct sm *sm, const struct sm_info *info, struct subnet_port *port)
{
	struct directed_route route = port->node->route;
	unsigned i = 0;

	if (info->guid == sm->options.port_guid)
		return;
	if (!is_trusted(sm, info)) {
		if (!port->is_reported)
			leave_alone(sm, info);
		port->is_reported = true;
		return;
	}
	while (i < sm->election.peer_count && sm->election.peers[i].info.guid != info->guid)
		i++;
	if (i == SM_PEERS_MAX)
		return;
	if (i == sm->election.peer_count)
		sm->election.peer_count++;
	if (port->peer && !subnet_node_is_switch(port->node) &&
	    !directed_route_extend(&port->peer->node->route, port->peer->number, &route))
		return;
	sm->election.peers[i] =
		(struct sm_peer){.info = *info,
				 .lid = port->info.lid,
				 .route = route,
				 .is_entitled = election_is_entitled(sm, info, port)};
}

/* The best manager in one of these states. NULL: none. A master counts only managers that are
 * entitled to the handover. */
static const struct sm_peer *best_peer(const struct sm *sm, unsigned state_bits)
{
	const struct sm_peer *best = NULL;

	for (unsigned i = 0; i < sm->election.peer_count; i++) {
		const struct sm_peer *peer = &sm->election.peers[i];

		if (sm->state == SM_MASTER && !peer->is_entitled)
			continue;
		if ((state_bits >> peer->info.sm_state & 1) &&
		    (!best || election_is_better(&peer->info, &best->info)))
			best = peer;
	}
	return best;
}

static void stand_by(struct sm *sm, const struct sm_peer *master)
{
	sm->election.master = *master;
	election_enter(sm, SM_STANDBY);
}

/* Reports managers that claim the subnet but have not shown the M_Key. */
static void report_foreign_managers(struct sm *sm)
{
	for (unsigned i = 0; i < sm->election.peer_count; i++) {
		const struct sm_info *info = &sm->election.peers[i].info;
		struct subnet_port *port = subnet_port_by_guid(&sm->subnet, info->guid);

		if (sm->election.peers[i].is_entitled || !port || port->is_reported ||
		    (info->sm_state != SM_MASTER && !election_is_better_than_us(sm, info)))
			continue;
		port->is_reported = true;
		sm_note(sm, SM_EVENT_WARNING,
			"manager 0x%016llx, priority %u, has not shown the M_Key: no handover to it",
			(unsigned long long)info->guid, info->priority);
	}
}

static enum sweep_phase decide_as_master(struct sm *sm)
{
	const struct sm_peer *best = best_peer(sm, 1u << SM_STANDBY | 1u << SM_MASTER);

	report_foreign_managers(sm);
	if (best && (sm->election.is_leaving || election_is_better_than_us(sm, &best->info))) {
		sm->election.successor = *best;
		return PHASE_HANDOVER;
	}
	/* A lower master will find us and hand over; sweep again until it did (management 3.1). */
	best = best_peer(sm, 1u << SM_MASTER);
	if (best && !sm->election.other_master_is_here)
		sm_note(sm, SM_EVENT_NOTE,
			"found another master, 0x%016llx; waiting for its handover",
			(unsigned long long)best->info.guid);
	if (best)
		forget_all_tables(sm);
	if (best || sm->sweep.scope == SCOPE_ALL)
		sm->election.other_master_is_here = best != NULL;
	return PHASE_SWITCHES;
}

enum sweep_phase election_decide(struct sm *sm)
{
	const struct sm_peer *master = best_peer(sm, 1u << SM_MASTER);
	const struct sm_peer *best =
		best_peer(sm, 1u << SM_DISCOVERING | 1u << SM_STANDBY | 1u << SM_MASTER);

	if (sm->state == SM_MASTER)
		return decide_as_master(sm);
	if (master || (best && election_is_better_than_us(sm, &best->info))) {
		stand_by(sm, master ? master : best);
		return PHASE_IDLE;
	}
	election_enter(sm, SM_MASTER);
	return PHASE_SWITCHES;
}

void election_make_request(const struct sm *sm, const struct sm_peer *peer, enum mad_method method,
			   uint32_t control, struct mad_message *ret_request)
{
	const struct smp_request request = {.method = method,
					    .attribute_id = ATTRIBUTE_SM_INFO,
					    .attribute_modifier = control,
					    .mkey = mkey_of(sm, peer->info.guid)};
	struct sm_info info;

	smp_request_make(&request, &peer->route, ret_request);
	if (method != MAD_SET)
		return;
	sm_info_now(sm, &info);
	sm_info_encode(&info, smp_data(ret_request->bytes));
}

void election_make_lid_routed(uint16_t lid, struct mad_message *request)
{
	uint8_t data[SMP_DATA_BYTES];
	struct mad_header header;
	uint64_t mkey = smp_mkey(request->bytes);

	if (!mad_header_decode(request->bytes, sizeof(request->bytes), &header))
		return;
	memcpy(data, smp_data(request->bytes), sizeof(data));
	header.management_class = MAD_CLASS_SUBNET_LID;
	header.hop_count = 0;
	smp_start(&header, request->bytes);
	smp_set_mkey(mkey, request->bytes);
	memcpy(smp_data(request->bytes), data, sizeof(data));
	request->address.lid = lid;
}

/* The sender and the path to it: its source LID, or back along its directed route. */
static struct sm_peer sender_of(const struct mad_message *message, const struct sm_info *info)
{
	struct sm_peer peer = {.info = *info};
	struct mad_message copy = *message;
	struct mad_header header;

	if (!mad_header_decode(message->bytes, sizeof(message->bytes), &header))
		return peer;
	if (header.management_class == MAD_CLASS_SUBNET_LID) {
		peer.lid = lid_is_unicast(message->address.lid) ? message->address.lid : 0;
		return peer;
	}
	peer.route.hop_count = header.hop_count <= MAD_HOPS_MAX ? header.hop_count : 0;
	for (unsigned hop = 0; hop < peer.route.hop_count; hop++)
		peer.route.ports[hop] = smp_return_path(copy.bytes)[peer.route.hop_count - hop];
	return peer;
}

static void acknowledge(struct sm *sm, const struct sm_peer *former)
{
	struct mad_message request;
	struct sm_info own;

	if (!mad_transactions_has_room(&sm->election.controls))
		return;
	election_make_request(sm, former, MAD_SET, CONTROL_ACKNOWLEDGE, &request);
	/* Only a Standby may send ACKNOWLEDGE (management 3.1), so the packet shows the state that
	 * we are about to leave. */
	sm_info_now(sm, &own);
	own.sm_state = SM_STANDBY;
	sm_info_encode(&own, smp_data(request.bytes));
	if (former->lid)
		election_make_lid_routed(former->lid, &request);
	mad_transactions_send(&sm->election.controls, &request,
			      (struct mad_purpose){.detail = REQUEST_ACKNOWLEDGE});
}

/* The states in which a sender may send a control packet and a receiver may accept it (management
 * 3.1). */
static const struct {
	unsigned sender_states;
	unsigned receiver_states;
} control_rules[CONTROL_COUNT] = {
	[CONTROL_HANDOVER] = {1u << SM_MASTER,
			      1u << SM_DISCOVERING | 1u << SM_STANDBY | 1u << SM_MASTER},
	[CONTROL_ACKNOWLEDGE] = {1u << SM_STANDBY | 1u << SM_MASTER, 1u << SM_STANDBY},
	[CONTROL_DISABLE] = {1u << SM_MASTER, 1u << SM_STANDBY},
	[CONTROL_STANDBY] = {1u << SM_MASTER, 1u << SM_NOT_ACTIVE},
	[CONTROL_DISCOVER] = {1u << SM_MASTER, 1u << SM_STANDBY},
};

static void take_over(struct sm *sm, const struct sm_info *sender,
		      const struct mad_message *message)
{
	const struct sm_peer former = sender_of(message, sender);

	switch (sm->state) {
	case SM_STANDBY:
		sm_note(sm, SM_EVENT_NOTE, "0x%016llx hands over the subnet",
			(unsigned long long)sender->guid);
		election_enter(sm, SM_MASTER);
		acknowledge(sm, &former);
		sweep_want(sm, SCOPE_ALL);
		break;
	case SM_MASTER: /* its subnet joins ours */
		forget_all_tables(sm);
		sweep_want(sm, SCOPE_ALL);
		break;
	case SM_DISCOVERING:
		sweep_want(sm, SCOPE_ALL);
		break;
	case SM_NOT_ACTIVE:
		break;
	}
}

enum mad_status election_control(struct sm *sm, uint32_t control, const struct sm_info *sender,
				 const struct mad_message *message)
{
	if (control == 0 || control >= CONTROL_COUNT || sm->election.is_leaving)
		return MAD_STATUS_BAD_FIELD;
	if (!(control_rules[control].sender_states >> sender->sm_state & 1) ||
	    !(control_rules[control].receiver_states >> sm->state & 1))
		return MAD_STATUS_BAD_FIELD;
	if (!is_trusted(sm, sender)) {
		leave_alone(sm, sender);
		return MAD_STATUS_BAD_FIELD;
	}
	switch ((enum sm_control)control) {
	case CONTROL_HANDOVER:
		take_over(sm, sender, message);
		break;
	case CONTROL_DISABLE:
		election_enter(sm, SM_NOT_ACTIVE);
		break;
	case CONTROL_STANDBY:
		/* The sender of STANDBY is the master to poll. */
		sm->election.master = sender_of(message, sender);
		election_enter(sm, SM_STANDBY);
		break;
	case CONTROL_DISCOVER:
		election_enter(sm, SM_DISCOVERING);
		break;
	case CONTROL_ACKNOWLEDGE:
	case CONTROL_COUNT:
		break;
	}
	return MAD_STATUS_OK;
}

static int handover_begin(struct sm *sm)
{
	sm->cursor.index = 0;
	return 0;
}

static bool handover_next(struct sm *sm, struct mad_message *ret_request,
			  struct mad_purpose *ret_purpose)
{
	if (sm->cursor.index++)
		return false;
	election_make_request(sm, &sm->election.successor, MAD_SET, CONTROL_HANDOVER, ret_request);
	*ret_purpose = (struct mad_purpose){0};
	return true;
}

static void handover_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	(void)purpose;
	(void)data;
	sm_note(sm, SM_EVENT_NOTE, "handed the subnet over to 0x%016llx, priority %u",
		(unsigned long long)sm->election.successor.info.guid,
		sm->election.successor.info.priority);
	sm->election.successor.info.sm_state = SM_MASTER;
	stand_by(sm, &sm->election.successor);
}

static void handover_failed(struct sm *sm, struct mad_purpose purpose)
{
	(void)purpose;
	sm_note(sm, SM_EVENT_WARNING, "manager 0x%016llx did not take the subnet over",
		(unsigned long long)sm->election.successor.info.guid);
	sm->sweep.is_incomplete = true;
}

static enum sweep_phase handover_following(struct sm *sm)
{
	return sm->state == SM_MASTER && !sm->election.is_leaving ? PHASE_SWITCHES : PHASE_IDLE;
}

const struct phase_operations sweep_handover = {
	.name = "handover",
	.begin = handover_begin,
	.next = handover_next,
	.answered = handover_answered,
	.failed = handover_failed,
	.choose_following = handover_following,
};
