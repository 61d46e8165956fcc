/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injected verb faults: calls that fail and completions that get an error status ("softib fault add
 * HOST verb=... completion=...").
 *
 * Programs without faults pay one branch on fault_injection_is_on per call.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_FAULT_INJECTION_H
#define SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_FAULT_INJECTION_H

#include "api/libibverbs/objects/objects.h"
#include "ipc/verb_faults.h"

extern __attribute__((visibility("hidden"))) bool fault_injection_is_on;

/* hca_owner.fault: softibd adds a fault, or clears all of them. */
void fault_injection_receive(void *context, const struct verb_fault *fault);

/* 0, or the -errno that this call must fail with. */
MUST_USE int fault_injection_call(enum verb_call call);
static inline int injected_fault(enum verb_call call)
{
	return unlikely(fault_injection_is_on) ? fault_injection_call(call) : 0;
}

/* Sends can complete with statuses that receives cannot. */
enum completion_side { COMPLETION_OF_SEND, COMPLETION_OF_RECEIVE };

/* Whether a completion that was just taken from the CQ gets an error status. If it does, its QP is
 * moved to Error. Called with the adapter's lock held, and only while fault_injection_is_on. */
bool fault_injection_breaks(struct verbs_cq *cq, uint32_t qpn, unsigned opcode,
			    enum ibv_wc_status *status);
/* Applies fault_injection_breaks() to the completions that a poll returns. */
void fault_injection_poll(struct verbs_cq *cq, int count, struct ibv_wc *completions);

#endif
