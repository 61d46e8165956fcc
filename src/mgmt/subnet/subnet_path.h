/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a path through the subnet, found by walking the forwarding tables as the
 * manager knows them (management 4.6). */
#ifndef SOFTIB_MGMT_SUBNET_SUBNET_PATH_H
#define SOFTIB_MGMT_SUBNET_SUBNET_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct subnet;
struct subnet_port;

enum { SUBNET_PACKET_LIFE_TIME = 0x12 };

struct subnet_path {
	uint8_t mtu;	   /* a code: the minimum along the path */
	uint8_t rate;	   /* a code: the minimum along the path; 0: no link has a rate */
	uint8_t sl;	   /* that the routing engine chose; 0 unless it uses several VLs */
	uint8_t hop_count; /* links along the path; 0 from a port to itself */
	uint8_t packet_life_time;
};

/* MTU and rate codes of the link at this port. MTU: as it is if the port is Active, else as the
 * manager will write it. Rate: 0 without a link. */
uint8_t subnet_link_mtu(const struct subnet_port *port);
uint8_t subnet_port_rate(const struct subnet_port *port);

/* false: the tables do not lead from this end port to the LID, or no port has it. */
MUST_USE bool subnet_path_find(const struct subnet *subnet, const struct subnet_port *source,
			       uint16_t dlid, struct subnet_path *ret_path);

/* The P_Keys that packets between two end ports may carry, with the full member bit as in the first
 * port's table, each partition once. Returns their number, at most keys_max. */
unsigned subnet_shared_pkeys(const struct subnet_port *a, const struct subnet_port *b,
			     unsigned keys_max, uint16_t ret_keys[]);
/* The membership bit of pkey is ignored. */
bool subnet_ports_share_pkey(const struct subnet_port *a, const struct subnet_port *b,
			     uint16_t pkey);

#endif
