/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: EE contexts and RD queue pairs that get packets from an attacker, while programs
 * post, reset and destroy.
 *
 * The input is a program: the actions of two nodes, and packets whose fields are near those that
 * the other end would send. States stay legal, no byte outside the granted memory is written, and
 * everything can be destroyed.
 */
#include "fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/rd/ee_context.h"
#include "net/transport/rd/rd_queue.h"
#include "support/rd_rig.h"

enum { STEPS_MAX = 64, QPS = 3, GRANTED_AT = 4096, GRANTED_BYTES = 4096, SENTINEL = 0xa5 };

struct input {
	const uint8_t *bytes;
	size_t byte_count;
};

static struct rd_rig rig;
static struct qp_object *qps[2][QPS];
static struct qp_object *eecs[2];
static struct region *granted;

static uint8_t next_byte(struct input *input)
{
	if (!input->byte_count)
		return 0;
	input->byte_count--;
	return *input->bytes++;
}

/* One of a few special numbers, or any. */
static uint32_t some_number(struct input *input, unsigned node)
{
	uint8_t choice = next_byte(input);

	if (choice < 128)
		return qps[node][choice % QPS]->qp.qpn;
	return choice < 192 ? eecs[node]->qp.qpn : choice;
}

/* Near the PSN that this end expects. */
static struct psn some_psn(struct input *input, struct psn near)
{
	return psn_add(near, (uint32_t)((int8_t)next_byte(input) / 16));
}

static void inject(struct input *input, unsigned to)
{
	static uint8_t payload[1024];
	struct qp *channel = &eecs[to]->qp;
	uint8_t opcode = TRANSPORT_RD | (next_byte(input) & 31);
	const struct opcode_info *info = opcode_info(opcode);
	uint8_t flags = next_byte(input);
	struct packet packet = {
		.lrh = {.dlid = rig.nodes[to].hca.ports[0].lid,
			.slid = rig.nodes[!to].hca.ports[0].lid},
		.bth = {.opcode = opcode,
			.pkey = flags & 1 ? 0xffff : 0x8001,
			.migrated = true,
			.ack_request = flags & 2,
			.solicited = flags & 4},
		.rdeth_eecn = flags & 8 ? some_number(input, to) : eecs[to]->qp.qpn,
		.packet_count = flags & 16 ? 1 + next_byte(input) % 4 : 1,
	};

	if (!info->name)
		return;
	packet.bth.destination_qpn = some_number(input, to);
	packet.bth.psn = some_psn(input, info->is_response ? channel->requester.oldest_psn
							   : channel->responder.expected_psn);
	packet.deth = (struct deth){flags & 32 ? RIG_QKEY : next_byte(input),
				    qps[!to][next_byte(input) % QPS]->qp.qpn};
	if (info->has_atomic_eth) {
		packet.atomic_eth = (struct atomic_eth){.address = granted->iova + next_byte(input),
							.rkey = granted->key};
	} else {
		packet.reth.address = granted->iova + next_byte(input) * 32u;
		packet.reth.rkey = granted->key ^ (flags & 64 ? 1 : 0);
		packet.reth.bytes = next_byte(input) * 4u;
	}
	packet.aeth = (struct aeth){next_byte(input), next_byte(input)};
	packet.feth = (struct feth){next_byte(input) & 3, next_byte(input) & 3};
	packet_set_payload(&packet, payload,
			   flags & 128 ? 256 * packet.packet_count : next_byte(input));
	hca_receive(&rig.nodes[to].hca, rig.now, 1, &packet);
}

static void post(struct input *input, unsigned node)
{
	struct sge sge;
	uint8_t choice = next_byte(input);
	struct send_request request =
		rd_request(&rig.nodes[node], eecs[node], some_number(input, !node), 0,
			   next_byte(input) * 8u, &sge);

	request.opcode = (enum send_opcode)(choice & 15);
	request.remote_address = granted->iova + next_byte(input);
	request.remote_key = granted->key;
	request.flush_placement = FLUSH_GLOBAL;
	if (choice & 16)
		request.remote_qkey = next_byte(input);
	if (choice & 32)
		request.eecn = some_number(input, node);
	/* The bind names a window that does not exist, and may be refused. */
	(void)!rd_post(&rig, qps[node][choice % QPS], &request);
}

static void post_receive(struct input *input, unsigned node)
{
	struct rd_node *owner = &rig.nodes[node];
	const struct sge sge = {(uintptr_t)owner->bytes + 65536, next_byte(input) * 8u,
				owner->region->key};
	const struct receive_request request = {.sge_count = 1, .sges = &sge};

	(void)!qp_object_post_receive(qps[node][next_byte(input) % QPS], rig.now, &request);
}

static void change_state(struct input *input, unsigned node)
{
	static const enum qp_state states[] = {QP_RTS, QP_SQD, QP_ERROR, QP_RESET};
	uint8_t choice = next_byte(input);
	struct qp_object *object = choice & 128 ? eecs[node] : qps[node][choice % QPS];

	(void)!rd_rig_set_state(&rig, object, states[choice >> 4 & 3]);
	if (object == eecs[node] && object->qp.state == QP_RESET) {
		rd_rig_to_init(&rig, object);
		rd_rig_to_rtr(&rig, object, !node, eecs[!node]->qp.qpn);
		rd_rig_to_rts(&rig, object);
	}
}

static void replace(struct input *input, unsigned node)
{
	struct qp_object **place = &qps[node][next_byte(input) % QPS];

	MUST_HOLD(qp_object_destroy(*place) == 0);
	*place = rd_rig_qp(&rig, node);
}

static void check_completions(void)
{
	for (unsigned node = 0; node < 2; node++) {
		struct cq *const cqs[] = {rig.nodes[node].sent, rig.nodes[node].received};

		for (unsigned i = 0; i < 2; i++)
			while (cq_first(cqs[i])) {
				MUST_HOLD(cq_first(cqs[i])->status <= COMPLETION_GENERAL);
				cq_advance(cqs[i]);
			}
	}
}

static void check_states(void)
{
	for (unsigned node = 0; node < 2; node++) {
		const struct eec *eec = eecs[node]->qp.eec;

		MUST_HOLD(eecs[node]->qp.state <= QP_ERROR && eecs[node]->qp.state != QP_SQE);
		MUST_HOLD((eec->sending == EEC_MESSAGE) == (eec->source != NULL));
		MUST_HOLD(!eec->destination || eec->destination->qp->state >= QP_RTR);
		MUST_HOLD(eec->destination || !eecs[node]->qp.responder.has_receive);
	}
	check_completions();
}

/* The nodes are made once, because they are large. */
static void set_up(void)
{
	static bool is_made;
	struct rd_node *b = &rig.nodes[1];

	if (!is_made) {
		rd_rig_init(&rig, 2);
		MUST_HOLD(region_register(&b->hca.memory, b->pd, b->bytes + GRANTED_AT,
					  GRANTED_BYTES, (uintptr_t)b->bytes + GRANTED_AT,
					  ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE |
						  ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC |
						  ACCESS_FLUSH_GLOBAL,
					  &granted) == 0);
	}
	is_made = true;
	for (unsigned node = 0; node < 2; node++)
		for (unsigned i = 0; i < QPS; i++)
			qps[node][i] = rd_rig_qp(&rig, node);
	rd_rig_connect(&rig, 0, 1, eecs);
	memset(b->bytes, SENTINEL, 3 * GRANTED_BYTES);
}

static void tear_down(void)
{
	for (unsigned node = 0; node < 2; node++) {
		for (unsigned i = 0; i < QPS; i++)
			MUST_HOLD(qp_object_destroy(qps[node][i]) == 0);
		MUST_HOLD(qp_object_destroy(eecs[node]) == 0);
		MUST_HOLD(rig.nodes[node].hca.qp_count == 0 && rig.nodes[node].hca.eec_count == 0);
		MUST_HOLD(rig.nodes[node].rdd->users == 0 && !rig.nodes[node].hca.timers.count);
		qp_wire_release(rig.wires[node][!node]);
		qp_wire_init(rig.wires[node][!node], RIG_PSN, RIG_PSN);
	}
	check_completions();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct input input = {bytes, byte_count};

	set_up();
	for (unsigned step = 0; step < STEPS_MAX && input.byte_count; step++) {
		uint8_t choice = next_byte(&input);
		unsigned node = choice >> 7;

		switch (choice & 7) {
		case 0:
			post(&input, 0);
			break;
		case 1:
			post_receive(&input, node);
			break;
		case 2:
			change_state(&input, node);
			break;
		case 3:
			replace(&input, node);
			break;
		case 4:
			rd_run_until(&rig, rig.now + MICROSECONDS(next_byte(&input)));
			break;
		default:
			inject(&input, node);
		}
		check_states();
	}
	for (unsigned i = 0; i < GRANTED_BYTES; i++)
		MUST_HOLD(rig.nodes[1].bytes[i] == SENTINEL &&
			  rig.nodes[1].bytes[GRANTED_AT + GRANTED_BYTES + i] == SENTINEL);
	tear_down();
	return 0;
}
