/* SPDX-License-Identifier: Apache-2.0 */
/* MADs to and from the clients of QP0 and QP1: which client gets which (management 1.7, 1.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/mad/mad_dispatch.h"
#include "mgmt/agents/redirects.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { CLASS_TEST = 0x0a, CLASS_VENDOR = 0x32, OUI = 0x001405, METHOD_OFFSET = 3 };

static struct daemon *softibd;

/* A client that keeps the last MAD. */
struct listener {
	struct mad_client client;
	unsigned count;
	struct mad_message last;
};

static struct listener a, b;

static void remember(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	struct listener *listener = container_of(client, struct listener, client);

	(void)now;
	listener->count++;
	listener->last = *message;
}

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:3");
	a = (struct listener){.client = {.port = fixture_port("h2"), .receive = remember}};
	b = (struct listener){.client = {.port = fixture_port("h3"), .receive = remember}};
	return 0;
}

static void listen_for(struct listener *listener, uint8_t management_class, enum mad_method method)
{
	struct mad_registration *registration =
		&listener->client.registrations[listener->client.registration_count++];

	registration->management_class = management_class;
	registration->class_version = 1;
	registration->oui = OUI;
	mad_registration_add_method(registration, method);
}

static void add(struct listener *listener)
{
	assert_int_equal(mad_client_add(&softibd->mads, &listener->client), 0);
}

static void remove_client(struct listener *listener)
{
	mad_client_remove(&softibd->mads, &listener->client);
}

static struct mad_message make(const struct listener *from, const struct port *to, uint8_t class,
			       enum mad_method method)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = class,
					  .class_version = 1,
					  .method = (uint8_t)method,
					  .transaction_id =
						  (uint64_t)from->client.agent_number << 32 | 77};
	struct mad_message message = {.address = {.lid = to->info.lid,
						  .qpn = QPN_GSI,
						  .qkey = QKEY_GSI,
						  .pkey = PKEY_DEFAULT_FULL}};

	mad_header_encode(&header, message.bytes);
	put_be24(message.bytes + 37, OUI);
	return message;
}

static void send(struct listener *from, const struct mad_message *message)
{
	assert_true(
		mad_client_send(&softibd->mads, &from->client, message, softibd->core.loop.now));
	fixture_settle();
}

static void test_a_request_reaches_whoever_registered_for_it(void **state)
{
	(void)state;
	listen_for(&b, CLASS_TEST, MAD_GET);
	add(&a);
	add(&b);

	struct mad_message request = make(&a, fixture_port("h3"), CLASS_TEST, MAD_GET);

	memset(request.bytes + 64, 0x5a, 192);
	send(&a, &request);
	assert_int_equal(b.count, 1);
	assert_memory_equal(b.last.bytes, request.bytes, MAD_BYTES);
	assert_int_equal(b.last.address.lid, fixture_port("h2")->info.lid);
	assert_int_equal(b.last.address.qpn, QPN_GSI);
	assert_int_equal(b.last.address.pkey, PKEY_DEFAULT_FULL);
	remove_client(&a);
	remove_client(&b);
}

static void test_a_redirected_class_does_not_reach_its_client(void **state)
{
	struct agent_memory *memory = &softibd->core.fabric.agent_memory;
	const struct redirect redirect = {
		.port = fixture_port("h3"),
		.management_class = CLASS_TEST,
		.place = {.redirect_lid = 1, .redirect_qpn = 0x77},
	};

	(void)state;
	listen_for(&b, CLASS_TEST, MAD_GET);
	add(&a);
	add(&b);
	assert_int_equal(redirect_set(memory, &redirect), 0);

	struct mad_message request = make(&a, fixture_port("h3"), CLASS_TEST, MAD_GET);

	send(&a, &request);
	assert_int_equal(b.count, 0);
	assert_int_equal(a.count, 1);
	assert_int_equal(get_be16(a.last.bytes + MAD_STATUS_OFFSET), MAD_STATUS_REDIRECT);
	/* Range 1 has its data behind the header (management 1.2). */
	assert_int_equal(get_be32(a.last.bytes + 24 + 32), 0x77);
	assert_true(redirect_end(memory, redirect.port, CLASS_TEST));
	/* Busy: the client gets what the rate admits. */
	assert_int_equal(gsi_rate_set(memory, redirect.port, 1), 0);
	for (unsigned i = 0; i < 5; i++)
		send(&a, &request);
	assert_in_range(b.count, 1, 2);
	assert_int_equal(get_be16(a.last.bytes + MAD_STATUS_OFFSET), MAD_STATUS_BUSY);
	remove_client(&a);
	remove_client(&b);
}

static void test_a_response_finds_its_agent_by_number(void **state)
{
	struct listener other = {.client = {.port = fixture_port("h2"), .receive = remember}};

	(void)state;
	listen_for(&b, CLASS_TEST, MAD_GET);
	add(&other);
	add(&a);
	add(&b);
	assert_true(a.client.agent_number != other.client.agent_number);

	struct mad_message request = make(&a, fixture_port("h3"), CLASS_TEST, MAD_GET);

	send(&a, &request);
	b.last.bytes[METHOD_OFFSET] = MAD_GET_RESPONSE;
	send(&b, &b.last);
	assert_int_equal(a.count, 1);
	assert_int_equal(other.count, 0);
	assert_int_equal(get_be64(a.last.bytes + 8), get_be64(request.bytes + 8));

	/* An agent number of another port's client is as unknown as one of no client. */
	remove_client(&a);
	send(&b, &b.last);
	assert_int_equal(a.count, 1);
	assert_int_equal(other.count, 0);
	remove_client(&other);
	remove_client(&b);
}

static void test_a_port_reaches_itself(void **state)
{
	struct listener server = {.client = {.port = fixture_port("h2"), .receive = remember}};

	(void)state;
	listen_for(&server, CLASS_TEST, MAD_SEND);
	add(&a);
	add(&server);

	struct mad_message message = make(&a, fixture_port("h2"), CLASS_TEST, MAD_SEND);

	send(&a, &message);
	assert_int_equal(server.count, 1);
	remove_client(&a);
	remove_client(&server);
}

static void test_a_class_and_method_has_one_owner_per_port(void **state)
{
	struct listener second = {.client = {.port = fixture_port("h3"), .receive = remember}};
	struct listener elsewhere = {.client = {.port = fixture_port("h2"), .receive = remember}};

	(void)state;
	listen_for(&b, CLASS_TEST, MAD_GET);
	add(&b);
	listen_for(&second, CLASS_TEST, MAD_SET);
	listen_for(&second, CLASS_TEST, MAD_GET);
	assert_int_equal(mad_client_add(&softibd->mads, &second.client), -EBUSY);
	listen_for(&elsewhere, CLASS_TEST, MAD_GET);
	add(&elsewhere);
	remove_client(&b);
	add(&second);
	remove_client(&second);
	remove_client(&elsewhere);
}

static void test_vendor_classes_are_told_apart_by_their_oui(void **state)
{
	struct listener other = {.client = {.port = fixture_port("h3"), .receive = remember}};

	(void)state;
	listen_for(&b, CLASS_VENDOR, MAD_GET);
	listen_for(&other, CLASS_VENDOR, MAD_GET);
	other.client.registrations[0].oui = 0x123456;
	add(&a);
	add(&b);
	add(&other);

	struct mad_message message = make(&a, fixture_port("h3"), CLASS_VENDOR, MAD_GET);

	send(&a, &message);
	assert_int_equal(b.count, 1);
	assert_int_equal(other.count, 0);
	put_be24(message.bytes + 37, 0x123456);
	send(&a, &message);
	assert_int_equal(other.count, 1);
	remove_client(&a);
	remove_client(&b);
	remove_client(&other);
}

static void test_what_nobody_takes_is_counted_and_a_get_is_answered(void **state)
{
	uint64_t before = fixture_port("h3")->counters.qp1_dropped;

	(void)state;
	add(&a);

	struct mad_message message = make(&a, fixture_port("h3"), CLASS_TEST, MAD_SEND);

	send(&a, &message);
	assert_int_equal(fixture_port("h3")->counters.qp1_dropped, before + 1);
	assert_int_equal(a.count, 0);
	message = make(&a, fixture_port("h3"), CLASS_TEST, MAD_GET);
	send(&a, &message);
	assert_int_equal(fixture_port("h3")->counters.qp1_dropped, before + 1);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.last.bytes[METHOD_OFFSET], MAD_GET_RESPONSE);
	assert_int_equal(get_be16(a.last.bytes + 4), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	remove_client(&a);
}

static void test_queue_pair_1_opens_to_its_own_key_only(void **state)
{
	(void)state;
	listen_for(&b, CLASS_TEST, MAD_SEND);
	add(&a);
	add(&b);

	struct mad_message message = make(&a, fixture_port("h3"), CLASS_TEST, MAD_SEND);

	uint64_t before = fixture_port("h3")->counters.qp1_dropped;

	message.address.qkey = 0x11111111;
	send(&a, &message);
	assert_int_equal(b.count, 0);
	assert_int_equal(fixture_port("h3")->counters.qp1_dropped, before + 1);
	remove_client(&a);
	remove_client(&b);
}

static void test_a_directed_request_comes_back_to_its_agent(void **state)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = MAD_CLASS_SUBNET_DIRECTED,
					  .class_version = SMP_CLASS_VERSION,
					  .method = MAD_GET,
					  .attribute_id = ATTRIBUTE_NODE_INFO};
	struct mad_message message = {.address = {.lid = LID_PERMISSIVE, .qpn = QPN_SMI}};

	(void)state;
	add(&a);
	smp_start(&header, message.bytes);
	put_be32(message.bytes + 8, a.client.agent_number);
	/* No hops: the port's own agent answers, and the answer does not leave the node. */
	send(&a, &message);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.last.bytes[METHOD_OFFSET], MAD_GET_RESPONSE);
	remove_client(&a);
}

static void test_a_grh_is_sent_and_told(void **state)
{
	(void)state;
	listen_for(&b, CLASS_TEST, MAD_SEND);
	add(&a);
	add(&b);

	struct mad_message message = make(&a, fixture_port("h3"), CLASS_TEST, MAD_SEND);

	message.address.has_grh = true;
	message.address.gid =
		gid_from(fixture_port("h3")->info.gid_prefix, fixture_port("h3")->guid);
	message.address.traffic_class = 9;
	message.address.flow_label = 0x12345;
	send(&a, &message);
	assert_int_equal(b.count, 1);
	assert_true(b.last.address.has_grh);
	assert_int_equal(gid_guid(&b.last.address.gid), fixture_port("h2")->guid);
	assert_int_equal(b.last.address.traffic_class, 9);
	assert_int_equal(b.last.address.flow_label, 0x12345);
	remove_client(&a);
	remove_client(&b);
}

#define MAD_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MAD_TEST(test_a_request_reaches_whoever_registered_for_it),
		MAD_TEST(test_a_redirected_class_does_not_reach_its_client),
		MAD_TEST(test_a_response_finds_its_agent_by_number),
		MAD_TEST(test_a_port_reaches_itself),
		MAD_TEST(test_a_class_and_method_has_one_owner_per_port),
		MAD_TEST(test_vendor_classes_are_told_apart_by_their_oui),
		MAD_TEST(test_what_nobody_takes_is_counted_and_a_get_is_answered),
		MAD_TEST(test_queue_pair_1_opens_to_its_own_key_only),
		MAD_TEST(test_a_directed_request_comes_back_to_its_agent),
		MAD_TEST(test_a_grh_is_sent_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
