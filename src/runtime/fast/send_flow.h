/* SPDX-License-Identifier: Apache-2.0 */
/* The flow of a queue pair's next SEND or ACK, which its send template remembers
 * (net/transport/fast/templates.h); and the clock and the timers of the fast path. */
#ifndef SOFTIB_RUNTIME_FAST_SEND_FLOW_H
#define SOFTIB_RUNTIME_FAST_SEND_FLOW_H

#include <assert.h>
#include "ipc/doorbell.h"
#include "net/transport/fast/templates.h"
#include "runtime/runtime_state.h"

static_assert(TEMPLATE_QPN_MASK == (1 << FLOW_QPN_BITS) - 1, "a template leads to one flow");

/* The time for completions. The clock is read only if a completion queue shows timestamps. */
static inline time_ns fast_path_time(const struct process_runtime *runtime)
{
	return unlikely(runtime->wants_time) ? runtime_now() : runtime->last_now;
}

/* Looks up the flow of the send template, which is valid; NULL: there is none yet. */
struct flow *send_flow_find(struct adapter *adapter, struct qp *qp);

/* The flow of the send template; NULL: there is none yet. */
static inline struct flow *send_flow(struct adapter *adapter, struct qp *qp)
{
	struct flow *flow = qp->templates->send.route;

	return likely(flow) ? flow : send_flow_find(adapter, qp);
}

/* Whether the flow is offloaded, by softibd's last answer. */
static inline bool flow_is_direct(const struct process_runtime *runtime, const struct flow *flow)
{
	return likely(flow && flow->state == FLOW_DIRECT &&
		      flow->generation == runtime_generation(runtime));
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
