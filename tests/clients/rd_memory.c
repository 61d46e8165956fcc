/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One node's memory under another's reliable datagrams: random WRITEs, READs and atomics between
 * two processes, checked against a copy, while the owner of the memory does nothing at all. The
 * client (with a host to connect to) does the work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../examples/rd/node.h"
#include "../../examples/rd/rendezvous.h"

enum { SLOTS = 4, AREA_BYTES = 1 << 18, ROUNDS = 400, WORDS = 8 };

static struct node node;
static uint8_t copy[AREA_BYTES]; /* the expected content of the server's memory */

static int carry_out(enum ibv_wr_opcode opcode, uint32_t offset, uint32_t byte_count, uint64_t add,
		     const struct node_address *remote)
{
	struct ibv_sge sge = {(uintptr_t)node.bytes, byte_count, node.mr->lkey};
	struct softib_rd_send_wr wr = {
		.wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = opcode},
		.eec_num = node.eecs[0]->eec_num,
		.remote_qpn = remote->qpn,
		.remote_qkey = NODE_QKEY,
	};
	struct softib_rd_send_wr *bad;
	struct softib_wc wc;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.wr.atomic.remote_addr = remote->memory + offset;
		wr.wr.wr.atomic.rkey = remote->rkey;
		wr.wr.wr.atomic.compare_add = add;
	} else {
		wr.wr.wr.rdma.remote_addr = remote->memory + offset;
		wr.wr.wr.rdma.rkey = remote->rkey;
	}
	if (softib_post_rd_send(node.qp, &wr, &bad)) {
		perror("softib_post_rd_send");
		return 1;
	}
	return node_wait(&node, &wc);
}

static int add_to_word(uint32_t offset, const struct node_address *remote)
{
	uint64_t add = (uint64_t)mrand48(), before, now;

	if (carry_out(IBV_WR_ATOMIC_FETCH_AND_ADD, offset, 8, add, remote))
		return 1;
	memcpy(&before, copy + offset, 8);
	if (memcmp(node.bytes, &before, 8)) {
		fprintf(stderr, "an atomic found something else\n");
		return 1;
	}
	now = before + add;
	memcpy(copy + offset, &now, 8);
	return 0;
}

static int work(const struct node_address *remote)
{
	memset(copy, 0x7b, sizeof(copy));
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t byte_count = 1 + (uint32_t)(lrand48() % (round % 8 ? 3000 : 100000));
		uint32_t offset = (uint32_t)(lrand48() % (AREA_BYTES - byte_count));

		switch (lrand48() % 3) {
		case 0:
			for (uint32_t i = 0; i < byte_count; i++)
				node.bytes[i] = copy[offset + i] = (uint8_t)mrand48();
			if (carry_out(IBV_WR_RDMA_WRITE, offset, byte_count, 0, remote))
				return 1;
			break;
		case 1:
			if (carry_out(IBV_WR_RDMA_READ, offset, byte_count, 0, remote))
				return 1;
			if (memcmp(node.bytes, copy + offset, byte_count)) {
				fprintf(stderr, "a READ found something else\n");
				return 1;
			}
			break;
		default:
			if (add_to_word((uint32_t)(lrand48() % WORDS) * 8, remote))
				return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct node_address addresses[NODES_MAX];
	struct rendezvous rendezvous;

	if (argc < 3 || strcmp(argv[1], "-p")) {
		fprintf(stderr, "usage: rd_memory -p PORT [HOST]\n");
		return 1;
	}
	node.options = (struct options){
		.tcp_port = (int)strtol(argv[2], NULL, 0),
		.server_name = argc > 3 ? argv[3] : NULL,
		.ib_port = 1,
		.message_bytes = AREA_BYTES,
		.mtu = IBV_MTU_1024,
		.gid_index = -1,
	};

	unsigned rank = node.options.server_name ? 1 : 0;

	if (node_open(&node, 2, rank, SLOTS) ||
	    rendezvous_meet(&rendezvous, &node, 2, rank, addresses) ||
	    node_connect(&node, !rank, rank, &addresses[!rank]) || rendezvous_barrier(&rendezvous))
		return 1;
	srand48(1);
	if (rank && work(&addresses[0]))
		return 1;
	/* The server waits here all the time. */
	if (rendezvous_barrier(&rendezvous))
		return 1;
	rendezvous_close(&rendezvous);
	return node_close(&node);
}
