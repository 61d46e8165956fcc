/* SPDX-License-Identifier: Apache-2.0 */
/* Where the packets of the express lane go (runtime/fast/short_send.h): flows that are known
 * already; and whether they may, and did. */
#ifndef SOFTIB_RUNTIME_FAST_FLOW_CACHE_H
#define SOFTIB_RUNTIME_FAST_FLOW_CACHE_H

#include "runtime/runtime_state.h"
#include "ipc/doorbell.h"
#include "net/transport/addressing.h"

/* For completions, whose time is only asked for where the clock is read each time. */
static inline time_ns fast_path_time(const struct process_runtime *runtime)
{
	return unlikely(runtime->wants_time) ? runtime_now() : runtime->last_now;
}

/* The flow that the queue pair used last, if its packets still go that way and past the fabric. */
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

/* Of a connection whose headers have stayed the same since it was looked up; NULL: it was not, or
 * the way has changed. */
static inline struct flow *known_flow(const struct process_runtime *runtime, const struct qp *qp)
{
	struct flow *flow = qp->owner_route;

	return likely(flow && flow == qp->header_cache.route && flow->state == FLOW_DIRECT &&
		      flow->generation == runtime_generation(runtime))
		       ? flow
		       : NULL;
}

/* Of a connection: looked up once for as long as its headers stay the same. */
static inline struct flow *connected_flow(const struct adapter *adapter, struct qp *qp)
{
	struct flow *flow = known_flow(adapter->runtime, qp);

	if (likely(flow))
		return flow;
	flow = direct_flow(adapter, qp, &qp->attributes.address, qp->attributes.destination_qpn);
	qp->header_cache.route = flow;
	return flow;
}

/* Whether this queue pair's packets may be sent without the clock, as far as its owner knows. */
static inline bool fast_path_is_open(const struct process_runtime *runtime, const struct qp *qp)
{
	return runtime_is_fast(runtime) && runtime_is_looked_after(runtime) &&
	       !list_is_linked(&qp->ready_link);
}

/* A record of this queue pair's is in the ring, and the first that was not shown. */
static inline void short_send_posted(struct adapter *adapter, struct qp *qp, struct flow *flow)
{
	if (unlikely(ring_announce(&flow->channel->out)))
		doorbell_ring(flow->channel->doorbell);
	hca_remember_undated(&adapter->hca, qp);
	adapter->runtime->sends_through_softibd = false;
}

#endif
