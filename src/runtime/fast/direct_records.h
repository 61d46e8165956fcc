/* SPDX-License-Identifier: Apache-2.0 */
/* Writes single records into the ring of a direct channel, without the steps that only unusual
 * records need. */
#ifndef SOFTIB_RUNTIME_FAST_DIRECT_RECORDS_H
#define SOFTIB_RUNTIME_FAST_DIRECT_RECORDS_H

#include <stdint.h>
#include "base/attributes.h"
#include "runtime/channel.h"
#include "runtime/flows.h"
#include "net/transport/qp.h"

/* Returns where the body of the next record goes; NULL: the ring has no room, or other records wait
 * for room. */
static inline uint8_t *direct_record_reserve(struct channel *channel, uint32_t byte_count)
{
	if (unlikely(!list_is_empty(&channel->waiting)))
		return NULL;

	uint8_t *body = ring_reserve_stamped(&channel->out, byte_count);

	if (likely(body))
		return body;

	struct ring_record *record = ring_reserve(&channel->out, byte_count);

	return record && channel->out.stamp_seed ? record->body : NULL;
}

/* The reserved record is written: shows it to the peer. */
static inline void direct_record_commit(struct qp *qp, struct flow *flow, uint32_t byte_count,
					enum record_kind kind, uint32_t packet_count)
{
	struct channel *channel = flow->channel;

	ring_commit_stamped(&channel->out, byte_count, (uint16_t)kind, flow->destination_port,
			    packet_count);
	qp->owner_position = channel->out.tail;
}

#endif
