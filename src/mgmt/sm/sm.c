/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet manager's ends: MADs and time in, MADs out (vol 1, chapter 14). */
#include "mgmt/sm/sm.h"

#include <errno.h>
#include <stdlib.h>
#include "mgmt/sm/sweep.h"
#include "wire/smp.h"

int sm_create(const struct sm_options *options, struct sm **ret_sm)
{
	const struct mad_transactions_options transactions = {.window = options->window};
	struct sm *sm = calloc(1, sizeof(*sm));
	int error;

	if (!sm)
		return -ENOMEM;
	sm->options = *options;
	error = mad_transactions_init(&sm->transactions, &transactions);
	if (error) {
		free(sm);
		return error;
	}
	subnet_init(&sm->subnet);
	sm->state = SM_DISCOVERING;
	sm->heavy_is_wanted = true;
	sm->has_work = true;
	sm->next_sweep_at = TIME_NEVER;
	*ret_sm = sm;
	return 0;
}

void sm_destroy(struct sm *sm)
{
	if (!sm)
		return;
	routing_graph_release(&sm->graph);
	mad_transactions_release(&sm->transactions);
	subnet_release(&sm->subnet);
	free(sm->discovery.steps);
	free(sm);
}

void sm_receive(struct sm *sm, time_ns now, const struct mad_message *message)
{
	struct mad_header header;
	struct mad_purpose purpose;

	(void)now;
	if (!mad_header_decode(message->bytes, sizeof(message->bytes), &header))
		return;
	if (header.management_class != MAD_CLASS_SUBNET_DIRECTED &&
	    header.management_class != MAD_CLASS_SUBNET_LID)
		return;
	if (!(header.method & MAD_RESPONSE)) {
		sm_answer_request(sm, message, &header);
		return;
	}
	if (!mad_transactions_receive(&sm->transactions, message, &purpose))
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

	/* Those that are out of tries make room, and may be all that a phase waited for. */
	mad_transactions_transmit(&sm->transactions, now, 0, NULL);
	sweep_advance(sm, now);
	message_count += mad_transactions_transmit(
		&sm->transactions, now, messages_max - message_count, ret_messages + message_count);
	sm->has_work = false;
	sm->act_count += message_count;
	return message_count;
}

time_ns sm_deadline(const struct sm *sm)
{
	if (sm->has_work || sm->outbox_count)
		return 0;
	if (sm->phase != PHASE_IDLE)
		return mad_transactions_deadline(&sm->transactions);
	return sm->heavy_is_wanted ? 0 : sm->next_sweep_at;
}

void sm_request_sweep(struct sm *sm, time_ns now)
{
	(void)now;
	sm->heavy_is_wanted = true;
}

void sm_status(const struct sm *sm, struct sm_status *ret_status)
{
	*ret_status = (struct sm_status){
		.state = sm->state,
		.subnet_is_up = sm->is_up,
		.sweep_count = sm->sweep_count,
		.node_count = sm->subnet.node_count,
		.switch_count = sm->subnet.switch_count,
		.duplicate_count = sm->duplicate_count,
		.silent_count = sm->silent_count,
		.lid = sm->own_port ? sm->own_port->lid : 0,
	};
	for (unsigned lid = 1; lid <= sm->subnet.lid_max; lid++)
		ret_status->port_count += sm->subnet.by_lid[lid] != NULL;
}
