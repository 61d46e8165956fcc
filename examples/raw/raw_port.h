/* SPDX-License-Identifier: Apache-2.0 */
/* A port's raw queue pair, for the example of raw datagrams: packets out, packets in. */
#ifndef SOFTIB_EXAMPLES_RAW_RAW_PORT_H
#define SOFTIB_EXAMPLES_RAW_RAW_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <softib/verbs.h>

enum {
	RAW_PORT_SLOTS = 64,
	RAW_PORT_SLOT_BYTES =
		8192, /* more than any packet has, so that too long ones can be tried */
};

struct raw_port {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_port_attr attributes;
	union ibv_gid gid;
	uint8_t *bytes; /* RAW_PORT_SLOTS receive slots, then one to send from */
	uint8_t number;
	uint8_t sl;
	union ibv_gid group; /* with a multicast LID: whose */
	uint16_t group_lid;  /* attached to; 0: to none */
};

struct raw_packet {
	uint8_t *bytes; /* until the next call of raw_port_receive */
	uint32_t byte_count;
	uint32_t ethertype;
	uint16_t slid;
	unsigned slot;
};

/* All of these say what went wrong and return nonzero. device_name may be NULL: the first. */
int raw_port_open(struct raw_port *port, const char *device_name, uint8_t number, uint8_t sl,
		  enum ibv_qp_type type);
/* Packets to the group with this LID are received as well, if the port is a member of it. */
int raw_port_join(struct raw_port *port, uint16_t lid);
void raw_port_close(struct raw_port *port);

/* Where to write what raw_port_send sends. */
uint8_t *raw_port_outbox(const struct raw_port *port);
int raw_port_send(struct raw_port *port, uint16_t dlid, uint32_t ethertype, uint32_t byte_count);

/* The next packet if there is one; ret_packet->bytes is NULL if not. */
int raw_port_receive(struct raw_port *port, struct raw_packet *ret_packet);
/* It has been looked at. */
int raw_port_give_back(struct raw_port *port, const struct raw_packet *packet);

#endif
