/* SPDX-License-Identifier: Apache-2.0 */
/* What a path through the subnet offers: found by walking the forwarding tables as the manager
 * knows them to be (vol 1, chapter 15). */
#ifndef SOFTIB_MGMT_SUBNET_SUBNET_PATH_H
#define SOFTIB_MGMT_SUBNET_SUBNET_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct subnet;
struct subnet_port;

enum { SUBNET_PACKET_LIFE_TIME = 0x12 };

struct subnet_path {
	uint8_t mtu;	   /* a code: the least on the way */
	uint8_t rate;	   /* a code: the least on the way; 0 when no link on it has one */
	uint8_t sl;	   /* that routing wants; 0 unless its engine uses lanes */
	uint8_t hop_count; /* links on the way; 0 from a port to itself */
	uint8_t packet_life_time;
};

/* Codes of what the cable at this port carries: MTU as it is when the port is Active, else as the
 * manager will write it; rate 0 without a link. */
uint8_t subnet_link_mtu(const struct subnet_port *port);
uint8_t subnet_port_rate(const struct subnet_port *port);

/* false: the tables do not lead from this end port to the LID, or nobody has it. */
MUST_USE bool subnet_path_find(const struct subnet *subnet, const struct subnet_port *source,
			       uint16_t dlid, struct subnet_path *ret_path);

/* The P_Keys that packets between two end ports may carry, as the first would write them (full
 * member bit as in its table), each partition once. Returns how many there are, at most keys_max.
 */
unsigned subnet_shared_pkeys(const struct subnet_port *a, const struct subnet_port *b,
			     unsigned keys_max, uint16_t ret_keys[]);
/* The membership bit of the key does not matter. */
bool subnet_ports_share_pkey(const struct subnet_port *a, const struct subnet_port *b,
			     uint16_t pkey);

#endif
