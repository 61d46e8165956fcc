/* SPDX-License-Identifier: Apache-2.0 */
/* A node of the Reliable Datagram examples: a device, one RD QP, and EE contexts to the other
 * nodes. */
#ifndef SOFTIB_EXAMPLES_RD_NODE_H
#define SOFTIB_EXAMPLES_RD_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <softib/verbs.h>

enum { NODES_MAX = 64, NODE_QKEY = 0x11111111 };

struct options {
	const char *device_name; /* NULL: the first */
	const char *server_name; /* NULL: this is the server */
	int tcp_port;
	int ib_port;
	uint32_t message_bytes;
	enum ibv_mtu mtu;
	unsigned receive_depth;
	unsigned iterations;
	int sl;
	int gid_index; /* -1: no GRH */
	bool uses_events;
	bool validates;
	bool calls;	     /* connects by communication management */
	unsigned node_count; /* nodes of the exchange; 0: ping-pong of two nodes */
	unsigned rank;
};

/* What a node must know to send to another. */
struct node_address {
	uint32_t lid;
	uint32_t qpn;
	uint32_t psn;
	uint32_t eecns[NODES_MAX]; /* of its EE context for each rank */
	uint64_t memory;	   /* address of its slots, all readable and writable with the key
				    */
	uint32_t rkey;
	union ibv_gid gid;
};

struct node {
	struct options options;
	struct ibv_context *context;
	struct ibv_comp_channel *channel; /* NULL: the node polls */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct softib_rdd *rdd;
	struct ibv_qp *qp;
	struct softib_eec *eecs[NODES_MAX]; /* by rank; NULL for itself */
	struct node_address address;
	uint8_t *bytes; /* slot_count receive slots, then slot_count send slots */
	uint32_t slot_bytes;
	unsigned slot_count;
	unsigned events_taken;
	int hangup_fd; /* readable once the other side has closed the connection; 0: unknown */
};

/* All of these print what went wrong and return nonzero, or NULL. */
int node_open(struct node *node, unsigned node_count, unsigned rank, unsigned slot_count);
/* Connects to a node whose address was exchanged outside the fabric. */
int node_connect(struct node *node, unsigned rank, unsigned own_rank,
		 const struct node_address *remote);
int node_close(struct node *node);

uint8_t *node_receive_slot(const struct node *node, unsigned slot);
uint8_t *node_send_slot(const struct node *node, unsigned slot);

/* wr_id: the slot of a receive; slot_count plus the slot of a send. */
int node_post_receive(struct node *node, unsigned slot);
int node_post_send(struct node *node, unsigned slot, unsigned rank, uint32_t remote_qpn);
int node_post_send_bytes(struct node *node, unsigned slot, uint32_t byte_count, unsigned rank,
			 uint32_t remote_qpn);
/* Waits for a completion, by polling or by an event. */
int node_wait(struct node *node, struct softib_wc *ret_wc);

void node_print_address(const char *whose, const struct node_address *address, uint32_t eecn);

#endif
