/* SPDX-License-Identifier: Apache-2.0 */
/* Records in: garbage in a ring hurts nobody. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/bytes.h"
#include "base/random.h"
#include "unit/host/host_pair.h"

static void test_garbage_from_softibd_is_counted_not_obeyed(void **state)
{
	struct attachment *attachment;
	uint64_t before;

	(void)state;
	assert_int_equal(attachment_get(pair.session, &attachment), 0);
	before = attachment->malformed;
	/* Only the test's own words: an answer to a flow that is none, and a question where none
	 * belongs. */
	adapter_lock(pair.ends[0].adapter);

	struct ring_record *record = ring_reserve(&attachment->softibd.out, 4);

	assert_non_null(record);
	record->kind = RECORD_PACKET;
	record->port = 0x0101;
	record->packet_count = 1;
	memcpy(record->body, "\0\2\0\2", 4);
	ring_commit(&attachment->softibd.out, record);
	channel_publish(&attachment->softibd);
	adapter_unlock(pair.ends[0].adapter);

	time_ns start = attachment_now();
	uint64_t now_malformed;

	do {
		adapter_lock(pair.ends[0].adapter);
		adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));
		now_malformed = attachment->malformed;
		adapter_unlock(pair.ends[0].adapter);
		assert_false(pair_is_overdue(start));
	} while (now_malformed == before);
	pair_send_and_check(10, 4);
}

/* Packets that a peer never should have sent, by a ring that it was rightly given. */
static void test_random_packets_of_a_peer_do_no_harm(void **state)
{
	struct attachment *attachment;
	struct random random = random_seeded(7);

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(100, 1);
	assert_int_equal(attachment_get(pair.session, &attachment), 0);
	assert_int_equal(attachment->channel_count, 1);
	for (unsigned i = 0; i < 20000; i++) {
		struct channel *channel = attachment->channels[0];
		uint32_t byte_count = (uint32_t)random_below(&random, 200);

		adapter_lock(pair.ends[0].adapter);

		struct ring_record *record = ring_reserve(&channel->out, byte_count);

		assert_non_null(record);
		record->kind = random_below(&random, 8) ? RECORD_PACKET
							: (uint16_t)random_next(&random) | 2;
		record->port = random_below(&random, 4) ? 0x0101 : (uint16_t)random_next(&random);
		record->packet_count =
			random_below(&random, 2) ? 1 : (uint32_t)random_next(&random);
		for (uint32_t at = 0; at < byte_count; at++)
			record->body[at] = (uint8_t)random_next(&random);
		/* Often a plausible start: LRH to LID 2 with the right length, BTH with a known
		 * transport. */
		if (byte_count >= 20 && random_below(&random, 2)) {
			uint8_t *body = record->body;

			body[0] = 0;
			body[1] = 2;
			put_be16(body + 4, (uint16_t)((byte_count + 4) / 4));
			body[8] &= 0x1f;
			body[9] &= 0x30;
		}
		ring_commit(&channel->out, record);
		channel_publish(channel);
		adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));
		adapter_unlock(pair.ends[0].adapter);
	}
	assert_false(channel_is_corrupt(attachment->channels[0]));
	pair_send_and_check(100, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage_from_softibd_is_counted_not_obeyed),
		cmocka_unit_test(test_random_packets_of_a_peer_do_no_harm),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
