/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues: a ring, its arming and its overflow (vol 1, chapters 10, 11; transport 7.6).
 */
#include "net/hca/hca.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t slots_for(uint32_t cqe_count)
{
	uint32_t slot_count = 1;

	while (slot_count < cqe_count)
		slot_count *= 2;
	return slot_count;
}

int cq_create(struct hca *hca, uint32_t cqe_count, void *context, struct cq **ret_cq)
{
	if (cqe_count == 0 || cqe_count > hca->limits.cqes_max)
		return -EINVAL;
	if (hca->cq_count == hca->limits.cq_count_max ||
	    timer_queue_reserve(&hca->cq_timers, hca->cq_count + 1))
		return -ENOMEM;

	struct cq *cq = calloc(1, sizeof(*cq));
	uint32_t slot_count = slots_for(cqe_count);
	struct completion *slots = calloc(slot_count, sizeof(*slots));

	if (!cq || !slots) {
		free(slots);
		free(cq);
		return -ENOMEM;
	}
	*cq = (struct cq){
		.hca = hca,
		.context = context,
		.handle = hca->next_handle++,
		.ring = {.slots = slots, .slot_count = slot_count, .capacity = slot_count},
	};
	hca->cq_count++;
	*ret_cq = cq;
	return 0;
}

static void release_slots(struct cq *cq)
{
	if (!cq->is_external)
		free(cq->ring.slots);
	cq->is_external = false;
}

void cq_use_memory(struct cq *cq, void *memory)
{
	assert(cq->ring.head == cq->ring.tail);
	release_slots(cq);
	cq->ring.slots = memory;
	cq->is_external = true;
}

int cq_resize(struct cq *cq, uint32_t cqe_count)
{
	uint32_t unread_count = cq->ring.tail - cq->ring.head;

	if (cqe_count == 0 || cqe_count > cq->hca->limits.cqes_max || cqe_count < unread_count)
		return -EINVAL;

	uint32_t slot_count = slots_for(cqe_count);
	struct completion *slots = calloc(slot_count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < unread_count; i++)
		slots[i] = cq->ring.slots[(cq->ring.head + i) & (cq->ring.slot_count - 1)];
	release_slots(cq);
	cq->ring.slots = slots;
	cq->ring.slot_count = slot_count;
	cq->ring.capacity = slot_count;
	cq->ring.head = 0;
	cq->ring.tail = unread_count;
	cq->announced = 0;
	return 0;
}

int cq_destroy(struct cq *cq)
{
	if (cq->users)
		return -EBUSY;
	timer_queue_cancel(&cq->hca->cq_timers, &cq->moderation_timer);
	cq->hca->cq_count--;
	release_slots(cq);
	free(cq);
	return 0;
}

/* Arming can only be raised; an event clears it (transport 7.6). */
void cq_arm(struct cq *cq, enum cq_arming arming)
{
	if (arming > cq->ring.armed)
		cq->ring.armed = (uint8_t)arming;
}

void cq_moderate(struct cq *cq, uint16_t completion_count, time_ns period)
{
	cq->moderation_count = completion_count;
	cq->moderation_period = period;
}

static void announce(struct cq *cq)
{
	cq->ring.armed = CQ_NOT_ARMED;
	cq->unannounced_count = 0;
	cq->announced = cq->ring.tail;
	if (timer_is_armed(&cq->moderation_timer))
		timer_queue_cancel(&cq->hca->cq_timers, &cq->moderation_timer);
	cq->hca->owner.cq_notify(cq->hca->owner.context, cq);
}

void cq_expire(struct cq *cq)
{
	if (cq->unannounced_count)
		announce(cq);
}

static void announce_later(struct cq *cq, time_ns now)
{
	cq->unannounced_count++;
	if (cq->moderation_count && cq->unannounced_count >= cq->moderation_count)
		announce(cq);
	else if (cq->moderation_period && !timer_is_armed(&cq->moderation_timer))
		timer_queue_arm(&cq->hca->cq_timers, &cq->moderation_timer,
				now + cq->moderation_period);
}

static bool counts_for_arming(const struct cq *cq, const struct completion *completion)
{
	if (cq->ring.armed == CQ_ARMED_NEXT)
		return true;
	return completion->is_solicited || completion->status != COMPLETION_SUCCESS;
}

static void announce_from(struct cq *cq, uint32_t first)
{
	for (uint32_t position = first; position != cq->ring.tail; position++) {
		if (cq->ring.armed == CQ_NOT_ARMED)
			return;
		if (counts_for_arming(cq, &cq->ring.slots[position & (cq->ring.slot_count - 1)]))
			announce(cq);
	}
}

void cq_announce_new(struct cq *cq)
{
	uint32_t unread = cq->ring.tail - cq->ring.head, since = cq->ring.tail - cq->announced;

	announce_from(cq, since < unread ? cq->announced : cq->ring.head);
}

void cq_announce_present(struct cq *cq)
{
	announce_from(cq, cq->ring.head);
}

static void overflow(struct cq *cq)
{
	struct hca *hca = cq->hca;

	if (cq->ring.has_overflowed)
		return;
	cq->ring.has_overflowed = true;
	hca->owner.event(hca->owner.context,
			 &(struct hca_event){.type = HCA_EVENT_CQ_ERROR, .cq = cq});
}

bool cq_push(struct cq *cq, const struct completion *completion)
{
	if (unlikely(cq->ring.tail - cq->ring.head >= cq->ring.capacity ||
		     cq->ring.has_overflowed)) {
		overflow(cq);
		return false;
	}
	cq->ring.slots[cq->ring.tail++ & (cq->ring.slot_count - 1)] = *completion;
	if (unlikely(cq->ring.armed != CQ_NOT_ARMED) && counts_for_arming(cq, completion)) {
		if (likely(!cq->moderation_period && cq->moderation_count <= 1))
			announce(cq);
		else
			announce_later(cq, completion->timestamp_ns);
	}
	return true;
}

void cq_forget(struct cq *cq, uint32_t qpn)
{
	uint32_t kept = cq->ring.head;

	for (uint32_t position = cq->ring.head; position != cq->ring.tail; position++) {
		const struct completion *slot =
			&cq->ring.slots[position & (cq->ring.slot_count - 1)];

		if (slot->qpn != qpn)
			cq->ring.slots[kept++ & (cq->ring.slot_count - 1)] = *slot;
	}
	cq->ring.tail = kept;
	/* Positions have moved, so completions may be announced twice. A surplus event does no
	 * harm. */
	cq->announced = cq->ring.head;
}
