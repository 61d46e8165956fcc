/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving side of one RMPP transfer: segments in, whole data out (vol 1, chapter 13).
 * mgmt/mad/rmpp_engine.h keeps any number of them and of senders for one QP; most users want that.
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
	RMPP_RECEIVER_ENDING, /* an ABORT or STOP has to go out, then it has failed */
	RMPP_RECEIVER_DONE,   /* all is there; repeated segments are acknowledged again */
	RMPP_RECEIVER_FAILED,
};

struct rmpp_receiver_options {
	unsigned window;       /* segments that the sender may be ahead, 1 .. RMPP_WINDOW_MAX */
	size_t byte_count_max; /* of one message */
	time_ns total_timeout; /* of one transfer */
};

struct rmpp_receiver {
	struct rmpp_receiver_options options;
	struct mad_message first; /* segment 1: whom to answer, and with what header */
	size_t data_offset;
	enum rmpp_receiver_state state;
	enum rmpp_status status;
	uint8_t *bytes; /* the message so far, as rmpp_sender_begin() takes it */
	size_t byte_count;
	size_t byte_capacity;
	uint32_t next_expected;
	uint32_t window_last;
	uint32_t last_segment; /* 0: not known yet */
	uint32_t last_length;  /* PayloadLength of it */
	uint32_t total_length; /* as segment 1 said; 0: not known */
	uint64_t kept;	       /* bit n: segment next_expected + n is here already */
	time_ns deadline;
	bool owes_ack;
};

/* The segment is a DATA of number 1 with the First flag. It is only looked at by
 * rmpp_receiver_receive(). */
void rmpp_receiver_begin(struct rmpp_receiver *receiver,
			 const struct rmpp_receiver_options *options, time_ns now,
			 const struct mad_message *segment);
void rmpp_receiver_release(struct rmpp_receiver *receiver);

/* A DATA, STOP or ABORT of the transfer. */
void rmpp_receiver_receive(struct rmpp_receiver *receiver, const struct mad_message *message);

/* At most one message. */
unsigned rmpp_receiver_transmit(struct rmpp_receiver *receiver, time_ns now,
				struct mad_message *ret_message);

/* 0 when something can be sent at once, TIME_NEVER when it has ended. */
time_ns rmpp_receiver_deadline(const struct rmpp_receiver *receiver);

/* The answer of whoever has no receiver for this DATA, or none left: an ABORT, or a STOP. */
void rmpp_refuse(const struct mad_message *segment, enum rmpp_status status,
		 struct mad_message *ret_message);

#endif
