/* SPDX-License-Identifier: Apache-2.0 */
/* The sending side of one RMPP transfer (management 1.8). mgmt/mad/rmpp_engine.h manages the
 * senders and receivers of one QP; most callers want that. */
#ifndef SOFTIB_MGMT_MAD_RMPP_SENDER_H
#define SOFTIB_MGMT_MAD_RMPP_SENDER_H

#include <stddef.h>
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/rmpp.h"

enum rmpp_sender_state {
	RMPP_SENDER_SENDING,
	RMPP_SENDER_ABORTING, /* an ABORT must be sent, then the transfer has failed */
	RMPP_SENDER_DONE,     /* all segments are acknowledged */
	RMPP_SENDER_FAILED,
};

enum rmpp_sides {
	RMPP_SINGLE_SIDED,
	RMPP_DOUBLE_SIDED, /* the response is RMPP too: the sender opens its window after the last
			      ACK */
};

struct rmpp_sender_options {
	time_ns timeout; /* how long to wait for a new ACK */
	unsigned tries;	 /* per segment */
	enum rmpp_sides sides;
};

struct rmpp_sender {
	struct rmpp_sender_options options;
	struct mad_address address;
	const uint8_t *bytes; /* of the owner: the MAD up to its class's data, then all the data */
	size_t byte_count;
	size_t data_offset;
	enum rmpp_sender_state state;
	enum rmpp_status status; /* why it failed */
	uint32_t segment_count;
	uint32_t next;	      /* the next segment to send */
	uint32_t sent;	      /* the highest segment sent so far */
	uint32_t acked;	      /* the highest segment acknowledged in order */
	uint32_t window_last; /* the highest segment that the peer accepts now */
	unsigned tries_left;
	time_ns deadline;  /* of this try */
	bool owes_opening; /* must send the ACK that opens the window of the response */
};

/* The bytes start with a MAD header of the class, and there are at least rmpp_data_offset() of
 * them. The sender writes the RMPP header. */
void rmpp_sender_begin(struct rmpp_sender *sender, const struct rmpp_sender_options *options,
		       const struct mad_address *address, const uint8_t *bytes, size_t byte_count);

/* Takes an ACK, STOP or ABORT of the peer. */
void rmpp_sender_receive(struct rmpp_sender *sender, time_ns now, const struct rmpp_header *header);

unsigned rmpp_sender_transmit(struct rmpp_sender *sender, time_ns now, unsigned messages_max,
			      struct mad_message ret_messages[]);

/* 0 when there is something to send, TIME_NEVER when the transfer has ended. */
time_ns rmpp_sender_deadline(const struct rmpp_sender *sender);

#endif
