/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts at the receiver: each message of a burst leaves the state that its packet leaves when the
 * engine takes it, wherever the burst has to end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "net/transport/fast/fast_receive.h"
#include "net/transport/fast/rx_burst.h"
#include "support/endpoint_compare.h"
#include "support/rc_pair.h"
#include "support/sent_packet.h"

enum { MESSAGES = 20, BYTES = 8, SPACE = 128 };

static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};

struct world {
	struct rc_pair pair;
	struct receive_queue shared;
	bool is_fast;
	uint32_t packet_bytes;
	uint8_t packets[1 + MESSAGES][SPACE];
};

static struct world worlds[2];

static struct endpoint *receiver(struct world *world)
{
	return &world->pair.b;
}

enum queues { OWN_QUEUES, SHARED_QUEUES };

static void connect_worlds(enum qp_type type, enum queues queues)
{
	for (unsigned i = 0; i < 2; i++) {
		struct world *world = &worlds[i];
		struct endpoint_options from = endpoint_options_default(type), to = from;

		memset(world, 0, sizeof(*world));
		world->is_fast = i == 1;
		/* The PSN wraps soon. */
		from.sq_psn = from.rq_psn = to.sq_psn = to.rq_psn = 0xfffff8;
		if (queues == SHARED_QUEUES) {
			to.shared_queue = &world->shared;
			assert_int_equal(
				receive_queue_init(&world->shared, &receiver(world)->pd, 64, 4), 0);
		}
		rc_pair_init(&world->pair, &from, &to);
		rc_pair_bring_up(&world->pair);
	}
	endpoint_give_rings(receiver(&worlds[1]));
}

static void release_worlds(void)
{
	for (unsigned i = 0; i < 2; i++) {
		rc_pair_release(&worlds[i].pair);
		if (worlds[i].shared.slots)
			receive_queue_release(&worlds[i].shared);
	}
}

static void post_to(struct world *world, const struct sge *sges, uint32_t sge_count, uint64_t wr_id)
{
	const struct receive_request request = {
		.wr_id = wr_id, .sge_count = sge_count, .sges = sges};

	assert_int_equal(receive_queue_post(receiver(world)->qp.receive_queue, &request), 0);
}

/* The buffer of a message in the inbox. */
static struct sge buffer_of(struct world *world, unsigned number)
{
	const struct area *inbox = &receiver(world)->inbox;

	return (struct sge){(uintptr_t)inbox->bytes + number * 64, 64, inbox->region->key};
}

static void post_receives(struct world *world, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++) {
		const struct sge sge = buffer_of(world, i);

		post_to(world, &sge, 1, 1000 + i);
	}
}

/* Makes the packets of a's messages; b receives the first. */
static void send_all(struct world *world)
{
	struct qp *from = &world->pair.a.qp, *to = &receiver(world)->qp;

	for (unsigned i = 0; i < 1 + MESSAGES; i++) {
		post_send(&world->pair, &world->pair.a, BYTES);
		world->packet_bytes = sent_packet(from, 0, world->packets[i]);
		assert_int_not_equal(world->packet_bytes, 0);
	}
	assert_true(fast_receive(to, 0, 1, &packet_source_fabric, world->packets[0],
				 world->packet_bytes));
	if (world->is_fast)
		endpoint_count_completions(receiver(world));
}

static void receive_by_engine(struct world *world, unsigned number)
{
	struct packet packet;

	assert_int_equal(packet_decode(world->packets[number], world->packet_bytes, 1, &packet),
			 PACKET_OK);
	qp_receive(&receiver(world)->qp, 7, &packet);
}

/* Takes up to count messages from the given number on as a burst. Returns how many were taken. */
static unsigned receive_burst(struct world *world, unsigned first, unsigned count)
{
	struct rx_burst burst = rx_burst_begin(&receiver(world)->qp, 7, 1, &packet_source_fabric,
					       world->packets[first], world->packet_bytes, count);

	while (burst.count < burst.count_max &&
	       rx_burst_take(&burst,
			     world->packets[first + burst.count] + world->packet_bytes - BYTES))
		;
	rx_burst_end(&burst);
	endpoint_count_completions(receiver(world));
	return burst.count;
}

/* Receives count further messages: a burst takes as many as expected, the rest go as packets. */
static void receive_others(unsigned count, unsigned expected)
{
	for (unsigned i = 1; i <= count; i++)
		receive_by_engine(&worlds[0], i);
	assert_int_equal(receive_burst(&worlds[1], 1, count), expected);
	for (unsigned i = 1 + expected; i <= count; i++) {
		receive_by_engine(&worlds[1], i);
		endpoint_count_completions(receiver(&worlds[1]));
	}
}

static void compare_worlds(void)
{
	const struct responder *responders[2] = {&worlds[0].pair.b.qp.responder,
						 &worlds[1].pair.b.qp.responder};

	assert_int_equal(responders[0]->ack_is_due, responders[1]->ack_is_due);
	assert_int_equal(responders[0]->ack_psn.value, responders[1]->ack_psn.value);
	assert_int_equal(responders[0]->nak_is_due, responders[1]->nak_is_due);
	assert_int_equal(responders[0]->inbound_bytes, responders[1]->inbound_bytes);
	endpoint_compare(&worlds[0].pair.a, &worlds[1].pair.a);
	endpoint_compare(&worlds[0].pair.b, &worlds[1].pair.b);
	assert_memory_equal(worlds[0].pair.b.inbox.bytes, worlds[1].pair.b.inbox.bytes, AREA_BYTES);
}

static void test_a_burst_does_what_its_packets_would_have_done(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++)
		for (unsigned queues = OWN_QUEUES; queues <= SHARED_QUEUES; queues++)
			for (unsigned count = 0; count <= MESSAGES; count++) {
				connect_worlds(types[type], (enum queues)queues);
				for (unsigned i = 0; i < 2; i++) {
					post_receives(&worlds[i], 0, 1 + MESSAGES);
					send_all(&worlds[i]);
				}
				receive_others(count, count);
				assert_int_equal(receiver(&worlds[1])->received.count, 1 + count);
				compare_worlds();
				release_worlds();
			}
}

static void test_a_burst_ends_where_receive_requests_do(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++)
		for (unsigned requests = 0; requests < MESSAGES; requests++) {
			connect_worlds(types[type], OWN_QUEUES);
			for (unsigned i = 0; i < 2; i++) {
				post_receives(&worlds[i], 0, 1 + requests);
				send_all(&worlds[i]);
			}
			receive_others(MESSAGES, requests);
			compare_worlds();
			release_worlds();
		}
}

/* And where a program waits for completions, or there is no room for them. */
static void test_a_burst_ends_where_completions_do(void **state)
{
	struct completion_ring *ring;

	(void)state;
	connect_worlds(QP_RC, OWN_QUEUES);
	ring = &receiver(&worlds[1])->rings[SIDE_RECEIVE];
	post_receives(&worlds[1], 0, 1 + MESSAGES);
	send_all(&worlds[1]);

	ring->armed = 1;
	assert_int_equal(receive_burst(&worlds[1], 1, 5), 0);
	ring->armed = 0;
	ring->has_overflowed = true;
	assert_int_equal(receive_burst(&worlds[1], 1, 5), 0);
	ring->has_overflowed = false;
	ring->capacity = 4; /* one completion is in it */
	assert_int_equal(receive_burst(&worlds[1], 1, 5), 3);
	ring->head = 2;
	assert_int_equal(receive_burst(&worlds[1], 4, 5), 2);
	assert_int_equal(receive_burst(&worlds[1], 6, 5), 0);
	receiver(&worlds[1])->qp.completions[SIDE_RECEIVE] = NULL;
	assert_int_equal(receive_burst(&worlds[1], 6, 5), 0);
	release_worlds();
}

/* Receive requests of a burst, with one in the middle that needs the full check. */
enum odd_request {
	TWO_PLACES,
	NO_PLACE,
	TOO_SHORT,
	BEHIND_THE_REGION,
	BEFORE_THE_REGION,
	UNKNOWN_KEY,
	OTHER_DOMAIN,
	READ_ONLY,
	ODD_REQUESTS,
};

static void post_odd(struct world *world, enum odd_request odd, unsigned number)
{
	struct endpoint *to = receiver(world);
	struct sge sges[2] = {buffer_of(world, number), buffer_of(world, number + 1)};
	static struct protection_domain other;
	uint32_t sge_count = 1;

	switch (odd) {
	case TWO_PLACES:
		sges[0].byte_count = 4;
		sge_count = 2;
		break;
	case NO_PLACE:
		sge_count = 0;
		break;
	case TOO_SHORT:
		sges[0].byte_count = BYTES - 1;
		break;
	case BEHIND_THE_REGION:
		sges[0].address = (uintptr_t)to->inbox.bytes + AREA_BYTES - BYTES + 1;
		break;
	case BEFORE_THE_REGION:
		sges[0].address = (uintptr_t)to->inbox.bytes - 1;
		break;
	case UNKNOWN_KEY:
		sges[0].lkey ^= 0x100000;
		break;
	case OTHER_DOMAIN:
		to->outbox.region->pd = &other;
		sges[0].lkey = to->outbox.region->key;
		sges[0].address = (uintptr_t)to->outbox.bytes;
		break;
	case READ_ONLY:
		to->window.region->access &= ~(uint32_t)ACCESS_LOCAL_WRITE;
		sges[0].lkey = to->window.region->key;
		sges[0].address = (uintptr_t)to->window.bytes;
		break;
	case ODD_REQUESTS:
		break;
	}
	post_to(world, sges, sge_count, 1000 + number);
}

static void test_a_burst_ends_at_an_unusual_request(void **state)
{
	enum { BEFORE = 4 };

	(void)state;
	for (unsigned odd = 0; odd < ODD_REQUESTS; odd++) {
		connect_worlds(QP_RC, OWN_QUEUES);
		for (unsigned i = 0; i < 2; i++) {
			post_receives(&worlds[i], 0, 1 + BEFORE);
			post_odd(&worlds[i], (enum odd_request)odd, 1 + BEFORE);
			send_all(&worlds[i]);
		}
		receive_others(MESSAGES, BEFORE);
		compare_worlds();
		for (unsigned i = 0; i < 2; i++)
			receiver(&worlds[i])->outbox.region->pd = &receiver(&worlds[i])->pd;
		release_worlds();
	}
}

/* Keys that alternate, and the last bytes of a region. */
static void test_receive_requests_of_a_burst_may_use_several_regions(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect_worlds(types[type], OWN_QUEUES);
		for (unsigned i = 0; i < 2; i++) {
			const struct area *window = &receiver(&worlds[i])->window;

			for (unsigned j = 0; j < 1 + MESSAGES; j++) {
				const struct sge sge = {(uintptr_t)window->bytes + AREA_BYTES -
								64 * (1 + j),
							64, window->region->key};

				if (j % 3 == 2)
					post_to(&worlds[i], &sge, 1, 1000 + j);
				else
					post_receives(&worlds[i], j, 1);
			}
			send_all(&worlds[i]);
		}
		receive_others(MESSAGES, MESSAGES);
		compare_worlds();
		assert_memory_equal(worlds[0].pair.b.window.bytes, worlds[1].pair.b.window.bytes,
				    AREA_BYTES);
		release_worlds();
	}
}

/* How many of three messages a burst would take now. */
static uint32_t burst_of_three(uint8_t port_number, const uint8_t *headers, uint32_t byte_count)
{
	return rx_burst_begin(&receiver(&worlds[1])->qp, 7, port_number, &packet_source_fabric,
			      headers, byte_count, 3)
		.count_max;
}

/* The second message is the next one. */
static void connect_and_send(enum qp_type type)
{
	connect_worlds(type, OWN_QUEUES);
	post_receives(&worlds[1], 0, 1 + MESSAGES);
	send_all(&worlds[1]);
}

/* Each message of a burst must be one that the queue pair may take now. */
static void test_no_burst_begins_where_something_has_changed(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		struct endpoint *to = receiver(&worlds[1]);
		struct responder *responder = &to->qp.responder;
		const uint8_t *headers = worlds[1].packets[1];

		connect_and_send(types[type]);

		const uint32_t byte_count = worlds[1].packet_bytes;

		assert_int_equal(burst_of_three(1, headers, byte_count), 3);
		to->port.pkeys[0] ^= 1;
		invalidate(&to->environment);
		assert_int_equal(burst_of_three(1, headers, byte_count), 0);
		to->port.pkeys[0] ^= 1;
		assert_int_equal(burst_of_three(1, headers, byte_count), 3);
		to->qp.receive_queue->matches_tags = true;
		invalidate(&to->environment);
		assert_int_equal(burst_of_three(1, headers, byte_count), 0);
		to->qp.receive_queue->matches_tags = false;
		responder->has_receive = true;
		assert_int_equal(burst_of_three(1, headers, byte_count), 0);
		responder->has_receive = false;
		if (types[type] == QP_UD) {
			to->qp.attributes.qkey ^= 1;
			assert_int_equal(burst_of_three(1, headers, byte_count), 0);
			to->qp.attributes.qkey ^= 1;
		} else {
			responder->inbound = INBOUND_SEND;
			assert_int_equal(burst_of_three(1, headers, byte_count), 0);
			responder->inbound = INBOUND_IDLE;
		}
		assert_int_equal(burst_of_three(1, headers, byte_count), 3);
		qp_enter_error(&to->qp, 7);
		assert_int_equal(burst_of_three(1, headers, byte_count), 0);
		release_worlds();
	}
}

/* Whether the queue pair takes a message whose headers differ in this bit. The QPN is not checked:
 * it has led to the queue pair. */
static bool may_differ(const struct qp *qp, const uint8_t *headers, unsigned bit)
{
	const uint64_t flipped = UINT64_C(1) << (63 - bit % 64);
	const uint64_t pkey_number = BTH_WORD_PKEY & ~(UINT64_C(0x8000) << 32);

	if (bit / 64 == 1)
		return !(flipped & (BTH_WORD_OPCODE | BTH_WORD_VERSION | pkey_number));
	if (flipped & (LRH_WORD_VERSION | LRH_WORD_LNH | LRH_WORD_LENGTH))
		return false;
	if (qp->type == QP_UD)
		return lid_is_unicast(lrh_word_dlid(get_be64(headers)));
	return !(flipped & LRH_WORD_SLID);
}

static void test_a_burst_begins_only_with_a_message_for_the_queue_pair(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		const bool is_connected = types[type] != QP_UD;
		const struct qp *qp = &receiver(&worlds[1])->qp;
		uint8_t *headers = worlds[1].packets[1];

		connect_and_send(types[type]);

		const uint32_t byte_count = worlds[1].packet_bytes;

		assert_int_equal(burst_of_three(1, headers, byte_count), 3);
		assert_int_equal(burst_of_three(2, headers, byte_count), 0);
		assert_int_equal(burst_of_three(1, headers, byte_count + 4), 0);
		assert_int_equal(burst_of_three(1, headers, byte_count - 4), 0);
		/* Not the next PSN. */
		assert_int_equal(burst_of_three(1, worlds[1].packets[2], byte_count),
				 is_connected ? 0 : 3);
		for (unsigned bit = 0; bit < FAST_PSN_OFFSET * 8; bit++) {
			headers[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			assert_int_equal(burst_of_three(1, headers, byte_count),
					 may_differ(qp, headers, bit) ? 3 : 0);
			headers[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			/* Its own headers are still those of a message for it. */
			assert_int_equal(burst_of_three(1, headers, byte_count), 3);
		}
		release_worlds();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_burst_does_what_its_packets_would_have_done),
		cmocka_unit_test(test_a_burst_ends_where_receive_requests_do),
		cmocka_unit_test(test_a_burst_ends_where_completions_do),
		cmocka_unit_test(test_a_burst_ends_at_an_unusual_request),
		cmocka_unit_test(test_receive_requests_of_a_burst_may_use_several_regions),
		cmocka_unit_test(test_no_burst_begins_where_something_has_changed),
		cmocka_unit_test(test_a_burst_begins_only_with_a_message_for_the_queue_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
