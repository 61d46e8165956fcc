/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts at the receiver: the packet that a payload record stands for, and records that stand for
 * none. */
#include "runtime/fast/burst.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "wire/opcode.h"

enum {
	PORT = 0x0201,
	PSN_OFFSET = LRH_BYTES + BTH_PSN_OFFSET,
	CONNECTED_HEADERS = LRH_BYTES + BTH_BYTES,
	DATAGRAM_HEADERS = CONNECTED_HEADERS + DETH_BYTES,
	ACK_REQUEST = 0x80,
};

static const uint8_t transports[] = {TRANSPORT_RC, TRANSPORT_UC, TRANSPORT_UD};

static uint32_t headers_of(uint8_t transport)
{
	return transport == TRANSPORT_UD ? DATAGRAM_HEADERS : CONNECTED_HEADERS;
}

static uint32_t padded(uint32_t payload_bytes)
{
	return (payload_bytes + 3) & ~3u;
}

/* Writes noise into the headers, except for the fields that a burst reads. Returns the bytes of
 * headers, payload and pad. */
static uint32_t write_packet(uint8_t transport, uint32_t psn, uint32_t payload_bytes, uint8_t fill,
			     uint8_t *ret_bytes)
{
	uint32_t header_bytes = headers_of(transport);

	for (uint32_t i = 0; i < header_bytes; i++)
		ret_bytes[i] = (uint8_t)(i * 37 + 11);
	ret_bytes[LRH_BYTES] = transport | OPCODE_SEND_ONLY;
	put_be32(ret_bytes + PSN_OFFSET, (uint32_t)ACK_REQUEST << 24 | psn);
	memset(ret_bytes + header_bytes, 0, padded(payload_bytes));
	memset(ret_bytes + header_bytes, fill, payload_bytes);
	return header_bytes + padded(payload_bytes);
}

static struct ring_record template_of(uint8_t *bytes, uint32_t byte_count)
{
	return (struct ring_record){
		.byte_count = byte_count,
		.kind = RECORD_TEMPLATE,
		.port = PORT,
		.packet_count = 1,
		.body = bytes,
	};
}

static struct ring_record payload_record_of(uint8_t *bytes, uint32_t byte_count)
{
	return (struct ring_record){
		.byte_count = byte_count, .kind = RING_RECORD_PAYLOAD, .body = bytes};
}

/* A payload record as the sender writes it: the payload, its pad bytes, and old bytes of the ring
 * behind them. */
static struct ring_record write_payload_record(uint32_t payload_bytes, uint8_t fill,
					       uint8_t *ret_bytes)
{
	memset(ret_bytes, 0xee, RING_PAYLOAD_BYTES_MAX);
	memset(ret_bytes, 0, padded(payload_bytes));
	memset(ret_bytes, fill, payload_bytes);
	return payload_record_of(ret_bytes, (uint32_t)ring_payload_bytes(payload_bytes) -
						    ring_payload_header_bytes(payload_bytes));
}

static void expect_packet(const struct ring_record *record, uint8_t transport, uint32_t psn,
			  uint32_t payload_bytes, uint8_t fill)
{
	uint8_t expected[BURST_TEMPLATE_BYTES_MAX];
	uint32_t byte_count = write_packet(transport, psn, payload_bytes, fill, expected);

	assert_int_equal(record->kind, RECORD_PACKET);
	assert_int_equal(record->port, PORT);
	assert_int_equal(record->packet_count, 1);
	assert_int_equal(record->byte_count, byte_count);
	assert_memory_equal(record->body, expected, byte_count);
}

static void test_payload_records_are_the_template_with_the_next_psn_and_their_payload(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(transports); i++)
		for (uint32_t size = 1; size <= RING_PAYLOAD_BYTES_MAX; size++) {
			struct burst_in burst = {0};
			uint32_t byte_count = write_packet(transports[i], 5, size, 1, bytes);
			const struct ring_record template = template_of(bytes, byte_count);
			const struct ring_record *packet = burst_look(&burst, &template);

			expect_packet(packet, transports[i], 5, size, 1);
			/* The sender may overwrite the record in the ring now. */
			memset(bytes, 0xff, sizeof(bytes));
			for (uint8_t j = 1; j < 10; j++) {
				const struct ring_record record =
					write_payload_record(size, 50 + j, payload);

				packet = burst_look(&burst, &record);
				expect_packet(packet, transports[i], 5u + j, size, 50 + j);
				assert_int_equal(burst.repeats, j);
			}
		}
}

static void test_psns_wrap_at_24_bits(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(transports); i++) {
		struct burst_in burst = {0};
		const struct ring_record template =
			template_of(bytes, write_packet(transports[i], 0xfffffe, 8, 0, bytes));

		expect_packet(burst_look(&burst, &template), transports[i], 0xfffffe, 8, 0);
		for (uint32_t j = 1; j < 5; j++) {
			const struct ring_record record =
				write_payload_record(8, (uint8_t)j, payload);

			expect_packet(burst_look(&burst, &record), transports[i],
				      (0xfffffe + j) & 0xffffff, 8, (uint8_t)j);
		}
	}
}

static void test_a_new_template_begins_a_new_burst(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];
	struct burst_in burst = {0};

	(void)state;
	for (uint32_t psn = 0; psn < 1000; psn += 100) {
		uint8_t transport = transports[psn / 100 % 3];
		uint32_t size = 1 + psn / 50;
		const struct ring_record template =
			template_of(bytes, write_packet(transport, psn, size, 0, bytes));

		expect_packet(burst_look(&burst, &template), transport, psn, size, 0);
		for (uint32_t j = 1; j < 5; j++) {
			const struct ring_record record =
				write_payload_record(size, (uint8_t)j, payload);

			expect_packet(burst_look(&burst, &record), transport, psn + j, size,
				      (uint8_t)j);
		}
	}
}

/* As often as the receiver waits for a receive request. */
static void test_a_payload_record_that_was_put_back_keeps_its_psn(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];
	struct burst_in burst = {0};
	const struct ring_record template =
		template_of(bytes, write_packet(TRANSPORT_UD, 0xffffff, 8, 0, bytes));

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		expect_packet(burst_look(&burst, &template), TRANSPORT_UD, 0xffffff, 8, 0);
		burst_put_back(&burst, &template);
	}
	expect_packet(burst_look(&burst, &template), TRANSPORT_UD, 0xffffff, 8, 0);
	for (uint32_t psn = 0; psn < 3; psn++) {
		const struct ring_record record = write_payload_record(8, (uint8_t)psn, payload);

		for (unsigned i = 0; i < 3; i++) {
			expect_packet(burst_look(&burst, &record), TRANSPORT_UD, psn, 8,
				      (uint8_t)psn);
			burst_put_back(&burst, &record);
		}
		expect_packet(burst_look(&burst, &record), TRANSPORT_UD, psn, 8, (uint8_t)psn);
	}
}

static void expect_no_template(struct burst_in *burst)
{
	uint8_t payload[RING_PAYLOAD_BYTES_MAX];

	for (uint32_t size = 8; size <= 24; size += 16) {
		const struct ring_record record = write_payload_record(size, 1, payload);
		uint32_t repeats = burst->repeats;

		assert_ptr_equal(burst_look(burst, &record), &record);
		assert_int_equal(burst->repeats, repeats);
	}
}

static void test_payload_records_without_a_template_are_left_alone(void **state)
{
	struct burst_in burst = {0};

	(void)state;
	expect_no_template(&burst);
}

/* A bad template also ends the template before it. */
static void test_templates_of_absurd_sizes_are_refused(void **state)
{
	static const uint32_t sizes[] = {
		0,    1,	 LRH_BYTES, CONNECTED_HEADERS - 1, BURST_TEMPLATE_BYTES_MAX + 1,
		4096, UINT32_MAX};
	/* The size is refused before the bytes are read: otherwise the address sanitizer would
	 * report it. */
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX] = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct burst_in burst = {0};
		const struct ring_record good =
			template_of(bytes, write_packet(TRANSPORT_RC, 7, 8, 3, bytes));
		const struct ring_record bad = template_of(bytes, sizes[i]);

		expect_packet(burst_look(&burst, &good), TRANSPORT_RC, 7, 8, 3);
		assert_ptr_equal(burst_look(&burst, &bad), &bad);
		expect_no_template(&burst);
	}
}

/* They are still packets; a datagram's may end inside its DETH. */
static void test_templates_without_payload_begin_no_burst(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(transports); i++)
		for (uint32_t size = CONNECTED_HEADERS; size <= headers_of(transports[i]); size++) {
			struct burst_in burst = {0};

			write_packet(transports[i], 7, 8, 3, bytes);

			const struct ring_record template = template_of(bytes, size);
			const struct ring_record *packet = burst_look(&burst, &template);

			assert_int_equal(packet->kind, RECORD_PACKET);
			assert_int_equal(packet->byte_count, size);
			assert_memory_equal(packet->body, bytes, size);
			expect_no_template(&burst);
		}
}

static void test_payload_records_smaller_than_the_payload_are_left_alone(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];

	(void)state;
	for (uint32_t size = 9; size <= RING_PAYLOAD_BYTES_MAX; size++) {
		struct burst_in burst = {0};
		const struct ring_record template =
			template_of(bytes, write_packet(TRANSPORT_UC, 7, size, 3, bytes));
		const struct ring_record small = write_payload_record(8, 4, payload);

		expect_packet(burst_look(&burst, &template), TRANSPORT_UC, 7, size, 3);
		assert_ptr_equal(burst_look(&burst, &small), &small);

		/* The refused record used no PSN. */
		const struct ring_record record = write_payload_record(size, 5, payload);

		expect_packet(burst_look(&burst, &record), TRANSPORT_UC, 8, size, 5);
	}
}

/* A connection's template may be as long as a datagram's. The bytes that are the DETH there are
 * payload here: more than a payload record can hold. */
static void test_templates_with_more_payload_than_payload_records_begin_no_burst(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX] = {0};
	struct burst_in burst = {0};
	const struct ring_record template = template_of(bytes, BURST_TEMPLATE_BYTES_MAX);

	(void)state;
	write_packet(TRANSPORT_RC, 7, 24, 3, bytes);
	assert_int_equal(burst_look(&burst, &template)->kind, RECORD_PACKET);
	expect_no_template(&burst);
}

static void test_other_records_are_left_alone(void **state)
{
	static const uint16_t kinds[] = {RECORD_PACKET, RECORD_UD_ZCOPY, RECORD_ZCOPY, 1, 0xfffe};
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];
	struct burst_in burst = {0};
	struct ring_record record = template_of(bytes, write_packet(TRANSPORT_RC, 7, 8, 3, bytes));
	const struct ring_record payload_record = write_payload_record(8, 4, payload);

	(void)state;
	assert_null(burst_look(&burst, NULL));
	(void)burst_look(&burst, &record);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		record.kind = kinds[i];
		assert_ptr_equal(burst_look(&burst, &record), &record);
		burst_put_back(&burst, &record);
	}
	/* The burst continues behind them. */
	expect_packet(burst_look(&burst, &payload_record), TRANSPORT_RC, 8, 8, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_payload_records_are_the_template_with_the_next_psn_and_their_payload),
		cmocka_unit_test(test_psns_wrap_at_24_bits),
		cmocka_unit_test(test_a_new_template_begins_a_new_burst),
		cmocka_unit_test(test_a_payload_record_that_was_put_back_keeps_its_psn),
		cmocka_unit_test(test_payload_records_without_a_template_are_left_alone),
		cmocka_unit_test(test_templates_of_absurd_sizes_are_refused),
		cmocka_unit_test(test_templates_without_payload_begin_no_burst),
		cmocka_unit_test(test_payload_records_smaller_than_the_payload_are_left_alone),
		cmocka_unit_test(
			test_templates_with_more_payload_than_payload_records_begin_no_burst),
		cmocka_unit_test(test_other_records_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
