/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams whose payload the receiver copies from the sender's memory, at the sender's: see
 * datagram_loans.h. */
#include "runtime/zcopy/ud_zcopy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/fast/direct_records.h"
#include "runtime/rma/rma_state.h"
#include "runtime/zcopy/zcopy_send.h"
#include "net/transport/completion_ring.h"
#include "net/transport/fast/short_packets.h"
#include "wire/packet.h"

enum {
	LOANS_MAX = 256, /* of a ring, a power of two: it has room for about as many of 2 KiB */
	/* A receiver that let the sender wait is sent copies; each time twice as many, unless it
	 * took a good number in between. */
	COPIES_MAX = 1 << 14,
	RETURNED_OF_A_POLLER = 1024,
	RECORDS_AHEAD = 2,
};

/* A receiver that polls takes a whole window in less. */
#define LOAN_PATIENCE_NS MICROSECONDS(20)

struct datagram_loan {
	struct qp *qp; /* NULL: its request has ended */
	uint64_t end;  /* of the record, in the ring */
	uint8_t *room;
	uint32_t place; /* in the shared part of the exposure */
	uint32_t byte_count;
};

static struct datagram_loan *loan_at(const struct datagram_loans *loans, uint32_t position)
{
	return &loans->loans[position % LOANS_MAX];
}

/* Whether the program took the completion of the last one before it posted this one, and nothing else
 * came in between. */
static inline bool waits_for_each(struct channel *channel, const struct send_queue *queue,
				  const struct completion_ring *ring)
{
	struct datagram_loans *loans = &channel->loans;
	bool waits = ring == loans->ring && ring->head != loans->ring_head &&
		     channel->in.head == loans->in_head && queue->done == queue->started;

	loans->ring = ring;
	loans->ring_head = ring->head;
	loans->in_head = channel->in.head;
	return waits;
}

/* Whoever waits for events does not poll for its memory. */
static inline bool may_lend(const struct attachment *attachment, const struct qp *qp,
			    struct channel *channel)
{
	const struct send_queue *queue = &qp->requester.queue;
	const struct completion_ring *ring = qp->completions[SIDE_SEND];
	struct datagram_loans *loans = &channel->loans;

	if (attachment->helper_mode != HELPER_STAYING_OUT || !ring || ring->armed ||
	    waits_for_each(channel, queue, ring) ||
	    !pull_lane_peer_pulls(&attachment->exposure, channel))
		return false;
	/* Requests end in order, and so do the loans of a ring, but not those of two. */
	if (queue->done != queue->started && qp->express.route != channel)
		return false;
	if (unlikely(loans->copies_left)) {
		loans->copies_left--;
		return false;
	}
	if (unlikely(!loans->loans))
		loans->loans = calloc(LOANS_MAX, sizeof(*loans->loans));
	return loans->loans && loans->tail - loans->head < LOANS_MAX;
}

static void remember(struct attachment *attachment, struct qp *qp, struct channel *channel,
		     const struct datagram_loan *loan)
{
	struct datagram_loans *loans = &channel->loans;

	*loan_at(loans, loans->tail++) = *loan;
	qp->express.route = channel;
	if (unlikely(!list_is_linked(&loans->link))) {
		loans->since = 0;
		list_append(&attachment->lending, &loans->link);
	}
}

/* All but the first line of a record is skipped: those that come after the next one, if they are as
 * long. */
static inline void want_records(const struct ring_producer *out, uint32_t byte_count)
{
	uint64_t position = out->tail + RECORDS_AHEAD * ring_stamped_bytes(byte_count);

	cache_line_want(out->data + (position & (out->data_bytes - 1)));
}

static IN_LINE bool lend(struct attachment *attachment, struct qp *qp, struct flow *flow,
			 const struct send_request *request, struct express_packet *packet,
			 bool is_repeated, time_ns now)
{
	const uint32_t byte_count = packet->byte_count + (uint32_t)sizeof(struct loan_ticket);
	struct channel *channel = flow->channel;
	uint64_t place;

	if (unlikely(!adopted_memory_locate(attachment->exposure.adopted, packet->payload,
					    packet->payload_bytes, &place)))
		return false;

	uint8_t *body = direct_record_reserve(channel, byte_count);

	if (unlikely(!body))
		return false;

	const struct loan_ticket ticket = {
		.place = (uint32_t)place,
		.serial = channel->placed_out->loan_serial,
	};

	memcpy(body, &ticket, sizeof(ticket));
	packet->is_pulled = true;
	if (is_repeated)
		express_repeat_headers(qp, body + sizeof(ticket));
	else
		express_write_posted(qp, request, packet, body + sizeof(ticket));
	direct_record_commit(qp, flow, byte_count, RECORD_LENT, 1);
	want_records(&channel->out, byte_count);
	flow_count(flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	remember(attachment, qp, channel,
		 &(struct datagram_loan){
			 .qp = qp,
			 .end = channel->out.tail,
			 .room = body + sizeof(ticket) + packet->header_bytes,
			 .place = (uint32_t)place,
			 .byte_count = packet->payload_bytes,
		 });
	express_enqueue(qp, now, request, packet);
	return true;
}

bool datagram_loan_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
			const struct send_request *request, struct express_packet *packet,
			time_ns now)
{
	return qp->type == QP_UD && !(request->flags & SEND_INLINE) &&
	       packet->payload_bytes <= flow->mtu &&
	       may_lend(adapter->attachment, qp, flow->channel) &&
	       lend(adapter->attachment, qp, flow, request, packet, false, now);
}

/* What else may_lend asks for was so when the last one was lent, and nothing was done since. */
bool datagram_loan_repeat(struct adapter *adapter, struct qp *qp, struct flow *flow,
			  const struct send_request *request, struct express_packet *packet,
			  time_ns now)
{
	const struct datagram_loans *loans = &flow->channel->loans;

	return likely(!loans->copies_left && loans->tail - loans->head < LOANS_MAX) &&
	       lend(adapter->attachment, qp, flow, request, packet, true, now);
}

/* The reader is past it, as far as was looked: its room may be another record's. */
static bool is_read(const struct channel *channel, const struct datagram_loan *loan)
{
	return (int64_t)(loan->end - channel->out.head_seen) <= 0;
}

static void return_one(struct qp *qp, time_ns now)
{
	express_loan_returned(qp, now);
	/* One that can't be sent waits until it is its turn to fail. */
	if (unlikely(qp->requester.cursor != qp->requester.queue.tail))
		hca_ready_add(container_of(qp, struct qp_object, qp)->hca, qp);
}

/* What a request's end leads to may take the others back. */
static bool return_read(struct channel *channel, time_ns now)
{
	struct datagram_loans *loans = &channel->loans;
	uint32_t before = loans->head;

	(void)ring_room(&channel->out);
	while (loans->head != loans->tail) {
		const struct datagram_loan *loan = loan_at(loans, loans->head);

		if (loans->head == loans->taken_back && !is_read(channel, loan))
			break;
		if (loans->head++ == loans->taken_back)
			loans->taken_back++;
		if (loan->qp)
			return_one(loan->qp, now);
	}
	if (loans->head == before)
		return false;
	loans->returned += loans->head - before;
	loans->since = 0;
	if (loans->head == loans->tail)
		list_remove(&loans->link);
	return true;
}

static struct channel *channel_of(struct list *link)
{
	return container_of(link, struct channel, loans.link);
}

bool datagram_loans_return(struct attachment *attachment, time_ns now)
{
	bool any = false;

	list_for_each_safe(link, &attachment->lending)
		any |= return_read(channel_of(link), now);
	return any;
}

/* From the file: what the program has at that address may be something else by now. */
static void fill_room(const struct attachment *attachment, const struct datagram_loan *loan)
{
	const off_t offset = (off_t)(exposure_layout().shared_offset + loan->place);
	uint32_t done = 0;

	while (done < loan->byte_count) {
		ssize_t count = pread(attachment->exposure.file, loan->room + done,
				      loan->byte_count - done, offset + done);

		if (count <= 0)
			return;
		done += (uint32_t)count;
	}
}

static void take_back_channel(const struct attachment *attachment, struct channel *channel)
{
	struct datagram_loans *loans = &channel->loans;

	/* In the child of a fork they are the parent's. */
	if (loans->taken_back != loans->tail && !attachment->is_abandoned) {
		(void)ring_room(&channel->out);
		for (uint32_t i = loans->taken_back; i != loans->tail; i++)
			if (!is_read(channel, loan_at(loans, i)))
				fill_room(attachment, loan_at(loans, i));
		(void)__atomic_add_fetch(&channel->placed_out->loan_serial, 1, __ATOMIC_SEQ_CST);
	}
	loans->taken_back = loans->tail;
}

/* The receiver let us wait: it gets copies for a while. */
static void prefer_copies(struct datagram_loans *loans)
{
	if (loans->returned >= RETURNED_OF_A_POLLER)
		loans->copies_next = DATAGRAM_LOAN_COPIES_MIN;
	loans->copies_left = loans->copies_next;
	if (loans->copies_next < COPIES_MAX)
		loans->copies_next *= 2;
	loans->returned = 0;
}

bool datagram_loans_watch(struct attachment *attachment, time_ns now)
{
	bool any = false;

	list_for_each_safe(link, &attachment->lending) {
		struct channel *channel = channel_of(link);
		struct datagram_loans *loans = &channel->loans;

		if (return_read(channel, now)) {
			any = true;
		} else if (!loans->since) {
			loans->since = now;
		} else if (now - loans->since > LOAN_PATIENCE_NS) {
			prefer_copies(loans);
			take_back_channel(attachment, channel);
			any |= return_read(channel, now);
		}
	}
	return any;
}

void datagram_loans_take_back(struct attachment *attachment)
{
	list_for_each(link, &attachment->lending)
		take_back_channel(attachment, channel_of(link));
}

void datagram_loans_take_back_from(struct attachment *attachment, const struct qp *qp)
{
	datagram_loans_take_back(attachment);
	list_for_each(link, &attachment->lending) {
		struct datagram_loans *loans = &channel_of(link)->loans;

		for (uint32_t i = loans->head; i != loans->tail; i++)
			if (loan_at(loans, i)->qp == qp)
				loan_at(loans, i)->qp = NULL;
	}
}

void datagram_loans_end(struct attachment *attachment, time_ns now)
{
	datagram_loans_take_back(attachment);
	(void)datagram_loans_return(attachment, now);
}

void datagram_loans_close(struct attachment *attachment, struct channel *channel, time_ns now)
{
	if (list_is_linked(&channel->loans.link)) {
		take_back_channel(attachment, channel);
		(void)return_read(channel, now);
	}
	free(channel->loans.loans);
	datagram_loans_init(&channel->loans);
}
