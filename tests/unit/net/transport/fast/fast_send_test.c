/* SPDX-License-Identifier: Apache-2.0 */
/* Every request that the fast path accepts is accepted by qp_post_send too: every opcode, flag,
 * size and number of SGEs, for every type of queue pair in every state. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "net/transport/fast/fast_send.h"
#include "support/endpoint.h"
#include "wire/packet.h"

enum { OPCODES = 16, FLAGS = 16, WRONG_KEY = 0x10, QKEY = 0x11111111 };

static struct endpoint endpoints[2];
static unsigned posted_count, several_count;

/* A send queue stops when one of its own requests fails. */
static void stop_send_queue(struct endpoint *endpoint, struct send_request request)
{
	struct sge sge = area_sge(&endpoint->outbox, endpoint->outbox.bytes, 8);
	struct packet packet;

	sge.lkey ^= WRONG_KEY;
	request.opcode = SEND_SEND;
	request.sge_count = 1;
	request.sges = &sge;
	assert_int_equal(qp_post_send(&endpoint->qp, 0, &request), 0);
	assert_int_equal(qp_transmit(&endpoint->qp, 0, 1, 1, &packet), 0);
	assert_int_equal(endpoint->qp.state, QP_SQE);
}

/* false: queue pairs of this type are never in this state. */
static bool bring_to(enum qp_type type, enum qp_state state, struct send_request *ret_request)
{
	const struct endpoint_options options = endpoint_options_default(type);
	struct endpoint *endpoint = &endpoints[0], *peer = &endpoints[1];
	static struct address_vector address;

	if (state == QP_SQE && type != QP_UC && type != QP_UD)
		return false;
	endpoint_init(endpoint, &options, 1);
	endpoint_init(peer, &options, 2);
	address = (struct address_vector){.dlid = peer->port.lid, .port_number = 1};
	*ret_request = (struct send_request){
		.address = type == QP_UD ? &address : NULL,
		.address_pd = &endpoint->pd,
		.remote_qpn = peer->qp.qpn,
		.remote_qkey = QKEY,
		.remote_address = (uintptr_t)peer->window.bytes,
		.remote_key = peer->window.region->key,
	};
	if (state >= QP_INIT)
		endpoint_to_init(endpoint);
	if (state >= QP_RTR)
		endpoint_to_rtr(endpoint, peer);
	if (state >= QP_RTS)
		endpoint_to_rts(endpoint);
	if (state == QP_SQE)
		stop_send_queue(endpoint, *ret_request);
	if (state == QP_SQD || state == QP_ERROR)
		assert_int_equal(endpoint_set_state(endpoint, 0, state), 0);
	assert_int_equal(endpoint->qp.state, state);
	return true;
}

/* Only a reliable connection sends several packets at once, and never from the request itself. */
static void expect_measures(const struct qp *qp, const struct send_request *request,
			    const struct fast_packet *packet)
{
	const uint32_t byte_count = request->sges[0].byte_count;
	const uint32_t mtu = 256;

	assert_int_equal(packet->payload_bytes, byte_count);
	assert_int_equal(packet->packet_count,
			 byte_count <= mtu ? 1 : (byte_count + mtu - 1) / mtu);
	assert_int_equal(packet->byte_count, packet->header_bytes + (byte_count + 3) / 4 * 4);
	assert_false(packet->is_zcopy);
	if (packet->packet_count > 1) {
		assert_int_equal(qp->type, QP_RC);
		assert_false(request->flags & SEND_INLINE);
		several_count++;
	}
}

static void try_one(const struct send_request *request)
{
	struct qp *qp = &endpoints[0].qp;
	const enum qp_state state = qp->state;
	struct fast_packet packet = {0};
	const bool may_be_posted = fast_may_post(qp, qp->type, request, &packet);
	const int error = qp_post_send(qp, 0, request);

	if (may_be_posted) {
		assert_int_equal(state, QP_RTS);
		assert_int_equal(error, 0);
		expect_measures(qp, request, &packet);
		posted_count++;
	}
	if (state < QP_RTS)
		assert_int_not_equal(error, 0);
	if (!error && (state == QP_RTS || state == QP_SQD))
		qp_retract_sends(qp, 1);
	/* Requests that are flushed at once. */
	endpoints[0].sent.count = 0;
}

static void try_sizes(struct send_request *request)
{
	static const uint32_t sizes[] = {0, 1, 8, 256, 257, 100000};
	const struct area *outbox = &endpoints[0].outbox;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned mistake = 0; mistake < 2; mistake++) {
			struct sge sges[2] = {area_sge(outbox, outbox->bytes, sizes[i]),
					      area_sge(outbox, outbox->bytes, 4)};

			if (mistake)
				sges[0].lkey ^= WRONG_KEY;
			request->sges = sges;
			for (request->sge_count = 1; request->sge_count <= 2; request->sge_count++)
				try_one(request);
		}
}

static void try_state(enum qp_type type, enum qp_state state)
{
	struct send_request request;

	if (!bring_to(type, state, &request))
		return;
	for (unsigned opcode = 0; opcode < OPCODES; opcode++)
		for (uint32_t flags = 0; flags < FLAGS; flags++) {
			request.opcode = (enum send_opcode)opcode;
			request.flags = flags;
			try_sizes(&request);
		}
	if (type == QP_UD) {
		request.address = NULL;
		request.opcode = SEND_SEND;
		try_sizes(&request);
	}
	endpoint_release(&endpoints[0]);
	endpoint_release(&endpoints[1]);
}

static void test_what_is_posted_at_once_would_have_been_accepted_in_every_state(void **state)
{
	static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};

	(void)state;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		posted_count = several_count = 0;
		for (enum qp_state each = QP_RESET; each <= QP_ERROR; each++)
			try_state(types[i], each);
		assert_true(posted_count > several_count);
		assert_int_equal(several_count > 0, types[i] == QP_RC);
	}
}

/* A datagram's largest packet depends on its port, and there is none in Reset. */
static void test_a_datagram_queue_pair_in_reset_refuses_a_send(void **state)
{
	struct send_request request;

	(void)state;
	assert_true(bring_to(QP_UD, QP_RESET, &request));
	request.opcode = SEND_SEND;
	try_sizes(&request);
	/* And after the queue pair has had a port. */
	endpoint_to_init(&endpoints[0]);
	assert_int_equal(endpoint_set_state(&endpoints[0], 0, QP_RESET), 0);
	try_sizes(&request);
	endpoint_release(&endpoints[0]);
	endpoint_release(&endpoints[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_datagram_queue_pair_in_reset_refuses_a_send),
		cmocka_unit_test(
			test_what_is_posted_at_once_would_have_been_accepted_in_every_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
