/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random traffic in both directions at once: every message arrives once, in order, with every byte.
 *
 *   exactly_once server|client SOCKET [NAME=VALUE...]
 *
 * Each side sends on every queue pair SENDs of random sizes (one or two SGEs, inline or not, with
 * and without immediate data, alone and in bursts of one size), WRITEs, READs and atomics between
 * them. A SEND may say how many messages its sender has received on that queue pair: these are the
 * credits by which the peer knows how many receives are posted. Message n has bytes that only
 * message n has, so that a repeated, lost or exchanged message is seen at once and named.
 *
 * Unreliable queue pairs use no credits: messages may be lost there, but never repeated, exchanged
 * or changed.
 */
#include "exactly_once_options.h"
#include "random_messages.h"
#include "two_sides.h"

#include <poll.h>
#include <pthread.h>

enum {
	QPS_MAX = 8,
	BUFFERS = 64,	/* of messages under way on a queue pair */
	RECEIVES = 128, /* posted on a queue pair */
	DATA_WINDOW =
		64, /* messages that the peer has not confirmed yet; the rest is for credits */
	CREDITS_OWED_MAX = 16,
	SIZE_MAX_BYTES = 8192,
	GUARD_BYTES = 16,
	GUARD = 0xa5,
	SLOT_BYTES = SIZE_MAX_BYTES + GRH_BYTES + GUARD_BYTES,
	INLINE_BYTES = 220,
	SEND_DEPTH = 160,
	WRITE_SLOTS = 256, /* more than the receiver can lag behind */
	WRITE_BYTES_MAX = 2048,
	READS = 4,
	READ_BYTES_MAX = 64 << 10,
	READ_AREA_BYTES = 256 << 10,
	HEADER_BYTES = 8, /* of a message that says its number and credits */
	STALL_SECONDS = 60,
	NUMBERS_LOOKED_AT = 300,
};

struct address {
	uint32_t lid, key;
	struct link_address links[QPS_MAX];
	uint64_t window, counters, read_area;
};

enum work { WORK_SEND, WORK_WRITE, WORK_READ, WORK_ATOMIC };

/* A request that was posted and whose completion has not been polled. */
struct posted {
	enum work work;
	unsigned buffer;      /* of a READ or an atomic */
	uint64_t remote_from; /* of a READ */
	uint32_t byte_count;
	uint64_t atomic_before; /* the former value of the counter */
};

struct queue {
	struct link link;
	unsigned index;
	uint8_t *sends, *receives, *reads;
	/* The sender's side. */
	uint64_t sent, confirmed; /* messages; how many of them the peer has received */
	uint64_t posted, done;	  /* requests */
	struct posted requests[SEND_DEPTH];
	unsigned unsignaled;
	unsigned reads_under_way, next_read;
	uint64_t counter; /* the value of our counter at the peer */
	unsigned burst;	  /* messages of burst_bytes that are still to come */
	uint32_t burst_bytes;
	uint64_t sends_under_way;
	/* The receiver's side. */
	uint64_t received, told;
};

struct side {
	struct options options;
	unsigned own; /* 0 or 1: which side sends which messages */
	struct device device;
	struct ibv_comp_channel *events; /* NULL: the side polls all the time */
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint8_t *memory, *window, *read_area;
	uint64_t *counters;
	struct queue queues[QPS_MAX];
	struct address peer;
	int socket;
	bool is_stopping;
	time_t last_progress;
};

static bool is_reliable(const struct side *side)
{
	return service_is_reliable(side->options.service);
}

/* The bytes of a message depend on its sender, its queue pair, its number and its length. */
static uint64_t key_of(const struct side *side, unsigned sender, unsigned index, uint64_t number,
		       uint32_t byte_count)
{
	return message_key(side->options.seed * 2 + sender, (uint64_t)byte_count * QPS_MAX + index,
			   number);
}

/* How many bytes are written to the peer's window just before message number n; 0: none. */
static uint32_t written_before(const struct side *side, unsigned sender, unsigned index,
			       uint64_t number)
{
	uint64_t key = key_of(side, sender, index, number, UINT32_MAX);

	if (side->options.is_send_only || !is_reliable(side) || key % 8)
		return 0;
	return 1 + (uint32_t)(key >> 16) % (key & 8 ? 64 : WRITE_BYTES_MAX);
}

static size_t window_offset(unsigned index, uint64_t number)
{
	return ((size_t)index * WRITE_SLOTS + (size_t)(number % WRITE_SLOTS)) * WRITE_BYTES_MAX;
}

static uint8_t *carve(uint8_t **place, size_t byte_count)
{
	uint8_t *bytes = *place;

	*place += (byte_count + 4095) & ~(size_t)4095;
	return bytes;
}

static void make_memory(struct side *side)
{
	const size_t queue_bytes = (size_t)BUFFERS * SLOT_BYTES + (size_t)RECEIVES * SLOT_BYTES +
				   (size_t)READS * READ_BYTES_MAX + 3 * 4096;
	const size_t shared_bytes =
		(size_t)QPS_MAX * WRITE_SLOTS * WRITE_BYTES_MAX + READ_AREA_BYTES + 4 * 4096;
	const size_t byte_count = side->options.qps * queue_bytes + shared_bytes;
	uint8_t *place;

	CHECK_EQUAL(posix_memalign((void **)&side->memory, 4096, byte_count), 0);
	memset(side->memory, 0, byte_count);
	CHECK((side->mr = ibv_reg_mr(side->device.pd, side->memory, byte_count, ALL_ACCESS)));
	place = side->memory;
	side->window = carve(&place, (size_t)QPS_MAX * WRITE_SLOTS * WRITE_BYTES_MAX);
	side->read_area = carve(&place, READ_AREA_BYTES);
	side->counters = (uint64_t *)carve(&place, QPS_MAX * sizeof(uint64_t));
	message_write(side->options.seed + side->own, side->read_area, READ_AREA_BYTES);
	for (unsigned i = 0; i < side->options.qps; i++) {
		side->queues[i].index = i;
		side->queues[i].sends = carve(&place, (size_t)BUFFERS * SLOT_BYTES);
		side->queues[i].receives = carve(&place, (size_t)RECEIVES * SLOT_BYTES);
		side->queues[i].reads = carve(&place, (size_t)READS * READ_BYTES_MAX);
	}
}

static void open_side(struct side *side)
{
	struct ibv_srq_init_attr srq = {.attr = {side->options.qps * RECEIVES, 1, 0}};

	side->device = device_open();
	make_memory(side);
	if (side->options.has_events)
		CHECK((side->events = ibv_create_comp_channel(side->device.context)));
	CHECK((side->cq = ibv_create_cq(side->device.context, 8192, NULL, side->events, 0)));
	if (side->options.has_srq)
		CHECK((side->srq = ibv_create_srq(side->device.pd, &srq)));
	for (unsigned i = 0; i < side->options.qps; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = side->cq,
			.recv_cq = side->cq,
			.srq = side->srq,
			.cap = {SEND_DEPTH, RECEIVES, 2, 1, INLINE_BYTES},
		};

		link_open(&side->queues[i].link, side->options.service, &side->device, init);
	}
}

static void connect_side(struct side *side)
{
	struct address own = {
		.lid = side->device.port.lid,
		.key = side->mr->rkey,
		.window = (uintptr_t)side->window,
		.counters = (uintptr_t)side->counters,
		.read_area = (uintptr_t)side->read_area,
	};

	for (unsigned i = 0; i < side->options.qps; i++)
		own.links[i] = link_address(&side->queues[i].link);
	give(side->socket, &own, sizeof(own));
	take(side->socket, &side->peer, sizeof(side->peer));
	for (unsigned i = 0; i < side->options.qps; i++) {
		struct ibv_qp_attr attr = connection_to((uint16_t)side->peer.lid, 0);

		attr.path_mtu = IBV_MTU_2048;
		attr.timeout = (uint8_t)side->options.timeout;
		attr.max_rd_atomic = attr.max_dest_rd_atomic = 8;
		link_connect(&side->queues[i].link, &side->peer.links[i], attr);
	}
	if (side->options.service == SERVICE_UD) {
		struct ibv_ah_attr to = {.dlid = (uint16_t)side->peer.lid, .port_num = 1};

		CHECK((side->ah = ibv_create_ah(side->device.pd, &to)));
	}
}

static uint8_t *slot_at(struct side *side, uint64_t slot)
{
	return side->queues[slot / RECEIVES].receives + slot % RECEIVES * SLOT_BYTES;
}

static void post_slot(struct side *side, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)slot_at(side, slot), SLOT_BYTES - GUARD_BYTES,
			      side->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
	const struct link *link = &side->queues[slot / RECEIVES].link;

	memset(slot_at(side, slot), GUARD, SLOT_BYTES);
	if (link->srq)
		CHECK_EQUAL(ibv_post_srq_recv(link->srq, &wr, &bad), 0);
	else
		CHECK_EQUAL(ibv_post_recv(link->qp, &wr, &bad), 0);
}

/* A number and the credits, of messages that are long enough; the rest is the message's own. */
static void write_message(const struct side *side, unsigned sender, unsigned index, uint64_t number,
			  uint32_t credits, uint8_t *ret_bytes, uint32_t byte_count)
{
	const uint32_t words[2] = {(uint32_t)number, credits};

	message_write(key_of(side, sender, index, number, byte_count), ret_bytes, byte_count);
	if (byte_count >= HEADER_BYTES)
		memcpy(ret_bytes, words, HEADER_BYTES);
}

/* Says whose word lies there. Word i of a message is (key + i) * M, so the word tells key + i. */
static void explain_word(const struct side *side, uint64_t due, const uint8_t *bytes,
			 uint32_t offset)
{
	uint64_t word, inverse = 1, multiplier = MESSAGE_MULTIPLIER;
	uint64_t first = due > NUMBERS_LOOKED_AT ? due - NUMBERS_LOOKED_AT : 0;

	for (unsigned i = 0; i < 6; i++)
		inverse *= 2 - multiplier * inverse;
	memcpy(&word, bytes + offset, sizeof(word));
	word *= inverse;
	for (uint64_t number = first; number < due + NUMBERS_LOOKED_AT; number++)
		for (unsigned queue = 0; queue < side->options.qps; queue++)
			for (uint32_t size = HEADER_BYTES; size <= SIZE_MAX_BYTES; size++) {
				uint64_t at = word - key_of(side, !side->own, queue, number, size);

				if (at < size)
					fprintf(stderr,
						" at %u byte %u of message %llu of queue pair %u, which has %u;",
						offset, (unsigned)at, (unsigned long long)number,
						queue, size);
			}
}

static void explain(const struct side *side, unsigned index, uint64_t due, const uint8_t *bytes,
		    uint32_t byte_count)
{
	fprintf(stderr, "queue pair %u: message %llu was due, %u bytes came:", index,
		(unsigned long long)due, byte_count);
	for (uint32_t offset = HEADER_BYTES; offset + 8 <= byte_count;
	     offset += (byte_count / 4 + 8) & ~7u)
		explain_word(side, due, bytes, offset);
	fprintf(stderr, "\n");
	exit(1);
}

static void check_written(struct side *side, unsigned index, uint64_t number)
{
	static uint8_t expected[WRITE_BYTES_MAX];
	uint32_t byte_count = written_before(side, !side->own, index, number);
	const uint8_t *bytes = side->window + window_offset(index, number);

	if (!byte_count)
		return;
	message_write(key_of(side, !side->own, index, number, byte_count) + 1, expected,
		      byte_count);
	for (uint32_t i = 0; i < byte_count; i++)
		if (bytes[i] != expected[i]) {
			fprintf(stderr,
				"queue pair %u: byte %u of the %u that were written before message %llu is wrong\n",
				index, i, byte_count, (unsigned long long)number);
			exit(1);
		}
}

static void check_message(struct side *side, struct queue *queue, const struct ibv_wc *wc,
			  const uint8_t *bytes, uint32_t byte_count)
{
	static uint8_t expected[SIZE_MAX_BYTES];
	uint64_t number = queue->received;
	uint32_t words[2] = {0};

	if (byte_count >= HEADER_BYTES)
		memcpy(words, bytes, HEADER_BYTES);
	/* Unreliable messages all say their number: some before it may be lost. */
	if (!is_reliable(side)) {
		CHECK(byte_count >= HEADER_BYTES);
		if (words[0] < number || words[0] > number + 100000000)
			explain(side, queue->index, number, bytes, byte_count);
		number = words[0];
	}
	write_message(side, !side->own, queue->index, number, words[1], expected, byte_count);
	if (memcmp(expected, bytes, byte_count) != 0)
		explain(side, queue->index, number, bytes, byte_count);
	/* On UC a message that lost a packet leaves its first bytes in the receive buffer, which
	 * the next message gets. */
	for (unsigned i = 0; i < GUARD_BYTES && side->options.service != SERVICE_UC; i++)
		CHECK_EQUAL(bytes[byte_count + i], GUARD);
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		CHECK_EQUAL(wc->imm_data, (uint32_t)number);
	check_written(side, queue->index, number);
	queue->received = number + 1;
	if (byte_count >= HEADER_BYTES && is_reliable(side)) {
		CHECK(words[1] >= queue->confirmed && words[1] <= queue->sent);
		queue->confirmed = words[1];
	}
}

static void check_read(struct side *side, struct queue *queue, const struct posted *request)
{
	static uint8_t *expected;

	if (!expected) {
		CHECK((expected = malloc(READ_AREA_BYTES)));
		message_write(side->options.seed + !side->own, expected, READ_AREA_BYTES);
	}
	CHECK_EQUAL(memcmp(queue->reads + (size_t)request->buffer * READ_BYTES_MAX,
			   expected + request->remote_from, request->byte_count),
		    0);
}

static void finish_request(struct side *side, struct queue *queue, struct posted *request)
{
	uint64_t before;

	switch (request->work) {
	case WORK_SEND:
		queue->sends_under_way--;
		break;
	case WORK_WRITE:
		break;
	case WORK_READ:
		check_read(side, queue, request);
		queue->reads_under_way--;
		break;
	case WORK_ATOMIC:
		memcpy(&before, queue->reads + (size_t)request->buffer * READ_BYTES_MAX,
		       sizeof(before));
		CHECK_EQUAL(before, request->atomic_before);
		queue->reads_under_way--;
		break;
	}
}

static struct queue *queue_of(struct side *side, uint32_t qpn)
{
	for (unsigned i = 0; i < side->options.qps; i++)
		if (link_has_qp(&side->queues[i].link, qpn))
			return &side->queues[i];
	fprintf(stderr, "a completion of queue pair %u, which is none of ours\n", qpn);
	exit(1);
}

static void take_completion(struct side *side, const struct ibv_wc *wc)
{
	struct queue *queue = queue_of(side, wc->qp_num);

	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "queue pair %u: %s after %llu messages sent and %llu received\n",
			queue->index, ibv_wc_status_str(wc->status),
			(unsigned long long)queue->sent, (unsigned long long)queue->received);
		exit(1);
	}
	if (wc->opcode & IBV_WC_RECV) {
		uint32_t grh = side->options.service == SERVICE_UD ? GRH_BYTES : 0;

		if (!side->srq && is_reliable(side))
			CHECK_EQUAL(wc->wr_id % RECEIVES, queue->received % RECEIVES);
		check_message(side, queue, wc, slot_at(side, wc->wr_id) + grh, wc->byte_len - grh);
		post_slot(side, wc->wr_id);
		return;
	}
	/* This request has completed, and so have all before it. */
	CHECK(wc->wr_id >= queue->done && wc->wr_id < queue->posted);
	while (queue->done <= wc->wr_id)
		finish_request(side, queue, &queue->requests[queue->done++ % SEND_DEPTH]);
}

static bool poll_some(struct side *side)
{
	struct ibv_wc wcs[16];
	int count = ibv_poll_cq(side->cq, random_below(4) ? 16 : 1, wcs);

	CHECK(count >= 0);
	for (int i = 0; i < count; i++)
		take_completion(side, &wcs[i]);
	return count > 0;
}

/* Requests that are posted in one call. */
struct list {
	struct ibv_send_wr wrs[24];
	struct ibv_sge sges[24][2];
	unsigned count;
};

static struct ibv_send_wr *add_request(struct side *side, struct queue *queue, struct list *list,
				       const struct posted *request, uint8_t *bytes)
{
	struct ibv_send_wr *wr = &list->wrs[list->count];
	struct ibv_sge *sges = list->sges[list->count++];
	uint32_t first = request->byte_count;

	*wr = (struct ibv_send_wr){.wr_id = queue->posted, .sg_list = sges, .num_sge = 1};
	if (request->work != WORK_ATOMIC && request->byte_count > 1 && random_below(8) == 0) {
		wr->num_sge = 2;
		first = 1 + random_below(request->byte_count - 1);
	}
	sges[0] = (struct ibv_sge){(uintptr_t)bytes, first, side->mr->lkey};
	sges[1] = (struct ibv_sge){(uintptr_t)bytes + first, request->byte_count - first,
				   side->mr->lkey};
	queue->requests[queue->posted++ % SEND_DEPTH] = *request;
	if (random_below(4) == 0 || ++queue->unsignaled >= 16) {
		wr->send_flags = IBV_SEND_SIGNALED;
		queue->unsignaled = 0;
	}
	return wr;
}

static void add_write(struct side *side, struct queue *queue, struct list *list)
{
	uint32_t byte_count = written_before(side, side->own, queue->index, queue->sent);
	uint8_t *bytes = queue->sends + queue->sent % BUFFERS * SLOT_BYTES + SIZE_MAX_BYTES / 2;
	const struct posted request = {.work = WORK_WRITE, .byte_count = byte_count};

	if (!byte_count)
		return;
	message_write(key_of(side, side->own, queue->index, queue->sent, byte_count) + 1, bytes,
		      byte_count);

	struct ibv_send_wr *wr = add_request(side, queue, list, &request, bytes);

	wr->opcode = IBV_WR_RDMA_WRITE;
	link_address_request(&queue->link, side->ah, wr);
	wr->wr.rdma.remote_addr = side->peer.window + window_offset(queue->index, queue->sent);
	wr->wr.rdma.rkey = side->peer.key;
	if (byte_count <= INLINE_BYTES && random_below(2))
		wr->send_flags |= IBV_SEND_INLINE;
}

static uint32_t draw_size(struct side *side, struct queue *queue, bool has_written)
{
	uint32_t limit = side->options.size_max, least = is_reliable(side) ? 1 : HEADER_BYTES;

	/* The upper half of the buffer holds what is written. */
	if (has_written && limit > SIZE_MAX_BYTES / 2)
		limit = SIZE_MAX_BYTES / 2;
	if (side->options.service == SERVICE_UD && limit > 2048)
		limit = 2048;
	/* Credits that the peer waits for need a message that is long enough. */
	if (queue->received - queue->told >= CREDITS_OWED_MAX)
		least = HEADER_BYTES;
	if (!queue->burst && random_below(8) == 0) {
		queue->burst = 2 + random_below(40);
		queue->burst_bytes =
			1 + random_below(random_below(2) ? 64 : side->options.size_max);
	}

	uint32_t size = queue->burst ? queue->burst_bytes
				     : 1 + random_below(random_below(3) ? limit
							: limit < 128	? limit
									: 128);

	queue->burst -= queue->burst > 0;
	return size < least ? least : size > limit ? limit : size;
}

static void add_send(struct side *side, struct queue *queue, struct list *list, bool has_written)
{
	uint32_t byte_count = draw_size(side, queue, has_written);
	uint8_t *bytes = queue->sends + queue->sent % BUFFERS * SLOT_BYTES;
	const struct posted request = {.work = WORK_SEND, .byte_count = byte_count};

	write_message(side, side->own, queue->index, queue->sent, (uint32_t)queue->received, bytes,
		      byte_count);
	if (byte_count >= HEADER_BYTES)
		queue->told = queue->received;

	struct ibv_send_wr *wr = add_request(side, queue, list, &request, bytes);

	wr->opcode = IBV_WR_SEND;
	if (!queue->burst && random_below(8) == 0) {
		wr->opcode = IBV_WR_SEND_WITH_IMM;
		wr->imm_data = (uint32_t)queue->sent;
	}
	if (byte_count <= INLINE_BYTES && random_below(4) == 0)
		wr->send_flags |= IBV_SEND_INLINE;
	link_address_request(&queue->link, side->ah, wr);
	queue->sent++;
	queue->sends_under_way++;
}

static void add_read(struct side *side, struct queue *queue, struct list *list)
{
	struct posted request = {.work = WORK_READ, .buffer = queue->next_read++ % READS};
	bool is_atomic = random_below(3) == 0;
	uint8_t *bytes = queue->reads + (size_t)request.buffer * READ_BYTES_MAX;

	if (is_atomic) {
		request.work = WORK_ATOMIC;
		request.byte_count = sizeof(uint64_t);
		request.atomic_before = queue->counter;
	} else {
		request.byte_count = 1 + random_below(random_below(2) ? 256 : READ_BYTES_MAX);
		request.remote_from = random_below(READ_AREA_BYTES - request.byte_count);
	}
	memset(bytes, GUARD, request.byte_count);

	struct ibv_send_wr *wr = add_request(side, queue, list, &request, bytes);

	queue->reads_under_way++;
	link_address_request(&queue->link, side->ah, wr);
	if (!is_atomic) {
		wr->opcode = IBV_WR_RDMA_READ;
		wr->wr.rdma.remote_addr = side->peer.read_area + request.remote_from;
		wr->wr.rdma.rkey = side->peer.key;
		return;
	}
	wr->wr.atomic.remote_addr = side->peer.counters + queue->index * sizeof(uint64_t);
	wr->wr.atomic.rkey = side->peer.key;
	if (random_below(2)) {
		wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.compare_add = 1 + random_below(1000);
		queue->counter += wr->wr.atomic.compare_add;
	} else {
		wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr->wr.atomic.compare_add = queue->counter;
		wr->wr.atomic.swap = queue->counter = random_below(1u << 30);
	}
}

static bool may_send(const struct side *side, const struct queue *queue)
{
	uint64_t unconfirmed = queue->sent - queue->confirmed;
	bool owes = queue->received - queue->told >= CREDITS_OWED_MAX;

	if (queue->posted - queue->done + 3 >= SEND_DEPTH || queue->sends_under_way >= BUFFERS)
		return false;
	if (!is_reliable(side))
		return !side->is_stopping;
	return owes ? unconfirmed < RECEIVES : unconfirmed < DATA_WINDOW && !side->is_stopping;
}

static void post_list(struct queue *queue, struct list *list)
{
	bool is_list = random_below(3) == 0;

	for (unsigned i = 0; i < list->count; i++) {
		list->wrs[i].next = is_list && i + 1 < list->count ? &list->wrs[i + 1] : NULL;
		if (!is_list)
			link_post(&queue->link, &list->wrs[i]);
	}
	if (is_list && list->count)
		link_post(&queue->link, list->wrs);
}

/* Returns whether anything was posted. */
static bool send_some(struct side *side)
{
	struct queue *queue = &side->queues[random_below(side->options.qps)];
	unsigned wanted = random_below(3) ? 1 : 1 + random_below(8);
	struct list list = {.count = 0};

	while (wanted-- && may_send(side, queue)) {
		bool may_read = is_reliable(side) && !side->options.is_send_only &&
				queue->reads_under_way < READS;

		if (may_read && random_below(16) == 0)
			add_read(side, queue, &list);

		unsigned before = list.count;

		add_write(side, queue, &list);
		add_send(side, queue, &list, list.count > before);
	}
	post_list(queue, &list);
	return list.count > 0;
}

/* Every unsignaled request is followed by a signaled one. */
static void send_last(struct side *side, struct queue *queue)
{
	struct list list = {.count = 0};

	if (!queue->unsignaled)
		return;
	add_write(side, queue, &list);
	queue->unsignaled = 16;
	add_send(side, queue, &list, true);
	post_list(queue, &list);
}

static void note_progress(struct side *side, bool is_any)
{
	time_t now = time(NULL);

	if (is_any || !side->last_progress)
		side->last_progress = now;
	if (now - side->last_progress <= STALL_SECONDS)
		return;
	for (unsigned i = 0; i < side->options.qps; i++) {
		const struct queue *queue = &side->queues[i];

		fprintf(stderr,
			"nothing for %u s: queue pair %u sent %llu, confirmed %llu, posted %llu, done %llu, received %llu\n",
			STALL_SECONDS, i, (unsigned long long)queue->sent,
			(unsigned long long)queue->confirmed, (unsigned long long)queue->posted,
			(unsigned long long)queue->done, (unsigned long long)queue->received);
	}
	abort();
}

static bool is_idle(const struct side *side)
{
	for (unsigned i = 0; i < side->options.qps; i++)
		if (side->queues[i].done != side->queues[i].posted)
			return false;
	return true;
}

static bool has_all(const struct side *side, const uint64_t *totals)
{
	for (unsigned i = 0; i < side->options.qps && is_reliable(side); i++)
		if (side->queues[i].received < totals[i])
			return false;
	return true;
}

static bool socket_has_word(const struct side *side)
{
	struct pollfd word = {.fd = side->socket, .events = POLLIN};

	return poll(&word, 1, 0) == 1;
}

/* Sleeps until a completion or the peer's last word comes. There was nothing to post, so the peer
 * has messages or credits for this side: if neither wakes it, a wake-up was lost. */
static void sleep_for_news(struct side *side)
{
	struct pollfd news[] = {
		{.fd = side->events->fd, .events = POLLIN},
		{.fd = side->socket, .events = POLLIN},
	};
	struct ibv_cq *cq;
	void *context;

	CHECK_EQUAL(ibv_req_notify_cq(side->cq, 0), 0);
	if (poll_some(side))
		return;
	if (poll(news, 2, STALL_SECONDS * 1000) <= 0) {
		side->last_progress = time(NULL) - STALL_SECONDS - 1;
		note_progress(side, false);
	}
	if (!news[0].revents)
		return;
	CHECK_EQUAL(ibv_get_cq_event(side->events, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

static void run(struct side *side)
{
	time_t end = time(NULL) + side->options.seconds;

	while (time(NULL) < end) {
		bool any = false;

		for (unsigned i = 0; i < 256; i++) {
			any |= send_some(side);
			any |= poll_some(side);
		}
		note_progress(side, any);
		if (!any && side->events && !socket_has_word(side))
			sleep_for_news(side);
	}
}

/* All own requests have completed, and all messages of the peer are here. */
static void finish(struct side *side)
{
	uint64_t own[QPS_MAX] = {0}, totals[QPS_MAX];
	bool is_told = false;

	side->is_stopping = true;
	for (unsigned i = 0; i < side->options.qps; i++) {
		/* As may_send: the last message also needs a buffer that is not under way. */
		while ((is_reliable(side) &&
			side->queues[i].sent - side->queues[i].confirmed >= RECEIVES - 2) ||
		       side->queues[i].posted - side->queues[i].done + 3 >= SEND_DEPTH ||
		       side->queues[i].sends_under_way >= BUFFERS)
			note_progress(side, poll_some(side));
		send_last(side, &side->queues[i]);
	}
	while (!is_idle(side))
		note_progress(side, poll_some(side));
	for (unsigned i = 0; i < side->options.qps; i++)
		own[i] = side->queues[i].sent;
	give(side->socket, own, sizeof(own));
	while (!is_told || !has_all(side, totals)) {
		bool has_polled = poll_some(side);

		note_progress(side, send_some(side) || has_polled);
		if (!is_told && socket_has_word(side)) {
			take(side->socket, totals, sizeof(totals));
			is_told = true;
		}
	}
}

static void *look_on(void *context)
{
	poll(NULL, 0, -1);
	return context;
}

int main(int argument_count, char **arguments)
{
	struct side side = {0};
	uint64_t messages = 0;
	pthread_t thread;

	CHECK(argument_count >= 3);
	side.own = strcmp(arguments[1], "server") == 0;
	side.options = read_options(argument_count, arguments);
	CHECK(side.options.qps >= 1 && side.options.qps <= QPS_MAX);
	CHECK(side.options.size_max >= HEADER_BYTES && side.options.size_max <= SIZE_MAX_BYTES);
	random_state = side.options.seed * 2 + side.own;
	open_side(&side);
	side.socket = meet(arguments[2], side.own);
	connect_side(&side);
	for (uint64_t i = 0; i < (uint64_t)side.options.qps * RECEIVES; i++)
		post_slot(&side, i);
	rendezvous(side.socket);
	if (side.options.has_thread)
		CHECK_EQUAL(pthread_create(&thread, NULL, look_on, NULL), 0);
	run(&side);
	finish(&side);
	rendezvous(side.socket);
	for (unsigned i = 0; i < side.options.qps; i++) {
		CHECK(side.queues[i].received > 0);
		messages += side.queues[i].received;
	}
	printf("%llu messages\n", (unsigned long long)messages);
	return 0;
}
