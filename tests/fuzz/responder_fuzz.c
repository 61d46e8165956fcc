/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a whole queue pair that gets packets from an attacker.
 *
 * The input is a program: a service, then packets whose fields are near those that the queue pair
 * expects, changed byte by byte, cut short or replayed. The queue pair stays in a legal state, and
 * no byte outside the granted memory is written.
 */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/fast/fast_copy.h"
#include "net/transport/fast/fast_receive.h"
#include "net/transport/port_view.h"
#include "net/transport/qp.h"
#include "wire/mtu.h"

enum {
	MEMORY_BYTES = 8192,
	GRANTED_AT = 2048, /* to the peer */
	GRANTED_BYTES = 2048,
	RECEIVES_AT = 6144,
	RECEIVE_BYTES = 128,
	RECEIVE_COUNT = 8,
	OWN_LID = 1,
	PEER_LID = 2,
	QPN = 0x100,
	SRQN = 1,
	SENTINEL = 0xa5,
	STEPS_MAX = 64,
	SENT_BYTES_MAX = 1200,
};

struct target {
	struct qp qp;
	struct qp_environment environment;
	struct memory memory;
	struct protection_domain pd;
	struct timer_queue timers;
	struct port_view port;
	struct receive_queue xrc_queue;
	struct region *granted;
	struct region *receives;
	uint8_t bytes[MEMORY_BYTES] __attribute__((aligned(64)));
	uint8_t last[SENT_BYTES_MAX];
	size_t last_bytes;
	unsigned completion_count;
	time_ns now;
};

/* The rest of the input. */
struct input {
	const uint8_t *bytes;
	size_t byte_count;
};

static uint8_t next_byte(struct input *input)
{
	if (!input->byte_count)
		return 0;
	input->byte_count--;
	return *input->bytes++;
}

static bool count_completion(struct qp *qp, enum queue_side side,
			     const struct completion *completion)
{
	struct target *target = container_of(qp, struct target, qp);

	(void)side;
	MUST_HOLD(completion->status <= COMPLETION_GENERAL);
	target->completion_count++;
	return true;
}

static void ignore_event(struct qp *qp, enum qp_event event)
{
	(void)qp;
	(void)event;
}

static void ignore_taken(struct qp *qp)
{
	(void)qp;
}

static struct receive_queue *find_xrc_queue(const struct qp *qp, uint32_t srqn)
{
	struct target *target = container_of((struct qp *)(uintptr_t)qp, struct target, qp);

	return srqn == SRQN ? &target->xrc_queue : NULL;
}

static void post_receives(struct target *target)
{
	for (unsigned i = 0; i < RECEIVE_COUNT; i++) {
		struct sge sge = {
			.address = (uintptr_t)target->bytes + RECEIVES_AT + i * RECEIVE_BYTES,
			.byte_count = RECEIVE_BYTES,
			.lkey = target->receives->key,
		};
		struct receive_request request = {.wr_id = i, .sge_count = 1, .sges = &sge};

		if (target->qp.type == QP_XRC_TGT)
			MUST_HOLD(receive_queue_post(&target->xrc_queue, &request) == 0);
		else
			MUST_HOLD(qp_post_receive(&target->qp, 0, &request) == 0);
	}
}

static void register_memory(struct target *target)
{
	const uint32_t remote = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
				ACCESS_REMOTE_ATOMIC | ACCESS_FLUSH_GLOBAL;

	memset(target->bytes, SENTINEL, sizeof(target->bytes));
	memory_init(&target->memory, 16);
	MUST_HOLD(region_register(&target->memory, &target->pd, target->bytes + GRANTED_AT,
				  GRANTED_BYTES, (uintptr_t)target->bytes + GRANTED_AT, remote,
				  &target->granted) == 0);
	MUST_HOLD(region_register(&target->memory, &target->pd, target->bytes + RECEIVES_AT,
				  RECEIVE_BYTES * RECEIVE_COUNT,
				  (uintptr_t)target->bytes + RECEIVES_AT, ACCESS_LOCAL_WRITE,
				  &target->receives) == 0);
}

static void modify(struct target *target, enum qp_state state, uint32_t mask)
{
	struct port_view *views[] = {&target->port};
	struct qp_ports ports = {views, 1, 4, 4};
	struct qp_attributes attributes = {
		.state = state,
		.access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
			  ACCESS_REMOTE_ATOMIC | ACCESS_FLUSH_GLOBAL,
		.port_number = 1,
		.qkey = 0x1111,
		.address = {.dlid = PEER_LID, .port_number = 1},
		.path_mtu_code = MTU_256,
		.destination_qpn = QPN,
		.responder_resources = 2,
		.initiator_depth = 2,
		.timeout = 10,
		.retry_count = 1,
	};

	MUST_HOLD(qp_modify(&target->qp, 0, &ports, &attributes, mask | QP_HAS_STATE) == 0);
}

static void connect(struct target *target, enum qp_type type)
{
	bool is_datagram = type == QP_UD;
	uint32_t init = QP_HAS_PKEY_INDEX | QP_HAS_PORT;
	uint32_t rtr = QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN;
	uint32_t rts = QP_HAS_SQ_PSN;

	modify(target, QP_INIT, init | (uint32_t)(is_datagram ? QP_HAS_QKEY : QP_HAS_ACCESS));
	if (type == QP_RC || type == QP_XRC_TGT)
		rtr |= QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER;
	modify(target, QP_RTR, is_datagram ? 0 : rtr);
	post_receives(target);
	if (type == QP_RC)
		rts |= QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
		       QP_HAS_INITIATOR_DEPTH;
	if (type == QP_XRC_TGT)
		rts |= QP_HAS_TIMEOUT;
	modify(target, QP_RTS, rts);
}

static void target_init(struct target *target, enum qp_type type)
{
	const struct qp_capabilities none = {0};
	const struct qp_capabilities some = {4, RECEIVE_COUNT, 1, 1, 16};
	bool is_target = type == QP_XRC_TGT;

	*target = (struct target){.now = 1};
	register_memory(target);
	timer_queue_init(&target->timers);
	MUST_HOLD(timer_queue_reserve(&target->timers, 1) == 0);
	MUST_HOLD(receive_queue_init(&target->xrc_queue, &target->pd, RECEIVE_COUNT, 1) == 0);
	target->environment = (struct qp_environment){
		.epoch = 1,
		.memory = &target->memory,
		.timers = &target->timers,
		.complete = count_completion,
		.event = ignore_event,
		.shared_receive_taken = ignore_taken,
		.find_xrc_queue = find_xrc_queue,
		.xrc_sges_max = 1,
	};
	target->port = (struct port_view){
		.number = 1,
		.mtu_code = MTU_256,
		.lid = OWN_LID,
		.pkey_count = 1,
		.gid_count = 1,
		.pkeys = {0xffff},
	};
	MUST_HOLD(qp_init(&target->qp, &target->environment, type, QPN,
			  is_target ? NULL : &target->pd, is_target ? &none : &some, NULL,
			  true) == 0);
	connect(target, type);
}

static void target_release(struct target *target)
{
	qp_release(&target->qp);
	receive_queue_release(&target->xrc_queue);
	timer_queue_release(&target->timers);
	memory_release(&target->memory);
}

/* Posts requests, so that responses have something to answer. */
static void post_read(struct target *target)
{
	struct sge sge = {(uintptr_t)target->bytes + RECEIVES_AT, 16, target->receives->key};
	struct send_request request = {
		.opcode = SEND_RDMA_READ, .sge_count = 1, .sges = &sge, .remote_address = 64};

	if (target->qp.type != QP_RC)
		return;

	int error = qp_post_send(&target->qp, target->now, &request);

	/* Only a full queue may refuse it. */
	MUST_HOLD(error == 0 || error == -ENOMEM);
}

/* Builds a packet that is valid except for what the input changes. */
static size_t build(struct target *target, struct input *input, uint8_t *ret_bytes)
{
	static uint8_t payload[512];
	const struct qp *qp = &target->qp;
	uint8_t choice = next_byte(input);
	struct packet packet = {
		.lrh = {.lnh = LNH_LOCAL, .slid = PEER_LID, .dlid = OWN_LID},
		.bth = {.opcode = (uint8_t)(qp_transport(qp) | (next_byte(input) & 0x1f)),
			.pkey = 0xffff,
			.destination_qpn = QPN,
			.ack_request = choice & 1,
			.migrated = choice & 2},
		.deth = {.qkey = 0x1111, .source_qpn = 5},
		.aeth = {.syndrome = next_byte(input)},
		.xrc_srqn = choice & 0x80 ? next_byte(input) : SRQN,
		.packet_count = 1,
	};
	const struct opcode_info *info = opcode_info(packet.bth.opcode);

	if (!info->name)
		return 0;
	packet.bth.psn =
		psn_add(info->is_response ? qp->requester.oldest_psn : qp->responder.expected_psn,
			choice & 4 ? (uint32_t)(int8_t)next_byte(input) : 0);

	uint64_t address = target->granted->iova + (choice & 8 ? next_byte(input) * 16u : 0);
	uint32_t rkey = target->granted->key ^ (choice & 0x10 ? next_byte(input) : 0);
	/* Also negative offsets and lengths beyond the end. */
	uint32_t bytes = choice & 0x20 ? next_byte(input) * 16u : 256;

	if (choice & 0x40)
		address -= next_byte(input);
	if (info->has_atomic_eth)
		packet.atomic_eth = (struct atomic_eth){address & ~7ull, rkey, 1, 1};
	else
		packet.reth = (struct reth){address, rkey, bytes};
	packet.feth = (struct feth){.selectivity = choice & 3, .placement = 1};
	if (info->has_payload)
		packet_set_payload(&packet, payload, choice & 0x20 ? bytes % 512 : 256);
	return packet_encode(&packet, ret_bytes);
}

/* Changes bytes as the wire or a hostile sender might. */
static size_t damage(struct input *input, uint8_t *bytes, size_t byte_count)
{
	unsigned changes = next_byte(input) & 3;

	while (changes-- && byte_count)
		bytes[next_byte(input) % byte_count] ^= next_byte(input);
	if (next_byte(input) == 0xff && byte_count)
		byte_count -= next_byte(input) % byte_count;
	return byte_count;
}

/* As runtime/fast/short_receive.c does it: a record of the ring has room for all headers, so that
 * many bytes are valid. */
static bool deliver_fast(struct target *target, const uint8_t *bytes, size_t byte_count)
{
	return byte_count >= FAST_HEADER_BYTES && get_be24(bytes + LRH_BYTES + 5) == QPN &&
	       fast_receive(&target->qp, target->now, 1, &packet_source_fabric, bytes,
			    (uint32_t)byte_count);
}

static void deliver(struct target *target, const uint8_t *bytes, size_t byte_count)
{
	const size_t record_bytes =
		byte_count < FAST_HEADER_BYTES_MAX ? FAST_HEADER_BYTES_MAX : byte_count;
	/* Exactly as big as the packet, so that the sanitizer sees a read beyond it; that of the
	 * fast path as big as its record. */
	uint8_t *copy = malloc(byte_count ? byte_count : 1);
	uint8_t *record = calloc(1, record_bytes);
	struct packet packet = {0};

	if (copy && record) {
		memcpy(copy, bytes, byte_count);
		memcpy(record, bytes, byte_count);

		bool is_packet = packet_decode(copy, byte_count, 1, &packet) == PACKET_OK &&
				 packet.bth.destination_qpn == QPN;

		/* A packet that the fast path takes is one that the engine would have taken. */
		if (deliver_fast(target, record, byte_count))
			MUST_HOLD(is_packet);
		else if (is_packet)
			qp_receive(&target->qp, target->now, &packet);
	}
	free(record);
	free(copy);
}

static void drain(struct target *target)
{
	struct packet packets[8];
	struct qp_route route;

	/* A response of 2^31 bytes is cut into trains; the target does not wait for its end. */
	for (unsigned rounds = 0; rounds < 8; rounds++) {
		if (!qp_next_route(&target->qp, target->now, &route))
			return;
		(void)qp_transmit(&target->qp, target->now, 8, 1, packets);
	}
}

static void expect_sound(const struct target *target)
{
	const struct qp *qp = &target->qp;
	const struct send_queue *queue = &qp->requester.queue;

	MUST_HOLD(qp->state == QP_RTS || qp->state == QP_ERROR || qp->state == QP_SQE);
	MUST_HOLD(queue->started - queue->done <= queue->tail - queue->done);
	MUST_HOLD(queue->tail - queue->head <= queue->requests_max);
	MUST_HOLD(qp->responder.saved_pending <= qp->responder.saved_count);
	for (unsigned i = 0; i < MEMORY_BYTES; i++) {
		bool is_granted = i >= GRANTED_AT && i < GRANTED_AT + GRANTED_BYTES;
		bool is_receive =
			i >= RECEIVES_AT && i < RECEIVES_AT + RECEIVE_BYTES * RECEIVE_COUNT;

		MUST_HOLD(is_granted || is_receive || target->bytes[i] == SENTINEL);
	}
}

static void step(struct target *target, struct input *input)
{
	uint8_t bytes[SENT_BYTES_MAX];
	uint8_t action = next_byte(input);

	if (action < 16) {
		post_read(target);
	} else if (action < 32) {
		target->now += MILLISECONDS(10);
		while (timer_queue_pop(&target->timers, target->now))
			qp_expire(&target->qp, target->now);
	} else if (action < 64) {
		deliver(target, target->last, target->last_bytes);
	} else {
		size_t byte_count = build(target, input, bytes);

		if (action >= 160)
			byte_count = damage(input, bytes, byte_count);
		memcpy(target->last, bytes, byte_count);
		target->last_bytes = byte_count;
		deliver(target, bytes, byte_count);
	}
	drain(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD, QP_XRC_TGT};
	static struct target target;
	struct input input = {bytes, byte_count};

	target_init(&target, types[next_byte(&input) & 3]);
	for (unsigned steps = 0; steps < STEPS_MAX && input.byte_count; steps++)
		step(&target, &input);
	expect_sound(&target);
	target_release(&target);
	return 0;
}
