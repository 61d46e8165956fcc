/* SPDX-License-Identifier: Apache-2.0 */
/* The flow that a queue pair used last, and the checks whether it still holds: state, generation
 * and key. Also whether a queue pair may use the fast path (runtime/fast/short_send.h), and the
 * bookkeeping after it did. */
#ifndef SOFTIB_RUNTIME_FAST_FLOW_CACHE_H
#define SOFTIB_RUNTIME_FAST_FLOW_CACHE_H

#include "runtime/runtime_state.h"
#include "ipc/doorbell.h"
#include "net/transport/addressing.h"

/* The time for completions. The clock is read only if a completion queue shows timestamps. */
static inline time_ns fast_path_time(const struct process_runtime *runtime)
{
	return unlikely(runtime->wants_time) ? runtime_now() : runtime->last_now;
}

/* The flow that the queue pair used last, if its packets still take this flow and the flow is
 * offloaded. */
static inline struct flow *direct_flow(const struct adapter *adapter, const struct qp *qp,
				       const struct address_vector *address,
				       uint32_t destination_qpn)
{
	struct flow *flow = qp->owner_route;
	uint16_t pkey = qp->port->pkeys[qp->attributes.pkey_index];

	if (!flow || flow->state != FLOW_DIRECT ||
	    flow->key != flow_key_make(adapter->description->index, qp->port->number, address->sl,
				       address->dlid, pkey, destination_qpn) ||
	    flow->generation != runtime_generation(adapter->runtime))
		return NULL;
	return flow;
}

/* The flow of a connection whose headers have not changed since the flow was looked up; NULL: it
 * was not looked up, or the flow has changed. */
static inline struct flow *known_flow(const struct process_runtime *runtime, const struct qp *qp)
{
	struct flow *flow = qp->owner_route;

	return likely(flow && flow == qp->header_cache.route && flow->state == FLOW_DIRECT &&
		      flow->generation == runtime_generation(runtime))
		       ? flow
		       : NULL;
}

/* The flow of a connection; looked up once for as long as the headers stay the same. */
static inline struct flow *connected_flow(const struct adapter *adapter, struct qp *qp)
{
	struct flow *flow = known_flow(adapter->runtime, qp);

	if (likely(flow))
		return flow;
	flow = direct_flow(adapter, qp, &qp->attributes.address, qp->attributes.destination_qpn);
	qp->header_cache.route = flow;
	return flow;
}

/* Whether this queue pair's packets may be sent without reading the clock, as far as the runtime
 * knows. */
static inline bool fast_path_is_open(const struct process_runtime *runtime, const struct qp *qp)
{
	return runtime_is_fast(runtime) && runtime_is_looked_after(runtime) &&
	       !list_is_linked(&qp->ready_link);
}

/* A record of this queue pair is in the ring: wakes the peer if it sleeps, and notes that the queue
 * pair's timer has to be set. */
static inline void short_send_posted(struct adapter *adapter, struct qp *qp, struct flow *flow)
{
	if (unlikely(ring_announce(&flow->channel->out)))
		doorbell_ring(flow->channel->doorbell);
	hca_remember_undated(&adapter->hca, qp);
	adapter->runtime->sends_through_softibd = false;
}

#endif
