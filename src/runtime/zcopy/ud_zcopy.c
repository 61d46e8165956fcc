/* SPDX-License-Identifier: Apache-2.0 */
/* Sends UD zcopies: see ud_zcopy.h. */
#include "runtime/zcopy/ud_zcopy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/fast/direct_records.h"
#include "runtime/rma/rma_state.h"
#include "runtime/exposure.h"
#include "runtime/zcopy/zcopy_send.h"
#include "net/transport/completion_ring.h"
#include "net/transport/fast/fast_send.h"
#include "wire/packet.h"

enum {
	ZCOPIES_MAX =
		256, /* per ring, a power of two: the ring has room for about so many of 2 KiB */
	/* A receiver that made the sender wait gets copies; twice as many each time, unless it took
	 * a good number of zcopies in between. */
	COPIES_MAX = 1 << 14,
	RETURNED_OF_A_POLLER = 1024,
	RECORDS_AHEAD = 2,
};

/* A polling receiver takes a whole ring of zcopies in less time. */
#define UD_ZCOPY_WAIT_NS MICROSECONDS(20)

struct ud_zcopy {
	struct qp *qp; /* NULL: its request has ended */
	uint64_t end;  /* of the record, in the ring */
	uint8_t *room;
	uint32_t place; /* in the sender's shared pages */
	uint32_t byte_count;
};

static struct ud_zcopy *zcopy_at(const struct ud_zcopies *zcopies, uint32_t position)
{
	return &zcopies->zcopies[position % ZCOPIES_MAX];
}

/* Whether the program took the completion of the last datagram before it posted this one, and
 * nothing was received in between. */
static inline bool waits_for_each(struct channel *channel, const struct send_queue *queue,
				  const struct completion_ring *ring)
{
	struct ud_zcopies *zcopies = &channel->zcopies;
	bool waits = ring == zcopies->ring && ring->head != zcopies->ring_head &&
		     channel->in.head == zcopies->in_head && queue->done == queue->started;

	zcopies->ring = ring;
	zcopies->ring_head = ring->head;
	zcopies->in_head = channel->in.head;
	return waits;
}

/* A program that waits for events does not poll, so zcopies would not end in time. */
static inline bool may_go_by_reference(struct process_runtime *runtime, const struct qp *qp,
				       struct channel *channel)
{
	const struct send_queue *queue = &qp->requester.queue;
	const struct completion_ring *ring = qp->completions[SIDE_SEND];
	struct ud_zcopies *zcopies = &channel->zcopies;

	if (runtime->progress.mode != PROGRESS_STAYING_OUT || !ring || ring->armed ||
	    waits_for_each(channel, queue, ring))
		return false;
	/* There is no connection that would have given the receiver our pages. A program that
	 * answers a stranger's datagrams one by one does not come here. */
	if (unlikely(!zcopy_peer_takes(&runtime->rkey_export, channel))) {
		exposure_give(runtime, channel);
		return false;
	}
	/* Requests end in order. The zcopies of one ring do, too, but not those of two rings. */
	if (queue->done != queue->started && qp->owner_zcopy != channel)
		return false;
	if (unlikely(zcopies->copies_left)) {
		zcopies->copies_left--;
		return false;
	}
	if (unlikely(!zcopies->zcopies))
		zcopies->zcopies = calloc(ZCOPIES_MAX, sizeof(*zcopies->zcopies));
	return zcopies->zcopies && zcopies->tail - zcopies->head < ZCOPIES_MAX;
}

static void remember(struct process_runtime *runtime, struct qp *qp, struct channel *channel,
		     const struct ud_zcopy *zcopy)
{
	struct ud_zcopies *zcopies = &channel->zcopies;

	*zcopy_at(zcopies, zcopies->tail++) = *zcopy;
	qp->owner_zcopy = channel;
	if (unlikely(!list_is_linked(&zcopies->link))) {
		zcopies->since = 0;
		list_append(&runtime->zcopy_channels, &zcopies->link);
	}
}

/* Prefetches the first line of a record further on, as if records kept this size. The other lines
 * of a zcopy record are not written. */
static inline void want_records(const struct ring_producer *out, uint32_t byte_count)
{
	uint64_t position = out->tail + RECORDS_AHEAD * ring_stamped_bytes(byte_count);

	cache_line_want(out->data + (position & (out->data_bytes - 1)));
}

static bool write_record(struct process_runtime *runtime, struct qp *qp, struct flow *flow,
			 const struct send_request *request, struct fast_packet *packet,
			 time_ns now)
{
	const uint32_t byte_count = packet->byte_count + (uint32_t)sizeof(struct ud_zcopy_ticket);
	struct channel *channel = flow->channel;
	uint64_t place;

	if (unlikely(!shared_mr_locate(runtime->rkey_export.shared_mr, packet->payload,
				       packet->payload_bytes, &place)))
		return false;

	uint8_t *body = direct_record_reserve(channel, byte_count);

	if (unlikely(!body))
		return false;

	const struct ud_zcopy_ticket ticket = {
		.place = (uint32_t)place,
		.serial = channel->rma_out->ud_zcopy_serial,
	};

	memcpy(body, &ticket, sizeof(ticket));
	packet->is_zcopy = true;
	fast_write(qp, QP_UD, request, packet, body + sizeof(ticket));
	direct_record_commit(qp, flow, byte_count, RECORD_UD_ZCOPY, 1);
	want_records(&channel->out, byte_count);
	flow_count(flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	remember(runtime, qp, channel,
		 &(struct ud_zcopy){
			 .qp = qp,
			 .end = channel->out.tail,
			 .room = body + sizeof(ticket) + packet->header_bytes,
			 .place = (uint32_t)place,
			 .byte_count = packet->payload_bytes,
		 });
	fast_enqueue(qp, QP_UD, now, request, packet);
	return true;
}

bool ud_zcopy_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
		   const struct send_request *request, struct fast_packet *packet, time_ns now)
{
	return may_go_by_reference(adapter->runtime, qp, flow->channel) &&
	       write_record(adapter->runtime, qp, flow, request, packet, now);
}

/* The reader is past the record, as far as the sender has looked: its room may be another record's.
 */
static bool is_read(const struct channel *channel, const struct ud_zcopy *zcopy)
{
	return (int64_t)(zcopy->end - channel->out.head_seen) <= 0;
}

static void return_one(struct qp *qp, time_ns now)
{
	fast_ud_zcopy_done(qp, now);
	/* A request that can't be sent waits until it is its turn to fail. */
	if (unlikely(qp->requester.cursor != qp->requester.queue.tail))
		hca_ready_add(container_of(qp, struct qp_object, qp)->hca, qp);
}

/* The end of a request may make its caller take the other zcopies back. */
static bool return_read(struct channel *channel, time_ns now)
{
	struct ud_zcopies *zcopies = &channel->zcopies;
	uint32_t before = zcopies->head;

	(void)ring_room(&channel->out);
	while (zcopies->head != zcopies->tail) {
		const struct ud_zcopy *zcopy = zcopy_at(zcopies, zcopies->head);

		if (zcopies->head == zcopies->taken_back && !is_read(channel, zcopy))
			break;
		if (zcopies->head++ == zcopies->taken_back)
			zcopies->taken_back++;
		if (zcopy->qp)
			return_one(zcopy->qp, now);
	}
	if (zcopies->head == before)
		return false;
	zcopies->returned += zcopies->head - before;
	zcopies->since = 0;
	if (zcopies->head == zcopies->tail)
		list_remove(&zcopies->link);
	return true;
}

static struct channel *channel_of(struct list *link)
{
	return container_of(link, struct channel, zcopies.link);
}

bool ud_zcopies_return(struct process_runtime *runtime, time_ns now)
{
	bool any = false;

	list_for_each_safe (link, &runtime->zcopy_channels)
		any |= return_read(channel_of(link), now);
	return any;
}

/* Reads from the file: the program may have something else mapped at that address by now. */
static void fill_room(const struct process_runtime *runtime, const struct ud_zcopy *zcopy)
{
	const off_t offset = (off_t)(rkey_export_layout().shared_offset + zcopy->place);
	uint32_t done = 0;

	while (done < zcopy->byte_count) {
		ssize_t count = pread(runtime->rkey_export.file, zcopy->room + done,
				      zcopy->byte_count - done, offset + done);

		if (count <= 0)
			return;
		done += (uint32_t)count;
	}
}

static void take_back_channel(const struct process_runtime *runtime, struct channel *channel)
{
	struct ud_zcopies *zcopies = &channel->zcopies;

	/* In the child of a fork the records are the parent's. */
	if (zcopies->taken_back != zcopies->tail && !runtime->is_abandoned) {
		(void)ring_room(&channel->out);
		for (uint32_t i = zcopies->taken_back; i != zcopies->tail; i++)
			if (!is_read(channel, zcopy_at(zcopies, i)))
				fill_room(runtime, zcopy_at(zcopies, i));
		(void)__atomic_add_fetch(&channel->rma_out->ud_zcopy_serial, 1, __ATOMIC_SEQ_CST);
	}
	zcopies->taken_back = zcopies->tail;
}

/* The receiver made us wait: it gets copies for a while. */
static void prefer_copies(struct ud_zcopies *zcopies)
{
	if (zcopies->returned >= RETURNED_OF_A_POLLER)
		zcopies->copies_next = UD_ZCOPY_COPIES_MIN;
	zcopies->copies_left = zcopies->copies_next;
	if (zcopies->copies_next < COPIES_MAX)
		zcopies->copies_next *= 2;
	zcopies->returned = 0;
}

bool ud_zcopies_watch(struct process_runtime *runtime, time_ns now)
{
	bool any = false;

	list_for_each_safe (link, &runtime->zcopy_channels) {
		struct channel *channel = channel_of(link);
		struct ud_zcopies *zcopies = &channel->zcopies;

		if (return_read(channel, now)) {
			any = true;
		} else if (!zcopies->since) {
			zcopies->since = now;
		} else if (now - zcopies->since > UD_ZCOPY_WAIT_NS) {
			prefer_copies(zcopies);
			take_back_channel(runtime, channel);
			any |= return_read(channel, now);
		}
	}
	return any;
}

void ud_zcopies_take_back(struct process_runtime *runtime)
{
	list_for_each (link, &runtime->zcopy_channels)
		take_back_channel(runtime, channel_of(link));
}

void ud_zcopies_take_back_from(struct process_runtime *runtime, const struct qp *qp)
{
	ud_zcopies_take_back(runtime);
	list_for_each (link, &runtime->zcopy_channels) {
		struct ud_zcopies *zcopies = &channel_of(link)->zcopies;

		for (uint32_t i = zcopies->head; i != zcopies->tail; i++)
			if (zcopy_at(zcopies, i)->qp == qp)
				zcopy_at(zcopies, i)->qp = NULL;
	}
}

void ud_zcopies_end(struct process_runtime *runtime, time_ns now)
{
	ud_zcopies_take_back(runtime);
	(void)ud_zcopies_return(runtime, now);
}

void ud_zcopies_close(struct process_runtime *runtime, struct channel *channel, time_ns now)
{
	if (list_is_linked(&channel->zcopies.link)) {
		take_back_channel(runtime, channel);
		(void)return_read(channel, now);
	}
	free(channel->zcopies.zcopies);
	ud_zcopies_init(&channel->zcopies);
}
