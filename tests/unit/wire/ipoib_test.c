/* SPDX-License-Identifier: Apache-2.0 */
/* ARP, neighbour discovery and groups of IP over InfiniBand: real hardware's packets, literal
 * bytes, damaged packets (management 8.1; transport 10.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/vector_file.h"
#include "wire/ipoib.h"
#include "wire/packet.h"

enum { CAPTURED_ARP_QUESTION = 5, CAPTURED_ARP_ANSWER = 6, CAPTURED_SOLICITATION = 26 };

static unsigned wanted;
static uint8_t found[256];
static size_t found_bytes;

static void take_wanted(struct vector *vector)
{
	struct packet packet;

	if (vector->number != wanted)
		return;
	assert_int_equal(packet_decode(vector->bytes, vector->byte_count - ICRC_BYTES - VCRC_BYTES,
				       1, &packet),
			 PACKET_OK);
	found_bytes = packet.payload.byte_count;
	assert_true(found_bytes <= sizeof(found));
	payload_copy(&packet.payload, 0, found_bytes, found);
}

static void captured(unsigned number)
{
	wanted = number;
	assert_true(vector_file_each(VECTORS "/captured_packets.txt", take_wanted) > 0);
}

static const struct ipoib_neighbour solicitation = {
	.ip_version = 6,
	.sender = {.qpn = 2, .gid = {{0xfe, 0x80, [15] = 1}}},
	.sender_ip = {{0xfd, 0x5f, 0x1b, [15] = 1}},
	.target_ip = {{0xfd, 0x5f, 0x1b, [15] = 2}},
};

/* 10.0.1.34 asks for 10.0.0.58; its hardware address has the flag of connected mode before the
 * QPN. */
static void test_captured_arp_question_and_answer_are_read(void **state)
{
	(void)state;
	const struct ip_address asker = {{[12] = 10, 0, 1, 34}};
	const struct ip_address asked = {{[12] = 10, 0, 0, 58}};
	struct ipoib_neighbour heard;
	uint8_t again[IPOIB_QUESTION_BYTES_MAX];

	captured(CAPTURED_ARP_QUESTION);
	assert_true(ipoib_neighbour_decode(found, found_bytes, &heard));
	assert_int_equal(heard.ip_version, 4);
	assert_false(heard.is_answer);
	assert_memory_equal(&heard.sender_ip, &asker, sizeof(asker));
	assert_memory_equal(&heard.target_ip, &asked, sizeof(asked));
	assert_int_equal(ipoib_neighbour_encode(&heard, again), IPOIB_ARP_BYTES);
	/* Equal except for the flags of the two hardware addresses. */
	found[12] = again[12];
	found[36] = again[36];
	assert_memory_equal(again, found, IPOIB_ARP_BYTES);

	captured(CAPTURED_ARP_ANSWER);
	assert_true(ipoib_neighbour_decode(found, found_bytes, &heard));
	assert_true(heard.is_answer);
	assert_int_equal(heard.sender.qpn, 0x000404);
	assert_true(gid_guid(&heard.sender.gid) == 0x0002c9020020b4dd);
	assert_memory_equal(&heard.sender_ip, &asked, sizeof(asked));
}

/* Its checksum is real: ours over the same bytes must agree. */
static void test_captured_solicitation_is_read(void **state)
{
	(void)state;
	struct ipoib_neighbour heard;

	captured(CAPTURED_SOLICITATION);
	assert_true(ipoib_neighbour_decode(found, found_bytes, &heard));
	assert_int_equal(heard.ip_version, 6);
	assert_false(heard.is_answer);
	assert_true(get_be64(heard.target_ip.bytes + 8) == 0x0202c90300001895);
}

static void test_solicitation_and_advertisement_round_trip(void **state)
{
	(void)state;
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	struct ipoib_neighbour heard, reply = solicitation;

	assert_int_equal(ipoib_neighbour_encode(&solicitation, bytes), IPOIB_ND_BYTES);
	assert_true(ipoib_neighbour_decode(bytes, IPOIB_ND_BYTES, &heard));
	assert_memory_equal(&heard.sender_ip, &solicitation.sender_ip, 16);
	assert_memory_equal(&heard.target_ip, &solicitation.target_ip, 16);
	assert_int_equal(heard.sender.qpn, 2);
	reply.is_answer = true;
	ipoib_neighbour_encode(&reply, bytes);
	assert_true(ipoib_neighbour_decode(bytes, IPOIB_ND_BYTES, &heard));
	assert_true(heard.is_answer);
	assert_memory_equal(&heard.sender_ip, &solicitation.sender_ip, 16);
	assert_memory_equal(&heard.target_ip, &solicitation.target_ip, 16);
}

static void test_every_damaged_bit_of_a_solicitation_is_noticed(void **state)
{
	(void)state;
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	struct ipoib_neighbour heard;

	ipoib_neighbour_encode(&solicitation, bytes);
	/* From the hop limit on; traffic class and flow label are ignored. */
	for (unsigned bit = 8 * (IPOIB_HEADER_BYTES + 7); bit < 8 * IPOIB_ND_BYTES; bit++) {
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1 << bit % 8);
		assert_false(ipoib_neighbour_decode(bytes, IPOIB_ND_BYTES, &heard));
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1 << bit % 8);
	}
	assert_true(ipoib_neighbour_decode(bytes, IPOIB_ND_BYTES, &heard));
}

static void test_short_and_foreign_packets_are_nothing(void **state)
{
	(void)state;
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	struct ipoib_neighbour heard;

	ipoib_neighbour_encode(&solicitation, bytes);
	for (size_t count = 0; count < IPOIB_ND_BYTES; count++)
		assert_false(ipoib_neighbour_decode(bytes, count, &heard));
	captured(CAPTURED_ARP_QUESTION);
	for (size_t count = 0; count < IPOIB_ARP_BYTES; count++)
		assert_false(ipoib_neighbour_decode(found, count, &heard));
	put_be16(found, 0x0800);
	assert_false(ipoib_neighbour_decode(found, IPOIB_ARP_BYTES, &heard));
}

static void test_groups_are_made_as_the_rfc_says(void **state)
{
	(void)state;
	const struct ip_address ipv4 = {{[12] = 239, 1, 2, 3}};
	const struct ip_address ipv6 = {{0xff, 0x02, [6] = 7, [15] = 0xfb}};
	const struct gid broadcast = {
		{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff, 0xff}};
	const struct gid group4 = {
		{0xff, 0x12, 0x40, 0x01, 0xff, 0xff, [12] = 0x0f, 0x01, 0x02, 0x03}};
	const struct gid group6 = {{0xff, 0x12, 0x60, 0x1b, 0x80, 0x01, 7, [15] = 0xfb}};
	struct gid gid = ipoib_broadcast_gid(0x7fff);

	assert_true(gid_equal(&gid, &broadcast));
	gid = ipoib_multicast_gid(4, &ipv4, 0xffff, IPOIB_SIGNATURE_UDP);
	assert_true(gid_equal(&gid, &group4));
	gid = ipoib_multicast_gid(6, &ipv6, 0x0001, IPOIB_SIGNATURE_IP);
	assert_true(gid_equal(&gid, &group6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captured_arp_question_and_answer_are_read),
		cmocka_unit_test(test_captured_solicitation_is_read),
		cmocka_unit_test(test_solicitation_and_advertisement_round_trip),
		cmocka_unit_test(test_every_damaged_bit_of_a_solicitation_is_noticed),
		cmocka_unit_test(test_short_and_foreign_packets_are_nothing),
		cmocka_unit_test(test_groups_are_made_as_the_rfc_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
