/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet sources: whose packets come by one ring, as softibd says it.
 *
 * Packets that the fabric carried were checked on the way. Packets that another program wrote into
 * memory were checked by nobody, so softibd tells the receiver what the path of that program
 * allows: a grant. A packet with other headers is dropped, as a switch or the receiving port would
 * have dropped it (transport 5.1).
 */
#ifndef SOFTIB_NET_TRANSPORT_PACKET_SOURCE_H
#define SOFTIB_NET_TRANSPORT_PACKET_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum { PACKET_GRANTS_MAX = 256 }; /* of one source */

/* Packets from one port to another in one partition. */
struct packet_grant {
	uint16_t slid; /* the first LID of the source port */
	uint16_t dlid;
	uint16_t pkey;
	uint16_t port; /* of the destination: adapter index << 8 | port number */
	uint8_t sl;
	uint8_t lmc; /* of the source port */
};

struct packet_source {
	bool is_fabric; /* all packets were checked on the way */
	uint32_t count, capacity;
	struct packet_grant *grants;
};

/* The source of packets that the fabric has carried. */
extern const struct packet_source packet_source_fabric;

/* -ENOMEM, -ENOSPC. A grant that the source has already is not added again. */
MUST_USE int packet_source_grant(struct packet_source *source, const struct packet_grant *grant);
void packet_source_revoke(struct packet_source *source, const struct packet_grant *grant);
void packet_source_release(struct packet_source *source);

bool packet_grants_are_equal(const struct packet_grant *a, const struct packet_grant *b);

/* Whether a packet with these headers is granted; wanted->lmc does not count. */
MUST_USE bool packet_source_admits(const struct packet_source *source,
				   const struct packet_grant *wanted);
/* Whether packets from this LID are granted. */
MUST_USE bool packet_source_has_lid(const struct packet_source *source, uint16_t slid);

#endif
