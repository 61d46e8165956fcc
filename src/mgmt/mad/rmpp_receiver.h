/* SPDX-License-Identifier: Apache-2.0 */
/* The receiving side of one RMPP transfer: takes segments, yields the whole message (management
 * 1.8). mgmt/mad/rmpp_engine.h manages the senders and receivers of one QP; most callers want that.
 */
#ifndef SOFTIB_MGMT_MAD_RMPP_RECEIVER_H
#define SOFTIB_MGMT_MAD_RMPP_RECEIVER_H

#include <stddef.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/rmpp.h"

enum { RMPP_WINDOW_MAX = 64 };

enum rmpp_receiver_state {
	RMPP_RECEIVER_RECEIVING,
	RMPP_RECEIVER_ENDING, /* an ABORT or STOP must be sent, then the transfer has failed */
	RMPP_RECEIVER_DONE,   /* complete; repeated segments are acknowledged again */
	RMPP_RECEIVER_FAILED,
};

struct rmpp_receiver_options {
	unsigned window;       /* how many segments the sender may be ahead, 1 .. RMPP_WINDOW_MAX */
	size_t byte_count_max; /* of one message */
	time_ns total_timeout; /* of one transfer */
};

struct rmpp_receiver {
	struct rmpp_receiver_options options;
	struct mad_message first; /* segment 1: the peer's address and the header for answers */
	size_t data_offset;
	enum rmpp_receiver_state state;
	enum rmpp_status status;
	uint8_t *bytes; /* the message so far, in the form that rmpp_sender_begin() takes */
	size_t byte_count;
	size_t byte_capacity;
	uint32_t next_expected;
	uint32_t window_last;
	uint32_t last_segment; /* 0: not known yet */
	uint32_t last_length;  /* its PayloadLength */
	uint32_t total_length; /* as announced by segment 1; 0: unknown */
	uint64_t kept;	       /* bit n: segment next_expected + n has arrived */
	time_ns deadline;
	bool owes_ack;
};

/* The segment is a DATA with number 1 and the First flag. It is not consumed: pass it to
 * rmpp_receiver_receive() too. */
void rmpp_receiver_begin(struct rmpp_receiver *receiver,
			 const struct rmpp_receiver_options *options, time_ns now,
			 const struct mad_message *segment);
void rmpp_receiver_release(struct rmpp_receiver *receiver);

/* Takes a DATA, STOP or ABORT of the transfer. */
void rmpp_receiver_receive(struct rmpp_receiver *receiver, const struct mad_message *message);

/* Returns at most one message. */
unsigned rmpp_receiver_transmit(struct rmpp_receiver *receiver, time_ns now,
				struct mad_message *ret_message);

/* 0 when there is something to send, TIME_NEVER when the transfer has ended. */
time_ns rmpp_receiver_deadline(const struct rmpp_receiver *receiver);

/* Makes the ABORT or STOP for a DATA that has no receiver. */
void rmpp_refuse(const struct mad_message *segment, enum rmpp_status status,
		 struct mad_message *ret_message);

#endif
