/* SPDX-License-Identifier: Apache-2.0 */
/* Injected verb faults: which call fails or which completion gets an error status. */
#include "api/libibverbs/diagnostics/fault_injection.h"

#include "base/random.h"
#include "net/hca/injected_event.h"

/* clang-format off */
/* Statuses that only a send can complete with: the peer refused the request or did not answer. */
static const bool is_of_sends[COMPLETION_STATUS_COUNT] = {
	[6] = true, [7] = true, [9] = true, [10] = true, [11] = true, [12] = true, [13] = true, [15] = true, [16] = true,
};
/* clang-format on */

bool fault_injection_is_on;

struct active_fault {
	struct verb_fault fault;
	struct random random;
	uint64_t seen_count;
	uint64_t done_count;
};

/* Any thread may call, without an adapter's lock. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct active_fault active[VERB_FAULTS_MAX];
static unsigned active_count;

static bool makes_sense(const struct verb_fault *fault)
{
	switch ((enum verb_fault_kind)fault->kind) {
	case VERB_FAULT_CALL:
		return fault->call < VERB_CALL_COUNT && fault->error > 0;
	case VERB_FAULT_COMPLETION:
		return fault->status > 0 && fault->status < COMPLETION_STATUS_COUNT;
	case VERB_FAULT_NONE:
		return true;
	case VERB_FAULT_EVENT: /* the adapter raises the event, not the verbs */
		break;
	}
	return false;
}

static void keep(const struct verb_fault *fault)
{
	pthread_mutex_lock(&mutex);
	if (fault->kind == VERB_FAULT_NONE)
		active_count = 0;
	else if (active_count < VERB_FAULTS_MAX)
		active[active_count++] = (struct active_fault){
			.fault = *fault, .random = random_seeded(fault->seed)};
	__atomic_store_n(&fault_injection_is_on, active_count != 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&mutex);
}

void fault_injection_receive(void *context, const struct verb_fault *fault)
{
	(void)context;
	if (makes_sense(fault))
		keep(fault);
}

static bool is_due(struct active_fault *candidate)
{
	const struct verb_fault *fault = &candidate->fault;

	if (candidate->seen_count++ < fault->skip_count)
		return false;
	if (fault->times && candidate->done_count >= fault->times)
		return false;
	if ((random_next(&candidate->random) >> 32) >= fault->chance)
		return false;
	candidate->done_count++;
	return true;
}

int fault_injection_call(enum verb_call call)
{
	int error = 0;

	pthread_mutex_lock(&mutex);
	for (unsigned index = 0; index < active_count && !error; index++) {
		struct active_fault *candidate = &active[index];

		if (candidate->fault.kind == VERB_FAULT_CALL && candidate->fault.call == call &&
		    is_due(candidate))
			error = -candidate->fault.error;
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

static bool change_completion(enum completion_side side, uint32_t *ret_status)
{
	bool is_found = false;

	pthread_mutex_lock(&mutex);
	for (unsigned index = 0; index < active_count && !is_found; index++) {
		struct active_fault *candidate = &active[index];
		const struct verb_fault *fault = &candidate->fault;

		if (fault->kind != VERB_FAULT_COMPLETION ||
		    (side == COMPLETION_OF_RECEIVE && is_of_sends[fault->status]))
			continue;
		is_found = is_due(candidate);
		if (is_found)
			*ret_status = fault->status;
	}
	pthread_mutex_unlock(&mutex);
	return is_found;
}

bool fault_injection_breaks(struct verbs_cq *cq, uint32_t qpn, unsigned opcode,
			    enum ibv_wc_status *status)
{
	enum completion_side side =
		opcode & IBV_WC_RECV ? COMPLETION_OF_RECEIVE : COMPLETION_OF_SEND;
	uint32_t injected;

	if (*status != IBV_WC_SUCCESS || !change_completion(side, &injected))
		return false;
	*status = (enum ibv_wc_status)injected;
	hca_break_qp(adapter_hca(cq->adapter), adapter_now(cq->adapter), qpn);
	return true;
}

void fault_injection_poll(struct verbs_cq *cq, int count, struct ibv_wc *completions)
{
	for (int index = 0; index < count; index++)
		if (fault_injection_breaks(cq, completions[index].qp_num, completions[index].opcode,
					   &completions[index].status))
			completions[index].vendor_err = 0;
}
