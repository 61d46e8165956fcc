/* SPDX-License-Identifier: Apache-2.0 */
/* What others ask of the subnet manager: SMInfo, and traps (vol 1, chapter 14). */
#include "mgmt/sm/sweep.h"

#include "wire/notice.h"
#include "wire/smp.h"

enum sm_control { CONTROL_HANDOVER = 1 };

void sm_info_now(const struct sm *sm, struct sm_info *ret_info)
{
	*ret_info = (struct sm_info){
		.guid = sm->options.port_guid,
		.act_count = sm->act_count,
		.priority = sm->options.priority,
		.sm_state = (uint8_t)sm->state,
	};
}

/* NULL when too much waits already: who asked will ask again. */
static struct mad_message *outbox_place(struct sm *sm)
{
	return sm->outbox_count < SM_OUTBOX_MESSAGES ? &sm->outbox[sm->outbox_count++] : NULL;
}

static void answer_sm_info(struct sm *sm, const struct mad_message *message,
			   const struct mad_header *header)
{
	struct mad_message *answer = outbox_place(sm);
	uint16_t status = MAD_STATUS_OK;
	struct sm_info info;

	if (!answer)
		return;
	/* Of the controls only one means something to a master: the other's subnet joins ours. */
	if (header->method == MAD_SET) {
		if (sm->state == SM_MASTER && header->attribute_modifier == CONTROL_HANDOVER)
			sm->heavy_is_wanted = true;
		else
			status = MAD_STATUS_BAD_FIELD;
	}
	smp_answer_make(message, status, answer);
	sm_info_now(sm, &info);
	memset(smp_data(answer->bytes), 0, SMP_DATA_BYTES);
	sm_info_encode(&info, smp_data(answer->bytes));
}

/* The same MAD goes back as TrapRepress, which stops the repeats. */
static void repress(struct sm *sm, const struct mad_message *message,
		    const struct mad_header *header)
{
	struct mad_message *answer = outbox_place(sm);
	struct mad_header repress_header = *header;

	if (!answer)
		return;
	*answer = *message;
	repress_header.method = MAD_TRAP_REPRESS;
	mad_header_encode(&repress_header, answer->bytes);
}

/* One of the local changes is a new name; the sweep asks for it where it has none. */
static void forget_description(struct sm *sm, uint16_t lid)
{
	struct subnet_port *port = lid_is_unicast(lid) ? sm->subnet.by_lid[lid] : NULL;

	if (port)
		port->node->description[0] = '\0';
}

static void handle_trap(struct sm *sm, const struct mad_message *message,
			const struct mad_header *header)
{
	struct notice notice;

	/* Traps are the master's; a standby leaves them to it. */
	if (sm->state != SM_MASTER)
		return;
	notice_decode(message->bytes + SMP_DATA_OFFSET, &notice);
	repress(sm, message, header);
	if (!notice.header.is_generic)
		return;
	if (notice.header.trap_number == TRAP_LOCAL_CHANGE)
		forget_description(sm, notice.header.issuer_lid);
	if (notice.header.trap_number == TRAP_LINK_STATE_CHANGE ||
	    notice.header.trap_number == TRAP_LOCAL_CHANGE)
		sm->heavy_is_wanted = true;
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
