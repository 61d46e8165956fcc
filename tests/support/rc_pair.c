/* SPDX-License-Identifier: Apache-2.0 */
/* Two connected queue pairs, a wire each way and a virtual clock. */
#include "support/rc_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { PAIR_BATCH = 8, STEPS_MAX = 2000000 };

void rc_pair_init(struct rc_pair *pair, const struct endpoint_options *a,
		  const struct endpoint_options *b)
{
	endpoint_init(&pair->a, a, 1);
	endpoint_init(&pair->b, b, 2);
	qp_wire_init(&pair->a_to_b, a->sq_psn, b->sq_psn);
	qp_wire_init(&pair->b_to_a, b->sq_psn, a->sq_psn);
	pair->now = MILLISECONDS(1);
	pair->train_bytes_max = 1;
	pair->batch = PAIR_BATCH;
	pair->is_fitful = false;
	pair->busy_until = 0;
}

void rc_pair_bring_up(struct rc_pair *pair)
{
	endpoint_to_init(&pair->a);
	endpoint_to_init(&pair->b);
	endpoint_to_rtr(&pair->a, &pair->b);
	endpoint_to_rtr(&pair->b, &pair->a);
	endpoint_to_rts(&pair->a);
	endpoint_to_rts(&pair->b);
}

void rc_pair_connect_with(struct rc_pair *pair, const struct endpoint_options *options)
{
	struct endpoint_options b = *options;

	b.sq_psn = options->rq_psn;
	b.rq_psn = options->sq_psn;
	rc_pair_init(pair, options, &b);
	rc_pair_bring_up(pair);
}

void rc_pair_connect(struct rc_pair *pair, unsigned mtu_code)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	options.mtu_code = mtu_code;
	rc_pair_connect_with(pair, &options);
}

void rc_pair_disturb(struct rc_pair *pair, struct random *random)
{
	static const uint32_t trains[] = {1, 1024, 65536};

	pair->train_bytes_max = trains[random_below(random, ARRAY_COUNT(trains))];
	pair->batch = 1 + (unsigned)random_below(random, 16);
	pair->is_fitful = random_below(random, 2);
	pair->random = random_seeded(random_next(random));

	const struct wire_faults faults = {
		.lose = (unsigned)random_below(random, 30),
		.duplicate = (unsigned)random_below(random, 30),
		.delay = (unsigned)random_below(random, 30),
		.corrupt = (unsigned)random_below(random, 10),
	};

	pair->a_to_b.faults = faults;
	pair->b_to_a.faults = faults;
	pair->a_to_b.random = random_seeded(random_next(random));
	pair->b_to_a.random = random_seeded(random_next(random));
}

void rc_pair_release(struct rc_pair *pair)
{
	endpoint_release(&pair->a);
	endpoint_release(&pair->b);
	qp_wire_release(&pair->a_to_b);
	qp_wire_release(&pair->b_to_a);
}

static void transmit(struct rc_pair *pair, struct endpoint *endpoint, struct qp_wire *wire)
{
	struct packet packets[64];
	struct qp_route route;
	unsigned rounds = 0;

	assert_true(pair->batch <= ARRAY_COUNT(packets));
	while (qp_next_route(&endpoint->qp, pair->now, &route)) {
		unsigned count = qp_transmit(&endpoint->qp, pair->now, pair->batch,
					     pair->train_bytes_max, packets);

		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(packets[i].lrh.dlid, route.dlid);
			assert_int_equal(packets[i].bth.destination_qpn, route.destination_qpn);
			qp_wire_send(wire, pair->now, &packets[i]);
		}
		assert_true(rounds++ < STEPS_MAX);
	}
}

static bool is_busy(struct rc_pair *pair)
{
	static const uint32_t trains[] = {1, 600, 1024, 5000, 65536};

	if (!pair->is_fitful)
		return false;
	pair->train_bytes_max = trains[random_below(&pair->random, ARRAY_COUNT(trains))];
	if (pair->busy_until <= pair->now && random_below(&pair->random, 4) == 0)
		pair->busy_until = pair->now + random_below(&pair->random, MICROSECONDS(20));
	return pair->busy_until > pair->now;
}

void rc_pair_transmit(struct rc_pair *pair)
{
	if (is_busy(pair))
		return;
	transmit(pair, &pair->a, &pair->a_to_b);
	transmit(pair, &pair->b, &pair->b_to_a);
}

static void deliver(struct rc_pair *pair, struct qp_wire *wire, struct endpoint *endpoint)
{
	struct flight flight;

	while (qp_wire_arrived(wire, pair->now, &flight)) {
		struct packet packet;

		assert_int_equal(packet_decode(flight.bytes, flight.byte_count, flight.packet_count,
					       &packet),
				 PACKET_OK);
		qp_receive(&endpoint->qp, pair->now, &packet);
		free(flight.bytes);
	}
}

static void expire(struct rc_pair *pair, struct endpoint *endpoint)
{
	while (timer_queue_pop(&endpoint->timers, pair->now))
		qp_expire(&endpoint->qp, pair->now);
}

static time_ns next_time(const struct rc_pair *pair)
{
	time_ns next =
		time_earlier(qp_wire_deadline(&pair->a_to_b), qp_wire_deadline(&pair->b_to_a));

	if (pair->busy_until > pair->now)
		next = time_earlier(next, pair->busy_until);
	next = time_earlier(next, timer_queue_deadline(&pair->a.timers));
	return time_earlier(next, timer_queue_deadline(&pair->b.timers));
}

void run_until(struct rc_pair *pair, time_ns end)
{
	for (unsigned steps = 0; steps < STEPS_MAX; steps++) {
		rc_pair_transmit(pair);

		time_ns next = next_time(pair);

		if (next == TIME_NEVER || next > end) {
			if (end != TIME_NEVER)
				pair->now = end;
			return;
		}
		if (next > pair->now)
			pair->now = next;
		deliver(pair, &pair->a_to_b, &pair->b);
		deliver(pair, &pair->b_to_a, &pair->a);
		expire(pair, &pair->a);
		expire(pair, &pair->b);
	}
	fail_msg("the queue pairs never came to rest");
}

void run_until_idle(struct rc_pair *pair)
{
	run_until(pair, TIME_NEVER);
}

int post(struct rc_pair *pair, struct endpoint *endpoint, const struct send_request *request)
{
	return qp_post_send(&endpoint->qp, pair->now, request);
}

const uint8_t *post_send_as(struct rc_pair *pair, struct endpoint *endpoint,
			    enum send_opcode opcode, uint32_t flags, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&endpoint->outbox, byte_count);
	const struct endpoint *peer = endpoint == &pair->a ? &pair->b : &pair->a;
	const struct address_vector address = {.dlid = peer->port.lid, .port_number = 1};
	struct sge sge = area_sge(&endpoint->outbox, bytes, byte_count);
	struct send_request request = {
		.wr_id = 1,
		.opcode = opcode,
		.flags = flags,
		.immediate_or_rkey = 0x12345678,
		.sge_count = 1,
		.sges = &sge,
	};

	if (endpoint->qp.type == QP_UD) {
		request.address = &address;
		request.address_pd = &endpoint->pd;
		request.remote_qpn = peer->qp.qpn;
		request.remote_qkey = peer->qp.attributes.qkey;
	}
	fill_pattern(bytes, byte_count, byte_count + endpoint->outbox.used);
	assert_int_equal(post(pair, endpoint, &request), 0);
	return bytes;
}

const uint8_t *post_send(struct rc_pair *pair, struct endpoint *endpoint, uint32_t byte_count)
{
	return post_send_as(pair, endpoint, SEND_SEND, 0, byte_count);
}

static struct send_request remote_request(struct endpoint *endpoint, const struct endpoint *peer,
					  enum send_opcode opcode, uint32_t offset)
{
	(void)endpoint;
	return (struct send_request){
		.wr_id = 1,
		.opcode = opcode,
		.remote_address = (uintptr_t)peer->window.bytes + offset,
		.remote_key = peer->window.region->key,
		.sge_count = 1,
	};
}

const uint8_t *post_write(struct rc_pair *pair, struct endpoint *endpoint,
			  const struct endpoint *peer, uint32_t offset, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&endpoint->outbox, byte_count);
	struct sge sge = area_sge(&endpoint->outbox, bytes, byte_count);
	struct send_request request = remote_request(endpoint, peer, SEND_RDMA_WRITE, offset);

	request.sges = &sge;
	fill_pattern(bytes, byte_count, byte_count + endpoint->outbox.used);
	assert_int_equal(post(pair, endpoint, &request), 0);
	return bytes;
}

uint8_t *post_read(struct rc_pair *pair, struct endpoint *endpoint, const struct endpoint *peer,
		   uint32_t offset, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&endpoint->inbox, byte_count);
	struct sge sge = area_sge(&endpoint->inbox, bytes, byte_count);
	struct send_request request = remote_request(endpoint, peer, SEND_RDMA_READ, offset);

	request.sges = &sge;
	assert_int_equal(post(pair, endpoint, &request), 0);
	return bytes;
}

uint64_t *post_atomic(struct rc_pair *pair, struct endpoint *endpoint, const struct endpoint *peer,
		      enum send_opcode opcode, uint64_t compare_or_add, uint64_t swap)
{
	uint8_t *bytes = area_take(&endpoint->inbox, 8);
	struct sge sge = area_sge(&endpoint->inbox, bytes, 8);
	struct send_request request = remote_request(endpoint, peer, opcode, 0);

	request.sges = &sge;
	request.compare_or_add = compare_or_add;
	request.swap = swap;
	assert_int_equal(post(pair, endpoint, &request), 0);
	return (uint64_t *)(void *)bytes;
}

uint8_t *post_receive(struct rc_pair *pair, struct endpoint *endpoint, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&endpoint->inbox, byte_count);
	struct sge sge = area_sge(&endpoint->inbox, bytes, byte_count);
	struct receive_request request = {.wr_id = 1, .sge_count = 1, .sges = &sge};

	assert_int_equal(qp_post_receive(&endpoint->qp, pair->now, &request), 0);
	return bytes;
}

static const struct completion *next_completion(struct completion_list *list,
						enum completion_status status)
{
	assert_true(list->next < list->count);

	const struct completion *completion = &list->entries[list->next++];

	assert_int_equal(completion->status, status);
	return completion;
}

const struct completion *expect_completion(struct endpoint *endpoint, enum completion_status status)
{
	return next_completion(&endpoint->sent, status);
}

const struct completion *expect_received(struct endpoint *endpoint, enum completion_status status)
{
	return next_completion(&endpoint->received, status);
}

void expect_no_completion(const struct endpoint *endpoint)
{
	assert_int_equal(endpoint->sent.next, endpoint->sent.count);
}

void expect_nothing_received(const struct endpoint *endpoint)
{
	assert_int_equal(endpoint->received.next, endpoint->received.count);
}
