/* SPDX-License-Identifier: Apache-2.0 */
/* What softibd has revoked is dropped and counted, and what it grants again arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/packets/ring_grants.h"
#include "runtime/process_runtime.h"
#include "unit/runtime/runtime_pair.h"
#include "wire/packet.h"

/* From adapter 0 to adapter 1: see fake_softibd.h. */
static struct packet_grant there = {.slid = 1, .dlid = 2, .pkey = 0xffff, .port = 1 << 8 | 1};

/* Lock held. */
static struct ring_record record_of(enum record_kind kind)
{
	return (struct ring_record){.kind = (uint16_t)kind,
				    .word = FAKE_RING_ID,
				    .byte_count = sizeof(there),
				    .body = (uint8_t *)&there};
}

static void revoke(void)
{
	const struct ring_record record = record_of(RECORD_RING_REVOKED);

	adapter_lock(pair.ends[0].adapter);
	ring_grant_revoked(pair_runtime(), pair_channel(), &record);
	adapter_unlock(pair.ends[0].adapter);
}

static void grant(void)
{
	const struct ring_record record = record_of(RECORD_RING_OFFERED);

	adapter_lock(pair.ends[0].adapter);
	ring_grant_offered(pair_runtime(), pair_channel(), &record);
	adapter_unlock(pair.ends[0].adapter);
}

static uint64_t dropped(void)
{
	adapter_lock(pair.ends[0].adapter);
	adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));

	uint64_t count = pair_runtime()->drops.not_granted;

	adapter_unlock(pair.ends[0].adapter);
	return count;
}

/* Short, payload of several packets, and packets of the engine. */
static void test_a_revoked_sender_is_not_heard_until_it_is_granted_again(void **state)
{
	static const uint32_t sizes[] = {8, 700, 5000};

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 3; i++) {
		time_ns start = runtime_now();
		uint64_t before;

		pair_send_and_check(sizes[i], 1);
		before = dropped();
		revoke();
		pair_post_receive(&pair.ends[1], 1, sizes[i]);
		pair_fill(pair.ends[0].buffer, sizes[i], 2);
		pair_post_send(&pair.ends[0], SEND_SEND, 2, sizes[i]);
		while (dropped() == before)
			assert_false(pair_is_overdue(start));
		assert_null(cq_first(pair.ends[1].cq));
		grant();
		/* The sender's timer sends again. */
		pair_take_both(sizes[i], 2);
	}
}

static bool admits(struct channel *channel, uint16_t port, const struct packet *packet)
{
	adapter_lock(pair.ends[0].adapter);

	bool is_admitted = ring_grant_admits(pair_runtime(), channel, port, packet);

	adapter_unlock(pair.ends[0].adapter);
	return is_admitted;
}

static void test_each_field_of_a_packet_has_to_be_granted(void **state)
{
	struct packet packet = {.lrh = {.slid = 1, .dlid = 2}, .bth = {.pkey = 0xffff}};
	struct packet others[] = {packet, packet, packet, packet};

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(8, 3);
	assert_true(admits(pair_channel(), 0x101, &packet));
	assert_false(admits(pair_channel(), 1, &packet));
	others[0].lrh.slid = 3;
	others[1].lrh.dlid = 3;
	others[2].bth.pkey = 0x8010;
	others[3].lrh.sl = 1;
	for (unsigned i = 0; i < 4; i++)
		assert_false(admits(pair_channel(), 0x101, &others[i]));
	assert_true(admits(&pair_runtime()->softibd, 1, &others[2]));
}

/* ACK words carry no address: the ring must be that of the connection's peer. */
static void test_only_the_peers_ring_may_acknowledge(void **state)
{
	struct channel stranger = {.id = 99, .source = {0}};
	const struct packet_grant from_elsewhere = {
		.slid = 3, .dlid = 1, .pkey = 0xffff, .port = 1};
	struct qp *qp = &pair.ends[0].qp->qp; /* its peer has LID 2 */

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(8, 4);
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(packet_source_grant(&stranger.source, &from_elsewhere), 0);
	assert_false(ring_grant_is_of_peer(pair_runtime(), &stranger, qp));
	qp->attributes.address.dlid = 3;
	assert_true(ring_grant_is_of_peer(pair_runtime(), &stranger, qp));
	qp->attributes.address.dlid = 2;
	packet_source_release(&stranger.source);
	adapter_unlock(pair.ends[0].adapter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_revoked_sender_is_not_heard_until_it_is_granted_again),
		cmocka_unit_test(test_each_field_of_a_packet_has_to_be_granted),
		cmocka_unit_test(test_only_the_peers_ring_may_acknowledge),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
