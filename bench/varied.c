/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that bench/varied runs on two hosts: traffic that varies, as that of real programs
 * does. Size, place, memory region, queue pair, length of the posted list, immediate data, inline
 * data, number of SGEs and signaling are drawn from a seeded generator for each message.
 *
 *   varied CASE MESSAGES SEED SOCKET server|client
 *
 * The client prints million messages a second, or microseconds where the two sides take turns.
 */
#include "tests/clients/two_sides.h"
#include "bench/samples.h"

#include <arpa/inet.h>

enum {
	QPS_MAX = 64,
	REGIONS = 4,
	STARTS = 1 << 20,
	STARTS_NEAR = 1 << 14,
	MESSAGE_BYTES_MAX = 1 << 16,
	SLOT_STARTS = 1 << 12, /* a receive buffer begins at one of so many bytes of its slot */
	SLOT_BYTES = SLOT_STARTS + GRH_BYTES + MESSAGE_BYTES_MAX,
	SLOTS_MAX = 1024, /* of all queue pairs together */
	INLINE_BYTES_MAX = 256,
	LIST_MAX = 8,
	UNSIGNALED_MAX = 7,
	SIGNALED_IN_FLIGHT_MAX = 32,
	POLLED_MAX = 16,
	WARM_UP_MESSAGES = 20000,
	TURNS_PER_SAMPLE = 100,
	PATTERN = 0x5a /* of all bytes that are sent */
};

struct kind {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_qp_type type;
	unsigned qp_count; /* a power of two, as the next */
	unsigned starts;   /* bytes of each region at which messages begin */
	enum { ONE_WAY, BOTH_WAYS, IN_TURN } direction;
};

static const struct kind kinds[] = {
	{"send", IBV_WR_SEND, IBV_QPT_RC, 8, STARTS, ONE_WAY},
	{"send-1qp", IBV_WR_SEND, IBV_QPT_RC, 1, STARTS, ONE_WAY},
	{"send-64qp", IBV_WR_SEND, IBV_QPT_RC, 64, STARTS, ONE_WAY},
	{"send-both", IBV_WR_SEND, IBV_QPT_RC, 8, STARTS, BOTH_WAYS},
	{"send-pingpong", IBV_WR_SEND, IBV_QPT_RC, 8, STARTS, IN_TURN},
	{"ud", IBV_WR_SEND, IBV_QPT_UD, 8, STARTS, ONE_WAY},
	{"write", IBV_WR_RDMA_WRITE, IBV_QPT_RC, 8, STARTS, ONE_WAY},
	{"write-1qp", IBV_WR_RDMA_WRITE, IBV_QPT_RC, 1, STARTS, ONE_WAY},
	/* A fourth of these reach the region's first page, of which malloc gives only a part. */
	{"write-near", IBV_WR_RDMA_WRITE, IBV_QPT_RC, 8, STARTS_NEAR, ONE_WAY},
	{"write-both", IBV_WR_RDMA_WRITE, IBV_QPT_RC, 8, STARTS, BOTH_WAYS},
	{"read", IBV_WR_RDMA_READ, IBV_QPT_RC, 8, STARTS, ONE_WAY},
};

struct region {
	struct ibv_mr *mr;
	uint8_t *bytes;
};

struct address {
	struct ibv_sge regions[REGIONS]; /* the keys are rkeys */
	uint32_t qpns[QPS_MAX];
	uint16_t lid;
};

struct queue {
	struct ibv_qp *qp;
	unsigned depth;
	unsigned in_flight;  /* requests that no completion has retired */
	unsigned unsignaled; /* requests after the last signaled one */
};

struct side {
	const struct kind *kind;
	struct device device;
	struct ibv_cq *cq;
	struct ibv_ah *ah;
	struct region out[REGIONS], in[REGIONS];
	struct queue queues[QPS_MAX];
	struct address peer;
	struct ibv_sge last; /* what the last RDMA operation has filled */
	unsigned list_max;
	unsigned signaled_in_flight;
	uint64_t received;
	uint64_t random;
	int socket;
	bool is_client;
};

/* xorshift64*: one multiplication, so that drawing costs little beside sending. */
static uint64_t draw(struct side *side)
{
	side->random ^= side->random >> 12;
	side->random ^= side->random << 25;
	side->random ^= side->random >> 27;
	return side->random * 0x2545f4914f6cdd1dull;
}

/* 7 of 8 messages have up to 256 bytes, the others up to 4 KiB, 1 of 64 up to 64 KiB. */
static uint32_t message_bytes(const struct side *side, uint64_t bits)
{
	uint32_t class = bits & 63, bytes_max = class < 56 ? 256 : 4096;

	if (class == 63 && side->kind->type == IBV_QPT_RC)
		bytes_max = MESSAGE_BYTES_MAX;
	return 1 + ((uint32_t)(bits >> 6) & (bytes_max - 1));
}

static bool has_receives(const struct side *side)
{
	return side->kind->opcode == IBV_WR_SEND;
}

/* The request's identifier has the slot, and where in its region the buffer begins. */
static void post_slot(struct side *side, unsigned slot)
{
	struct region *region = &side->in[slot % REGIONS];
	uint32_t start = draw(side) % SLOT_STARTS + slot / REGIONS * SLOT_BYTES;
	struct ibv_sge sge = {(uintptr_t)region->bytes + start, GRH_BYTES + MESSAGE_BYTES_MAX,
			      region->mr->lkey};
	uint64_t wr_id = (uint64_t)start << 32 | slot;
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(side->queues[slot / side->queues[0].depth].qp, &wr, &bad), 0);
}

/* The last byte must have come; it is cleared, so that the next message must bring its own. */
static void take_message(struct side *side, const struct ibv_wc *wc)
{
	unsigned slot = (unsigned)wc->wr_id;
	uint32_t payload_bytes = wc->byte_len - (side->ah ? GRH_BYTES : 0);
	uint8_t *end = side->in[slot % REGIONS].bytes + (wc->wr_id >> 32) + wc->byte_len;

	CHECK_EQUAL(end[-1], PATTERN);
	end[-1] = 0;
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		CHECK_EQUAL(ntohl(wc->imm_data), payload_bytes);
	side->received++;
	post_slot(side, slot);
}

static void poll_once(struct side *side)
{
	struct ibv_wc wc[POLLED_MAX];
	int count = ibv_poll_cq(side->cq, POLLED_MAX, wc);

	CHECK(count >= 0);
	for (int i = 0; i < count; i++) {
		CHECK_EQUAL(wc[i].status, IBV_WC_SUCCESS);
		if (wc[i].opcode & IBV_WC_RECV) {
			take_message(side, &wc[i]);
			continue;
		}
		side->queues[wc[i].wr_id % QPS_MAX].in_flight -= wc[i].wr_id / QPS_MAX;
		side->signaled_in_flight--;
	}
}

static void draw_flags(struct side *side, struct queue *queue, uint64_t bits,
		       unsigned unsignaled_max, struct ibv_send_wr *wr)
{
	queue->unsignaled++;
	if (queue->unsignaled > unsignaled_max || (bits >> 46 & 1)) {
		wr->send_flags |= IBV_SEND_SIGNALED;
		wr->wr_id = (uint64_t)(queue - side->queues) + QPS_MAX * queue->unsignaled;
		queue->unsignaled = 0;
		side->signaled_in_flight++;
	}
	if (wr->opcode != IBV_WR_RDMA_READ && wr->sg_list[0].length <= INLINE_BYTES_MAX &&
	    (bits >> 47 & 1))
		wr->send_flags |= IBV_SEND_INLINE;
	if (wr->opcode == IBV_WR_SEND && (bits >> 48 & 7) == 0) {
		wr->opcode = IBV_WR_SEND_WITH_IMM;
		wr->imm_data = htonl(wr->sg_list[0].length);
	}
}

static void draw_request(struct side *side, struct queue *queue, unsigned unsignaled_max,
			 struct ibv_sge sges[2], struct ibv_send_wr *wr)
{
	uint64_t bits = draw(side);
	uint32_t byte_count = message_bytes(side, bits), split = byte_count / 2;
	bool is_read = side->kind->opcode == IBV_WR_RDMA_READ;
	struct region *regions = is_read ? side->in : side->out;
	struct region *region = &regions[bits >> 22 & (REGIONS - 1)];
	struct ibv_sge *remote = &side->peer.regions[bits >> 44 & (REGIONS - 1)];
	uint64_t start = bits >> 24 & (side->kind->starts - 1);

	sges[0] = (struct ibv_sge){(uintptr_t)region->bytes + start, byte_count, region->mr->lkey};
	*wr = (struct ibv_send_wr){.sg_list = sges, .num_sge = 1, .opcode = side->kind->opcode};
	if (side->ah) {
		wr->wr.ud.ah = side->ah;
		wr->wr.ud.remote_qpn = side->peer.qpns[bits >> 55 & (side->kind->qp_count - 1)];
		wr->wr.ud.remote_qkey = QKEY;
	} else if (!has_receives(side)) {
		wr->wr.rdma.remote_addr =
			remote->addr + (draw(side) >> 32 & (side->kind->starts - 1));
		wr->wr.rdma.rkey = remote->lkey;
		side->last = (struct ibv_sge){is_read ? sges[0].addr : wr->wr.rdma.remote_addr,
					      byte_count, 0};
	}
	draw_flags(side, queue, bits, unsignaled_max, wr);
	if ((bits >> 51 & 15) == 0 && split && !is_read) {
		region = &regions[bits >> 55 & (REGIONS - 1)];
		sges[0].length = split;
		sges[1] = (struct ibv_sge){(uintptr_t)region->bytes + split, byte_count - split,
					   region->mr->lkey};
		wr->num_sge = 2;
	}
}

/* Posts a list of up to `left` messages on one queue pair; returns their number. The last message
 * of each queue pair is signaled. */
static unsigned post_list(struct side *side, uint64_t left)
{
	unsigned qp_count = side->kind->qp_count;
	uint64_t bits = draw(side) >> 20;
	bool is_ending = left <= qp_count;
	unsigned length = is_ending ? 1 : 1 + (bits & (side->list_max - 1));
	struct queue *queue = &side->queues[is_ending ? left - 1 : bits >> 8 & (qp_count - 1)];
	struct ibv_send_wr requests[LIST_MAX], *bad;
	struct ibv_sge sges[LIST_MAX][2];

	if (!is_ending && length > left - qp_count)
		length = (unsigned)(left - qp_count);
	while (queue->in_flight + length > queue->depth)
		poll_once(side);
	for (unsigned i = 0; i < length; i++) {
		draw_request(side, queue, is_ending ? 0 : UNSIGNALED_MAX, sges[i], &requests[i]);
		requests[i].next = i + 1 < length ? &requests[i + 1] : NULL;
	}
	queue->in_flight += length;
	CHECK_EQUAL(ibv_post_send(queue->qp, requests, &bad), 0);
	return length;
}

static void stream(struct side *side, uint64_t to_send, uint64_t to_receive)
{
	uint64_t received_end = side->received + to_receive;

	while (to_send || side->signaled_in_flight || side->received < received_end) {
		if (to_send && side->signaled_in_flight < SIGNALED_IN_FLIGHT_MAX)
			to_send -= post_list(side, to_send);
		poll_once(side);
	}
}

/* Half a turn in microseconds: the median of samples of some turns each. */
static double latency(struct side *side, uint64_t turns)
{
	size_t sample_count = 0;
	double *samples = calloc(turns / TURNS_PER_SAMPLE + 1, sizeof(*samples));
	double start = seconds();

	CHECK(samples);
	for (uint64_t left = turns; left > 0; left--) {
		uint64_t wanted = side->received + 1;

		if (side->is_client)
			post_list(side, left);
		while (side->received < wanted)
			poll_once(side);
		if (!side->is_client)
			post_list(side, left);
		if (left % TURNS_PER_SAMPLE == 0) {
			double now = seconds();

			samples[sample_count++] = (now - start) / TURNS_PER_SAMPLE / 2 * 1e6;
			start = now;
		}
	}
	while (side->signaled_in_flight)
		poll_once(side);
	rendezvous(side->socket);

	double result = median(samples, sample_count);

	free(samples);
	return result;
}

/* Million messages a second, both directions together. */
static double rate(struct side *side, uint64_t messages)
{
	bool is_both = side->kind->direction == BOTH_WAYS;
	uint64_t to_send = side->is_client || is_both ? messages : 0;
	uint64_t to_receive = !side->is_client || is_both ? messages : 0;
	double start = seconds();

	stream(side, to_send, has_receives(side) ? to_receive : 0);
	rendezvous(side->socket);
	return (double)(is_both ? 2 * messages : messages) / (seconds() - start) / 1e6;
}

/* The last RDMA operation has filled its last byte: here by a READ, at the peer by a WRITE. */
static void check_last_byte(struct side *side)
{
	struct ibv_sge last = side->last;

	if (side->kind->opcode == IBV_WR_RDMA_WRITE) {
		give(side->socket, &last, sizeof(last));
		take(side->socket, &last, sizeof(last));
	}
	if (last.length)
		CHECK_EQUAL(*(uint8_t *)(uintptr_t)(last.addr + last.length - 1), PATTERN);
	rendezvous(side->socket);
}

static struct region open_region(struct side *side, size_t byte_count, int value)
{
	struct region region = {.bytes = malloc(byte_count)};

	CHECK(region.bytes);
	memset(region.bytes, value, byte_count);
	region.mr = ibv_reg_mr(side->device.pd, region.bytes, byte_count, ALL_ACCESS);
	CHECK(region.mr);
	return region;
}

static void open_queues(struct side *side)
{
	unsigned qp_count = side->kind->qp_count;
	unsigned depth = qp_count == 1 ? 128 : qp_count == 8 ? 64 : 16;
	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {depth, depth, 2, 1, INLINE_BYTES_MAX},
		.qp_type = side->kind->type,
	};

	for (unsigned i = 0; i < qp_count; i++) {
		side->queues[i].depth = depth;
		side->queues[i].qp = ibv_create_qp(side->device.pd, &options);
		CHECK(side->queues[i].qp);
		qp_modify_to(side->queues[i].qp, IBV_QPS_INIT, connection_to(0, 0));
	}
}

static void connect_queues(struct side *side)
{
	bool is_read = side->kind->opcode == IBV_WR_RDMA_READ;
	struct address own = {.lid = side->device.port.lid};

	for (unsigned i = 0; i < REGIONS; i++) {
		struct region *region = is_read ? &side->out[i] : &side->in[i];

		own.regions[i] = (struct ibv_sge){(uintptr_t)region->bytes, 0, region->mr->rkey};
	}
	for (unsigned i = 0; i < side->kind->qp_count; i++)
		own.qpns[i] = side->queues[i].qp->qp_num;
	give(side->socket, &own, sizeof(own));
	take(side->socket, &side->peer, sizeof(side->peer));

	struct ibv_qp_attr attr = connection_to(side->peer.lid, 0);

	attr.path_mtu = IBV_MTU_4096;
	for (unsigned i = 0; i < side->kind->qp_count; i++) {
		attr.dest_qp_num = side->peer.qpns[i];
		qp_connect(side->queues[i].qp, attr);
	}
	if (side->kind->type == IBV_QPT_UD) {
		side->ah = ibv_create_ah(side->device.pd, &attr.ah_attr);
		CHECK(side->ah);
	}
}

static void open_side(struct side *side)
{
	size_t out_bytes = STARTS + MESSAGE_BYTES_MAX;
	size_t in_bytes = has_receives(side) ? SLOTS_MAX / REGIONS * SLOT_BYTES : out_bytes;

	side->device = device_open();
	side->cq = ibv_create_cq(side->device.context, 4 * SLOTS_MAX, NULL, NULL, 0);
	CHECK(side->cq);
	for (unsigned i = 0; i < REGIONS; i++) {
		side->out[i] = open_region(side, out_bytes, PATTERN);
		side->in[i] = open_region(side, in_bytes, 0);
	}
	open_queues(side);
	connect_queues(side);
	for (unsigned i = 0; i < side->kind->qp_count * side->queues[0].depth; i++)
		if (has_receives(side))
			post_slot(side, i);
	rendezvous(side->socket);
}

static const struct kind *kind_called(const char *name)
{
	const struct kind *kind = kinds;

	for (; strcmp(kind->name, name) != 0; kind++)
		CHECK(kind + 1 < kinds + sizeof(kinds) / sizeof(kinds[0]));
	return kind;
}

int main(int argument_count, char **arguments)
{
	static struct side side;

	CHECK_EQUAL(argument_count, 6);

	uint64_t messages = strtoull(arguments[2], NULL, 10);

	CHECK(messages >= QPS_MAX);
	side.kind = kind_called(arguments[1]);
	side.is_client = strcmp(arguments[5], "client") == 0;
	side.random = 2 * strtoull(arguments[3], NULL, 10) + side.is_client + 0x9e3779b97f4a7c15ull;
	side.list_max = side.kind->direction == IN_TURN ? 1 : LIST_MAX;
	side.socket = meet(arguments[4], !side.is_client);
	open_side(&side);

	double (*measure)(struct side *, uint64_t) =
		side.kind->direction == IN_TURN ? latency : rate;

	measure(&side, WARM_UP_MESSAGES);

	double figure = measure(&side, messages);

	check_last_byte(&side);
	if (side.is_client)
		printf("%.4f\n", figure);
	return 0;
}
