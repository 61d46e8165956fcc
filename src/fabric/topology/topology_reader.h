/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of a topology text, before they are checked. */
#ifndef SOFTIB_FABRIC_TOPOLOGY_TOPOLOGY_READER_H
#define SOFTIB_FABRIC_TOPOLOGY_TOPOLOGY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/node/node.h"
#include "wire/subnet_attributes.h"

struct topology_error;

enum { TOPOLOGY_NAME_BYTES = 64 };

/* One line of a node's record, or the other end of another node's line. */
struct declared_port {
	unsigned line; /* 0: no cable */
	char remote[TOPOLOGY_NAME_BYTES];
	char remote_alias[TOPOLOGY_NAME_BYTES]; /* "remote@alias" instead of a number */
	unsigned remote_port;
	uint64_t guid;	/* 0: a default one */
	uint8_t widths; /* masks as in PortInfo; 0: default */
	uint8_t speeds;
	int extended_speeds;		/* -1: default */
	uint8_t second_extended_speeds; /* XDR */
	uint8_t vl_cap;			/* vls=; 0: default. Of this end only. */
	uint32_t remote_index;		/* of the node, once found */
	struct port_networks networks;	/* ip= */
};

struct declared_node {
	unsigned line;
	enum node_type type;
	unsigned port_count;
	uint64_t guid; /* 0: none given */
	uint64_t system_image_guid;
	bool has_enhanced_port_0;
	bool is_target; /* a Tca record */
	char name[TOPOLOGY_NAME_BYTES];
	char description[NODE_DESCRIPTION_BYTES + 1];
	struct declared_port *ports;	      /* [1] .. [port_count] */
	char (*aliases)[TOPOLOGY_NAME_BYTES]; /* of ports, as ports; NULL: none */
};

struct declarations {
	struct declared_node *nodes;
	uint32_t node_count;
	uint32_t node_capacity;
};

/* -EINVAL with ret_error filled in, -ENOMEM. The declarations are to be released in any case. */
MUST_USE int declarations_read(struct declarations *declarations, const char *text,
			       size_t text_bytes, struct topology_error *ret_error);
/* No two ports of adapters have the same IP address, given or default. */
MUST_USE int declarations_check_addresses(const struct declarations *declarations,
					  struct topology_error *ret_error);
void declarations_release(struct declarations *declarations);

#endif
