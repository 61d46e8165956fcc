/* SPDX-License-Identifier: Apache-2.0 */
/* ACKs that come as words beside a direct ring: see ack_words.h. */
#include "runtime/packets/ack_words.h"

#include "runtime/runtime_state.h"
#include "runtime/packets/receive.h"
#include "runtime/packets/ring_grants.h"
#include "net/transport/addressing.h"
#include "wire/packet.h"

/* Receives the packet that the word stands for, where the fast path does not take the ACK. */
static void receive_ack_packet(struct hca *hca, time_ns now, const struct qp *qp, struct psn psn)
{
	struct packet packet = {
		.lrh = {.sl = qp->attributes.address.sl,
			.lnh = LNH_LOCAL,
			.dlid = qp->port->lid,
			.slid = qp->attributes.address.dlid},
		.bth = {.opcode = TRANSPORT_RC | OPCODE_ACKNOWLEDGE,
			.migrated = true,
			.pkey = qp_pkey(qp),
			.destination_qpn = qp->qpn,
			.psn = psn},
		.aeth = {.syndrome = aeth_syndrome(AETH_ACK, AETH_CREDITS_UNLIMITED)},
		.packet_count = 1,
	};

	hca_receive(hca, now, qp->port->number, &packet);
}

/* The queue pair that this channel may acknowledge: one whose packets go by this channel, or one
 * whose packets go through softibd to a port from which this channel's packets come. */
static struct qp_object *find_acknowledged(const struct process_runtime *runtime,
					   struct channel *channel, uint32_t qpn)
{
	for (unsigned i = 0; i < runtime->adapter_limit; i++) {
		const struct adapter *adapter = runtime->adapters[i];

		if (!adapter || !adapter->has_hca)
			continue;

		struct qp_object *object = index_table_get(&adapter->hca.qps, qpn);
		struct flow *flow = object ? object->qp.owner_route : NULL;

		if (!object || object->qp.type != QP_RC || !object->qp.port)
			continue;
		if (flow && flow->state == FLOW_DIRECT
			    ? flow->channel == channel
			    : ring_grant_is_of_peer(runtime, channel, &object->qp))
			return object;
	}
	return NULL;
}

/* Takes one word. A READ response that the peer sent before this ACK lies in the ring. It is
 * received first, or the ACK would mean that it was lost. */
static void take_word(struct process_runtime *runtime, struct channel *channel, time_ns now,
		      uint64_t number)
{
	struct qp_object *object =
		find_acknowledged(runtime, channel, (uint32_t)number & ACK_WORD_QPN_MASK);
	struct psn psn = psn_from((uint32_t)(number >> ACK_WORD_QPN_BITS));

	if (unlikely(!object)) {
		runtime->drops.malformed++;
		return;
	}
	if (likely(hca_acknowledge_fast(object->hca, now, &object->qp, psn)))
		return;
	now = runtime_now();
	receive_direct(runtime, channel, now);
	receive_ack_packet(object->hca, now, &object->qp, psn);
}

bool ack_words_take(struct process_runtime *runtime, struct channel *channel, time_ns now)
{
	uint64_t number, next;

	if (!word_ring_take(&channel->words_in, &number))
		return false;
	for (unsigned count = 1;
	     count < WORD_RING_COUNT && word_ring_take(&channel->words_in, &next); count++) {
		/* The later word for a queue pair acknowledges all that the earlier one does. */
		if ((number ^ next) & ACK_WORD_QPN_MASK)
			take_word(runtime, channel, now, number);
		number = next;
	}
	take_word(runtime, channel, now, number);
	pingpong_acknowledged(&channel->pingpong);
	return true;
}
