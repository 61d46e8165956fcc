/* SPDX-License-Identifier: Apache-2.0 */
/* The raw QP of a port, for the raw datagram example: sending and receiving packets. */
#ifndef SOFTIB_EXAMPLES_RAW_RAW_PORT_H
#define SOFTIB_EXAMPLES_RAW_RAW_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <softib/verbs.h>

enum {
	RAW_PORT_SLOTS = 64,
	RAW_PORT_SLOT_BYTES =
		8192, /* larger than any packet, so that oversized ones can be tried */
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
	union ibv_gid group; /* the GID of group_lid */
	uint16_t group_lid;  /* the group that the QP is attached to; 0: none */
};

struct raw_packet {
	uint8_t *bytes; /* valid until the next call of raw_port_receive */
	uint32_t byte_count;
	uint32_t ethertype;
	uint16_t slid;
	unsigned slot;
};

/* All of these print what went wrong and return nonzero. device_name NULL: the first device. */
int raw_port_open(struct raw_port *port, const char *device_name, uint8_t number, uint8_t sl,
		  enum ibv_qp_type type);
/* Also receives packets to the group with this LID, if the port is a member of it. */
int raw_port_join(struct raw_port *port, uint16_t lid);
void raw_port_close(struct raw_port *port);

/* The buffer that raw_port_send sends from. */
uint8_t *raw_port_outbox(const struct raw_port *port);
int raw_port_send(struct raw_port *port, uint16_t dlid, uint32_t ethertype, uint32_t byte_count);

/* The next packet if there is one; ret_packet->bytes is NULL if not. */
int raw_port_receive(struct raw_port *port, struct raw_packet *ret_packet);
/* Posts the packet's receive slot again. */
int raw_port_give_back(struct raw_port *port, const struct raw_packet *packet);

#endif
