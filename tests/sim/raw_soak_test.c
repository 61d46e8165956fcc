/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw datagrams over a wire that loses, duplicates and corrupts packets, under many seeds. Only the
 * VCRC protects them: a packet that fails it is dropped, and one that passes it is right. Nothing
 * orders or counts them, so each arrives as often as the wire brings it.
 *
 * A failing seed is printed; "raw_soak_test SEED" runs it alone.
 */
#include "support/soak_seeds.h"
#include "support/endpoint.h"

#include <string.h>
#include "base/bytes.h"
#include "base/random.h"
#include "net/transport/raw.h"
#include "wire/crc.h"
#include "wire/mtu.h"
#include "wire/raw_packet.h"

enum {
	SEEDS = 100,
	MESSAGES = 300,
	MTU = 512,
	WORD_BYTES = 4,
	NUMBER_BYTES = 4,
	CHANCE = 100, /* the faults are in percent */
	LOSE = 10,
	CORRUPT = 15,
	DUPLICATE = 15,
	RECEIVE_MISSING = 5, /* no receive is posted when it arrives */
	INBOX_BYTES = MTU + IPV6_HEADER_BYTES,
};

static struct endpoint a, b;
static struct random random_state;
static unsigned delivered[MESSAGES], arrived[MESSAGES];
static uint32_t lengths[MESSAGES];

static bool happens(unsigned percent)
{
	return random_below(&random_state, CHANCE) < percent;
}

static void open_pair(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_512;
	endpoints_to_rts(&a, &b, &options);
}

/* The number is the first word after the headers; a pattern of its own follows. */
static uint32_t write_message(uint8_t *ret_bytes, unsigned number)
{
	uint32_t header_bytes = a.qp.type == QP_RAW_IPV6 ? IPV6_HEADER_BYTES : 0;
	uint32_t words = (uint32_t)(2 + random_below(&random_state, MTU / WORD_BYTES - 1));
	uint32_t content_bytes = words * WORD_BYTES;

	fill_pattern(ret_bytes, header_bytes + content_bytes, number);
	if (header_bytes) {
		memset(ret_bytes, 0, header_bytes);
		ret_bytes[0] = 0x60;
		put_be16(ret_bytes + 4, (uint16_t)content_bytes);
	}
	put_be32(ret_bytes + header_bytes, number);
	lengths[number] = header_bytes + content_bytes;
	return lengths[number];
}

static void send_message(unsigned number)
{
	static const struct address_vector to_b = {.dlid = 2, .port_number = 1};
	uint32_t byte_count = write_message(a.outbox.bytes, number);
	struct sge sge = area_sge(&a.outbox, a.outbox.bytes, byte_count);
	struct send_request request = {
		.opcode = SEND_SEND,
		.address = &to_b,
		.address_pd = &a.pd,
		.remote_qpn = 0x88b5,
		.sge_count = 1,
		.sges = &sge,
	};

	assert_int_equal(qp_post_send(&a.qp, 0, &request), 0);
}

static void post_receive(void)
{
	struct sge sge = area_sge(&b.inbox, b.inbox.bytes, INBOX_BYTES);
	struct receive_request request = {.sge_count = 1, .sges = &sge};

	assert_int_equal(qp_post_receive(&b.qp, 0, &request), 0);
}

static void check_arrival(void)
{
	const struct completion *completion = &b.received.entries[b.received.next++];
	uint32_t header_bytes = b.qp.type == QP_RAW_IPV6 ? IPV6_HEADER_BYTES : 0;
	uint32_t number = get_be32(b.inbox.bytes + header_bytes);
	uint8_t expected[INBOX_BYTES];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_true(number < MESSAGES);
	assert_int_equal(completion->byte_count, lengths[number]);
	if (!header_bytes)
		assert_int_equal(completion->source_qpn, 0x88b5);
	fill_pattern(expected, lengths[number], number);
	assert_memory_equal(b.inbox.bytes + header_bytes + NUMBER_BYTES,
			    expected + header_bytes + NUMBER_BYTES,
			    lengths[number] - header_bytes - NUMBER_BYTES);
	arrived[number]++;
}

/* One copy as a port gets it: with its VCRC, or corrupted and dropped. */
static void arrive(uint8_t *bytes, size_t byte_count, unsigned number)
{
	struct packet packet;

	put_be16(bytes + byte_count, vcrc(bytes, byte_count));
	if (happens(CORRUPT)) {
		size_t bit = random_below(&random_state, (byte_count + VCRC_BYTES) * 8);

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	if (get_be16(bytes + byte_count) != vcrc(bytes, byte_count))
		return;
	assert_int_equal(raw_packet_decode(bytes, byte_count, &packet), PACKET_OK);

	bool has_receive = !happens(RECEIVE_MISSING);

	if (has_receive)
		post_receive();
	delivered[number] += has_receive;
	raw_receive(&b.qp, 0, &packet);
	if (has_receive)
		check_arrival();
	assert_int_equal(b.received.next, b.received.count);
	b.received.next = b.received.count = 0;
}

static void carry(unsigned number)
{
	struct packet packets[2];
	uint8_t bytes[PACKET_BYTES_MAX + VCRC_BYTES], copy[PACKET_BYTES_MAX + VCRC_BYTES];

	assert_int_equal(qp_transmit(&a.qp, 0, 2, 65536, packets), 1);

	size_t byte_count = packet_encode(&packets[0], bytes);

	for (unsigned copies = happens(LOSE) ? 0 : happens(DUPLICATE) ? 2 : 1; copies; copies--) {
		memcpy(copy, bytes, byte_count);
		arrive(copy, byte_count, number);
	}
	/* The sender never learns of a loss. */
	assert_int_equal(a.sent.entries[a.sent.next++].status, COMPLETION_SUCCESS);
	a.sent.next = a.sent.count = 0;
}

static void soak(uint64_t seed)
{
	random_state = random_seeded(seed);
	open_pair(seed % 2 ? QP_RAW_IPV6 : QP_RAW_ETHERTYPE);
	memset(delivered, 0, sizeof(delivered));
	memset(arrived, 0, sizeof(arrived));

	unsigned total = 0;

	for (unsigned number = 0; number < MESSAGES; number++) {
		send_message(number);
		carry(number);
		assert_int_equal(arrived[number], delivered[number]);
		total += arrived[number];
	}
	assert_true(total > MESSAGES / 2);
	assert_int_equal(b.qp.state, QP_RTS);
	assert_int_equal(a.qp.state, QP_RTS);
	endpoint_release(&a);
	endpoint_release(&b);
}

SOAK_SEEDS_TEST(test_raw_packets_are_right_or_absent, soak)

int main(int argc, char **argv)
{
	return soak_seeds_main(argc, argv, SEEDS,
			       (struct CMUnitTest)cmocka_unit_test_teardown(
				       test_raw_packets_are_right_or_absent, soak_seeds_name));
}
