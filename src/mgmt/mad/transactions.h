/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a manager that wait for their answers: transaction ids, timeouts, retries, matching
 * (vol 1, chapter 13).
 *
 * As many requests as the window has places are under way at once; whoever has more asks
 * mad_transactions_has_room() and makes the next one then. Nothing is allocated after init.
 */
#ifndef SOFTIB_MGMT_MAD_TRANSACTIONS_H
#define SOFTIB_MGMT_MAD_TRANSACTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/answer_time.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/mad/redirect.h"

enum {
	MAD_WINDOW_DEFAULT = 32,
	MAD_WINDOW_MAX = 1024,
	MAD_TRIES_DEFAULT = 3,
	MAD_REDIRECTS_MAX = 4, /* of one request */
};

#define MAD_TIMEOUT_DEFAULT MILLISECONDS(200)

struct mad_transactions_options {
	unsigned window;       /* requests on the wire at once; 0: the default */
	unsigned tries;	       /* 0: the default */
	time_ns timeout;       /* of one try; 0: the default */
	uint32_t agent_number; /* the upper half of every transaction id */
	/* Optional: the way to a GID to which a request is redirected, if it is known at once. */
	bool (*find_path)(void *context, const struct gid *gid, struct mad_path *ret_path);
	void *context;
};

/* How one request is tried; 0 stands for what all have. */
struct mad_patience {
	time_ns timeout;
	unsigned tries;
};

/* When a request that has no answer yet is sent again; its tries together take as long at every
 * pace. */
enum mad_pace {
	MAD_PACE_STEADY, /* one per timeout */
	/* The first repetition comes when other answers would long have come, each further one
	 * after twice the time. */
	MAD_PACE_EAGER,
	/* In several copies, many times per timeout: the way there loses nearly everything. */
	MAD_PACE_INSISTENT,
};

/* What the requester wants to know again when its request ends. */
struct mad_purpose {
	void *subject;
	uint32_t detail;
};

struct mad_transaction; /* one place of the window */

struct mad_transactions {
	struct mad_transactions_options options;
	struct mad_transaction *places;
	struct list free;
	struct list to_send; /* new ones, and those whose try timed out */
	struct list on_wire; /* in the order of their deadlines */
	struct list failed;  /* out of tries, not yet told */
	unsigned busy_count;
	uint32_t sequence;
	enum mad_pace pace; /* of what is sent from now on */
	struct answer_time answer_time;
	uint64_t repeated_answer_count; /* so far: requests answered after a repetition */
	uint64_t retry_count;		/* so far, for statistics */
	uint64_t redirect_count;	/* so far */
};

MUST_USE int mad_transactions_init(struct mad_transactions *transactions,
				   const struct mad_transactions_options *options);
void mad_transactions_release(struct mad_transactions *transactions);

bool mad_transactions_has_room(const struct mad_transactions *transactions);
bool mad_transactions_is_idle(const struct mad_transactions *transactions);

/* Copies the request and gives it a transaction id. There is room. */
void mad_transactions_send(struct mad_transactions *transactions, const struct mad_message *request,
			   struct mad_purpose purpose);

/* The same with a timeout and a number of tries of its own. */
void mad_transactions_send_patiently(struct mad_transactions *transactions,
				     const struct mad_message *request, struct mad_purpose purpose,
				     struct mad_patience patience);

/* Whether the message answers one of our requests, which ends with it. Late, repeated and foreign
 * answers do not; nor does a redirection, which the request follows if it names a LID, or a GID
 * whose path is known. */
MUST_USE bool mad_transactions_receive(struct mad_transactions *transactions,
				       const struct mad_message *message,
				       struct mad_purpose *ret_purpose);

/* The same, and it learns how long answers take: what the paces other than the steady one go by. */
MUST_USE bool mad_transactions_receive_timed(struct mad_transactions *transactions, time_ns now,
					     const struct mad_message *message,
					     struct mad_purpose *ret_purpose);

/* The answer has begun to come, in several MADs: no try of its request ends before this time. */
void mad_transactions_hold(struct mad_transactions *transactions,
			   const struct mad_message *part_of_answer, time_ns until);

/* Tries that timed out at this time are sent again or fail. */
unsigned mad_transactions_transmit(struct mad_transactions *transactions, time_ns now,
				   unsigned messages_max, struct mad_message ret_messages[]);

/* Tells of one request that got no answer; call until false, after transmit. */
MUST_USE bool mad_transactions_take_failed(struct mad_transactions *transactions,
					   struct mad_purpose *ret_purpose,
					   struct mad_message *ret_request);

/* 0 when something can be sent at once, TIME_NEVER when nothing is under way. */
time_ns mad_transactions_deadline(const struct mad_transactions *transactions);

/* Forgets all requests; their answers will be foreign. */
void mad_transactions_cancel_all(struct mad_transactions *transactions);

#endif
