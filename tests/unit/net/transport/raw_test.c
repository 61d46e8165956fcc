/* SPDX-License-Identifier: Apache-2.0 */
/* Raw datagrams: one SEND, one packet, no keys; lengths and headers that are refused (transport
 * 9.4). */
#include "net/transport/raw.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/endpoint.h"
#include "wire/mtu.h"
#include "wire/raw_packet.h"

enum { MTU = 512 };

static struct endpoint a, b;

static void open_pair(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_512;
	endpoints_to_rts(&a, &b, &options);
}

static void close_pair(void)
{
	endpoint_release(&a);
	endpoint_release(&b);
}

/* Posts from a's outbox, which the test may have filled. */
static int send_bytes(uint32_t byte_count, uint32_t ethertype)
{
	static const struct address_vector to_b = {.dlid = 2, .port_number = 1, .sl = 3};
	struct sge sge = area_sge(&a.outbox, a.outbox.bytes, byte_count);
	struct send_request request = {
		.opcode = SEND_SEND,
		.wr_id = 77,
		.address = &to_b,
		.address_pd = &a.pd,
		.remote_qpn = ethertype,
		.sge_count = 1,
		.sges = &sge,
	};

	return qp_post_send(&a.qp, 0, &request);
}

static uint8_t *receive_into(uint32_t byte_count)
{
	uint8_t *bytes = area_take(&b.inbox, byte_count);
	struct sge sge = area_sge(&b.inbox, bytes, byte_count);
	struct receive_request request = {.wr_id = 88, .sge_count = 1, .sges = &sge};

	assert_int_equal(qp_post_receive(&b.qp, 0, &request), 0);
	return bytes;
}

/* Carries a's packets as wire bytes to b. Returns the number of packets. */
static unsigned carry(void)
{
	struct packet packets[8];
	unsigned count = qp_transmit(&a.qp, 0, 8, 65536, packets);

	for (unsigned i = 0; i < count; i++) {
		uint8_t bytes[PACKET_BYTES_MAX];
		struct packet packet;
		size_t byte_count = packet_encode(&packets[i], bytes);

		assert_int_equal(raw_packet_decode(bytes, byte_count, &packet), PACKET_OK);
		raw_receive(&b.qp, 0, &packet);
	}
	return count;
}

static const struct completion *only(struct completion_list *list)
{
	assert_int_equal(list->count, list->next + 1);
	return &list->entries[list->next++];
}

static void write_ipv6(uint8_t *bytes, uint16_t payload_bytes)
{
	memset(bytes, 0, IPV6_HEADER_BYTES);
	bytes[0] = 0x60;
	bytes[4] = (uint8_t)(payload_bytes >> 8);
	bytes[5] = (uint8_t)payload_bytes;
	bytes[6] = 59;
	bytes[7] = 64;
}

static void test_a_frame_arrives_with_its_ethertype(void **state)
{
	(void)state;
	open_pair(QP_RAW_ETHERTYPE);
	fill_pattern(a.outbox.bytes, MTU, 1);

	uint8_t *received = receive_into(MTU);

	assert_int_equal(send_bytes(MTU, 0x88b5), 0);
	assert_int_equal(carry(), 1);

	const struct completion *sent = only(&a.sent), *got = only(&b.received);

	assert_int_equal(sent->status, COMPLETION_SUCCESS);
	assert_int_equal(sent->wr_id, 77);
	assert_int_equal(got->status, COMPLETION_SUCCESS);
	assert_int_equal(got->wr_id, 88);
	assert_int_equal(got->byte_count, MTU);
	assert_int_equal(got->source_qpn, 0x88b5);
	assert_int_equal(got->slid, 1);
	assert_int_equal(got->sl, 3);
	assert_int_equal(got->flags, 0);
	assert_memory_equal(received, a.outbox.bytes, MTU);
	close_pair();
}

static void test_an_ipv6_packet_arrives_with_its_header(void **state)
{
	(void)state;
	open_pair(QP_RAW_IPV6);
	fill_pattern(a.outbox.bytes, IPV6_HEADER_BYTES + MTU, 1);
	write_ipv6(a.outbox.bytes, MTU);

	uint8_t *received = receive_into(IPV6_HEADER_BYTES + MTU);

	assert_int_equal(send_bytes(IPV6_HEADER_BYTES + MTU, 0), 0);
	assert_int_equal(carry(), 1);
	assert_int_equal(only(&b.received)->byte_count, IPV6_HEADER_BYTES + MTU);
	assert_memory_equal(received, a.outbox.bytes, IPV6_HEADER_BYTES + MTU);
	close_pair();
}

static void test_lengths_that_no_packet_has_are_refused(void **state)
{
	static const struct {
		enum qp_type type;
		uint32_t byte_count, stated;
		enum completion_status status;
	} cases[] = {
		{QP_RAW_ETHERTYPE, 0, 0, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_ETHERTYPE, 4, 0, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_ETHERTYPE, 8, 0, COMPLETION_SUCCESS},
		{QP_RAW_ETHERTYPE, 9, 0, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_ETHERTYPE, MTU, 0, COMPLETION_SUCCESS},
		{QP_RAW_ETHERTYPE, MTU + 4, 0, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_IPV6, 36, 0, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_IPV6, 40, 0, COMPLETION_SUCCESS},
		{QP_RAW_IPV6, 44, 1, COMPLETION_SUCCESS},
		{QP_RAW_IPV6, 44, 4, COMPLETION_SUCCESS},
		{QP_RAW_IPV6, 44, 0, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_IPV6, 44, 5, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_IPV6, 42, 2, COMPLETION_LOCAL_LENGTH},
		{QP_RAW_IPV6, 40 + MTU, MTU, COMPLETION_SUCCESS},
		{QP_RAW_IPV6, 44 + MTU, MTU + 4, COMPLETION_LOCAL_LENGTH},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		bool is_sent = cases[i].status == COMPLETION_SUCCESS;

		open_pair(cases[i].type);
		write_ipv6(a.outbox.bytes, (uint16_t)cases[i].stated);
		receive_into(2 * MTU);
		assert_int_equal(send_bytes(cases[i].byte_count, 0x88b5), 0);
		assert_int_equal(carry(), is_sent);
		assert_int_equal(only(&a.sent)->status, cases[i].status);
		assert_int_equal(a.qp.state, is_sent ? QP_RTS : QP_SQE);
		assert_int_equal(b.received.count, is_sent);
		close_pair();
	}
}

/* IPv4 on this queue pair is another error. */
static void test_another_version_is_an_operation_error(void **state)
{
	(void)state;
	open_pair(QP_RAW_IPV6);
	write_ipv6(a.outbox.bytes, 0);
	a.outbox.bytes[0] = 0x45;
	assert_int_equal(send_bytes(40, 0), 0);
	assert_int_equal(carry(), 0);
	assert_int_equal(only(&a.sent)->status, COMPLETION_LOCAL_QP_OPERATION);
	assert_int_equal(endpoint_set_state(&a, 0, QP_RTS), 0);
	write_ipv6(a.outbox.bytes, 0);
	assert_int_equal(send_bytes(40, 0), 0);
	assert_int_equal(carry(), 1);
	close_pair();
}

static void test_an_ethertype_has_16_bits(void **state)
{
	(void)state;
	open_pair(QP_RAW_ETHERTYPE);
	assert_int_equal(send_bytes(8, 0xffff), 0);
	assert_int_equal(send_bytes(8, 0x10000), -EINVAL);
	close_pair();
}

static void test_without_a_receive_request_that_has_room_it_is_lost(void **state)
{
	(void)state;
	open_pair(QP_RAW_ETHERTYPE);
	assert_int_equal(send_bytes(64, 1), 0);
	assert_int_equal(carry(), 1);
	assert_int_equal(b.received.count, 0);
	receive_into(60);
	assert_int_equal(send_bytes(64, 1), 0);
	assert_int_equal(carry(), 1);
	assert_int_equal(b.received.count, 0);
	assert_int_equal(send_bytes(60, 1), 0);
	assert_int_equal(carry(), 1);
	assert_int_equal(only(&b.received)->byte_count, 60);
	assert_int_equal(b.qp.state, QP_RTS);
	close_pair();
}

static void test_only_states_that_receive_do(void **state)
{
	static const bool takes[] = {
		[QP_RESET] = false, [QP_INIT] = false, [QP_RTR] = true,	   [QP_RTS] = true,
		[QP_SQD] = true,    [QP_SQE] = true,   [QP_ERROR] = false,
	};

	(void)state;
	for (enum qp_state to = QP_INIT; to <= QP_SQE; to++) {
		open_pair(QP_RAW_ETHERTYPE);
		receive_into(64);
		b.qp.state = to;
		assert_int_equal(send_bytes(64, 1), 0);
		assert_int_equal(carry(), 1);
		assert_int_equal(b.received.count, takes[to]);
		close_pair();
	}
}

static void test_a_receive_with_a_bad_key_breaks_its_queue_pair(void **state)
{
	struct sge sge;
	struct receive_request request = {.wr_id = 5, .sge_count = 1, .sges = &sge};

	(void)state;
	open_pair(QP_RAW_ETHERTYPE);
	sge = area_sge(&b.inbox, b.inbox.bytes, 64);
	sge.lkey ^= 0x100;
	assert_int_equal(qp_post_receive(&b.qp, 0, &request), 0);
	assert_int_equal(send_bytes(64, 1), 0);
	assert_int_equal(carry(), 1);
	assert_int_equal(only(&b.received)->status, COMPLETION_LOCAL_PROTECTION);
	assert_int_equal(b.qp.state, QP_ERROR);
	close_pair();
}

/* A packet with transport headers that names its number. */
static void test_no_other_service_reaches_it(void **state)
{
	uint8_t bytes[64] = {0};

	(void)state;
	open_pair(QP_RAW_ETHERTYPE);
	receive_into(256);
	for (unsigned transport = 0; transport < 256; transport += 32) {
		struct packet packet = {
			.lrh = {.dlid = 2, .slid = 1},
			.bth = {.opcode = (uint8_t)(transport | OPCODE_SEND_ONLY),
				.pkey = 0xffff,
				.destination_qpn = b.qp.qpn},
			.packet_count = 1,
		};

		packet_set_payload(&packet, bytes, sizeof(bytes));
		qp_receive(&b.qp, 0, &packet);
	}
	assert_int_equal(b.received.count, 0);
	close_pair();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_arrives_with_its_ethertype),
		cmocka_unit_test(test_an_ipv6_packet_arrives_with_its_header),
		cmocka_unit_test(test_lengths_that_no_packet_has_are_refused),
		cmocka_unit_test(test_another_version_is_an_operation_error),
		cmocka_unit_test(test_an_ethertype_has_16_bits),
		cmocka_unit_test(test_without_a_receive_request_that_has_room_it_is_lost),
		cmocka_unit_test(test_only_states_that_receive_do),
		cmocka_unit_test(test_a_receive_with_a_bad_key_breaks_its_queue_pair),
		cmocka_unit_test(test_no_other_service_reaches_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
