/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SNMP messages in MADs: cutting a message into segments, and putting the segments that arrive
 * together again (management 6.4; docs/decisions.md).
 *
 * A message is CommunityInfo (segment 0) and PduInfo (segments 1, 2, ...), with one transaction id
 * and one RAddress. The outermost BER length says how many segments there are. A message of which
 * a segment is lost is lost: the SNMP manager repeats its request. Both the agents' side and the
 * proxy use this.
 */
#ifndef SOFTIB_MGMT_SNMP_SNMP_SEGMENTS_H
#define SOFTIB_MGMT_SNMP_SNMP_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/snmp_tunnel.h"

enum {
	SNMP_PARTIAL_MAX = 256,	      /* messages that are not complete yet */
	SNMP_PARTIAL_PER_SENDER = 16, /* of one LID and QP to one port */
	SNMP_FINISHED_MAX = 256,      /* messages that were complete within SNMP_REASSEMBLY_TIME */
	SNMP_FINISHED_PER_SENDER = 16,
};

#define SNMP_REASSEMBLY_TIME SECONDS(1)

/* A whole message with the addresses of the tunnel. */
struct snmp_message {
	struct mad_address address; /* of the peer */
	uint64_t transaction_id;
	uint32_t raddress;
	uint16_t source_lid; /* of the sender */
	enum snmp_direction direction;
	uint8_t community[SNMP_COMMUNITY_BYTES];
	size_t community_bytes;
	uint8_t *bytes; /* a PDU, or a message of any version */
	size_t byte_count;
};

/* CommunityInfo among them. 0: the message is empty or too long. */
unsigned snmp_segment_count(const struct snmp_message *message);
/* The segment with this number, from 0. */
void snmp_segment_make(const struct snmp_message *message, unsigned number,
		       struct mad_message *ret_mad);

/* Why a message was dropped. */
enum snmp_drop {
	SNMP_DROP_MALFORMED,  /* a segment, or segments that do not fit together */
	SNMP_DROP_TOO_MANY,   /* of this sender, or of all */
	SNMP_DROP_INCOMPLETE, /* its other segments did not come in time */
};

/* For a line of a log: "is malformed". */
const char *snmp_drop_text(enum snmp_drop reason);

/* A message that is complete is remembered for a while, so that segments which the network repeats
 * do not make it twice: a request that is served twice gets two answers, and segments of both would
 * make one (management 6.4 gives them the same ids). */
struct snmp_reassembly {
	struct list partial; /* and finished; the oldest first */
	unsigned partial_count;
	unsigned finished_count;
	uint64_t dropped_count;
	/* Optional: learns of each message that was dropped, and of its sender. */
	void (*dropped)(void *context, time_ns now, const void *receiver,
			const struct mad_address *sender, enum snmp_drop reason);
	void *context;
};

void snmp_reassembly_init(struct snmp_reassembly *reassembly);
void snmp_reassembly_release(struct snmp_reassembly *reassembly);

/* Takes a Send of this class. receiver: tells apart the ports that share this reassembly. True: the
 * message is complete; the caller frees ret_message->bytes. */
MUST_USE bool snmp_reassembly_receive(struct snmp_reassembly *reassembly, time_ns now,
				      const void *receiver, const struct mad_message *mad,
				      struct snmp_message *ret_message);
/* Drops messages whose segments do not come. */
void snmp_reassembly_expire(struct snmp_reassembly *reassembly, time_ns now);
time_ns snmp_reassembly_deadline(const struct snmp_reassembly *reassembly);

#endif
