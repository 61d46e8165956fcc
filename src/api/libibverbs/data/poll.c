/* SPDX-License-Identifier: Apache-2.0 */
/* Polling and arming a CQ, by ibv_poll_cq and by the extended readers. */
#include "api/libibverbs/objects/objects.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "api/libibverbs/objects/rd_objects.h"
#include "api/libibverbs/data/event_wait.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/operations.h"

/* A work completion is the beginning of ours. */
#define SAME_PLACE(ours, theirs)                                                                   \
	static_assert(offsetof(struct completion, ours) == offsetof(struct ibv_wc, theirs) &&      \
			      sizeof(((struct completion *)0)->ours) ==                            \
				      sizeof(((struct ibv_wc *)0)->theirs),                        \
		      "as in struct ibv_wc")
SAME_PLACE(wr_id, wr_id);
SAME_PLACE(status, status);
SAME_PLACE(opcode, opcode);
SAME_PLACE(vendor_error, vendor_err);
SAME_PLACE(byte_count, byte_len);
SAME_PLACE(immediate_or_rkey, invalidated_rkey);
SAME_PLACE(qpn, qp_num);
SAME_PLACE(source_qpn, src_qp);
SAME_PLACE(flags, wc_flags);
SAME_PLACE(pkey_index, pkey_index);
SAME_PLACE(slid, slid);
SAME_PLACE(sl, sl);
SAME_PLACE(path_bits, dlid_path_bits);

static inline void put_wc(const struct completion *completion, struct ibv_wc *ret_wc)
{
	completion_copy_words(ret_wc, completion, sizeof(*ret_wc));
}

/* Called with the lock held, after a poll that returns nothing. Returns whether to let others run.
 */
static bool count_idle_poll(struct verbs_cq *cq, bool has_progressed)
{
	uint32_t polls = __atomic_load_n(&cq->sharing.polls_before_yield, __ATOMIC_RELAXED);

	if (has_progressed) {
		cq->idle_polls = 0;
		return false;
	}
	/* Asked only when it may matter. */
	if (likely(++cq->idle_polls < polls / SHARE_OF_SOFTIBD))
		return false;

	bool needs_softibd = adapter_sends_through_softibd(cq->adapter);

	__atomic_store_n(&cq->sharing.needs_softibd, needs_softibd, __ATOMIC_RELAXED);
	if (needs_softibd)
		polls /= SHARE_OF_SOFTIBD;
	if (cq->idle_polls < polls)
		return false;
	cq->idle_polls = 0;
	return true;
}

/* There is nothing in the CQ. */
static inline int leave_idle_poll(struct verbs_cq *cq, bool has_progressed)
{
	bool should_yield = count_idle_poll(cq, has_progressed);

	adapter_unlock(cq->adapter);
	if (unlikely(should_yield))
		core_sharing_yield(cq);
	return 0;
}

int verbs_poll_cq(struct ibv_cq *public, int entry_count, struct ibv_wc *ret_completions)
{
	struct verbs_cq *cq = cq_of(public);
	struct completion_ring *ring = &cq->object->ring;
	int count = 0;

	adapter_lock(cq->adapter);
	if (ring->head == ring->tail) {
		bool has_progressed = adapter_poll(cq->adapter);

		if (ring->head == ring->tail)
			return leave_idle_poll(cq, has_progressed);
	}

	uint32_t head = ring->head, tail = ring->tail, mask = ring->slot_count - 1;

	for (; head != tail && count < entry_count; head++, count++)
		put_wc(&ring->slots[head & mask], &ret_completions[count]);
	ring->head = head;
	if (count) {
		cq->idle_polls = 0;
		if (unlikely(fault_injection_is_on))
			fault_injection_poll(cq, count, ret_completions);
	}
	adapter_unlock(cq->adapter);
	return count;
}

/* Only messages received have a context; the place is another's where tags are matched. */
static uint32_t completion_eecn(const struct completion *completion)
{
	bool is_message = completion->opcode == COMPLETED_RECEIVE ||
			  completion->opcode == COMPLETED_RECEIVE_WRITE_IMMEDIATE;

	return is_message ? completion->eecn : 0;
}

static int take_softib_completions(struct verbs_cq *cq, int entry_count,
				   struct softib_wc *ret_completions)
{
	int count = 0;

	adapter_lock(cq->adapter);
	for (; count < entry_count; count++) {
		const struct completion *completion = cq_first(cq->object);
		struct softib_wc *wc = &ret_completions[count];

		if (!completion)
			break;
		*wc = (struct softib_wc){0};
		put_wc(completion, &wc->wc);
		wc->eec_num = completion_eecn(completion);
		cq_advance(cq->object);
		if (unlikely(fault_injection_is_on))
			fault_injection_poll(cq, 1, &wc->wc);
	}
	if (count)
		cq->idle_polls = 0;
	adapter_unlock(cq->adapter);
	return count;
}

int softib_poll_cq(struct ibv_cq *public, int entry_count, struct softib_wc *ret_completions)
{
	int count = take_softib_completions(cq_of(public), entry_count, ret_completions);

	if (count || entry_count <= 0)
		return count;
	/* With no room for any, this only looks whether something comes. */
	(void)verbs_poll_cq(public, 0, NULL);
	return take_softib_completions(cq_of(public), entry_count, ret_completions);
}

/* SOFTIB_EVENTS=strict: only completions that are added after arming raise an event (vol 1,
 * 11.4.2.2). Adapters compare the consumer index of the arming doorbell with their producer index,
 * and raise the event at once for completions between the two; programs that poll, arm and then
 * wait rely on it. Others (perftest -e) take the event, arm, and only then poll the completion that
 * it was for: a second event for that completion would have them poll an empty CQ. So arming raises
 * the event for completions that came since the last event; arming once more and waiting
 * (ibv_get_cq_event) raise it for all. */
bool arming_is_strict(void)
{
	static int known = -1;
	int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (unlikely(answer < 0)) {
		const char *value = getenv("SOFTIB_EVENTS");

		answer = value && strcmp(value, "strict") == 0;
		__atomic_store_n(&known, answer, __ATOMIC_RELAXED);
	}
	return answer;
}

int verbs_req_notify_cq(struct ibv_cq *public, int solicited_only)
{
	struct verbs_cq *cq = cq_of(public);
	int fault = injected_fault(VERB_REQ_NOTIFY_CQ);
	bool is_armed_again;

	if (unlikely(fault))
		return verbs_result(fault);
	adapter_lock(cq->adapter);
	is_armed_again = cq->object->ring.armed != CQ_NOT_ARMED;
	cq_arm(cq->object, solicited_only ? CQ_ARMED_SOLICITED : CQ_ARMED_NEXT);
	if (!arming_is_strict())
		(is_armed_again ? cq_announce_present : cq_announce_new)(cq->object);
	/* After arming: what waits in a ring has not been added yet, and programs that poll before
	 * they arm, not after, would never hear of it where arming is strict. */
	adapter_progress(cq->adapter, adapter_now(cq->adapter));
	if (!cq->cq.channel || !event_wait_will_look((struct verbs_channel *)cq->cq.channel))
		adapter_expect_silence(cq->adapter);
	adapter_unlock(cq->adapter);
	return 0;
}

static struct verbs_cq *extended(struct ibv_cq_ex *cq)
{
	return (struct verbs_cq *)cq;
}

static int take_one(struct verbs_cq *cq)
{
	bool should_yield = false;
	int error = 0;

	adapter_lock(cq->adapter);
	if (!cq_first(cq->object)) {
		bool has_progressed = adapter_poll(cq->adapter);

		if (!cq_first(cq->object))
			should_yield = count_idle_poll(cq, has_progressed);
	}

	const struct completion *completion = cq_first(cq->object);

	if (completion) {
		cq->current = *completion;
		cq->current.timestamp_ns =
			completion_clock_stamp(&cq->clock, completion->timestamp_ns);
		cq->cq.status = (enum ibv_wc_status)completion->status;
		cq->cq.wr_id = completion->wr_id;
		cq->idle_polls = 0;
		cq_advance(cq->object);
		if (unlikely(fault_injection_is_on))
			(void)fault_injection_breaks(cq, cq->current.qpn, cq->current.opcode,
						     &cq->cq.status);
	} else {
		error = ENOENT;
	}
	adapter_unlock(cq->adapter);
	if (unlikely(should_yield))
		core_sharing_yield(cq);
	return error;
}

/* The CQ belongs to the caller until end_poll, unless nothing was there. */
static int start_poll(struct ibv_cq_ex *public, struct ibv_poll_cq_attr *attr)
{
	struct verbs_cq *cq = extended(public);

	if (unlikely(attr->comp_mask))
		return EINVAL;
	if (!cq->is_single_threaded)
		pthread_mutex_lock(&cq->polling);

	int error = take_one(cq);

	if (error && !cq->is_single_threaded)
		pthread_mutex_unlock(&cq->polling);
	return error;
}

static int next_poll(struct ibv_cq_ex *public)
{
	return take_one(extended(public));
}

static void end_poll(struct ibv_cq_ex *public)
{
	struct verbs_cq *cq = extended(public);

	if (!cq->is_single_threaded)
		pthread_mutex_unlock(&cq->polling);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return (enum ibv_wc_opcode)extended(cq)->current.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.vendor_error;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.byte_count;
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.immediate_or_rkey;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.source_qpn;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.flags;
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
	return extended(cq)->current.timestamp_ns;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *public)
{
	struct verbs_cq *cq = extended(public);
	struct wall_reading reading = {.before = adapter_now(cq->adapter)};
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	reading.after = adapter_now(cq->adapter);
	reading.wall = SECONDS(wall.tv_sec) + (time_ns)wall.tv_nsec;
	return completion_clock_wall(&cq->clock, cq->current.timestamp_ns, reading);
}

static uint16_t read_cvlan(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint32_t read_flow_tag(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static void read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *ret_info)
{
	const struct completion *completion = &extended(cq)->current;

	*ret_info = (struct ibv_wc_tm_info){
		.tag = completion->tag,
		.priv = be32toh(completion->tag_context),
	};
}

void verbs_set_readers(struct ibv_cq_ex *cq)
{
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_qp_num = read_qp_num;
	cq->read_src_qp = read_src_qp;
	cq->read_wc_flags = read_wc_flags;
	cq->read_slid = read_slid;
	cq->read_sl = read_sl;
	cq->read_dlid_path_bits = read_dlid_path_bits;
	cq->read_completion_ts = read_completion_ts;
	cq->read_cvlan = read_cvlan;
	cq->read_flow_tag = read_flow_tag;
	cq->read_tm_info = read_tm_info;
	cq->read_completion_wallclock_ns = read_completion_wallclock_ns;
}
