/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path and the engine do the same: random work on two pairs of queue pairs, one of which
 * uses the fast path wherever it can. Packets, completions, memory and state are compared. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "net/transport/fast/fast_receive.h"
#include "support/burst_of_one.h"
#include "support/endpoint_compare.h"
#include "support/rc_pair.h"
#include "support/sent_packet.h"
#include "wire/mtu.h"

enum {
	STEPS = 400,
	SEEDS = 30,
	FLIGHTS_MAX = 512,
	FLIGHT_BYTES_MAX = 4400,
	MESSAGE_BYTES_MAX_HERE = 700, /* MTU 256: up to three packets */
	SLOT_BYTES = 1024,
	QKEY = 0x11111111,
	NO_BIT = 1 << 16,
	NO_BURSTS = 4, /* as burst_turn */
};

struct crossing {
	uint32_t byte_count;	/* 0: an ACK word */
	struct psn psn;		/* of the ACK word */
	uint32_t payload_bytes; /* of a message by reference; 0: a packet */
	uint8_t bytes[FLIGHT_BYTES_MAX];
};

/* One of the two pairs: the first takes the engine, the second the fast path. */
struct world {
	struct rc_pair pair;
	bool is_fast;
	bool has_shared_queues;
	struct receive_queue shared_queues[2];
	struct crossing flights[FLIGHTS_MAX];
	unsigned flight_count;
	uint32_t sent_count[2][2]; /* by direction; requests, answers */
	uint64_t request_digest[2];
	unsigned fast_posted, fast_zcopies, fast_received, fast_acked;
	unsigned fast_posted_by_template;	 /* among fast_posted */
	unsigned fast_payload, fast_by_template; /* among fast_received */
	unsigned burst_turn; /* of four PSNs, the one whose message is received as a burst */
	uint32_t inbox_next[2], outbox_next[2];
};

static struct world worlds[2];
static const enum qp_type plain_types[] = {QP_RC, QP_UC, QP_UD};

static struct endpoint *end_of(struct world *world, unsigned side)
{
	return side ? &world->pair.b : &world->pair.a;
}

static void give_rings(struct world *world)
{
	for (unsigned side = 0; side < 2; side++)
		endpoint_give_rings(end_of(world, side));
}

/* After each call. */
static void count_completions(struct world *world)
{
	for (unsigned side = 0; side < 2 && world->is_fast; side++)
		endpoint_count_completions(end_of(world, side));
}

static struct crossing *new_crossing(struct world *world)
{
	struct crossing *crossing = &world->flights[world->flight_count++];

	assert_true(world->flight_count <= FLIGHTS_MAX);
	crossing->payload_bytes = 0;
	return crossing;
}

static void digest(uint64_t *sum, const uint8_t *bytes, uint32_t byte_count)
{
	for (uint32_t i = 0; i < byte_count; i++)
		*sum = (*sum ^ bytes[i]) * 1099511628211u;
}

static void acknowledge_fast(struct world *world, unsigned side)
{
	struct psn psn;

	if (send_template_holds(&end_of(world, side)->qp) &&
	    fast_take_ack(&end_of(world, side)->qp, &psn)) {
		struct crossing *crossing = new_crossing(world);

		crossing->byte_count = 0;
		crossing->psn = psn;
		world->fast_acked++;
	}
}

/* The payload of a message by reference stands behind its headers here, so that the engine can
 * receive the message too. */
static void write_payload(const struct fast_packet *packet, uint8_t *ret_bytes)
{
	memset(ret_bytes + packet->header_bytes, 0, packet->byte_count - packet->header_bytes);
	memcpy(ret_bytes + packet->header_bytes, packet->payload, packet->payload_bytes);
}

/* Answers leave before requests: a failing request may keep the peer from receiving them. */
static bool has_answers(const struct qp *qp)
{
	return qp->responder.saved_pending || qp->responder.nak_is_due || qp->responder.ack_is_due;
}

/* Queued SENDs of one packet go by reference. */
static void send_fast(struct world *world, unsigned side)
{
	struct endpoint *from = end_of(world, side);
	struct fast_packet packet = {0};

	while (!has_answers(&from->qp) && fast_next_zcopy(&from->qp, &packet) &&
	       packet.packet_count == 1) {
		struct crossing *crossing = new_crossing(world);

		crossing->byte_count = packet.byte_count;
		crossing->payload_bytes = packet.payload_bytes;
		write_payload(&packet, crossing->bytes);
		write_queued_zcopy(&from->qp, world->pair.now, &packet, crossing->bytes);
		count_completions(world);
		world->fast_zcopies++;
	}
}

static void send_long(struct world *world, unsigned side)
{
	struct endpoint *from = end_of(world, side);
	struct qp_route route;

	while (qp_next_route(&from->qp, world->pair.now, &route)) {
		struct packet packet;

		unsigned count = qp_transmit(&from->qp, world->pair.now, 1, 1, &packet);

		count_completions(world);
		if (!count)
			continue;

		struct crossing *crossing = new_crossing(world);

		crossing->byte_count = (uint32_t)packet_encode(&packet, crossing->bytes);
	}
}

/* Whether the wire loses the packet: the same in both worlds if they send the same. */
static bool is_lost(struct world *world, unsigned side, unsigned kind, uint64_t seed,
		    unsigned chance)
{
	struct random random = random_seeded(seed ^ (uint64_t)side << 40 ^ (uint64_t)kind << 41 ^
					     (uint64_t)world->sent_count[side][kind]++ << 8);

	return random_below(&random, 1000) < chance;
}

static void receive_by_engine(struct world *world, struct endpoint *to, struct crossing *crossing)
{
	struct packet packet;

	assert_int_equal(packet_decode(crossing->bytes, crossing->byte_count, 1, &packet),
			 PACKET_OK);
	qp_receive(&to->qp, world->pair.now, &packet);
}

static void receive_ack_word(struct world *world, struct endpoint *to, struct psn psn)
{
	struct packet packet = {
		.lrh = {.lnh = LNH_LOCAL, .slid = to->peer_lid, .dlid = to->port.lid},
		.bth = {.opcode = OPCODE_ACKNOWLEDGE,
			.migrated = true,
			.pkey = to->port.pkeys[0],
			.destination_qpn = to->qp.qpn,
			.psn = psn},
		.aeth = {.syndrome = aeth_syndrome(AETH_ACK, AETH_CREDITS_UNLIMITED)},
		.packet_count = 1,
	};

	if (!fast_acknowledge(&to->qp, world->pair.now, psn))
		qp_receive(&to->qp, world->pair.now, &packet);
	retry_date(&to->qp, world->pair.now);
}

/* A message by reference, and where its payload is. */
struct crossing_source {
	struct zcopy_source source;
	const uint8_t *payload;
};

static bool fetch(const struct zcopy_source *source, uint8_t *ret_bytes)
{
	memcpy(ret_bytes, container_of(source, struct crossing_source, source)->payload,
	       source->byte_count);
	return true;
}

/* fast_receive, with a count of the messages that have the headers of the last one. */
static bool receive_single(struct world *world, struct qp *qp, const uint8_t *bytes,
			   uint32_t byte_count)
{
	if (qp->type != QP_UD &&
	    fast_receive_by_template(qp, world->pair.now, 1, bytes, byte_count)) {
		world->fast_by_template++;
		return true;
	}
	return fast_receive(qp, world->pair.now, 1, &packet_source_fabric, bytes, byte_count);
}

/* Messages take the ways of the fast path in turn: one by one, and one of four as the first of a
 * burst. */
static bool receive_fast(struct world *world, struct endpoint *to, const uint8_t *bytes,
			 uint32_t byte_count)
{
	const bool is_burst = (bytes[LRH_BYTES + BTH_BYTES - 1] & 3) == world->burst_turn;

	if (is_burst && receive_burst_of_one(&to->qp, world->pair.now, 1, bytes, byte_count)) {
		world->fast_payload++;
		return true;
	}
	return receive_single(world, &to->qp, bytes, byte_count);
}

static bool receive_crossing(struct world *world, struct endpoint *to,
			     const struct crossing *crossing)
{
	const uint32_t padded_bytes = (crossing->payload_bytes + 3) & ~3u;
	const struct crossing_source source = {
		.source = {crossing->payload_bytes, 1, fetch},
		.payload = crossing->bytes + crossing->byte_count - padded_bytes,
	};

	if (crossing->payload_bytes)
		return fast_receive_zcopy(&to->qp, world->pair.now, 1, &packet_source_fabric,
					  crossing->bytes, &source.source);
	return receive_fast(world, to, crossing->bytes, crossing->byte_count);
}

static void deliver(struct world *world, unsigned side, uint64_t seed, unsigned chance)
{
	struct endpoint *to = end_of(world, !side);

	for (unsigned i = 0; i < world->flight_count; i++) {
		struct crossing *crossing = &world->flights[i];
		bool is_response = !crossing->byte_count ||
				   opcode_info(crossing->bytes[LRH_BYTES])->is_response;

		/* Other requests carry addresses, which differ between the worlds. */
		if (!is_response &&
		    opcode_info(crossing->bytes[LRH_BYTES])->kind == OPCODE_KIND_SEND)
			digest(&world->request_digest[side], crossing->bytes, crossing->byte_count);
		if (is_lost(world, side, is_response, seed, chance))
			continue;
		if (!crossing->byte_count)
			receive_ack_word(world, to, crossing->psn);
		else if (world->is_fast && receive_crossing(world, to, crossing))
			world->fast_received++;
		else
			receive_by_engine(world, to, crossing);
		count_completions(world);
	}
	world->flight_count = 0;
}

static void post_a_receive(struct world *world, unsigned side, struct random *random)
{
	struct endpoint *end = end_of(world, side);
	uint32_t offset = world->inbox_next[side]++ * SLOT_BYTES % (AREA_BYTES / 2);
	uint32_t first = (uint32_t)random_below(random, 8) ? SLOT_BYTES : 100;
	struct sge sges[2] = {
		area_sge(&end->inbox, end->inbox.bytes + offset, first),
		area_sge(&end->inbox, end->inbox.bytes + offset + first, SLOT_BYTES - first)};
	struct receive_request request = {
		.wr_id = random_next(random),
		.sge_count = first == SLOT_BYTES ? 1 : 2,
		.sges = sges,
	};

	/* Now and then a key that does not exist, or a buffer that is too small. */
	if (random_below(random, 4000) == 0)
		sges[0].lkey ^= 0x5a00;
	if (random_below(random, 4000) == 0)
		sges[0].byte_count = 8;
	if (world->has_shared_queues)
		(void)!receive_queue_post(&world->shared_queues[side], &request);
	else
		(void)!qp_post_receive(&end->qp, world->pair.now, &request);
}

/* Half of the requests that could go at once do, unless the queue pair has answers to send first;
 * the others wait for send_fast and send_long. */
static void post_either_way(struct world *world, struct endpoint *end,
			    const struct send_request *request)
{
	uint8_t bytes[FLIGHT_BYTES_MAX];
	uint32_t byte_count = 0;

	if (world->is_fast && request->wr_id & 1 && !has_answers(&end->qp)) {
		byte_count = packet_by_template(&end->qp, world->pair.now, request, bytes);
		world->fast_posted_by_template += byte_count != 0;
		if (!byte_count)
			byte_count = posted_packet(&end->qp, world->pair.now, request, bytes);
	}
	if (byte_count) {
		struct crossing *crossing = new_crossing(world);

		crossing->byte_count = byte_count;
		memcpy(crossing->bytes, bytes, byte_count);
		world->fast_posted++;
	} else {
		(void)!qp_post_send(&end->qp, world->pair.now, request);
	}
	count_completions(world);
}

/* Half of the SENDs have the same headers, but for the PSN. */
static void post_a_send(struct world *world, unsigned side, struct random *random)
{
	static const enum send_opcode opcodes[] = {
		SEND_SEND,	     SEND_SEND,	      SEND_SEND,      SEND_SEND,
		SEND_SEND_IMMEDIATE, SEND_RDMA_WRITE, SEND_RDMA_READ, SEND_FETCH_ADD};
	struct endpoint *end = end_of(world, side);
	const struct endpoint *peer = end_of(world, !side);
	bool is_reliable = end->qp.type == QP_RC;
	unsigned kinds = end->qp.type == QP_UD ? 5 : is_reliable ? 8 : 6;
	const bool is_plain = random_below(random, 2);
	enum send_opcode opcode = is_plain ? SEND_SEND : opcodes[random_below(random, kinds)];
	uint32_t byte_count = (uint32_t)random_below(
		random, random_below(random, 3) ? 64 : MESSAGE_BYTES_MAX_HERE);
	/* READs use another part of the buffer than receives: the two are not ordered. */
	uint32_t offset =
		AREA_BYTES / 2 + world->outbox_next[side]++ * SLOT_BYTES % (AREA_BYTES / 2);
	bool reads = opcode == SEND_RDMA_READ || opcode == SEND_FETCH_ADD;
	const struct area *area = reads ? &end->inbox : &end->outbox;
	const struct address_vector address = {.dlid = peer->port.lid, .port_number = 1};

	if (opcode == SEND_FETCH_ADD || is_plain || random_below(random, 3) == 0)
		byte_count = 8;
	if (end->qp.type == QP_UD && byte_count > 250 && random_below(random, 500))
		byte_count = 250;

	struct sge sges[2] = {area_sge(area, area->bytes + offset, byte_count),
			      area_sge(area, area->bytes + offset, 4)};
	struct send_request request = {
		.wr_id = random_next(random),
		.opcode = opcode,
		.flags = (uint32_t)random_below(random, 8) & (is_plain ? SEND_SIGNALED : ~0u),
		.immediate_or_rkey = (uint32_t)random_next(random),
		.remote_address = (uintptr_t)peer->window.bytes + (offset & ~7u),
		.remote_key = peer->window.region->key,
		.compare_or_add = 3,
		.address = &address,
		.address_pd = &end->pd,
		.remote_qpn = peer->qp.qpn,
		.remote_qkey = QKEY,
		.sge_count = reads || is_plain || random_below(random, 4) ? 1 : 2,
		.sges = sges,
	};

	if (!reads && !is_plain && random_below(random, 2) && byte_count <= 32)
		request.flags |= SEND_INLINE;
	/* Answers and a failing request are not ordered: on a connection, their order decides
	 * whether the peer still gets the answers. */
	if (!is_reliable && random_below(random, 5000) == 0)
		sges[0].lkey ^= 0x5a00;
	if (!reads)
		fill_pattern(area->bytes + offset, SLOT_BYTES, (uint32_t)request.wr_id);

	post_either_way(world, end, &request);
}

static void work(struct world *world, unsigned side, struct random *random)
{
	for (uint64_t count = random_below(random, 4); count; count--)
		post_a_receive(world, side, random);
	for (uint64_t count = random_below(random, 4); count; count--)
		post_a_send(world, side, random);
}

/* A side sends its requests before it receives from the other, and its answers before its requests:
 * a failing request may keep the peer from receiving them. */
static void exchange(struct world *world, struct random *random, uint64_t seed, unsigned chance)
{
	for (unsigned side = 0; side < 2; side++) {
		if (world->is_fast)
			acknowledge_fast(world, side);
		work(world, side, random);
		if (world->is_fast)
			send_fast(world, side);
		send_long(world, side);
		deliver(world, side, seed, chance);
	}
}

static void pass_time(struct world *world, time_ns time)
{
	world->pair.now += time;
	for (unsigned side = 0; side < 2; side++)
		while (timer_queue_pop(&end_of(world, side)->timers, world->pair.now))
			qp_expire(&end_of(world, side)->qp, world->pair.now);
}

static void compare_worlds(void)
{
	for (unsigned side = 0; side < 2; side++) {
		endpoint_compare(end_of(&worlds[0], side), end_of(&worlds[1], side));
		assert_true(worlds[0].request_digest[side] == worlds[1].request_digest[side]);
		assert_int_equal(worlds[0].sent_count[side][0], worlds[1].sent_count[side][0]);
		assert_int_equal(worlds[0].sent_count[side][1], worlds[1].sent_count[side][1]);
	}
}

static void compare_memory(void)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct endpoint *a = end_of(&worlds[0], side), *b = end_of(&worlds[1], side);

		assert_memory_equal(a->inbox.bytes, b->inbox.bytes, AREA_BYTES);
		assert_memory_equal(a->window.bytes, b->window.bytes, AREA_BYTES);
	}
}

/* As an adapter would that owns the queues of both ends. */
static void connect_shared(struct world *world, const struct endpoint_options *options)
{
	struct endpoint_options ends[2] = {*options, *options};

	world->has_shared_queues = true;
	ends[1].sq_psn = options->rq_psn;
	ends[1].rq_psn = options->sq_psn;
	for (unsigned side = 0; side < 2; side++) {
		assert_int_equal(receive_queue_init(&world->shared_queues[side],
						    &end_of(world, side)->pd, 256, 4),
				 0);
		ends[side].shared_queue = &world->shared_queues[side];
	}
	rc_pair_init(&world->pair, &ends[0], &ends[1]);
	for (unsigned side = 0; side < 2; side++)
		endpoint_to_init(end_of(world, side));
	for (unsigned side = 0; side < 2; side++)
		endpoint_to_rtr(end_of(world, side), end_of(world, !side));
	for (unsigned side = 0; side < 2; side++)
		endpoint_to_rts(end_of(world, side));
}

/* Payloads of messages by reference are copied when they are sent. */
static void take_back_nothing(struct qp *qp)
{
	(void)qp;
}

enum receives { RECEIVES_OWN, RECEIVES_SHARED };

static void run_both(enum qp_type type, enum receives receives, uint64_t seed, unsigned loss_chance)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_256;
	options.sq_psn = 0xfffff0;
	options.rq_psn = 0xffffe0;
	options.rnr_retry = 7;
	options.retry_count = 7;
	for (unsigned i = 0; i < 2; i++) {
		memset(&worlds[i], 0, sizeof(worlds[i]));
		worlds[i].is_fast = i == 1;
		if (receives == RECEIVES_SHARED)
			connect_shared(&worlds[i], &options);
		else
			rc_pair_connect_with(&worlds[i].pair, &options);
	}
	give_rings(&worlds[1]);
	for (unsigned side = 0; side < 2; side++)
		end_of(&worlds[1], side)->environment.take_back = take_back_nothing;
	for (unsigned step = 0; step < STEPS; step++) {
		for (unsigned i = 0; i < 2; i++) {
			struct random random = random_seeded(seed * 7919 + step);

			exchange(&worlds[i], &random, seed, loss_chance);
			pass_time(&worlds[i], random_below(&random, MILLISECONDS(1)));
			count_completions(&worlds[i]);
		}
		compare_worlds();
	}
	compare_memory();
	for (unsigned i = 0; i < 2; i++) {
		rc_pair_release(&worlds[i].pair);
		for (unsigned side = 0; side < 2 && receives == RECEIVES_SHARED; side++)
			receive_queue_release(&worlds[i].shared_queues[side]);
	}
}

static void test_connections_do_the_same_on_both_paths(void **state)
{
	unsigned posted = 0, sent = 0, received = 0, acked = 0, payloads = 0, by_template = 0;
	unsigned posted_by_template = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		run_both(QP_RC, RECEIVES_OWN, seed, seed % 3 ? 0 : 30);
		posted += worlds[1].fast_posted;
		sent += worlds[1].fast_zcopies;
		received += worlds[1].fast_received;
		acked += worlds[1].fast_acked;
		posted_by_template += worlds[1].fast_posted_by_template;
		payloads += worlds[1].fast_payload;
		by_template += worlds[1].fast_by_template;
	}
	/* The comparison proves nothing if the fast path is never taken. */
	assert_true(posted > SEEDS * STEPS / 10);
	assert_true(posted_by_template > SEEDS * STEPS / 10);
	assert_true(sent > SEEDS * STEPS / 20);
	assert_true(received > SEEDS * STEPS / 20);
	assert_true(acked > SEEDS * STEPS / 20);
	assert_true(payloads > SEEDS);
	assert_true(by_template > SEEDS * STEPS / 10);
}

static void test_unreliable_connections_do_the_same_on_both_paths(void **state)
{
	unsigned received = 0, payloads = 0, by_template = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		run_both(QP_UC, RECEIVES_OWN, seed, seed % 3 ? 0 : 30);
		received += worlds[1].fast_received;
		payloads += worlds[1].fast_payload;
		by_template += worlds[1].fast_by_template;
	}
	assert_true(received > SEEDS * STEPS / 20);
	assert_true(payloads > SEEDS);
	assert_true(by_template > SEEDS * STEPS / 10);
}

static void test_datagrams_do_the_same_on_both_paths(void **state)
{
	unsigned received = 0, payloads = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		run_both(QP_UD, RECEIVES_OWN, seed, seed % 3 ? 0 : 30);
		received += worlds[1].fast_received;
		payloads += worlds[1].fast_payload;
	}
	assert_true(received > SEEDS * STEPS / 20);
	assert_true(payloads > SEEDS);
}

static void test_shared_receive_queues_do_the_same_on_both_paths(void **state)
{
	unsigned received = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		run_both(plain_types[seed % 3], RECEIVES_SHARED, seed, seed % 4 ? 0 : 30);
		received += worlds[1].fast_received;
	}
	assert_true(received > SEEDS * STEPS / 20);
}

/* Sends one more message from a, with this bit of its headers flipped (NO_BIT: none). b receives it
 * by the fast path if this world has one and the fast path accepts it. */
static void send_message(struct world *world, uint32_t payload_bytes, unsigned bit)
{
	struct packet decoded;
	uint8_t bytes[SLOT_BYTES];
	uint32_t byte_count;

	post_send(&world->pair, &world->pair.a, payload_bytes);
	byte_count = sent_packet(&world->pair.a.qp, world->pair.now, bytes);
	assert_int_not_equal(byte_count, 0);
	if (bit != NO_BIT)
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);

	bool is_packet = packet_decode(bytes, byte_count, 1, &decoded) == PACKET_OK &&
			 decoded.bth.destination_qpn == world->pair.b.qp.qpn;

	if (world->is_fast && get_be24(bytes + LRH_BYTES + 5) == world->pair.b.qp.qpn &&
	    receive_fast(world, &world->pair.b, bytes, byte_count)) {
		assert_true(is_packet);
		world->fast_received++;
	} else if (is_packet) {
		qp_receive(&world->pair.b.qp, world->pair.now, &decoded);
	}
	count_completions(world);
}

static void send_changed(struct world *world, unsigned bit)
{
	post_receive(&world->pair, &world->pair.b, 64);
	send_message(world, 8, bit);
}

static void connect_worlds(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	for (unsigned i = 0; i < 2; i++) {
		memset(&worlds[i], 0, sizeof(worlds[i]));
		worlds[i].is_fast = i == 1;
		rc_pair_connect_with(&worlds[i].pair, &options);
	}
	give_rings(&worlds[1]);
}

static void release_worlds(void)
{
	rc_pair_release(&worlds[0].pair);
	rc_pair_release(&worlds[1].pair);
}

enum way { ONE_BY_ONE, AS_A_BURST };

/* A packet that the fast path accepts is one that the decoder and the admission rules accept. With
 * any one bit of its headers flipped both paths still agree, for the first packet and for later
 * ones, which find a template. */
static void judge_changed_bit(enum qp_type type, unsigned bit, unsigned before, enum way way)
{
	connect_worlds(type);
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t psn = worlds[i].pair.a.qp.requester.next_psn.value;

		worlds[i].burst_turn = way == AS_A_BURST ? (psn + before) & 3 : NO_BURSTS;
		for (unsigned j = 0; j < before; j++)
			send_changed(&worlds[i], NO_BIT);
		/* The first one makes the template. */
		if (i && before && way == ONE_BY_ONE && type != QP_UD)
			assert_int_equal(worlds[i].fast_by_template, before - 1);
		send_changed(&worlds[i], bit);
	}
	compare_worlds();
	release_worlds();
}

/* By each way of the fast path. */
static void judge_every_changed_bit(enum qp_type type, unsigned header_bytes)
{
	for (unsigned bit = 0; bit < header_bytes * 8; bit++)
		for (unsigned before = 0; before < 3; before++) {
			judge_changed_bit(type, bit, before, ONE_BY_ONE);
			judge_changed_bit(type, bit, before, AS_A_BURST);
		}
}

static void test_every_changed_bit_is_judged_as_by_the_engine(void **state)
{
	(void)state;
	judge_every_changed_bit(QP_RC, FAST_HEADER_BYTES);
	judge_every_changed_bit(QP_UC, FAST_HEADER_BYTES);
	judge_every_changed_bit(QP_UD, FAST_HEADER_BYTES + DETH_BYTES);
}

/* A receive template ends when the port, the path or the state changes. */
static void test_the_receive_template_ends_when_port_or_state_change(void **state)
{
	(void)state;
	connect_worlds(QP_RC);
	for (unsigned i = 0; i < 2; i++) {
		struct endpoint *to = &worlds[i].pair.b;

		send_changed(&worlds[i], NO_BIT);
		send_changed(&worlds[i], NO_BIT);
		assert_int_equal(to->received.count, 2);
		assert_int_equal(worlds[i].fast_received, i ? 2 : 0);
		/* Another P_Key: packets with the old one are no longer for this port. */
		to->port.pkeys[0] ^= 1;
		invalidate(&to->environment);
		send_changed(&worlds[i], NO_BIT);
		assert_int_equal(to->received.count, 2);
		to->port.pkeys[0] ^= 1;
		invalidate(&to->environment);
	}
	compare_worlds();
	release_worlds();

	connect_worlds(QP_RC);
	for (unsigned i = 0; i < 2; i++) {
		struct endpoint *to = &worlds[i].pair.b;

		send_changed(&worlds[i], NO_BIT);
		qp_enter_error(&to->qp, worlds[i].pair.now);

		unsigned flushed = to->received.count;

		send_changed(&worlds[i], NO_BIT);
		/* The new request is flushed, not used. */
		assert_int_equal(to->received.count, flushed + 1);
		assert_int_equal(to->received.entries[flushed].status, COMPLETION_FLUSHED);
	}
	compare_worlds();
	release_worlds();
}

/* A peer with a larger MTU. The receive buffer would have room for the message. */
static void test_packets_above_the_mtu_are_judged_as_by_the_engine(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(plain_types); i++) {
		connect_worlds(plain_types[i / 2]);
		for (unsigned j = 0; j < 2; j++) {
			struct rc_pair *pair = &worlds[j].pair;

			pair->a.qp.path_mtu = 512;
			if (plain_types[i / 2] == QP_UD)
				pair->a.port.mtu_code = MTU_512;
			for (unsigned k = 0; k < 2; k++)
				post_receive(pair, &pair->b, 600);
			/* With either way of receiving: they take turns. */
			if (i % 2)
				send_message(&worlds[j], 256, NO_BIT);
			assert_int_equal(worlds[j].fast_received, i % 2 && j);
			send_message(&worlds[j], 257, NO_BIT);
			assert_int_equal(worlds[j].fast_received, i % 2 && j);
		}
		compare_worlds();
		compare_memory();
		release_worlds();
	}
}

static void send_and_acknowledge(struct world *world)
{
	struct qp *from = &world->pair.a.qp;
	const struct psn psn = from->requester.next_psn;

	send_changed(world, NO_BIT);
	if (from->type != QP_RC)
		return;
	assert_true(fast_acknowledge(from, world->pair.now, psn));
	retry_date(from, world->pair.now);
	count_completions(world);
}

/* The slot still has the SGE of an earlier request, which must not be used. */
static void test_receive_requests_without_a_buffer_take_empty_messages_only(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4 * ARRAY_COUNT(plain_types); i++) {
		connect_worlds(plain_types[i / 4]);
		for (unsigned j = 0; j < 2; j++) {
			struct endpoint *to = &worlds[j].pair.b;
			const struct receive_request request = {.wr_id = 5};

			/* Once around the queue. */
			for (unsigned k = 0; k < to->options.receive_requests_max; k++)
				send_and_acknowledge(&worlds[j]);
			if (i & 1)
				send_changed(&worlds[j], NO_BIT);
			assert_int_equal(qp_post_receive(&to->qp, 0, &request), 0);
			send_message(&worlds[j], i & 2 ? 8 : 0, NO_BIT);
		}
		compare_worlds();
		compare_memory();
		release_worlds();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connections_do_the_same_on_both_paths),
		cmocka_unit_test(test_the_receive_template_ends_when_port_or_state_change),
		cmocka_unit_test(test_packets_above_the_mtu_are_judged_as_by_the_engine),
		cmocka_unit_test(test_receive_requests_without_a_buffer_take_empty_messages_only),
		cmocka_unit_test(test_unreliable_connections_do_the_same_on_both_paths),
		cmocka_unit_test(test_datagrams_do_the_same_on_both_paths),
		cmocka_unit_test(test_shared_receive_queues_do_the_same_on_both_paths),
		cmocka_unit_test(test_every_changed_bit_is_judged_as_by_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
