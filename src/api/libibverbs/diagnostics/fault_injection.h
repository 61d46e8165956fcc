/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that fail and completions whose status is another one on purpose ("softib fault add HOST verb=... completion=...").
 *
 * Most programs never have any: they pay one branch on fault_injection_is_on where a call begins.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_FAULT_INJECTION_H
#define SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_FAULT_INJECTION_H

#include "api/libibverbs/objects/objects.h"
#include "host/verb_faults.h"

extern __attribute__((visibility("hidden"))) bool fault_injection_is_on;

/* softibd says what is to fail from now on: struct hca_owner's fault. */
void fault_injection_receive(void *context, const struct verb_fault *fault);

/* Whether this call is to fail: 0 or -errno. */
MUST_USE int fault_injection_call(enum verb_call call);
static inline int injected_fault(enum verb_call call)
{
	return unlikely(fault_injection_is_on) ? fault_injection_call(call) : 0;
}

/* Whether a successful completion is to have another status. Sends can have statuses that receives can't. */
enum completion_side { COMPLETION_OF_SEND, COMPLETION_OF_RECEIVE };

/* Whether a completion that was just taken from the CQ gets another status; its queue pair is in Error then. The adapter's
 * lock is held; only called while fault_injection_is_on. */
bool fault_injection_breaks(struct verbs_cq *cq, uint32_t qpn, unsigned opcode,
			    enum ibv_wc_status *status);
/* The same for what a poll returns. */
void fault_injection_poll(struct verbs_cq *cq, int count, struct ibv_wc *completions);

#endif
