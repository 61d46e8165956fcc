/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SNMP tunnelling across a whole fabric whose links lose, repeat, reorder and damage packets, from
 * seeds: managers ask agents by requests of several segments, and are answered by several. Every
 * answer is whole and that of its own request, a request without an answer times out, no request
 * is served twice, and nothing stays behind (management 6.4). An agent that vanishes, and one whose
 * segments are wrong, cost only their own answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/snmp/snmp_envelope.h"
#include "mgmt/snmp/snmp_segments.h"
#include "sa_rig.h"
#include "wire/pkey.h"

enum {
	SEEDS = 12,
	MANAGERS = 2, /* hosts 1 and 2 */
	MANAGER_FIRST = 1,
	AGENT_FIRST = 4, /* hosts 4 to 9 */
	AGENTS = 6,
	LIAR = 6,
	VANISHING = 8,
	REQUESTS = 120, /* of each manager */
	AT_ONCE = 4,
	TRIES = 8,
	TRANSACTIONS = REQUESTS * TRIES,
	BYTES_MAX = 3000,
	HEAD_BYTES = 4 + 8 + 4, /* BER tag and length, transaction id, serial number */
	AGENT_NUMBER = 0x300,
};

#define ANSWER_TIME MILLISECONDS(5)
#define ROOM_TIME   MICROSECONDS(10)

enum fate { UNASKED, WAITING, ANSWERED, TIMED_OUT };

struct request {
	enum fate fate;
	unsigned tries;
	uint32_t sequence; /* of the present try */
	time_ns due_at;
};

static struct manager {
	struct snmp_reassembly reassembly;
	struct request requests[REQUESTS];
	uint32_t sequence;
	unsigned answered_count, timed_out_count;
} managers[MANAGERS];

/* A message on its way into the fabric. */
static struct outgoing {
	struct snmp_message message;
	unsigned next_segment;
} outgoing[SA_RIG_HOSTS_MAX][256];
static unsigned outgoing_counts[SA_RIG_HOSTS_MAX];

static struct sa_rig rig;
static struct snmp_reassembly agents; /* one for all, as softibd has it */
static uint8_t served[MANAGERS][TRANSACTIONS + 1];
static uint32_t serial;
static bool has_liar;
static uint32_t distortion;	     /* counts segments of the liar, from the seed on */
static unsigned requests_until_gone; /* 0: nobody vanishes */

/* Deterministic, and of no pattern. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

/* Mostly of few segments: a long message seldom arrives whole. */
static size_t length_of(uint64_t transaction_id, enum snmp_direction direction)
{
	uint64_t number = mix(transaction_id * 2 + direction);

	return HEAD_BYTES + (number % 4 ? number / 4 % 600 : number / 4 % (BYTES_MAX - HEAD_BYTES));
}

static uint8_t byte_at(uint64_t transaction_id, uint32_t serial_number, size_t offset)
{
	return (uint8_t)mix(transaction_id ^ (uint64_t)serial_number << 40 ^ (uint64_t)offset << 8);
}

/* A PDU of which every byte tells to which message it belongs. */
static void queue(unsigned host, struct snmp_message message, uint32_t serial_number)
{
	uint64_t id = message.transaction_id;

	message.byte_count = length_of(id, message.direction);
	message.bytes = malloc(message.byte_count);
	assert_non_null(message.bytes);
	message.bytes[0] = SNMP_PDU_FIRST;
	message.bytes[1] = 0x82;
	put_be16(message.bytes + 2, (uint16_t)(message.byte_count - 4));
	put_be64(message.bytes + 4, id);
	put_be32(message.bytes + 12, serial_number);
	for (size_t i = HEAD_BYTES; i < message.byte_count; i++)
		message.bytes[i] = byte_at(id, serial_number, i);
	assert_true(outgoing_counts[host] < ARRAY_COUNT(outgoing[0]));
	outgoing[host][outgoing_counts[host]++] = (struct outgoing){.message = message};
}

static void expect_whole(const struct snmp_message *message)
{
	uint64_t id = message->transaction_id;
	uint32_t serial_number;

	assert_int_equal(message->byte_count, length_of(id, message->direction));
	assert_int_equal(get_be64(message->bytes + 4), id);
	serial_number = get_be32(message->bytes + 12);
	for (size_t i = HEAD_BYTES; i < message->byte_count; i++)
		assert_int_equal(message->bytes[i], byte_at(id, serial_number, i));
	assert_int_equal(message->community_bytes, 6);
	assert_memory_equal(message->community, "public", 6);
}

static void forget_outgoing(unsigned host)
{
	while (outgoing_counts[host])
		free(outgoing[host][--outgoing_counts[host]].message.bytes);
}

/* In the middle of an answer, perhaps. */
static void vanish(unsigned host)
{
	fabric_set_cable(&rig.sim.fabric, sa_rig_port(&rig, host), false, rig.sim.now);
	forget_outgoing(host);
}

static bool is_of_liar(uint16_t lid)
{
	return has_liar && lid == sa_rig_port(&rig, LIAR)->info.lid;
}

static void serve(unsigned host, const struct snmp_message *request)
{
	uint32_t sequence = (uint32_t)request->transaction_id;
	unsigned manager = (unsigned)(request->transaction_id >> 32) - AGENT_NUMBER;
	struct snmp_message answer = *request;

	expect_whole(request);
	assert_true(manager < MANAGERS && sequence <= TRANSACTIONS);
	assert_int_equal(request->raddress, mix(sequence) & UINT32_MAX);
	assert_int_equal(request->address.lid,
			 sa_rig_port(&rig, MANAGER_FIRST + manager)->info.lid);
	assert_int_equal(++served[manager][sequence], 1);
	answer.direction = SNMP_ANSWER;
	queue(host, answer, ++serial);
	if (host == VANISHING && requests_until_gone && --requests_until_gone == 0)
		vanish(host);
}

static unsigned agent_of(unsigned request)
{
	return AGENT_FIRST + request % AGENTS;
}

/* Of an answer of the liar nothing is known but that its length is possible. */
static void expect_answer(const struct snmp_message *answer)
{
	if (is_of_liar(answer->address.lid)) {
		assert_in_range(answer->byte_count, 1, SNMP_MESSAGE_BYTES_MAX);
		return;
	}
	expect_whole(answer);
	assert_int_equal(answer->raddress, mix((uint32_t)answer->transaction_id) & UINT32_MAX);
}

static void take_answer(struct manager *manager, const struct snmp_message *answer)
{
	expect_answer(answer);
	for (unsigned i = 0; i < REQUESTS; i++) {
		struct request *request = &manager->requests[i];

		if (request->fate != WAITING ||
		    request->sequence != (uint32_t)answer->transaction_id)
			continue;
		assert_int_equal(answer->address.lid, sa_rig_port(&rig, agent_of(i))->info.lid);
		request->fate = ANSWERED;
		manager->answered_count++;
	}
}

/* A message to the agent of a node: the node's agents hand it to the owner of the fabric. */
static void arrived(void *context, struct port *port, const struct mad_message *mad)
{
	struct snmp_message message;
	unsigned host = 0;

	(void)context;
	while (sa_rig_port(&rig, host) != port)
		assert_true(++host < rig.host_count);
	if (!snmp_reassembly_receive(&agents, rig.sim.now, port, mad, &message))
		return;
	/* Nobody asks the agents of the managers' nodes, but an answer of the liar may look so. */
	if (is_of_liar(mad->address.lid))
		assert_true(host - MANAGER_FIRST < MANAGERS);
	else
		serve(host, &message);
	free(message.bytes);
}

static bool received(unsigned host, const struct mad_message *mad)
{
	struct manager *manager = &managers[host - MANAGER_FIRST];
	struct snmp_message message;

	if (mad->bytes[MAD_CLASS_OFFSET] != MAD_CLASS_SNMP)
		return false;
	assert_true(host - MANAGER_FIRST < MANAGERS);
	if (!snmp_reassembly_receive(&manager->reassembly, rig.sim.now, manager, mad, &message))
		return true;
	/* The liar's may say anything. */
	if (message.direction == SNMP_ANSWER)
		take_answer(manager, &message);
	else
		assert_true(is_of_liar(mad->address.lid));
	free(message.bytes);
	return true;
}

/* A new transaction id for each try, as the proxy gives them to a manager's repeated request. */
static void ask(unsigned index, unsigned number)
{
	struct manager *manager = &managers[index];
	struct request *request = &manager->requests[number];
	const struct port *port = sa_rig_port(&rig, MANAGER_FIRST + index);

	request->fate = WAITING;
	request->tries++;
	request->sequence = ++manager->sequence;
	request->due_at = rig.sim.now + ANSWER_TIME;
	queue(MANAGER_FIRST + index,
	      (struct snmp_message){
		      .address = {.lid = sa_rig_port(&rig, agent_of(number))->info.lid,
				  .qpn = QPN_GSI,
				  .qkey = QKEY_GSI,
				  .pkey = PKEY_DEFAULT_FULL},
		      .transaction_id = (uint64_t)(AGENT_NUMBER + index) << 32 | request->sequence,
		      .raddress = (uint32_t)mix(request->sequence),
		      .source_lid = port->info.lid,
		      .direction = SNMP_TO_AGENT,
		      .community = "public",
		      .community_bytes = 6,
	      },
	      0);
}

static void run_manager(unsigned index)
{
	struct manager *manager = &managers[index];
	unsigned waiting_count = 0;

	for (unsigned i = 0; i < REQUESTS && waiting_count < AT_ONCE; i++) {
		struct request *request = &manager->requests[i];

		if (request->fate == WAITING && request->due_at <= rig.sim.now) {
			request->fate = request->tries < TRIES ? UNASKED : TIMED_OUT;
			manager->timed_out_count += request->fate == TIMED_OUT;
		}
		if (request->fate == UNASKED)
			ask(index, i);
		waiting_count += request->fate == WAITING;
	}
}

/* Makes every third segment wrong: in its header, or in the length that the message begins with.
 */
static void distort(struct mad_message *mad)
{
	uint64_t number = mix(++distortion);
	struct snmp_header header;

	if (number % 3)
		return;
	number /= 3;
	snmp_header_decode(mad->bytes + SNMP_HEADER_OFFSET, &header);
	switch (number % 6) {
	case 0:
		header.segment_number = (uint8_t)(number >> 8);
		break;
	case 1:
		header.payload_length = (uint8_t)(number >> 8);
		break;
	case 2:
		header.raddress ^= 1u << (number >> 8) % 32;
		break;
	case 3:
		put_be32(mad->bytes + MAD_ATTRIBUTE_MODIFIER_OFFSET, (uint32_t)(number >> 8) % 4);
		break;
	case 4:
		put_be16(mad->bytes + MAD_ATTRIBUTE_ID_OFFSET, (uint16_t)(number >> 8));
		break;
	case 5:
		put_be32(mad->bytes + SNMP_DATA_OFFSET, (uint32_t)(number >> 8));
		break;
	}
	snmp_header_encode(&header, mad->bytes + SNMP_HEADER_OFFSET);
}

static void send_outgoing(unsigned host)
{
	while (outgoing_counts[host]) {
		struct outgoing *first = &outgoing[host][0];
		struct mad_message mad;

		snmp_segment_make(&first->message, first->next_segment, &mad);
		if (has_liar && host == LIAR)
			distort(&mad);
		if (!sa_rig_send(&rig, sa_rig_port(&rig, host), &mad))
			return;
		if (++first->next_segment < snmp_segment_count(&first->message))
			continue;
		free(first->message.bytes);
		memmove(first, first + 1, --outgoing_counts[host] * sizeof(*first));
	}
}

static void run(unsigned host)
{
	if (host - MANAGER_FIRST < MANAGERS) {
		run_manager(host - MANAGER_FIRST);
		snmp_reassembly_expire(&managers[host - MANAGER_FIRST].reassembly, rig.sim.now);
	}
	snmp_reassembly_expire(&agents, rig.sim.now);
	send_outgoing(host);
}

static time_ns deadline(void)
{
	time_ns earliest = snmp_reassembly_deadline(&agents);

	for (unsigned host = 0; host < SA_RIG_HOSTS_MAX; host++)
		if (outgoing_counts[host])
			return rig.sim.now + ROOM_TIME;
	for (unsigned i = 0; i < MANAGERS; i++) {
		earliest =
			time_earlier(earliest, snmp_reassembly_deadline(&managers[i].reassembly));
		for (unsigned j = 0; j < REQUESTS; j++)
			if (managers[i].requests[j].fate == WAITING)
				earliest = time_earlier(earliest, managers[i].requests[j].due_at);
	}
	return earliest;
}

static bool is_done(void)
{
	for (unsigned i = 0; i < MANAGERS; i++)
		if (managers[i].answered_count + managers[i].timed_out_count < REQUESTS)
			return false;
	return true;
}

static void begin(uint64_t seed, const struct sim_faults *faults)
{
	static const struct sa_rig_programs programs = {
		.run = run, .received = received, .deadline = deadline};

	memset(managers, 0, sizeof(managers));
	memset(served, 0, sizeof(served));
	serial = 0;
	has_liar = false;
	distortion = 0;
	requests_until_gone = 0;
	snmp_reassembly_init(&agents);
	for (unsigned i = 0; i < MANAGERS; i++)
		snmp_reassembly_init(&managers[i].reassembly);
	sa_rig_begin(&rig, seed, 0, &programs);
	rig.sim.fabric.owner.snmp_received = arrived;
	assert_int_equal(sim_set_faults(&rig.sim, faults), 0);
}

static void expect_nothing_left(const struct snmp_reassembly *reassembly)
{
	assert_int_equal(reassembly->partial_count, 0);
	assert_int_equal(reassembly->finished_count, 0);
	assert_true(list_is_empty(&reassembly->partial));
}

/* Returns the number of requests that were answered. */
static unsigned finish(void)
{
	unsigned answered_count = 0;

	for (unsigned second = 0; second < 60 && !is_done(); second++)
		sa_rig_run_for(&rig, SECONDS(1));
	assert_true(is_done());
	/* What is incomplete now is given up in time. */
	sa_rig_run_for(&rig, 2 * SNMP_REASSEMBLY_TIME);
	expect_nothing_left(&agents);
	for (unsigned i = 0; i < MANAGERS; i++) {
		expect_nothing_left(&managers[i].reassembly);
		answered_count += managers[i].answered_count;
	}
	return answered_count;
}

static unsigned run_story(uint64_t seed, const struct sim_faults *faults)
{
	unsigned answered_count;

	begin(seed, faults);
	answered_count = finish();
	assert_int_equal(sim_fault_count(&rig.sim) > 0, faults->drop > 0);
	sa_rig_end(&rig);
	return answered_count;
}

static void test_every_request_is_answered_at_once_in_a_clean_fabric(void **state)
{
	(void)state;
	assert_int_equal(run_story(1, &(struct sim_faults){0}), MANAGERS * REQUESTS);
	for (unsigned i = 0; i < MANAGERS; i++) {
		assert_int_equal(managers[i].sequence, REQUESTS);
		assert_int_equal(managers[i].reassembly.dropped_count, 0);
	}
	assert_int_equal(agents.dropped_count, 0);
}

static void test_answers_are_whole_and_of_their_requests_despite_faults(void **state)
{
	unsigned answered_count = 0, lost_count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		printf("seed %llu\n", (unsigned long long)seed);
		answered_count += run_story(
			seed, &(struct sim_faults){
				      .drop = 15, .corrupt = 10, .duplicate = 100, .reorder = 50});
		lost_count += agents.dropped_count > 0;
	}
	/* Most requests get through, and each seed loses segments of some message. */
	assert_true(answered_count > SEEDS * MANAGERS * REQUESTS / 2);
	assert_int_equal(lost_count, SEEDS);
}

/* Nothing gets through: all requests time out, and their pieces too. */
static void test_every_request_times_out_where_most_packets_are_lost(void **state)
{
	(void)state;
	assert_true(run_story(3, &(struct sim_faults){.drop = 900}) == 0);
	for (unsigned i = 0; i < MANAGERS; i++)
		assert_int_equal(managers[i].timed_out_count, REQUESTS);
}

/* Requests to all agents but this one. */
static void expect_others_answered(unsigned host, unsigned tries_max)
{
	for (unsigned i = 0; i < MANAGERS; i++)
		for (unsigned j = 0; j < REQUESTS; j++) {
			const struct request *request = &managers[i].requests[j];

			if (agent_of(j) == host)
				continue;
			assert_int_equal(request->fate, ANSWERED);
			assert_true(request->tries <= tries_max);
		}
}

/* Two segments of three of the liar are right, so it answers some of its requests. The other agents
 * answer every one at the first try. */
static void test_wrong_segments_cost_nobody_else_an_answer(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		printf("seed %llu\n", (unsigned long long)seed);
		begin(seed, &(struct sim_faults){0});
		has_liar = true;
		distortion = (uint32_t)seed << 20;
		finish();
		expect_others_answered(LIAR, 1);
		for (unsigned i = 0; i < MANAGERS; i++)
			assert_true(managers[i].reassembly.dropped_count > 0);
		sa_rig_end(&rig);
	}
}

/* Its requests time out from then on, and what it had begun to send is given up. */
static void test_agent_that_vanishes_takes_its_own_answers_along(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned timed_out_count = 0;

		printf("seed %llu\n", (unsigned long long)seed);
		begin(seed, &(struct sim_faults){0});
		requests_until_gone = (unsigned)seed;
		finish();
		expect_others_answered(VANISHING, TRIES);
		for (unsigned i = 0; i < MANAGERS; i++)
			timed_out_count += managers[i].timed_out_count;
		assert_in_range(MANAGERS * REQUESTS / AGENTS - timed_out_count, 0, seed);
		sa_rig_end(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_request_is_answered_at_once_in_a_clean_fabric),
		cmocka_unit_test(test_answers_are_whole_and_of_their_requests_despite_faults),
		cmocka_unit_test(test_every_request_times_out_where_most_packets_are_lost),
		cmocka_unit_test(test_wrong_segments_cost_nobody_else_an_answer),
		cmocka_unit_test(test_agent_that_vanishes_takes_its_own_answers_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
