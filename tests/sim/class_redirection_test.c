/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of a general service whose requests are redirected along a chain of nodes, and a vendor
 * class's RMPP transfer there and back, over a network that loses, doubles and reorders, from seeds
 * (management 1.6, 1.8).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/random.h"
#include "mgmt/agents/redirects.h"
#include "mgmt/mad/rmpp_engine.h"
#include "mgmt/sa/class_client.h"
#include "net/node/node.h"
#include "wire/pkey.h"
#include "wire/vendor_softib.h"

enum {
	SEEDS = 40,
	NODES = 4, /* at LIDs 1 to 4; the client is at LID 9 */
	CLIENT_LID = 9,
	IN_FLIGHT_MAX = 4096,
	LOSS_PERCENT = 15,
	COPY_PERCENT = 15,
	REQUESTS = 20,
	TRANSFER_BYTES = 30000,
};

#define TIME_MAX SECONDS(600)

static struct random chance;
static time_ns now;

/* What is under way: a message from one LID to another. */
static struct in_flight {
	bool is_there;
	time_ns arrives_at;
	uint16_t to;
	struct mad_message message; /* its address is the sender's */
} network[IN_FLIGHT_MAX];

static void put_copy(uint16_t from, const struct mad_message *message)
{
	for (unsigned i = 0; i < IN_FLIGHT_MAX; i++) {
		if (network[i].is_there)
			continue;
		network[i] = (struct in_flight){
			.is_there = true,
			.arrives_at = now + 1 + random_below(&chance, MILLISECONDS(2)),
			.to = message->address.lid,
			.message = *message,
		};
		network[i].message.address.lid = from;
		return;
	}
}

static void send(uint16_t from, const struct mad_message *message)
{
	if (random_below(&chance, 100) >= LOSS_PERCENT)
		put_copy(from, message);
	if (random_below(&chance, 100) < COPY_PERCENT)
		put_copy(from, message);
}

/* The next message, in the order of arrival. false: none before this time, which it is now. */
static bool arrive(time_ns until, struct in_flight *ret_arrived)
{
	struct in_flight *first = NULL;

	for (unsigned i = 0; i < IN_FLIGHT_MAX; i++) {
		if (network[i].is_there && (!first || network[i].arrives_at < first->arrives_at))
			first = &network[i];
	}
	if (!first || first->arrives_at > until) {
		now = until > now ? until : now;
		return false;
	}
	now = first->arrives_at;
	*ret_arrived = *first;
	first->is_there = false;
	return true;
}

static void start(uint64_t seed)
{
	chance = random_seeded(seed);
	now = SECONDS(1);
	memset(network, 0, sizeof(network));
}

static struct node nodes[NODES + 1];
static struct agent_memory memory;
static struct agent_environment environment = {.memory = &memory};

static void start_nodes(unsigned chain)
{
	agent_memory_init(&memory);
	for (unsigned lid = 1; lid <= NODES; lid++) {
		assert_int_equal(node_init(&nodes[lid], NODE_CA, 1, lid, "node"), 0);
		nodes[lid].ports[1].info.lid = (uint16_t)lid;
	}
	for (unsigned lid = 1; lid <= chain; lid++) {
		const struct redirect redirect = {
			.port = &nodes[lid].ports[1],
			.management_class = MAD_CLASS_SOFTIB,
			.place = {.redirect_lid = (uint16_t)(lid % NODES + 1), .redirect_qpn = 1},
		};

		assert_int_equal(redirect_set(&memory, &redirect), 0);
	}
}

static void stop_nodes(void)
{
	agent_memory_release(&memory);
	for (unsigned lid = 1; lid <= NODES; lid++)
		node_release(&nodes[lid]);
}

static void serve(const struct in_flight *arrived)
{
	struct mad_message answer;

	if (gsa_receive(&environment, &nodes[arrived->to], 1, now, &arrived->message, &answer) ==
	    AGENT_ANSWERED)
		send(arrived->to, &answer);
}

static void ask(struct class_client *client, uint32_t number)
{
	struct mad_message request = {
		.address = {.lid = 1, .qpn = 1, .pkey = PKEY_DEFAULT_FULL},
		.bytes = {1, MAD_CLASS_SOFTIB, 1, MAD_GET, [17] = ATTRIBUTE_IDENTIFY},
	};

	put_be24(request.bytes + VENDOR_OUI_OFFSET, SOFTIB_OUI);
	assert_int_equal(class_client_ask(client, &request, (struct mad_purpose){.detail = number}),
			 0);
}

/* Runs all requests to their ends, and counts the outcomes. Each has exactly one. */
static void run_requests(unsigned ret_outcomes[3])
{
	const struct class_client_options options = {.agent_number = 7, .tries = 12};
	struct class_client client;
	struct class_client_result result;
	struct mad_message message;
	struct in_flight arrived;
	bool has_ended[REQUESTS] = {false};
	unsigned ended = 0;

	assert_int_equal(class_client_init(&client, &options), 0);
	for (uint32_t i = 0; i < REQUESTS; i++)
		ask(&client, i);
	while (ended < REQUESTS) {
		assert_true(now < TIME_MAX);
		while (class_client_transmit(&client, now, 1, &message))
			send(CLIENT_LID, &message);
		while (class_client_take_result(&client, &result)) {
			assert_false(has_ended[result.purpose.detail]);
			has_ended[result.purpose.detail] = true;
			ret_outcomes[result.outcome]++;
			ended++;
		}
		if (!arrive(class_client_deadline(&client), &arrived))
			continue;
		if (arrived.to == CLIENT_LID)
			class_client_receive(&client, now, &arrived.message);
		else
			serve(&arrived);
	}
	class_client_release(&client);
}

static void test_requests_reach_the_end_of_the_chain(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned outcomes[3] = {0};

		start(seed);
		start_nodes(NODES - 1);
		run_requests(outcomes);
		stop_nodes();
		if (outcomes[CLASS_CLIENT_ANSWERED] < REQUESTS)
			print_error("seed %u\n", (unsigned)seed);
		assert_int_equal(outcomes[CLASS_CLIENT_ANSWERED], REQUESTS);
	}
}

static void test_loops_end_for_every_request(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned outcomes[3] = {0};

		start(seed);
		start_nodes(NODES);
		run_requests(outcomes);
		stop_nodes();
		if (outcomes[CLASS_CLIENT_REDIRECTED] < REQUESTS)
			print_error("seed %u\n", (unsigned)seed);
		assert_int_equal(outcomes[CLASS_CLIENT_REDIRECTED], REQUESTS);
	}
}

static uint8_t *make_transfer(uint8_t method)
{
	uint8_t *bytes = calloc(1, TRANSFER_BYTES);

	assert_non_null(bytes);
	bytes[0] = 1;
	bytes[1] = 0x35;
	bytes[2] = 1;
	bytes[3] = method;
	bytes[15] = 9; /* transaction */
	put_be24(bytes + VENDOR_OUI_OFFSET, 0x001405);
	for (unsigned i = VENDOR_DATA_OFFSET; i < TRANSFER_BYTES; i++)
		bytes[i] = (uint8_t)(i * 31 + method);
	return bytes;
}

static void send_transfer(struct rmpp *rmpp, uint16_t to, uint8_t method)
{
	const struct rmpp_message message = {
		.address = {.lid = to, .qpn = 1},
		.bytes = make_transfer(method),
		.byte_count = TRANSFER_BYTES,
	};
	const struct rmpp_send_options options = {.tries = 20, .sides = RMPP_SINGLE_SIDED};

	assert_int_equal(rmpp_send(rmpp, &message, &options), 0);
}

static void check_transfer(const struct rmpp_message *message, uint8_t method)
{
	uint8_t *expected = make_transfer(method);

	assert_int_equal(message->byte_count, TRANSFER_BYTES);
	assert_memory_equal(message->bytes + VENDOR_OUI_OFFSET, expected + VENDOR_OUI_OFFSET,
			    TRANSFER_BYTES - VENDOR_OUI_OFFSET);
	free(expected);
	free(message->bytes);
}

/* The server answers a whole request with a transfer of its own; each arrives once. */
static void run_transfer(void)
{
	const struct rmpp_options options = {0};
	struct rmpp ends[2]; /* the client at CLIENT_LID, the server at LID 1 */
	const uint16_t lids[2] = {CLIENT_LID, 1};
	unsigned whole[2] = {0};
	struct mad_message message;
	struct rmpp_message transfer;
	struct rmpp_result result;
	struct in_flight arrived;

	for (unsigned end = 0; end < 2; end++)
		assert_int_equal(rmpp_init(&ends[end], &options), 0);
	send_transfer(&ends[0], 1, 0x14);
	while (!whole[0]) {
		assert_true(now < TIME_MAX);
		for (unsigned end = 0; end < 2; end++) {
			while (rmpp_transmit(&ends[end], now, 1, &message))
				send(lids[end], &message);
			while (rmpp_take_result(&ends[end], &result))
				assert_int_equal(result.status, RMPP_STATUS_NORMAL);
		}

		time_ns until = time_earlier(rmpp_deadline(&ends[0]), rmpp_deadline(&ends[1]));

		if (!arrive(until, &arrived))
			continue;

		unsigned end = arrived.to == 1;

		if (!rmpp_receive(&ends[end], now, &arrived.message, &transfer))
			continue;
		assert_int_equal(whole[end]++, 0);
		check_transfer(&transfer, end ? 0x14 : 0x94);
		if (end)
			send_transfer(&ends[1], CLIENT_LID, 0x94);
	}
	assert_int_equal(whole[1], 1);
	for (unsigned end = 0; end < 2; end++)
		rmpp_release(&ends[end]);
}

static void test_transfers_arrive_once_and_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		start(seed);
		run_transfer();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_reach_the_end_of_the_chain),
		cmocka_unit_test(test_loops_end_for_every_request),
		cmocka_unit_test(test_transfers_arrive_once_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
