/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: each reason why one is made anew or must not be used, and what one template serves. A
 * packet that the fast path writes is compared with the packet of the engine. */
#include "net/transport/fast/templates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/fast/fast_receive.h"
#include "net/transport/migration.h"
#include "support/rc_pair.h"
#include "support/sent_packet.h"
#include "wire/mtu.h"

enum { SPACE = 512, QKEY = 0x11111111, OTHER_LID = 0x30, OTHER_QPN = 0x765432, ROUNDS = 4 };

static struct rc_pair pair;
static struct address_vector address;

static void connect(enum qp_type type)
{
	const struct endpoint_options options = endpoint_options_default(type);

	rc_pair_connect_with(&pair, &options);
	address = (struct address_vector){.dlid = pair.b.port.lid, .port_number = 1};
}

/* A SEND of a to b; a datagram goes to the address. */
static struct send_request send_of(uint32_t byte_count, struct sge *ret_sge)
{
	const bool is_datagram = pair.a.qp.type == QP_UD;

	*ret_sge = area_sge(&pair.a.outbox, pair.a.outbox.bytes, byte_count);
	fill_pattern(pair.a.outbox.bytes, byte_count, byte_count);
	return (struct send_request){
		.opcode = SEND_SEND,
		.address = is_datagram ? &address : NULL,
		.address_pd = &pair.a.pd,
		.remote_qpn = pair.b.qp.qpn,
		.remote_qkey = QKEY,
		.sge_count = 1,
		.sges = ret_sge,
	};
}

static bool may_post(const struct send_request *request)
{
	struct fast_packet packet = {0};

	return fast_may_post(&pair.a.qp, pair.a.qp.type, request, &packet);
}

/* The fast path and the engine send the request in the same packet. */
static void expect_as_engine(const struct send_request *request)
{
	uint8_t fast[SPACE] = {0}, engine[SPACE] = {0};
	struct fast_packet packet = {0};
	uint32_t byte_count;

	assert_true(fast_may_post(&pair.a.qp, pair.a.qp.type, request, &packet));
	fast_write(&pair.a.qp, pair.a.qp.type, request, &packet, fast);
	assert_int_equal(qp_post_send(&pair.a.qp, pair.now, request), 0);
	byte_count = sent_packet(&pair.a.qp, pair.now, engine);
	assert_int_equal(packet.byte_count, byte_count);
	assert_memory_equal(fast, engine, byte_count);
}

static void expect_send_as_engine(void)
{
	struct sge sge;
	const struct send_request request = send_of(8, &sge);

	expect_as_engine(&request);
}

/* With an ACK, so that there is room for the next request. */
static void expect_acknowledged_as_engine(const struct send_request *request)
{
	const struct psn psn = pair.a.qp.requester.next_psn;

	expect_as_engine(request);
	if (pair.a.qp.type == QP_RC)
		assert_true(fast_acknowledge(&pair.a.qp, pair.now, psn));
}

static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};

/* Length, flags, immediate data and buffer differ: the template stays. */
static void test_one_template_serves_every_send_of_an_epoch(void **state)
{
	static const uint32_t sizes[] = {0, 1, 2, 3, 4, 8, 100, 255, 256};

	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		struct send_template first;

		connect(types[type]);
		expect_send_as_engine();
		first = pair.a.qp.templates->send;
		assert_true(first.epoch == pair.a.environment.epoch);
		pair.a.qp.templates->send.route = &pair;
		for (uint32_t i = 0; i < 8 * ARRAY_COUNT(sizes); i++) {
			struct sge sge;
			struct send_request request = send_of(sizes[i / 8], &sge);

			request.flags = (i & 1 ? SEND_SOLICITED : 0) | (i & 2 ? SEND_INLINE : 0);
			request.opcode = i & 4 ? SEND_SEND_IMMEDIATE : SEND_SEND;
			request.immediate_or_rkey = 0x1234567 * i;
			expect_acknowledged_as_engine(&request);
			assert_true(first.lrh == pair.a.qp.templates->send.lrh);
			assert_true(first.bth == pair.a.qp.templates->send.bth);
			/* It was not made anew. */
			assert_ptr_equal(pair.a.qp.templates->send.route, &pair);
		}
		rc_pair_release(&pair);
	}
}

/* An owner's route and the burst in progress belong to the template that is replaced. */
static void expect_made_anew(void)
{
	assert_true(pair.a.qp.templates->send.epoch == pair.a.environment.epoch);
	assert_null(pair.a.qp.templates->send.route);
	assert_int_equal(pair.a.qp.templates->send.byte_count, 0);
	assert_int_equal(pair.a.qp.templates->burst.payload_bytes, 0);
	assert_int_equal(pair.a.qp.templates->burst.room, 0);
}

static void use_template(void)
{
	pair.a.qp.templates->send.route = &pair;
	pair.a.qp.templates->send.byte_count = 8;
	pair.a.qp.templates->burst.payload_bytes = 8;
	pair.a.qp.templates->burst.room = 1;
}

static void test_a_new_epoch_makes_the_send_template_anew(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect(types[type]);
		expect_send_as_engine();
		use_template();
		expect_send_as_engine();
		assert_ptr_equal(pair.a.qp.templates->send.route, &pair);
		assert_int_equal(pair.a.qp.templates->burst.payload_bytes, 8);
		invalidate(&pair.a.environment);
		expect_send_as_engine();
		expect_made_anew();
		rc_pair_release(&pair);
	}
}

enum port_change { NEW_LID, NEW_LMC, NEW_PKEY, NEW_MTU, PORT_CHANGES };

static void change_port(struct port_view *port, enum port_change change)
{
	switch (change) {
	case NEW_LID:
		port->lid = 0x40;
		break;
	case NEW_LMC:
		port->lid = 0x40;
		port->lmc = 3;
		break;
	case NEW_PKEY:
		port->pkeys[0] = 0x8123;
		break;
	case NEW_MTU:
		port->mtu_code = MTU_512;
		break;
	case PORT_CHANGES:
		break;
	}
}

/* What the port has changed is in the next packet, as hca_port_update ends the epoch. */
static void test_a_change_of_the_port_is_in_the_next_packet(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++)
		for (unsigned change = 0; change < PORT_CHANGES; change++) {
			struct sge sge;
			struct send_request request;

			connect(types[type]);
			address.source_path_bits = 5;
			pair.a.qp.attributes.address.source_path_bits = 5;
			invalidate(&pair.a.environment);
			expect_send_as_engine();
			use_template();
			change_port(&pair.a.port, (enum port_change)change);
			invalidate(&pair.a.environment);
			expect_send_as_engine();
			expect_made_anew();
			/* The MTU of the port limits datagrams only. */
			request = send_of(300, &sge);
			request.flags = SEND_INLINE;
			assert_false(may_post(&request));
			request.flags = 0;
			assert_int_equal(may_post(&request),
					 types[type] == QP_RC ||
						 (types[type] == QP_UD && change == NEW_MTU));
			rc_pair_release(&pair);
		}
}

/* Each call that changes the queue pair ends the epoch, so that the template of before is not used.
 */
static void test_changes_of_the_queue_pair_end_the_epoch(void **state)
{
	static const enum qp_state ends[] = {QP_SQD, QP_ERROR, QP_RESET};
	struct sge sge;

	(void)state;
	for (unsigned type = 0; type < 3; type++)
		for (unsigned end = 0; end < ARRAY_COUNT(ends); end++) {
			struct send_request request;
			uint64_t epoch;

			connect(types[type]);
			request = send_of(8, &sge);
			assert_true(may_post(&request));
			epoch = pair.a.environment.epoch;
			assert_int_equal(endpoint_set_state(&pair.a, pair.now, ends[end]), 0);
			assert_true(pair.a.environment.epoch > epoch);
			assert_false(may_post(&request));
			if (ends[end] == QP_SQD) {
				assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RTS), 0);
				assert_true(may_post(&request));
				epoch = pair.a.environment.epoch;
				qp_enter_error(&pair.a.qp, pair.now);
				assert_true(pair.a.environment.epoch > epoch);
				assert_false(may_post(&request));
			}
			rc_pair_release(&pair);
		}
}

/* A request that fails stops the send queue of an unreliable queue pair. */
static void test_a_stopped_send_queue_ends_the_epoch(void **state)
{
	struct packet packet;
	struct sge sge;

	(void)state;
	for (unsigned type = 1; type < 3; type++) {
		struct send_request request;

		connect(types[type]);
		request = send_of(8, &sge);
		assert_true(may_post(&request));
		sge.lkey ^= 0x100000;
		assert_false(may_post(&request));
		assert_int_equal(qp_post_send(&pair.a.qp, pair.now, &request), 0);
		assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 1, 1, &packet), 0);
		assert_int_equal(pair.a.qp.state, QP_SQE);
		request = send_of(8, &sge);
		assert_false(may_post(&request));
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RTS), 0);
		expect_send_as_engine();
		rc_pair_release(&pair);
	}
}

/* Another address, while the send queue is drained; and a rate limit, which only the engine keeps.
 */
static void test_modified_attributes_are_in_the_next_packet(void **state)
{
	const struct qp_attributes limited = {.state = QP_RTS, .rate_limit = 1000};
	struct sge sge;

	(void)state;
	for (unsigned type = 0; type < 2; type++) {
		struct qp_attributes moved = {
			.state = QP_SQD,
			.address = {.dlid = OTHER_LID, .port_number = 1, .sl = 5},
		};
		struct send_request request;

		connect(types[type]);
		request = send_of(8, &sge);
		assert_true(may_post(&request));
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_SQD), 0);
		assert_int_equal(
			endpoint_modify(&pair.a, pair.now, &moved, QP_HAS_STATE | QP_HAS_ADDRESS),
			0);
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RTS), 0);
		expect_send_as_engine();
		assert_int_equal(lrh_word_dlid(pair.a.qp.templates->send.lrh), OTHER_LID);
		assert_int_equal(lrh_word_sl(pair.a.qp.templates->send.lrh), 5);
		rc_pair_release(&pair);
	}
	connect(QP_RC);

	const struct send_request request = send_of(8, &sge);

	assert_true(may_post(&request));
	assert_int_equal(
		endpoint_modify(&pair.a, pair.now, &limited, QP_HAS_STATE | QP_HAS_RATE_LIMIT), 0);
	assert_false(may_post(&request));
	/* The headers are known all the same: ACKs need them. */
	assert_true(send_template_holds(&pair.a.qp));
	rc_pair_release(&pair);
}

/* A queue pair with an alternate path sends by the engine, until it has migrated. */
static void test_migration_makes_the_templates_anew(void **state)
{
	const struct qp_attributes rearm = {
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = OTHER_LID, .port_number = 2, .sl = 3},
		.alternate_timeout = 10,
	};
	struct send_request request;
	struct sge sge;
	uint64_t epoch;

	(void)state;
	connect(QP_RC);
	pair.a.port_count = 2;
	request = send_of(8, &sge);
	assert_true(may_post(&request));
	assert_int_equal(endpoint_modify(&pair.a, pair.now, &rearm,
					 QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION),
			 0);
	assert_false(may_post(&request));
	pair.a.qp.attributes.path_migration = PATH_ARMED;
	assert_false(may_post(&request));
	epoch = pair.a.environment.epoch;
	assert_true(migration_switch(&pair.a.qp));
	assert_true(pair.a.environment.epoch > epoch);
	expect_send_as_engine();
	assert_int_equal(lrh_word_dlid(pair.a.qp.templates->send.lrh), OTHER_LID);
	assert_int_equal(lrh_word_slid(pair.a.qp.templates->send.lrh), pair.a.second_port.lid);
	rc_pair_release(&pair);
}

static void test_connections_that_need_the_engine_have_no_send_template(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);
	struct send_request request;
	struct sge sge;

	(void)state;
	/* A GRH. */
	options.is_global = true;
	rc_pair_connect_with(&pair, &options);
	request = send_of(8, &sge);
	assert_false(may_post(&request));
	assert_false(send_template_holds(&pair.a.qp));
	rc_pair_release(&pair);
	/* A limited member can't talk to one. */
	connect(QP_RC);
	request = send_of(8, &sge);
	pair.a.port.pkeys[0] = 0x7fff;
	invalidate(&pair.a.environment);
	assert_false(may_post(&request));
	pair.a.port.pkeys[0] = 0xffff;
	assert_true(may_post(&request));
	rc_pair_release(&pair);
}

/* Each request names its destination. The template follows, and the packet is right in any order.
 */
static void test_datagrams_to_several_destinations_in_turn(void **state)
{
	const struct address_vector addresses[] = {
		{.dlid = 2, .port_number = 1},
		{.dlid = OTHER_LID, .port_number = 1},
		{.dlid = 2, .port_number = 1, .sl = 7},
		{.dlid = 2, .port_number = 1, .source_path_bits = 1},
	};
	const uint32_t qpns[] = {0x102, OTHER_QPN};
	/* The last one is controlled: the queue pair's own Q_Key goes out. */
	const uint32_t qkeys[] = {QKEY, 0x22222222, 0x80000001};
	struct random random = random_seeded(7);

	(void)state;
	connect(QP_UD);
	pair.a.port.lid = 0x40;
	pair.a.port.lmc = 2;
	invalidate(&pair.a.environment);
	for (unsigned i = 0; i < 500; i++) {
		struct sge sge;
		struct send_request request = send_of((uint32_t)random_below(&random, 200), &sge);

		request.address = &addresses[random_below(&random, ARRAY_COUNT(addresses))];
		request.remote_qpn = qpns[random_below(&random, ARRAY_COUNT(qpns))];
		request.remote_qkey = qkeys[random_below(&random, ARRAY_COUNT(qkeys))];
		use_template();

		const struct send_template before = pair.a.qp.templates->send;

		expect_as_engine(&request);

		const bool is_same = before.epoch == pair.a.environment.epoch &&
				     before.lrh == pair.a.qp.templates->send.lrh &&
				     before.bth == pair.a.qp.templates->send.bth;

		/* A route is kept for the same destination only, and so is a burst. */
		assert_int_equal(pair.a.qp.templates->send.route != NULL, is_same);
		assert_int_equal(pair.a.qp.templates->burst.payload_bytes, is_same ? 8 : 0);
	}
	rc_pair_release(&pair);
}

static void test_datagrams_to_other_than_one_port_of_the_subnet_use_the_engine(void **state)
{
	static struct protection_domain other;
	struct send_request request;
	struct sge sge;

	(void)state;
	connect(QP_UD);
	request = send_of(8, &sge);
	assert_true(may_post(&request));
	address.is_global = true;
	assert_false(may_post(&request));
	address.is_global = false;
	address.dlid = 0xc001;
	assert_false(may_post(&request));
	address.dlid = 0;
	assert_false(may_post(&request));
	address.dlid = pair.b.port.lid;
	request.address_pd = &other;
	assert_false(may_post(&request));
	request.address_pd = &pair.a.pd;
	request.address = NULL;
	assert_false(may_post(&request));
	request.address = &address;
	/* None of them has spoiled the template. */
	use_template();
	expect_as_engine(&request);
	assert_ptr_equal(pair.a.qp.templates->send.route, &pair);
	rc_pair_release(&pair);
}

/* Writes a SEND of 8 bytes from a to b. */
static uint32_t write_send(uint8_t *ret_bytes)
{
	uint32_t byte_count;

	post_send(&pair, &pair.a, 8);
	byte_count = sent_packet(&pair.a.qp, pair.now, ret_bytes);
	assert_int_not_equal(byte_count, 0);
	return byte_count;
}

/* Any sender may send a datagram: LID, SL and QPN are the sender's, and the template stays. */
static void test_datagrams_from_several_senders_share_the_receive_template(void **state)
{
	struct random random = random_seeded(9);
	struct receive_template first;
	uint8_t bytes[SPACE];
	uint32_t byte_count;

	(void)state;
	connect(QP_UD);
	for (unsigned i = 0; i < 60; i++)
		post_receive(&pair, &pair.b, 64);
	byte_count = write_send(bytes);
	assert_true(
		fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes, byte_count));
	expect_received(&pair.b, COMPLETION_SUCCESS);
	first = pair.b.qp.templates->receive;
	for (unsigned i = 1; i < 60; i++) {
		const uint16_t slid = (uint16_t)(1 + random_below(&random, 0xbfff));
		const uint32_t qpn = (uint32_t)random_below(&random, 1 << 24);
		const uint8_t sl = (uint8_t)random_below(&random, 16);
		const struct completion *received;

		put_be16(bytes + LRH_SLID_OFFSET, slid);
		bytes[1] = (uint8_t)((bytes[1] & 0xf) | sl << 4);
		put_be32(bytes + FAST_HEADER_BYTES + 4, qpn);
		/* One in between has a wrong Q_Key. */
		bytes[FAST_HEADER_BYTES] ^= 1;
		assert_false(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes,
					  byte_count));
		bytes[FAST_HEADER_BYTES] ^= 1;
		assert_true(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes,
					 byte_count));
		received = expect_received(&pair.b, COMPLETION_SUCCESS);
		assert_int_equal(received->slid, slid);
		assert_int_equal(received->source_qpn, qpn);
		assert_int_equal(received->sl, sl);
		/* Only the sender is another one. */
		first.lrh = pair.b.qp.templates->receive.lrh;
		assert_memory_equal(&first, &pair.b.qp.templates->receive, sizeof(first));
	}
	rc_pair_release(&pair);
}

/* The LIDs of a port with an LMC, and P_Keys of full and limited members, in turn. */
static void test_the_receive_template_follows_path_and_membership(void **state)
{
	uint8_t bytes[SPACE];
	uint32_t byte_count;

	(void)state;
	connect(QP_UD);
	pair.b.port.lmc = 1;
	invalidate(&pair.b.environment);
	for (unsigned i = 0; i < 16; i++)
		post_receive(&pair, &pair.b, 64);
	byte_count = write_send(bytes);
	for (unsigned i = 0; i < 16; i++) {
		const struct completion *received;

		put_be16(bytes + LRH_DLID_OFFSET, (uint16_t)(pair.b.port.lid | (i & 1)));
		put_be16(bytes + LRH_BYTES + 2, i & 2 ? 0x7fff : 0xffff);
		assert_true(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes,
					 byte_count));
		received = expect_received(&pair.b, COMPLETION_SUCCESS);
		assert_int_equal(received->path_bits, i & 1);
		/* Another partition, and a group, are for the engine to judge. */
		put_be16(bytes + LRH_BYTES + 2, 0xfffe);
		assert_false(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes,
					  byte_count));
		put_be16(bytes + LRH_BYTES + 2, 0xffff);
		put_be16(bytes + LRH_DLID_OFFSET, 0xc001);
		assert_false(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes,
					  byte_count));
	}
	rc_pair_release(&pair);
}

/* A stranger's packet is refused, and the peer's next one is taken. */
static void test_a_connection_receives_from_its_peer_only(void **state)
{
	uint8_t bytes[SPACE];

	(void)state;
	for (unsigned type = 0; type < 2; type++) {
		connect(types[type]);
		for (unsigned i = 0; i < ROUNDS; i++) {
			uint32_t byte_count = write_send(bytes);

			post_receive(&pair, &pair.b, 64);
			bytes[LRH_SLID_OFFSET + 1] ^= 4;
			assert_false(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric,
						  bytes, byte_count));
			bytes[LRH_SLID_OFFSET + 1] ^= 4;
			assert_false(fast_receive(&pair.b.qp, pair.now, 2, &packet_source_fabric,
						  bytes, byte_count));
			assert_true(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric,
						 bytes, byte_count));
			/* Again: a duplicate. */
			assert_false(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric,
						  bytes, byte_count));
			expect_received(&pair.b, COMPLETION_SUCCESS);
			expect_nothing_received(&pair.b);
		}
		rc_pair_release(&pair);
	}
}

enum receiver_change {
	RECEIVER_IN_ERROR,
	RECEIVER_IN_RESET,
	RECEIVER_IN_SQD,
	RECEIVER_WITH_ALTERNATE_PATH,
	RECEIVER_OF_ANOTHER_PARTITION,
	RECEIVER_THAT_MATCHES_TAGS,
	RECEIVER_CHANGES,
};

/* false: such a queue pair does not have this change. */
static bool change_receiver(enum receiver_change change)
{
	const struct qp_attributes rearm = {
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = OTHER_LID, .port_number = 2},
	};

	switch (change) {
	case RECEIVER_IN_ERROR:
		qp_enter_error(&pair.b.qp, pair.now);
		break;
	case RECEIVER_IN_RESET:
		assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_RESET), 0);
		break;
	case RECEIVER_IN_SQD:
		assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_SQD), 0);
		break;
	case RECEIVER_WITH_ALTERNATE_PATH:
		if (pair.b.qp.type == QP_UD)
			return false;
		pair.b.port_count = 2;
		assert_int_equal(endpoint_modify(&pair.b, pair.now, &rearm,
						 QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION),
				 0);
		break;
	case RECEIVER_OF_ANOTHER_PARTITION:
		pair.b.port.pkeys[0] = 0x8123;
		invalidate(&pair.b.environment);
		break;
	case RECEIVER_THAT_MATCHES_TAGS:
		pair.b.qp.receive_queue->matches_tags = true;
		invalidate(&pair.b.environment);
		break;
	case RECEIVER_CHANGES:
		break;
	}
	return true;
}

static void test_a_receiver_that_has_changed_takes_nothing_by_its_old_template(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++)
		for (unsigned change = 0; change < RECEIVER_CHANGES; change++) {
			uint8_t bytes[SPACE];
			uint32_t byte_count;

			connect(types[type]);
			for (unsigned i = 0; i < 3; i++)
				post_receive(&pair, &pair.b, 64);
			byte_count = write_send(bytes);
			assert_true(fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric,
						 bytes, byte_count));
			assert_true(pair.b.qp.templates->receive.epoch == pair.b.environment.epoch);
			byte_count = write_send(bytes);
			if (change_receiver((enum receiver_change)change))
				assert_false(fast_receive(&pair.b.qp, pair.now, 1,
							  &packet_source_fabric, bytes,
							  byte_count));
			rc_pair_release(&pair);
		}
}

/* In and around the regions of several keys, in turn. */
static void test_a_template_finds_the_bytes_that_the_memory_finds(void **state)
{
	struct random random = random_seeded(3);
	struct template_region kept = {0};
	unsigned found_count = 0, kept_count = 0;

	(void)state;
	connect(QP_RC);
	for (unsigned i = 0; i < 100000; i++) {
		const struct area *areas[] = {&pair.a.outbox, &pair.a.inbox, &pair.a.window};
		const struct area *area = areas[i / 16 % 3];
		const uint64_t edge = (uintptr_t)area->bytes + (i % 2 ? AREA_BYTES : 0);
		const struct sge sge = {
			.address = edge + random_below(&random, 600) - 300,
			.byte_count = 1 + (uint32_t)random_below(&random, 300),
			.lkey = area->region->key ^ (random_below(&random, 50) == 0),
		};
		const struct template_region before = kept;
		const uint8_t *expected =
			memory_place(&pair.a.memory, &pair.a.pd, sge.lkey, sge.address,
				     sge.byte_count, ACCESS_LOCAL_WRITE);

		assert_ptr_equal(template_place(&kept, &pair.a.memory, &pair.a.pd, &sge,
						sge.byte_count, ACCESS_LOCAL_WRITE),
				 expected);
		found_count += expected != NULL;
		kept_count += expected && before.key == sge.lkey;
	}
	assert_true(found_count > 20000 && kept_count > 15000);
	rc_pair_release(&pair);
}

static void test_a_region_that_ends_or_changes_ends_the_epoch(void **state)
{
	struct memory *memory = &pair.a.memory;
	struct region *regions[2];
	uint64_t epoch;

	(void)state;
	connect(QP_RC);
	epoch = pair.a.environment.epoch;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(region_register(memory, &pair.a.pd, pair.a.outbox.bytes, 64,
						 (uintptr_t)pair.a.outbox.bytes, 0, &regions[i]),
				 0);
	/* Nobody can have kept a new region. */
	assert_true(pair.a.environment.epoch == epoch);
	regions_swap(memory, regions[0], regions[1]);
	assert_true(pair.a.environment.epoch > epoch);
	for (unsigned i = 0; i < 2; i++) {
		epoch = pair.a.environment.epoch;
		assert_int_equal(region_deregister(memory, regions[i]), 0);
		assert_true(pair.a.environment.epoch > epoch);
	}
	rc_pair_release(&pair);
}

/* Registers the first bytes of an area once more. */
static struct region *register_again(struct endpoint *end, const struct area *area,
				     uint32_t byte_count)
{
	struct region *region;

	assert_int_equal(region_register(&end->memory, &end->pd, area->bytes, byte_count,
					 (uintptr_t)area->bytes, ACCESS_LOCAL_WRITE, &region),
			 0);
	return region;
}

static void test_sends_use_no_region_that_has_ended_or_changed(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect(types[type]);

		struct region *region = register_again(&pair.a, &pair.a.outbox, 64);
		struct region *shorter = register_again(&pair.a, &pair.a.outbox, 32);
		struct sge sge;
		const struct send_request request = send_of(64, &sge);

		sge.lkey = region->key;
		expect_as_engine(&request);
		assert_int_equal(pair.a.qp.templates->send.region.key, region->key);
		regions_swap(&pair.a.memory, region, shorter);
		assert_false(may_post(&request));
		sge.byte_count = 32;
		expect_as_engine(&request);
		assert_int_equal(region_deregister(&pair.a.memory, region), 0);
		assert_false(may_post(&request));
		expect_send_as_engine();
		assert_int_equal(region_deregister(&pair.a.memory, shorter), 0);
		rc_pair_release(&pair);
	}
}

/* Receives a message into the first bytes of b's inbox, by this key. */
static bool receive_by_key(uint32_t key)
{
	const struct sge sge = {(uintptr_t)pair.b.inbox.bytes, 64, key};
	const struct receive_request request = {.sge_count = 1, .sges = &sge};
	uint8_t bytes[SPACE];
	const uint32_t byte_count = write_send(bytes);

	assert_int_equal(qp_post_receive(&pair.b.qp, pair.now, &request), 0);
	return fast_receive(&pair.b.qp, pair.now, 1, &packet_source_fabric, bytes, byte_count);
}

static void test_receivers_use_no_region_that_has_ended(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect(types[type]);

		struct region *region = register_again(&pair.b, &pair.b.inbox, 64);
		const uint32_t key = region->key;

		for (unsigned i = 0; i < 3; i++)
			assert_true(receive_by_key(key));
		assert_int_equal(pair.b.qp.templates->receive.region.key, key);
		assert_int_equal(region_deregister(&pair.b.memory, region), 0);
		assert_false(receive_by_key(key));
		rc_pair_release(&pair);
	}
}

/* A zeroed template must not look valid: the first epoch is 1. */
static void test_a_new_queue_pair_has_no_template(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect(types[type]);
		assert_true(pair.a.environment.epoch > 0);
		assert_int_equal(pair.a.qp.templates->send.epoch, 0);
		assert_int_equal(pair.a.qp.templates->receive.epoch, 0);
		rc_pair_release(&pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_queue_pair_has_no_template),
		cmocka_unit_test(test_one_template_serves_every_send_of_an_epoch),
		cmocka_unit_test(test_a_new_epoch_makes_the_send_template_anew),
		cmocka_unit_test(test_a_change_of_the_port_is_in_the_next_packet),
		cmocka_unit_test(test_changes_of_the_queue_pair_end_the_epoch),
		cmocka_unit_test(test_a_stopped_send_queue_ends_the_epoch),
		cmocka_unit_test(test_modified_attributes_are_in_the_next_packet),
		cmocka_unit_test(test_migration_makes_the_templates_anew),
		cmocka_unit_test(test_connections_that_need_the_engine_have_no_send_template),
		cmocka_unit_test(test_datagrams_to_several_destinations_in_turn),
		cmocka_unit_test(
			test_datagrams_to_other_than_one_port_of_the_subnet_use_the_engine),
		cmocka_unit_test(test_datagrams_from_several_senders_share_the_receive_template),
		cmocka_unit_test(test_the_receive_template_follows_path_and_membership),
		cmocka_unit_test(test_a_connection_receives_from_its_peer_only),
		cmocka_unit_test(
			test_a_receiver_that_has_changed_takes_nothing_by_its_old_template),
		cmocka_unit_test(test_a_template_finds_the_bytes_that_the_memory_finds),
		cmocka_unit_test(test_a_region_that_ends_or_changes_ends_the_epoch),
		cmocka_unit_test(test_sends_use_no_region_that_has_ended_or_changed),
		cmocka_unit_test(test_receivers_use_no_region_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
