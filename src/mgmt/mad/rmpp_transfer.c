/* SPDX-License-Identifier: Apache-2.0 */
/* One RMPP transfer of a QP: lookup by peer, queues, timers, and keeping it after its end. */
#include "mgmt/mad/rmpp_transfer.h"

#include <stdlib.h>
#include "base/bytes.h"

static struct list *bucket_of(struct rmpp *rmpp, uint64_t transaction_id, uint16_t lid)
{
	uint64_t mixed = (transaction_id ^ (uint64_t)lid << 48) * 0x9e3779b97f4a7c15u;

	return &rmpp->buckets[mixed >> 58];
}

static_assert(RMPP_BUCKETS == 1 << (64 - 58), "six bits choose the bucket");

void rmpp_transfer_free(struct rmpp *rmpp, struct rmpp_transfer *transfer)
{
	timer_queue_cancel(&rmpp->timers, &transfer->timer);
	list_remove(&transfer->in_bucket);
	list_remove(&transfer->in_queue);
	list_remove(&transfer->in_kept);
	if (transfer->direction == RMPP_RECEIVES) {
		rmpp->received_bytes -= transfer->receiver.byte_capacity;
		rmpp_receiver_release(&transfer->receiver);
	}
	free(transfer->bytes);
	free(transfer);
	rmpp->transfer_count--;
}

static bool is_waiting_to_be_told(const struct rmpp_transfer *transfer)
{
	return transfer->direction == RMPP_SENDS && !transfer->is_told &&
	       !transfer->sender.owes_opening &&
	       (transfer->sender.state == RMPP_SENDER_DONE ||
		transfer->sender.state == RMPP_SENDER_FAILED);
}

/* Frees the oldest finished transfer, which is kept only to answer retransmissions. */
static void make_way(struct rmpp *rmpp)
{
	list_for_each (link, &rmpp->kept) {
		struct rmpp_transfer *transfer = container_of(link, struct rmpp_transfer, in_kept);

		if (is_waiting_to_be_told(transfer))
			continue;
		rmpp_transfer_free(rmpp, transfer);
		return;
	}
}

struct rmpp_transfer *rmpp_transfer_new(struct rmpp *rmpp, enum rmpp_direction direction,
					const struct mad_address *address, const uint8_t *mad)
{
	if (rmpp->transfer_count >= rmpp->options.transfers_max)
		make_way(rmpp);
	if (rmpp->transfer_count >= rmpp->options.transfers_max)
		return NULL;

	struct rmpp_transfer *transfer = calloc(1, sizeof(*transfer));

	if (!transfer)
		return NULL;
	transfer->direction = direction;
	transfer->address = *address;
	transfer->transaction_id = get_be64(mad + MAD_TRANSACTION_ID_OFFSET);
	transfer->management_class = mad[MAD_CLASS_OFFSET];
	transfer->class_version = mad[MAD_VERSION_OFFSET];
	transfer->method = mad[MAD_METHOD_OFFSET];
	list_init(&transfer->in_queue);
	list_init(&transfer->in_kept);
	list_append(bucket_of(rmpp, transfer->transaction_id, address->lid), &transfer->in_bucket);
	rmpp->transfer_count++;
	return transfer;
}

static bool is_same_peer(const struct mad_address *a, const struct mad_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn &&
	       (!a->has_grh || !b->has_grh || gid_equal(&a->gid, &b->gid));
}

struct rmpp_transfer *rmpp_transfer_find(struct rmpp *rmpp, enum rmpp_direction direction,
					 const struct mad_address *address, const uint8_t *mad,
					 uint8_t method)
{
	uint64_t transaction_id = get_be64(mad + MAD_TRANSACTION_ID_OFFSET);

	list_for_each (link, bucket_of(rmpp, transaction_id, address->lid)) {
		struct rmpp_transfer *transfer =
			container_of(link, struct rmpp_transfer, in_bucket);

		if (transfer->direction == direction &&
		    transfer->transaction_id == transaction_id &&
		    transfer->management_class == mad[MAD_CLASS_OFFSET] &&
		    transfer->class_version == mad[MAD_VERSION_OFFSET] &&
		    transfer->method == method && is_same_peer(&transfer->address, address))
			return transfer;
	}
	return NULL;
}

static time_ns transfer_deadline(const struct rmpp_transfer *transfer)
{
	time_ns deadline = transfer->direction == RMPP_SENDS
				   ? rmpp_sender_deadline(&transfer->sender)
				   : rmpp_receiver_deadline(&transfer->receiver);

	return list_is_linked(&transfer->in_kept) ? time_earlier(deadline, transfer->keep_until)
						  : deadline;
}

void rmpp_transfer_keep(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now)
{
	if (list_is_linked(&transfer->in_kept))
		return;
	transfer->keep_until = now + rmpp->options.kept_for;
	list_append(&rmpp->kept, &transfer->in_kept);
}

void rmpp_transfer_settle(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now)
{
	const struct rmpp_sender *sender = &transfer->sender;
	bool is_done = sender->state == RMPP_SENDER_DONE;

	if (!is_done && sender->state != RMPP_SENDER_FAILED)
		return;
	if (!transfer->is_told && !sender->owes_opening) {
		list_remove(&transfer->in_queue);
		list_append(&rmpp->ended, &transfer->in_queue);
	}
	if (is_done && sender->options.sides == RMPP_DOUBLE_SIDED)
		rmpp_transfer_keep(rmpp, transfer, now);
}

void rmpp_transfer_schedule(struct rmpp *rmpp, struct rmpp_transfer *transfer)
{
	time_ns deadline = transfer_deadline(transfer);

	timer_queue_cancel(&rmpp->timers, &transfer->timer);
	if (is_waiting_to_be_told(transfer))
		return;
	list_remove(&transfer->in_queue);
	if (deadline == 0)
		list_append(&rmpp->ready, &transfer->in_queue);
	else if (deadline != TIME_NEVER)
		timer_queue_arm(&rmpp->timers, &transfer->timer, deadline);
}
