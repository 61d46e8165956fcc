/* SPDX-License-Identifier: Apache-2.0 */
/* A gateway's UDP socket: frames both ways, a missing peer, the end of the fabric. */
#include "daemon/packets/gateway_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "net/router/gateway.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/raw_packet.h"

enum { FLOOD = 100 }; /* fits the socket's buffer */

static struct daemon *softibd;
static struct program program;
static uint16_t own_port; /* the gateway's */
static int peer;

static int bound(uint16_t port, uint16_t *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	if (bind(descriptor, (struct sockaddr *)&address, sizeof(address)) != 0) {
		close(descriptor);
		return -1;
	}
	assert_int_equal(getsockname(descriptor, (struct sockaddr *)&address, &length), 0);
	*ret_port = ntohs(address.sin_port);
	return descriptor;
}

static int set_up(void **state)
{
	struct daemon_options options = {
		.topology = "routed:2x2", .runs_sm = true, .offloads = true, .gateway_count = 1};
	static char text[64];
	uint16_t peer_port;
	int taken = bound(0, &own_port);
	json_t *answer;

	(void)state;
	peer = bound(0, &peer_port);
	close(taken);
	snprintf(text, sizeof(text), "router-1=udp:127.0.0.1:%u,127.0.0.1:%u", own_port, peer_port);
	options.gateways[0] = text;
	softibd = fixture_start_with(options);
	program_start(&program, "h1");
	answer = fixture_ask(program.socket,
			     "{\"command\":\"raw\",\"adapter\":0,\"port\":1,"
			     "\"kind\":%d}",
			     RAW_ETHERTYPE);
	assert_true(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	return 0;
}

static int tear_down(void **state)
{
	close(peer);
	program_end(&program);
	return fixture_tear_down(state);
}

static const struct gateway *gateway(void)
{
	return softibd->core.fabric.routers.nodes[0]->router->gateway;
}

static int field(const char *name)
{
	json_t *rows = gateway_sockets_describe(&softibd->packets.gateways);
	int value = (int)json_integer_value(json_object_get(json_array_get(rows, 0), name));

	json_decref(rows);
	return value;
}

static void send_out(void)
{
	uint8_t payload[16] = {1, 2, 3};
	struct packet packet = {
		.kind = PACKET_RAW_ETHERTYPE,
		.lrh = {.dlid = softibd->core.fabric.routers.nodes[0]->ports[1].info.lid,
			.slid = program.lid},
		.ethertype = 0x88b5,
		.packet_count = 1,
	};

	packet_set_payload(&packet, payload, sizeof(payload));
	program_send_packet(&program, &packet);
	fixture_settle();
}

static void send_in(const uint8_t *bytes, size_t byte_count)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons(own_port),
					    .sin_addr = {htonl(INADDR_LOOPBACK)}};

	assert_int_equal(sendto(peer, bytes, byte_count, 0, (const struct sockaddr *)&address,
				sizeof(address)),
			 byte_count);
}

static void test_a_raw_packet_is_one_datagram(void **state)
{
	uint8_t bytes[64], expected[ETHERNET_HEADER_BYTES + 16] = {[14] = 1, 2, 3};
	const struct ethernet_header header = {
		.destination = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		.source = gateway_mac(1, program.lid),
		.ethertype = 0x88b5};

	(void)state;
	ethernet_header_encode(&header, expected);
	send_out();
	assert_int_equal(recv(peer, bytes, sizeof(bytes), 0), sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_int_equal(recv(peer, bytes, sizeof(bytes), 0), -1);
	assert_int_equal(field("sent"), 1);
}

static void test_a_datagram_is_one_raw_packet(void **state)
{
	uint8_t bytes[ETHERNET_HEADER_BYTES + 16] = {[14] = 4, 5, 6};
	const struct ethernet_header header = {.destination = gateway_mac(1, program.lid),
					       .ethertype = 0x88b5};
	const struct ring_record *record;
	struct packet packet;

	(void)state;
	ethernet_header_encode(&header, bytes);
	send_in(bytes, sizeof(bytes));
	record = program_next_of(&program, RECORD_RAW_PACKET);
	assert_non_null(record);
	assert_int_equal(raw_packet_decode(record->body, record->byte_count, &packet), PACKET_OK);
	assert_int_equal(packet.ethertype, 0x88b5);
	assert_int_equal(packet.payload.byte_count, 16);
	assert_memory_equal(packet.payload.spans[0].bytes, bytes + ETHERNET_HEADER_BYTES, 16);
	assert_int_equal(field("received"), 1);
}

static bool all_are_read(void)
{
	return gateway()->drops[DROP_MALFORMED] == FLOOD;
}

/* More datagrams than softibd reads at one poll. */
static void test_bad_datagrams_are_counted(void **state)
{
	static const uint8_t bytes[GATEWAY_FRAME_BYTES_MAX + 100];

	(void)state;
	for (unsigned i = 0; i < FLOOD; i++)
		send_in(bytes, i % 30 ? i % 60 : sizeof(bytes));
	fixture_await(all_are_read);
	assert_int_equal(field("dropped"), FLOOD);
	assert_int_equal(field("received"), 0);
	assert_null(program_next_of(&program, RECORD_RAW_PACKET));
}

static bool two_are_lost(void)
{
	return field("lost") == 2;
}

static void test_a_peer_that_is_gone_loses_frames(void **state)
{
	(void)state;
	close(peer);
	peer = -1;
	send_out();
	send_out();
	fixture_await(two_are_lost);
	assert_int_equal(field("sent"), 0);
}

static void test_end_of_the_fabric_closes_the_socket(void **state)
{
	uint16_t port;
	int descriptor;

	(void)state;
	assert_int_equal(bound(own_port, &port), -1);
	program_end(&program);
	fixture_stop();
	descriptor = bound(own_port, &port);
	assert_true(descriptor >= 0);
	close(descriptor);
	close(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_a_raw_packet_is_one_datagram),
		TEST(test_a_datagram_is_one_raw_packet),
		TEST(test_bad_datagrams_are_counted),
		TEST(test_a_peer_that_is_gone_loses_frames),
		cmocka_unit_test_setup(test_end_of_the_fabric_closes_the_socket, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
