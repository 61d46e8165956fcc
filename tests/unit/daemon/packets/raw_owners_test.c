/* SPDX-License-Identifier: Apache-2.0 */
/* Owners of a port's raw queue pairs: claims, packets to the owner only, and owners that end.
 * Covers: daemon/control/raw_commands.c daemon/control/request_fields.c */
#include "daemon/packets/raw_owners.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "daemon/commands.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/raw_packet.h"

static struct daemon *softibd;
static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start_pair("star:2", &a, &b);
	return 0;
}

static struct endpoint *endpoint_at(const char *host)
{
	return host_endpoint(host_table_find(&softibd->core.hosts, host), 0, 1);
}

/* 0, or the errno of the reply. */
static int claim(const struct program *program, int port, int kind)
{
	json_t *answer = fixture_ask(program->socket,
				     "{\"command\":\"raw\",\"adapter\":0,\"port\":%d,\"kind\":%d}",
				     port, kind);
	int error = (int)json_integer_value(json_object_get(answer, "errno"));

	json_decref(answer);
	return error;
}

static void release(struct program *program, unsigned port, enum raw_kind kind)
{
	struct ring_record *record = ring_reserve(&program->up, 0);

	assert_non_null(record);
	record->kind = RECORD_RAW_RELEASED;
	record->port = 0;
	record->packet_count = 0;
	record->byte_count = 0;
	record->word = port << 8 | kind;
	program_show(program, record);
}

static void send_raw(struct program *program, uint16_t dlid, enum packet_kind kind)
{
	uint8_t payload[64] = {0x60, [5] = 24, [63] = 0xaa};
	struct packet packet = {
		.kind = (uint8_t)kind,
		.lrh = {.dlid = dlid, .slid = program->lid},
		.ethertype = 0x88b5,
		.packet_count = 1,
	};

	packet_set_payload(&packet, payload, sizeof(payload));
	program_send_packet(program, &packet);
}

static void test_one_claim_of_each_kind_and_port(void **state)
{
	struct program c;

	(void)state;
	program_start(&c, "h1");
	assert_int_equal(claim(&a, 1, RAW_IPV6), 0);
	assert_int_equal(claim(&a, 1, RAW_IPV6), EBUSY);
	assert_int_equal(claim(&c, 1, RAW_IPV6), EBUSY);
	assert_int_equal(claim(&c, 1, RAW_ETHERTYPE), 0);
	assert_int_equal(claim(&b, 1, RAW_IPV6), 0);
	/* A program can't release another program's queue pair. */
	release(&c, 1, RAW_IPV6);
	fixture_settle();
	assert_int_equal(claim(&c, 1, RAW_IPV6), EBUSY);
	/* A release that is still in the ring comes before the next claim. */
	release(&a, 1, RAW_IPV6);
	fixture_order(a.socket, "{\"command\":\"catch-up\"}");
	assert_int_equal(claim(&a, 1, RAW_IPV6), 0);
	release(&a, 1, RAW_IPV6);
	fixture_settle();
	assert_int_equal(claim(&c, 1, RAW_IPV6), 0);
	program_end(&c);
}

/* Each claim read the ring 256 times, and stepped the fabric as often. */
static void test_a_claim_does_not_read_the_ring(void **state)
{
	static const char text[] = "{\"command\":\"raw\",\"adapter\":0,\"port\":1,\"kind\":0}";
	struct host *host = host_table_find(&softibd->core.hosts, "h1");
	struct client *client = container_of(list_first(&host->programs), struct client, host_link);
	struct reply reply;

	(void)state;
	assert_int_equal(claim(&a, 1, 0), 0);
	release(&a, 1, 0);
	assert_int_equal(command_run(client, text, strlen(text), &reply), 0);
	assert_int_equal(json_integer_value(json_object_get(reply.object, "errno")), EBUSY);
	json_decref(reply.object);
}

static void test_claims_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	assert_int_equal(claim(&a, 0, RAW_IPV6), EINVAL);
	assert_int_equal(claim(&a, 2, RAW_IPV6), EINVAL);
	assert_int_equal(claim(&a, -1, RAW_IPV6), EINVAL);
	assert_int_equal(claim(&a, 1, RAW_KINDS), EINVAL);
	assert_int_equal(claim(&a, 1, -1), EINVAL);
	release(&a, 9, RAW_IPV6);
	assert_true(fixture_is_cut_off(a.socket));
}

static void test_a_raw_packet_reaches_the_owner_of_its_kind(void **state)
{
	uint64_t before = endpoint_at("h2")->port->counters.drops[DROP_NO_LISTENER];
	const struct ring_record *record;
	struct packet packet;

	(void)state;
	assert_int_equal(claim(&a, 1, RAW_ETHERTYPE), 0);
	assert_int_equal(claim(&a, 1, RAW_IPV6), 0);
	assert_int_equal(claim(&b, 1, RAW_ETHERTYPE), 0);
	send_raw(&a, b.lid, PACKET_RAW_ETHERTYPE);
	record = program_next_of(&b, RECORD_RAW_PACKET);
	assert_non_null(record);
	assert_int_equal(record->port, 1);
	assert_int_equal(raw_packet_decode(record->body, record->byte_count, &packet), PACKET_OK);
	assert_int_equal(packet.ethertype, 0x88b5);
	assert_int_equal(packet.lrh.slid, a.lid);
	assert_int_equal(packet.payload.byte_count, 64);
	send_raw(&a, b.lid, PACKET_RAW_IPV6);
	fixture_settle();
	assert_null(program_next_of(&b, RECORD_RAW_PACKET));
	assert_int_equal(endpoint_at("h2")->port->counters.drops[DROP_NO_LISTENER], before + 1);
}

static void test_only_the_owner_sends(void **state)
{
	uint64_t before = endpoint_at("h1")->port->counters.drops[DROP_MALFORMED];

	(void)state;
	assert_int_equal(claim(&b, 1, RAW_ETHERTYPE), 0);
	send_raw(&a, b.lid, PACKET_RAW_ETHERTYPE);
	fixture_settle();
	assert_null(program_next_of(&b, RECORD_RAW_PACKET));
	assert_int_equal(endpoint_at("h1")->port->counters.drops[DROP_MALFORMED], before + 1);
}

static void test_an_owner_that_dies_owns_nothing(void **state)
{
	struct program c;

	(void)state;
	assert_int_equal(claim(&a, 1, RAW_IPV6), 0);
	assert_int_equal(claim(&a, 1, RAW_ETHERTYPE), 0);
	program_end(&a);
	fixture_settle();
	program_start(&c, "h1");
	assert_int_equal(claim(&c, 1, RAW_IPV6), 0);
	assert_int_equal(claim(&c, 1, RAW_ETHERTYPE), 0);
	program_end(&c);
	fixture_settle();
	assert_null(endpoint_at("h1")->raw_owners[RAW_IPV6]);
	assert_null(endpoint_at("h1")->raw_owners[RAW_ETHERTYPE]);
}

#define RAW_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RAW_TEST(test_one_claim_of_each_kind_and_port),
		RAW_TEST(test_a_claim_does_not_read_the_ring),
		RAW_TEST(test_claims_that_make_no_sense_are_refused),
		RAW_TEST(test_a_raw_packet_reaches_the_owner_of_its_kind),
		RAW_TEST(test_only_the_owner_sends),
		RAW_TEST(test_an_owner_that_dies_owns_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
