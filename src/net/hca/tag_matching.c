/* SPDX-License-Identifier: Apache-2.0 */
/* Tag matching: the list of tagged buffers, and how arriving messages use it. */
#include "net/hca/tag_matching.h"

#include <errno.h>
#include <stdlib.h>
#include "net/hca/hca.h"
#include "wire/packet.h"

enum { HANDLE_INDEX_BITS = 16 };

static_assert(TAGS_MAX < 1 << HANDLE_INDEX_BITS, "a handle has room for an index from 1");

int srq_match_tags(struct srq *srq, uint32_t tags_max, struct cq *cq)
{
	if (tags_max == 0 || tags_max > TAGS_MAX)
		return -EINVAL;

	struct tag_list *tags = calloc(1, sizeof(*tags) + tags_max * sizeof(*tags->entries));

	if (!tags)
		return -ENOMEM;
	tags->tags_max = tags_max;
	list_init(&tags->free);
	list_init(&tags->posted);
	list_init(&tags->held);
	for (uint32_t i = 0; i < tags_max; i++)
		list_append(&tags->free, &tags->entries[i].link);
	srq->tags = tags;
	srq->cq = cq;
	srq->queue.matches_tags = true;
	cq->users++;
	return 0;
}

void srq_stop_matching(struct srq *srq)
{
	srq->cq->users--;
	free(srq->tags);
	srq->tags = NULL;
}

static void move_to(struct tag_entry *entry, enum tag_state state, struct list *list)
{
	entry->state = (uint8_t)state;
	if (list_is_linked(&entry->link))
		list_remove(&entry->link);
	if (list)
		list_append(list, &entry->link);
}

static void give_back(struct tag_list *tags, struct tag_entry *entry)
{
	entry->generation++;
	move_to(entry, TAG_FREE, &tags->free);
}

static bool is_in_sync(const struct tag_list *tags)
{
	return tags->reported_count == tags->unexpected_count;
}

static void hear_report(struct tag_list *tags, uint32_t unexpected_count)
{
	tags->reported_count = unexpected_count;
	if (!is_in_sync(tags))
		return;
	for (struct list *link = list_first(&tags->held); link; link = list_first(&tags->held))
		move_to(container_of(link, struct tag_entry, link), TAG_POSTED, &tags->posted);
}

static uint32_t handle_of(const struct tag_list *tags, const struct tag_entry *entry)
{
	return (uint32_t)(entry - tags->entries + 1) | (uint32_t)entry->generation
							       << HANDLE_INDEX_BITS;
}

static int add(struct tag_list *tags, const struct tag_operation *operation, uint32_t *ret_handle)
{
	struct list *link = list_first(&tags->free);

	if (operation->sge_count > TAG_SGES_MAX)
		return -EINVAL;
	if (!link)
		return -ENOMEM;

	struct tag_entry *entry = container_of(link, struct tag_entry, link);

	entry->tag = operation->tag;
	entry->mask = operation->mask;
	entry->wr_id = operation->receive_wr_id;
	entry->sge_count = operation->sge_count;
	entry->sge = operation->sge;
	if (is_in_sync(tags))
		move_to(entry, TAG_POSTED, &tags->posted);
	else
		move_to(entry, TAG_HELD, &tags->held);
	*ret_handle = handle_of(tags, entry);
	return 0;
}

/* A message may have used the buffer before the consumer could know. That is not an invalid
 * argument; the completion reports it. */
static int remove_tag(struct tag_list *tags, uint32_t handle, enum completion_status *ret_status)
{
	uint32_t number = handle & ((1u << HANDLE_INDEX_BITS) - 1);

	if (number == 0 || number > tags->tags_max)
		return -EINVAL;

	struct tag_entry *entry = &tags->entries[number - 1];
	bool is_listed = entry->state == TAG_POSTED || entry->state == TAG_HELD;

	if (handle_of(tags, entry) != handle || !is_listed)
		*ret_status = COMPLETION_TAG_MATCHING;
	else
		give_back(tags, entry);
	return 0;
}

int srq_post_tag(struct srq *srq, time_ns now, const struct tag_operation *operation,
		 uint32_t *ret_handle)
{
	static const uint8_t opcodes[] = {
		[TAG_ADD] = COMPLETED_TAG_ADD,
		[TAG_DELETE] = COMPLETED_TAG_DELETE,
		[TAG_SYNC] = COMPLETED_TAG_SYNC,
	};
	struct tag_list *tags = srq->tags;
	enum completion_status status = COMPLETION_SUCCESS;
	int error = 0;

	if (!tags || (unsigned)operation->kind > TAG_SYNC)
		return -EINVAL;
	if (operation->kind == TAG_SYNC || operation->reports_unexpected)
		hear_report(tags, operation->unexpected_count);
	if (operation->kind == TAG_ADD)
		error = add(tags, operation, ret_handle);
	else if (operation->kind == TAG_DELETE)
		error = remove_tag(tags, operation->handle, &status);
	if (error || (!operation->is_signaled && status == COMPLETION_SUCCESS))
		return error;

	/* A CQ that overflows raises its own event. */
	cq_push(srq->cq, &(struct completion){
				 .wr_id = operation->wr_id,
				 .status = (uint8_t)status,
				 .opcode = opcodes[operation->kind],
				 .flags = is_in_sync(tags) ? 0 : COMPLETION_NEEDS_TAG_SYNC,
				 .timestamp_ns = now,
			 });
	return 0;
}

static struct tag_entry *find(const struct tag_list *tags, uint64_t tag)
{
	for (struct list *link = tags->posted.next; link != &tags->posted; link = link->next) {
		struct tag_entry *entry = container_of(link, struct tag_entry, link);

		if (!((entry->tag ^ tag) & entry->mask))
			return entry;
	}
	return NULL;
}

static struct tag_entry *match(const struct tag_list *tags, const struct packet *packet,
			       struct tag_choice *choice)
{
	enum { BOTH = TAG_HEADER_BYTES + RENDEZVOUS_HEADER_BYTES };
	const struct opcode_info *info = opcode_info(packet->bth.opcode);
	size_t byte_count = packet->payload.byte_count;
	uint8_t bytes[BOTH];

	choice->header = (struct tag_header){0};
	if (info->kind != OPCODE_KIND_SEND || byte_count < TAG_HEADER_BYTES)
		return NULL;
	payload_copy(&packet->payload, 0, byte_count < BOTH ? byte_count : BOTH, bytes);
	choice->header = tag_header_decode(bytes);
	if (choice->header.message == TAG_EAGER)
		return find(tags, choice->header.tag);
	/* The announcement must be one short packet. */
	if (choice->header.message != TAG_RENDEZVOUS || byte_count < BOTH ||
	    byte_count > TAG_RENDEZVOUS_BYTES_MAX || !info->ends_message)
		return NULL;
	choice->rendezvous = rendezvous_header_decode(bytes + TAG_HEADER_BYTES);
	return find(tags, choice->header.tag);
}

static uint32_t entry_bytes(const struct tag_entry *entry)
{
	return entry->sge_count ? entry->sge.byte_count : 0;
}

/* Whether the consumer must carry out the rendezvous itself, from the headers in the buffer
 * (rdma-core's tag_matching.md): the buffer is too small, the send queue is full of the consumer's
 * own requests, or the connection can't send READs. */
static bool is_for_consumer(const struct qp *qp, const struct tag_choice *choice)
{
	const struct send_queue *queue = &qp->requester.queue;

	return choice->rendezvous.byte_count > entry_bytes(choice->entry) || qp->state != QP_RTS ||
	       qp->attributes.initiator_depth == 0 ||
	       queue->tail - queue->head + 2 > queue->requests_max;
}

/* Bytes of the message that are not written to the tagged buffer. An announcement has no data, so
 * none of it is written, unless the consumer needs its headers. */
static uint32_t header_bytes(const struct qp *qp, const struct tag_choice *choice,
			     uint32_t message_bytes)
{
	if (choice->header.message == TAG_EAGER)
		return TAG_HEADER_BYTES;
	if (is_for_consumer(qp, choice) && message_bytes <= entry_bytes(choice->entry))
		return 0;
	return message_bytes;
}

bool tag_matching_choose(struct qp *qp, const struct packet *packet, uint32_t *ret_header_bytes)
{
	struct qp_object *object = container_of(qp, struct qp_object, qp);
	struct tag_choice *choice = &object->tag_choice;
	struct receive_slot *taken = qp->responder.taken;

	choice->entry = match(object->srq->tags, packet, choice);
	if (choice->entry) {
		taken->wr_id = choice->entry->wr_id;
		taken->sge_count = choice->entry->sge_count;
		taken->sges[0] = choice->entry->sge;
		*ret_header_bytes = header_bytes(qp, choice, (uint32_t)packet->payload.byte_count);
		return true;
	}

	const struct receive_slot *slot = receive_queue_first(qp->receive_queue);

	*ret_header_bytes = 0;
	if (slot)
		memcpy(taken, slot, receive_slot_bytes(slot->sge_count));
	return slot;
}

void tag_matching_take(struct qp_object *object)
{
	struct tag_entry *entry = object->tag_choice.entry;

	if (!entry)
		object->srq->queue.head++;
	else if (object->tag_choice.header.message == TAG_RENDEZVOUS)
		move_to(entry, TAG_MATCHED, NULL);
	else
		give_back(object->srq->tags, entry);
}

static int post_own(struct qp *qp, time_ns now, struct send_request *request)
{
	struct send_queue *queue = &qp->requester.queue;
	int error = qp_post_send(qp, now, request);

	if (!error)
		send_queue_slot(queue, queue->tail - 1)->flags |= SEND_BY_ADAPTER;
	return error;
}

/* Reads the announced data into the tagged buffer, and then tells the sender that it may reuse its
 * buffer. */
static enum completion_status start_rendezvous(struct qp *qp, time_ns now,
					       const struct tag_choice *choice)
{
	struct tag_entry *entry = choice->entry;
	const struct tag_header finished = {
		.message = TAG_FINISHED,
		.context = choice->header.context,
		.tag = choice->header.tag,
	};
	uint8_t finished_bytes[TAG_HEADER_BYTES];
	struct sge target = entry->sge;
	const struct sge source = {(uintptr_t)finished_bytes, sizeof(finished_bytes), 0};
	struct send_request read = {
		.wr_id = (uintptr_t)entry,
		.opcode = SEND_RDMA_READ,
		.remote_key = choice->rendezvous.rkey,
		.remote_address = choice->rendezvous.address,
		.sge_count = entry->sge_count,
		.sges = &target,
	};
	/* Fenced: the sender must not learn that its buffer is free while the READ is in progress.
	 */
	struct send_request tell = {
		.opcode = SEND_SEND,
		.flags = SEND_INLINE | SEND_FENCE,
		.sge_count = 1,
		.sges = &source,
	};

	if (is_for_consumer(qp, choice))
		return COMPLETION_RENDEZVOUS_INCOMPLETE;
	target.byte_count = choice->rendezvous.byte_count;
	tag_header_encode(&finished, finished_bytes);
	if (post_own(qp, now, &read))
		return COMPLETION_RENDEZVOUS_INCOMPLETE;
	move_to(entry, TAG_READING, NULL);
	entry->reader_qpn = qp->qpn;
	/* There was room for two requests, and this one passes the checks that the READ has just
	 * passed. */
	int error = post_own(qp, now, &tell);

	assert(error == 0);
	(void)error;
	return COMPLETION_SUCCESS;
}

static void complete_match(struct qp_object *object, struct completion *completion)
{
	const struct tag_choice *choice = &object->tag_choice;

	completion->tag = choice->header.tag;
	completion->tag_context = choice->header.context;
	completion->flags |= COMPLETION_TAG_MATCHED;
	if (choice->header.message == TAG_EAGER) {
		completion->flags |= COMPLETION_TAG_DATA_VALID;
		return;
	}
	completion->status =
		(uint8_t)start_rendezvous(&object->qp, completion->timestamp_ns, choice);
	if (completion->status == COMPLETION_SUCCESS)
		completion->byte_count = choice->rendezvous.byte_count;
}

bool tag_matching_complete(struct qp_object *object, const struct completion *completion)
{
	struct srq *srq = object->srq;
	struct tag_choice *choice = &object->tag_choice;
	struct completion tagged = *completion;
	bool has_tag =
		choice->header.message == TAG_EAGER || choice->header.message == TAG_RENDEZVOUS;

	if (completion->opcode == COMPLETED_RECEIVE) {
		tagged.opcode = has_tag ? COMPLETED_TAG_RECEIVE : COMPLETED_TAG_NONE;
		if (completion->status == COMPLETION_SUCCESS && choice->entry)
			complete_match(object, &tagged);
		else if (completion->status == COMPLETION_SUCCESS && has_tag)
			srq->tags->unexpected_count++;
	}
	if (choice->entry && choice->entry->state == TAG_MATCHED)
		give_back(srq->tags, choice->entry);
	*choice = (struct tag_choice){0};
	return cq_push(srq->cq, &tagged);
}

bool tag_matching_read_done(struct qp *qp, time_ns now, uint64_t wr_id,
			    enum completion_status status)
{
	struct srq *srq = container_of(qp, struct qp_object, qp)->srq;
	struct tag_entry *entry = (struct tag_entry *)(uintptr_t)wr_id;

	/* This was the message to the sender. If it fails, the connection fails too. */
	if (!entry)
		return true;

	const struct completion completion = {
		.wr_id = entry->wr_id,
		.status = (uint8_t)status,
		.opcode = COMPLETED_TAG_RECEIVE,
		.flags = status == COMPLETION_SUCCESS ? COMPLETION_TAG_DATA_VALID : 0,
		.qpn = qp->qpn,
		.source_qpn = qp->attributes.destination_qpn,
		.timestamp_ns = now,
	};

	give_back(srq->tags, entry);
	return cq_push(srq->cq, &completion);
}

void tag_matching_forget(struct qp_object *object)
{
	struct tag_list *tags = object->srq->tags;

	for (uint32_t i = 0; i < tags->tags_max; i++) {
		struct tag_entry *entry = &tags->entries[i];

		if (entry->state == TAG_READING && entry->reader_qpn == object->qp.qpn)
			give_back(tags, entry);
	}
	object->tag_choice = (struct tag_choice){0};
}
