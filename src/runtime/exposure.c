/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a peer this process's exported rkeys and shared pages. */
#include "runtime/exposure.h"

#include "ipc/protocol.h"
#include "runtime/channel_queues.h"
#include "runtime/runtime_state.h"

void exposure_give(struct process_runtime *runtime, struct channel *channel)
{
	struct channel *softibd = &runtime->softibd;

	if (channel->is_exposed || channel->state == CHANNEL_DEAD || !runtime->rkey_export.header)
		return;

	struct ring_record *record = ring_reserve(&softibd->out, 0);

	/* The next answer about a flow by this channel tries again. */
	if (!record)
		return;
	record->kind = RECORD_EXPOSE;
	record->word = channel->id;
	record->byte_count = 0;
	ring_commit(&softibd->out, record);
	publish_later(runtime, softibd);
	channel->is_exposed = true;
}
