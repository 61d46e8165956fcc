/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sending side of one RMPP transfer (vol 1, chapter 13). mgmt/mad/rmpp_engine.h keeps any
 * number of them and of receivers for one QP; most users want that.
 */
#ifndef SOFTIB_MGMT_MAD_RMPP_SENDER_H
#define SOFTIB_MGMT_MAD_RMPP_SENDER_H

#include <stddef.h>
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/rmpp.h"

enum rmpp_sender_state {
	RMPP_SENDER_SENDING,
	RMPP_SENDER_ABORTING, /* an ABORT has to go out, then it has failed */
	RMPP_SENDER_DONE,     /* all segments are acknowledged */
	RMPP_SENDER_FAILED,
};

enum rmpp_sides {
	RMPP_SINGLE_SIDED,
	RMPP_DOUBLE_SIDED, /* the answer is RMPP too: its window is opened after the last ACK */
};

struct rmpp_sender_options {
	time_ns timeout; /* of one try: without a new acknowledgement */
	unsigned tries;	 /* of one segment */
	enum rmpp_sides sides;
};

struct rmpp_sender {
	struct rmpp_sender_options options;
	struct mad_address address;
	const uint8_t *bytes; /* of the owner: the MAD up to its class's data, then all data */
	size_t byte_count;
	size_t data_offset;
	enum rmpp_sender_state state;
	enum rmpp_status status; /* why it failed */
	uint32_t segment_count;
	uint32_t next;	      /* to be sent */
	uint32_t sent;	      /* the highest ever */
	uint32_t acked;	      /* the highest in order */
	uint32_t window_last; /* the peer takes no higher one yet */
	unsigned tries_left;
	time_ns deadline;  /* of this try */
	bool owes_opening; /* of the answer's window */
};

/* The bytes start with a MAD header of the class; its RMPP header is written here. At least as many
 * as rmpp_data_offset() of the class. */
void rmpp_sender_begin(struct rmpp_sender *sender, const struct rmpp_sender_options *options,
		       const struct mad_address *address, const uint8_t *bytes, size_t byte_count);

/* An ACK, STOP or ABORT from the peer. */
void rmpp_sender_receive(struct rmpp_sender *sender, time_ns now, const struct rmpp_header *header);

unsigned rmpp_sender_transmit(struct rmpp_sender *sender, time_ns now, unsigned messages_max,
			      struct mad_message ret_messages[]);

/* 0 when something can be sent at once, TIME_NEVER when it has ended. */
time_ns rmpp_sender_deadline(const struct rmpp_sender *sender);

#endif
