/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RMPP transfers of one QP or agent, both ways (vol 1, chapter 13): messages longer than a MAD
 * for subnet administration and vendor classes.
 *
 * Bytes of a message: a MAD up to where its class's data start (rmpp_data_offset(): 56 for subnet
 * administration), then all data. The RMPP header inside is filled in by the sender; a received
 * message has that of its first segment.
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

/* 0 stands for the default. */
struct rmpp_options {
	unsigned transfers_max;	   /* both ways together, those kept for repetitions included */
	size_t byte_count_max;	   /* of one received message */
	size_t received_bytes_max; /* of all messages being received; default: byte_count_max */
	unsigned window;	   /* see struct rmpp_receiver_options */
	time_ns total_timeout;	   /* of a message being received */
	time_ns kept_for;	   /* a whole message's segments may be repeated so long */
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

/* How a message that was sent ended. */
struct rmpp_result {
	struct mad_purpose purpose;
	enum rmpp_status status; /* RMPP_STATUS_NORMAL: the peer has it all */
	uint64_t transaction_id;
	struct mad_address address;
};

struct rmpp {
	struct rmpp_options options;
	struct list buckets[RMPP_BUCKETS]; /* of transfers, by transaction id and peer */
	struct list ready;		   /* have something to send now */
	struct list ended;		   /* sent or failed, not yet told */
	struct list kept;		   /* finished, oldest first */
	struct timer_queue timers;
	struct mad_message refusals[RMPP_REFUSALS_MAX]; /* of those without a transfer */
	unsigned refusal_count;
	unsigned transfer_count;
	size_t received_bytes; /* held by receivers */
};

MUST_USE int rmpp_init(struct rmpp *rmpp, const struct rmpp_options *options);
void rmpp_release(struct rmpp *rmpp);

/* Takes the bytes over on success. -ENOBUFS: too many transfers, -EINVAL: no such class or too
 * short, -EEXIST: a message with this transaction id is on its way to this peer already. */
MUST_USE int rmpp_send(struct rmpp *rmpp, const struct rmpp_message *message,
		       const struct rmpp_send_options *options);

/* A MAD for which rmpp_mad_is_active(). true: a message is whole, and its bytes are the caller's.
 */
MUST_USE bool rmpp_receive(struct rmpp *rmpp, time_ns now, const struct mad_message *mad,
			   struct rmpp_message *ret_message);

unsigned rmpp_transmit(struct rmpp *rmpp, time_ns now, unsigned messages_max,
		       struct mad_message ret_messages[]);

/* Tells of one message that was sent; call until false, after receive and transmit. */
MUST_USE bool rmpp_take_result(struct rmpp *rmpp, struct rmpp_result *ret_result);

/* 0 when something can be sent or told at once, TIME_NEVER when nothing is under way. */
time_ns rmpp_deadline(const struct rmpp *rmpp);

/* Forgets what is being sent with this transaction id, without a word to the peer and without a
 * result. */
void rmpp_cancel(struct rmpp *rmpp, uint64_t transaction_id);

#endif
