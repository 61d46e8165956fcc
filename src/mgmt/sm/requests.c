/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the subnet manager: SMInfo and traps (management 3.1, 3.7). */
#include "mgmt/sm/mkeys.h"

#include "wire/notice.h"
#include "wire/smp.h"

struct mad_message *sm_outbox_place(struct sm *sm)
{
	return sm->outbox_count < SM_OUTBOX_MESSAGES ? &sm->outbox[sm->outbox_count++] : NULL;
}

static void answer_sm_info(struct sm *sm, const struct mad_message *message,
			   const struct mad_header *header)
{
	struct mad_message copy = *message;
	enum mad_status status = MAD_STATUS_OK;
	struct mad_message *answer;
	struct sm_info info;

	mkeys_saw_request(sm, message, header);
	if (header->method == MAD_SET) {
		sm_info_decode(smp_data(copy.bytes), &info);
		status = election_control(sm, header->attribute_modifier, &info, message);
	}
	answer = sm_outbox_place(sm);
	if (!answer)
		return;
	smp_answer_make(message, (uint16_t)status, answer);
	sm_info_now(sm, &info);
	/* The SM_Key is shown only to requests with the M_Key of this port. */
	if (mkeys_are_set(sm) && smp_mkey(message->bytes) != mkey_of(sm, sm->options.port_guid))
		info.sm_key = 0;
	memset(smp_data(answer->bytes), 0, SMP_DATA_BYTES);
	sm_info_encode(&info, smp_data(answer->bytes));
}

/* Returns the MAD as TrapRepress, which stops the repeats (management 3.7). */
static void repress(struct sm *sm, const struct mad_message *message,
		    const struct mad_header *header)
{
	struct mad_message *answer = sm_outbox_place(sm);
	struct mad_header repress_header = *header;
	const struct subnet_port *port = subnet_port_by_lid(&sm->subnet, message->address.lid);

	if (!answer)
		return;
	*answer = *message;
	repress_header.method = MAD_TRAP_REPRESS;
	mad_header_encode(&repress_header, answer->bytes);
	smp_set_mkey(port ? port->mkey : sm->options.mkey, answer->bytes);
}

/* The node that a trap is about. NULL: no node has the LID. */
static struct subnet_node *issuer(const struct sm *sm, uint16_t lid)
{
	struct subnet_port *port = subnet_port_by_lid(&sm->subnet, lid);

	return port ? port->node : NULL;
}

static void act_on_link_state(struct sm *sm, const struct notice *notice)
{
	struct link_state_details details;
	struct subnet_node *node;

	link_state_details_decode(notice->details, &details);
	node = issuer(sm, details.lid ? details.lid : notice->header.issuer_lid);
	if (!node || !subnet_node_is_switch(node)) {
		sweep_want(sm, SCOPE_ALL);
		return;
	}
	discovery_want_switch(sm, node);
	light_watch(sm, node);
}

/* A new NodeDescription or a capability change, mostly IsSM of a manager that started or ended. */
static void act_on_local_change(struct sm *sm, const struct notice *notice)
{
	struct local_change_details details;
	struct subnet_node *node;

	local_change_details_decode(notice->details, &details);
	node = issuer(sm, details.lid ? details.lid : notice->header.issuer_lid);
	if (!node) {
		sweep_want(sm, SCOPE_ALL);
		return;
	}
	if (!details.other_local_changes || (details.change_flags & CHANGE_NODE_DESCRIPTION))
		discovery_want_description(sm, node);
	/* A manager without the M_Key is not entitled to a handover, whatever its priority. */
	if (details.other_local_changes && details.change_flags == CHANGE_SM_PRIORITY &&
	    subnet_port_by_lid(&sm->subnet, notice->header.issuer_lid) &&
	    subnet_port_by_lid(&sm->subnet, notice->header.issuer_lid)->is_reported)
		return;
	if (!details.other_local_changes || (details.change_flags & ~CHANGE_NODE_DESCRIPTION))
		sweep_want(sm, SCOPE_ALL);
}

static void act_on_trap(struct sm *sm, const struct notice *notice)
{
	unsigned lid = notice->header.issuer_lid;

	switch (notice->header.trap_number) {
	case TRAP_LINK_STATE_CHANGE:
		act_on_link_state(sm, notice);
		break;
	case TRAP_LOCAL_CHANGE:
		act_on_local_change(sm, notice);
		break;
	case TRAP_SYSTEM_IMAGE_GUID_CHANGE:
		sweep_want(sm, SCOPE_ALL);
		break;
	case TRAP_LINK_INTEGRITY:
	case TRAP_BUFFER_OVERRUN:
	case TRAP_FLOW_CONTROL_WATCHDOG:
		sm_note(sm, SM_EVENT_WARNING, "trap %u from LID %u: a link has errors",
			notice->header.trap_number, lid);
		break;
	case TRAP_BAD_MKEY:
		mkeys_refused(sm, notice);
		break;
	case TRAP_BAD_PKEY:
	case TRAP_BAD_QKEY:
	case TRAP_BAD_PKEY_AT_SWITCH:
		sm_note(sm, SM_EVENT_WARNING, "trap %u from LID %u: a wrong key",
			notice->header.trap_number, lid);
		break;
	default:
		break;
	}
}

static void handle_trap(struct sm *sm, const struct mad_message *message,
			const struct mad_header *header)
{
	struct notice notice;

	/* Only the master handles traps. */
	if (sm->state != SM_MASTER)
		return;
	notice_decode(message->bytes + SMP_DATA_OFFSET, &notice);
	repress(sm, message, header);
	if (notice.header.is_generic)
		act_on_trap(sm, &notice);
	if (sm->options.owner.trap)
		sm->options.owner.trap(sm->options.owner.context, sm->now, &notice,
				       message->address.lid);
}

void sm_answer_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header)
{
	bool is_get_or_set = header->method == MAD_GET || header->method == MAD_SET;

	if (header->base_version != MAD_BASE_VERSION || header->class_version != SMP_CLASS_VERSION)
		return;
	if (is_get_or_set && header->attribute_id == ATTRIBUTE_SM_INFO)
		answer_sm_info(sm, message, header);
	else if (header->method == MAD_TRAP && header->attribute_id == ATTRIBUTE_NOTICE)
		handle_trap(sm, message, header);
}
