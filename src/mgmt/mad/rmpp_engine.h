/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RMPP transfers of one QP or agent, in both directions: messages longer than a MAD, for subnet
 * administration and vendor classes (management 1.8).
 *
 * The bytes of a message are a MAD up to where its class's data start (rmpp_data_offset(): 56 for
 * subnet administration), followed by all the data. The sender fills in the RMPP header; a received
 * message has the RMPP header of its first segment.
 *
 *	whole = rmpp_mad_is_active(mad.bytes) && rmpp_receive(&rmpp, now, &mad, &message)
 *	rmpp_send(&rmpp, &message, &options)
 *	count = rmpp_transmit(&rmpp, now, ...); while (rmpp_take_result(&rmpp, &result)) ...
 */
#ifndef SOFTIB_MGMT_MAD_RMPP_ENGINE_H
#define SOFTIB_MGMT_MAD_RMPP_ENGINE_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/mad/rmpp_receiver.h"
#include "mgmt/mad/rmpp_sender.h"
#include "mgmt/mad/transactions.h"

enum {
	RMPP_TRANSFERS_DEFAULT = 256,
	RMPP_WINDOW_DEFAULT = 32,
	RMPP_TRIES_DEFAULT = 4,
	RMPP_REFUSALS_MAX = 16,
	RMPP_BUCKETS = 64,
};

#define RMPP_BYTES_MAX_DEFAULT	   ((size_t)16 << 20)
#define RMPP_TIMEOUT_DEFAULT	   MILLISECONDS(500)
#define RMPP_TOTAL_TIMEOUT_DEFAULT SECONDS(40)
#define RMPP_KEPT_DEFAULT	   SECONDS(10)

/* 0: the default. */
struct rmpp_options {
	unsigned transfers_max; /* in both directions, including those kept for retransmissions */
	size_t byte_count_max;	/* of one received message */
	size_t received_bytes_max; /* of all messages being received; default: byte_count_max */
	unsigned window;	   /* see struct rmpp_receiver_options */
	time_ns total_timeout;	   /* of a message being received */
	time_ns kept_for; /* a finished transfer answers retransmitted segments for this long */
};

struct rmpp_message {
	struct mad_address address; /* the peer's */
	uint8_t *bytes;		    /* from malloc */
	size_t byte_count;
};

struct rmpp_send_options {
	time_ns timeout; /* 0: the default */
	unsigned tries;	 /* 0: the default */
	enum rmpp_sides sides;
	struct mad_purpose purpose;
};

/* How the sending of a message ended. */
struct rmpp_result {
	struct mad_purpose purpose;
	enum rmpp_status status; /* RMPP_STATUS_NORMAL: the peer has the whole message */
	uint64_t transaction_id;
	struct mad_address address;
};

struct rmpp {
	struct rmpp_options options;
	struct list buckets[RMPP_BUCKETS]; /* of transfers, by transaction id and peer */
	struct list ready;		   /* transfers with something to send now */
	struct list ended; /* sent or failed; the owner has not taken the result yet */
	struct list kept;  /* finished, oldest first */
	struct timer_queue timers;
	struct mad_message
		refusals[RMPP_REFUSALS_MAX]; /* for segments that belong to no transfer */
	unsigned refusal_count;
	unsigned transfer_count;
	size_t received_bytes; /* in the buffers of receivers */
};

MUST_USE int rmpp_init(struct rmpp *rmpp, const struct rmpp_options *options);
void rmpp_release(struct rmpp *rmpp);

/* Takes ownership of the bytes on success. -ENOBUFS: too many transfers. -EINVAL: no RMPP class, or
 * too few bytes. -EEXIST: a message with this transaction id is already being sent to this peer. */
MUST_USE int rmpp_send(struct rmpp *rmpp, const struct rmpp_message *message,
		       const struct rmpp_send_options *options);

/* Takes a MAD for which rmpp_mad_is_active() is true. Returns true when the message is whole; the
 * caller then owns its bytes. */
MUST_USE bool rmpp_receive(struct rmpp *rmpp, time_ns now, const struct mad_message *mad,
			   struct rmpp_message *ret_message);

unsigned rmpp_transmit(struct rmpp *rmpp, time_ns now, unsigned messages_max,
		       struct mad_message ret_messages[]);

/* Returns the result of one sent message. Call it until it returns false, after receive and
 * transmit. */
MUST_USE bool rmpp_take_result(struct rmpp *rmpp, struct rmpp_result *ret_result);

/* 0 when there is something to send or a result to take, TIME_NEVER when nothing is under way. */
time_ns rmpp_deadline(const struct rmpp *rmpp);

/* Drops the message that is being sent with this transaction id. The peer is not told, and there is
 * no result. */
void rmpp_cancel(struct rmpp *rmpp, uint64_t transaction_id);

#endif
