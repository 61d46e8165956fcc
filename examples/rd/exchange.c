/* SPDX-License-Identifier: Apache-2.0 */
/* Many nodes, each with one QP, all send to all in rounds. */
#include "exchange.h"

#include <stdio.h>
#include "mesh.h"
#include "play.h"
#include "rendezvous.h"

struct exchange {
	struct node *node;
	struct node_address addresses[NODES_MAX];
	unsigned received[NODES_MAX]; /* messages per sender */
	unsigned sends_outstanding;
};

/* Finds the sender by the EE context; the QPN must be that node's. */
static int sender_of(const struct exchange *exchange, const struct softib_wc *wc)
{
	const struct node *node = exchange->node;

	for (unsigned rank = 0; rank < node->options.node_count; rank++)
		if (node->eecs[rank] && node->eecs[rank]->eec_num == wc->eec_num)
			return exchange->addresses[rank].qpn == wc->wc.src_qp ? (int)rank : -1;
	return -1;
}

static int take_completion(struct exchange *exchange)
{
	struct node *node = exchange->node;
	struct softib_wc wc;

	if (node_wait(node, &wc))
		return 1;
	if (wc.wc.wr_id >= node->slot_count) {
		exchange->sends_outstanding--;
		return 0;
	}

	unsigned slot = (unsigned)wc.wc.wr_id;
	int rank = sender_of(exchange, &wc);

	if (rank < 0) {
		fprintf(stderr, "a message from a stranger\n");
		return 1;
	}
	if (node->options.validates && play_check(node_receive_slot(node, slot), wc.wc.byte_len,
						  (unsigned)rank, exchange->received[rank]))
		return 1;
	exchange->received[rank]++;
	return node_post_receive(node, slot);
}

static bool round_is_complete(const struct exchange *exchange, unsigned round)
{
	const struct node *node = exchange->node;

	for (unsigned rank = 0; rank < node->options.node_count; rank++)
		if (rank != node->options.rank && exchange->received[rank] <= round)
			return false;
	return exchange->sends_outstanding == 0;
}

/* Sends one message to each node and receives one from each. A node is never more than one round
 * ahead of another. */
static int play_round(struct exchange *exchange, unsigned round)
{
	struct node *node = exchange->node;

	for (unsigned rank = 0; rank < node->options.node_count; rank++) {
		if (rank == node->options.rank)
			continue;
		if (node->options.validates)
			play_fill(node_send_slot(node, rank), node->options.message_bytes,
				  node->options.rank, round);
		if (node_post_send(node, rank, rank, exchange->addresses[rank].qpn))
			return 1;
		exchange->sends_outstanding++;
	}
	while (!round_is_complete(exchange, round))
		if (take_completion(exchange))
			return 1;
	return 0;
}

static bool all_are_done(const struct exchange *exchange)
{
	const struct node *node = exchange->node;

	/* All nodes tell rank 0, then rank 0 tells all nodes. */
	if (node->options.rank)
		return exchange->received[0] > node->options.iterations;
	for (unsigned rank = 1; rank < node->options.node_count; rank++)
		if (exchange->received[rank] <= node->options.iterations)
			return false;
	return true;
}

static int say_done(struct exchange *exchange, unsigned rank)
{
	struct node *node = exchange->node;

	if (node->options.validates)
		play_fill(node_send_slot(node, rank), node->options.message_bytes,
			  node->options.rank, node->options.iterations);
	exchange->sends_outstanding++;
	return node_post_send(node, rank, rank, exchange->addresses[rank].qpn);
}

/* Ends with one more round of messages, so that no node leaves while another waits for an ACK. */
static int end_together(struct exchange *exchange)
{
	const struct node *node = exchange->node;
	int error = node->options.rank ? say_done(exchange, 0) : 0;

	while (!error && !all_are_done(exchange))
		error = take_completion(exchange);
	for (unsigned rank = 1; !error && !node->options.rank && rank < node->options.node_count;
	     rank++)
		error = say_done(exchange, rank);
	while (!error && exchange->sends_outstanding)
		error = take_completion(exchange);
	return error;
}

static int play_rounds(struct exchange *exchange)
{
	struct node *node = exchange->node;
	unsigned others = node->options.node_count - 1;
	double start = play_seconds();

	for (unsigned round = 0; round < node->options.iterations; round++)
		if (play_round(exchange, round))
			return 1;
	play_print_result(node, play_seconds() - start,
			  2. * node->options.message_bytes * node->options.iterations * others);
	return 0;
}

static void print_node(const struct node *node)
{
	printf("  node %u of %u: LID 0x%04x, one QP 0x%06x, %u EE contexts\n", node->options.rank,
	       node->options.node_count, node->address.lid, node->address.qpn,
	       node->options.node_count - 1);
	fflush(stdout);
}

static int exchange_by_calls(struct exchange *exchange)
{
	struct node *node = exchange->node;
	struct mesh mesh = {0};

	if (mesh_meet(&mesh, node, exchange->addresses, &exchange->sends_outstanding))
		return 1;
	print_node(node);
	return play_rounds(exchange) || end_together(exchange) || mesh_part(&mesh) ||
	       node_close(node);
}

int exchange_all(struct node *node)
{
	struct exchange exchange = {.node = node};
	struct rendezvous rendezvous;
	unsigned count = node->options.node_count, rank = node->options.rank;

	if (node_open(node, count, rank, 2 * count))
		return 1;
	for (unsigned slot = 0; slot < node->slot_count; slot++)
		if (node_post_receive(node, slot))
			return 1;
	if (node->options.calls)
		return exchange_by_calls(&exchange);
	if (rendezvous_meet(&rendezvous, node, count, rank, exchange.addresses))
		return 1;
	for (unsigned other = 0; other < count; other++)
		if (other != rank && node_connect(node, other, rank, &exchange.addresses[other]))
			return 1;
	print_node(node);
	if (rendezvous_barrier(&rendezvous) || play_rounds(&exchange))
		return 1;
	if (rendezvous_barrier(&rendezvous))
		return 1;
	rendezvous_close(&rendezvous);
	return node_close(node);
}
