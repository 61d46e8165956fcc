/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a manager that wait for their responses: transaction ids, timeouts, retries, matching
 * (management 1.5).
 *
 * requests_max limits the requests under way. Callers ask mad_transactions_has_room()
 * before they make the next one. Nothing is allocated after init, but with ask_path once room for
 * redirections.
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
	MAD_REQUESTS_DEFAULT = 32,
	MAD_REQUESTS_MAX = 1024,
	MAD_TRIES_DEFAULT = 3,
	MAD_REDIRECTS_MAX = 4, /* of one request */
};

#define MAD_TIMEOUT_DEFAULT MILLISECONDS(200)

struct mad_transactions_options {
	unsigned requests_max; /* requests on the wire at once; 0: the default */
	unsigned tries;	       /* 0: the default */
	time_ns timeout;       /* of one try; 0: the default */
	uint32_t agent_number; /* the upper half of every transaction id */
	/* Optional: finds a path to the GID to which a request is redirected, if one is known at
	 * once. */
	bool (*find_path)(void *context, const struct gid *gid, struct mad_path *ret_path);
	/* Optional: asks for a path that is not known at once. The request waits until
	 * mad_transactions_take_path() gets the path with this number. false: it can't ask. */
	bool (*ask_path)(void *context, const struct gid *gid, uint32_t number);
	/* Optional: finds the port's own key of the partition, full or limited. A request is not
	 * redirected into a partition without one. */
	bool (*own_pkey)(void *context, uint16_t pkey, uint16_t *ret_own);
	void *context;
};

/* Timeout and tries of one request. 0: as in the options. */
struct mad_retries {
	time_ns timeout;
	unsigned tries;
};

/* When a request without a response is sent again. All tries together take the same time at every
 * pace. */
enum mad_pace {
	MAD_PACE_STEADY, /* once per timeout */
	/* The first repetition comes when most responses would have come, each further one after
	 * twice the time. */
	MAD_PACE_EAGER,
	/* Several copies, many times per timeout: for a path that loses nearly everything. */
	MAD_PACE_INSISTENT,
};

/* Identifies the request to its owner when it ends. */
struct mad_purpose {
	void *subject;
	uint32_t detail;
};

struct mad_transaction;

struct mad_transactions {
	struct mad_transactions_options options;
	struct mad_transaction *places;
	struct list free;
	struct list to_send;		  /* new requests, and those whose try timed out */
	struct list on_wire;		  /* sorted by deadline */
	struct list pathless;		  /* redirected to a GID whose path has been asked for */
	struct mad_message *redirections; /* of those, by place; NULL: there was none yet */
	struct list failed;		  /* out of tries; the owner has not taken them yet */
	unsigned busy_count;
	uint32_t sequence;
	enum mad_pace pace; /* of requests sent from now on */
	struct answer_time answer_time;
	uint64_t repeated_answer_count; /* requests answered after a repetition */
	uint64_t retry_count;		/* for statistics */
	uint64_t redirect_count;
	uint64_t redirect_loop_count; /* requests that were redirected too many times */
	/* Where the last request that got a response had been sent: it may have been redirected. */
	struct mad_address place;
};

MUST_USE int mad_transactions_init(struct mad_transactions *transactions,
				   const struct mad_transactions_options *options);
void mad_transactions_release(struct mad_transactions *transactions);

bool mad_transactions_has_room(const struct mad_transactions *transactions);
bool mad_transactions_is_idle(const struct mad_transactions *transactions);

/* Copies the request and gives it a transaction id. The caller has checked that there is room. */
void mad_transactions_send(struct mad_transactions *transactions, const struct mad_message *request,
			   struct mad_purpose purpose);

/* As mad_transactions_send(), with the request's own timeout and number of tries. */
void mad_transactions_send_with_retries(struct mad_transactions *transactions,
					const struct mad_message *request,
					struct mad_purpose purpose, struct mad_retries retries);

/* Whether the message answers one of our requests, which then ends. Late, repeated and foreign
 * responses do not. Nor does a redirection: the request follows it if it names a LID, or a GID
 * whose path is known or can be asked for. Nor does the status busy while there are tries left: the
 * next one comes after the timeout. */
MUST_USE bool mad_transactions_receive(struct mad_transactions *transactions,
				       const struct mad_message *message,
				       struct mad_purpose *ret_purpose);

/* As mad_transactions_receive(). It also learns the response time, which determines the eager pace.
 */
MUST_USE bool mad_transactions_receive_timed(struct mad_transactions *transactions, time_ns now,
					     const struct mad_message *message,
					     struct mad_purpose *ret_purpose);

/* The response has begun to arrive in several MADs: no try of its request times out before this
 * time. */
void mad_transactions_hold(struct mad_transactions *transactions,
			   const struct mad_message *part_of_answer, time_ns until);

/* The path that ask_path asked for with this number; NULL: there is none. True: the request does
 * not follow the redirection, so that is its response. */
MUST_USE bool mad_transactions_take_path(struct mad_transactions *transactions, uint32_t number,
					 const struct mad_path *path,
					 struct mad_purpose *ret_purpose,
					 struct mad_message *ret_redirection);

/* First handles the tries that timed out: they are sent again or fail. */
unsigned mad_transactions_transmit(struct mad_transactions *transactions, time_ns now,
				   unsigned messages_max, struct mad_message ret_messages[]);

/* Returns one request that got no response. Call it until it returns false, after transmit. */
MUST_USE bool mad_transactions_take_failed(struct mad_transactions *transactions,
					   struct mad_purpose *ret_purpose,
					   struct mad_message *ret_request);

/* 0 when there is something to send, TIME_NEVER when nothing is under way. */
time_ns mad_transactions_deadline(const struct mad_transactions *transactions);

/* Drops all requests. Responses that still come match nothing. */
void mad_transactions_cancel_all(struct mad_transactions *transactions);

#endif
