/* SPDX-License-Identifier: Apache-2.0 */
/* A standby polls its master, and reports to it when its own priority is higher (management 3.1).
 */
#include "mgmt/sm/mkeys.h"

#include "wire/smp.h"

enum { POLLS_MAX_DEFAULT = 4 };

#define POLL_INTERVAL_DEFAULT SECONDS(1)

time_ns polling_interval(const struct sm *sm)
{
	return sm->options.poll_interval ? sm->options.poll_interval : POLL_INTERVAL_DEFAULT;
}

static void poll(struct sm *sm)
{
	struct mad_message request;

	election_make_request(sm, &sm->election.master, MAD_GET, 0, &request);
	/* By LID and by directed route in turn, as long as there is no response. */
	if (sm->election.master.lid && sm->election.missed_poll_count % 2 == 0)
		election_make_lid_routed(sm->election.master.lid, &request);
	mad_transactions_send(&sm->election.controls, &request,
			      (struct mad_purpose){.detail = REQUEST_POLL});
}

/* The master may have assigned LIDs since we read them: reads our own LID and the master's. */
static void ask_own_port(struct sm *sm)
{
	const struct smp_request request = {.method = MAD_GET,
					    .attribute_id = ATTRIBUTE_PORT_INFO,
					    .attribute_modifier = sm->options.port_number,
					    .mkey = mkey_of(sm, sm->options.port_guid)};
	const struct directed_route here = {0};
	struct mad_message message;

	if (!mad_transactions_has_room(&sm->election.controls))
		return;
	smp_request_make(&request, &here, &message);
	mad_transactions_send(&sm->election.controls, &message,
			      (struct mad_purpose){.detail = REQUEST_OWN_PORT});
}

/* Trap 144 with SMPriorityChange: this standby is higher than its master (management 3.1). */
static void tell_priority(struct sm *sm, uint16_t own_lid, uint16_t master_lid)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SUBNET_LID,
		.class_version = SMP_CLASS_VERSION,
		.method = MAD_TRAP,
		.transaction_id =
			(uint64_t)sm->options.agent_number << 32 | ++sm->election.trap_sequence,
		.attribute_id = ATTRIBUTE_NOTICE,
	};
	const struct local_change_details details = {
		.lid = own_lid, .other_local_changes = 1, .change_flags = CHANGE_SM_PRIORITY};
	struct notice notice = {.header = {.is_generic = 1,
					   .type = NOTICE_INFORMATIONAL,
					   .producer_type = PRODUCER_CA,
					   .trap_number = TRAP_LOCAL_CHANGE,
					   .issuer_lid = own_lid}};
	struct mad_message *message = sm_outbox_place(sm);

	if (!message)
		return;
	*message = (struct mad_message){
		.address = {.lid = master_lid, .qpn = QPN_SMI, .pkey = PKEY_DEFAULT_FULL}};
	smp_start(&header, message->bytes);
	local_change_details_encode(&details, notice.details);
	notice_encode(&notice, smp_data(message->bytes));
}

static void note_not_master(struct sm *sm)
{
	sm_note(sm, SM_EVENT_NOTE, "0x%016llx is no longer the master; searching for the new one",
		(unsigned long long)sm->election.master.info.guid);
}

static void missed(struct sm *sm)
{
	unsigned polls_max = sm->options.polls_max ? sm->options.polls_max : POLLS_MAX_DEFAULT;

	if (sm->state != SM_STANDBY || ++sm->election.missed_poll_count < polls_max)
		return;
	if (sm->election.master.info.sm_state == SM_MASTER)
		sm_note(sm, SM_EVENT_WARNING, "the master 0x%016llx does not answer",
			(unsigned long long)sm->election.master.info.guid);
	else
		note_not_master(sm);
	election_enter(sm, SM_DISCOVERING);
}

/* The polled manager answers but is not the master. If it is Standby, it handed over, and the new
 * master already exists. */
static void lost_master(struct sm *sm)
{
	if (sm->election.master.info.sm_state != SM_STANDBY) {
		missed(sm);
		return;
	}
	note_not_master(sm);
	election_enter(sm, SM_DISCOVERING);
}

static void poll_answered(struct sm *sm, const struct mad_header *header, const uint8_t *data)
{
	struct sm_info info;

	sm_info_decode(data, &info);
	if (header->status != MAD_STATUS_OK || info.guid != sm->election.master.info.guid) {
		missed(sm);
		return;
	}
	/* A higher manager in Standby, which waits for another master, becomes master before us. */
	if (info.sm_state != SM_MASTER &&
	    !(info.sm_state == SM_STANDBY && election_is_better_than_us(sm, &info))) {
		sm->election.master.info = info;
		lost_master(sm);
		return;
	}
	sm->election.master.info = info;
	sm->election.missed_poll_count = 0;
	if (info.sm_state == SM_MASTER && !election_is_better_than_us(sm, &info))
		ask_own_port(sm);
}

static void own_port_answered(struct sm *sm, const uint8_t *data)
{
	struct port_info info;

	port_info_decode(data, &info);
	if (!lid_is_unicast(info.lid) || !lid_is_unicast(info.master_sm_lid))
		return;
	sm->election.master.lid = info.master_sm_lid;
	tell_priority(sm, info.lid, info.master_sm_lid);
}

void election_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		       const uint8_t *data)
{
	if (sm->state != SM_STANDBY)
		return;
	if (purpose.detail == REQUEST_POLL)
		poll_answered(sm, header, data);
	else if (purpose.detail == REQUEST_OWN_PORT && header->status == MAD_STATUS_OK)
		own_port_answered(sm, data);
}

void election_advance(struct sm *sm, time_ns now)
{
	struct mad_purpose purpose;
	struct mad_message request;

	while (mad_transactions_take_failed(&sm->election.controls, &purpose, &request)) {
		if (purpose.detail == REQUEST_POLL)
			missed(sm);
	}
	if (sm->state != SM_STANDBY || sm->election.next_poll_at > now ||
	    !mad_transactions_has_room(&sm->election.controls))
		return;
	sm->election.next_poll_at = now + polling_interval(sm);
	poll(sm);
}

time_ns election_deadline(const struct sm *sm)
{
	time_ns deadline = mad_transactions_deadline(&sm->election.controls);

	return sm->state == SM_STANDBY ? time_earlier(deadline, sm->election.next_poll_at)
				       : deadline;
}
