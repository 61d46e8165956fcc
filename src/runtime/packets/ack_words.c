/* SPDX-License-Identifier: Apache-2.0 */
/* Sends ACKs as words beside a direct ring: see ack_words.h. */
#include "runtime/packets/ack_words.h"

#include "runtime/fast/ack_word_put.h"
#include "runtime/channel_queues.h"
#include "wire/packet.h"

struct channel *ack_word_send(struct adapter *adapter, struct qp *qp)
{
	if (unlikely(!adapter->runtime->may_go_fast || qp->type != QP_RC ||
		     !send_template_holds(qp) || !send_flow(adapter, qp)))
		return NULL;
	return ack_word_put(adapter->runtime, qp);
}

bool ack_word_write(struct adapter *adapter, struct qp *qp)
{
	struct channel *channel = ack_word_send(adapter, qp);

	if (!channel)
		return false;
	publish_later(adapter->runtime, channel);
	return true;
}
