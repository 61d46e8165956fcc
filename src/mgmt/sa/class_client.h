/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of general service classes on one port: requests with timeouts and retries that follow
 * redirection, also to a GID, whose path it asks the SA for (management 1.5, 1.6).
 *
 * Each request ends with exactly one result. MADs and time go in; MADs come out.
 */
#ifndef SOFTIB_MGMT_SA_CLASS_CLIENT_H
#define SOFTIB_MGMT_SA_CLASS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/transactions.h"
#include "mgmt/sa/sa_client.h"

struct class_client_options {
	uint32_t agent_number;	  /* the upper half of the requests' transaction ids */
	uint32_t sa_agent_number; /* of the questions to the SA */
	time_ns timeout;	  /* of one try; 0: the default */
	unsigned tries;
	/* Optional, as in struct mad_transactions_options. */
	bool (*own_pkey)(void *context, uint16_t pkey, uint16_t *ret_own);
	void *context;
};

enum class_client_outcome {
	CLASS_CLIENT_ANSWERED,	 /* with any status but redirect */
	CLASS_CLIENT_REDIRECTED, /* to a place that can't be reached, or too many times */
	CLASS_CLIENT_TIMED_OUT,
};

struct class_client_result {
	struct mad_purpose purpose;
	enum class_client_outcome outcome;
	bool is_loop;		    /* CLASS_CLIENT_REDIRECTED: too many times */
	struct mad_address place;   /* where the request was last sent to, if it had a response */
	struct mad_message message; /* the last response; the request if there was none */
};

struct class_client {
	struct mad_transactions transactions;
	struct sa_client sa;   /* sa_client_set_sa() and sa_client_set_own_gid() are the owner's */
	struct list exchanges; /* under way */
	struct list results;
	unsigned exchange_count;
	bool (*own_pkey)(void *context, uint16_t pkey, uint16_t *ret_own);
	void *context;
};

MUST_USE int class_client_init(struct class_client *client,
			       const struct class_client_options *options);
void class_client_release(struct class_client *client);

/* Any request of one MAD, of any class but SubnAdm. -ENOBUFS: too many are under way, -ENOMEM. */
MUST_USE int class_client_ask(struct class_client *client, const struct mad_message *request,
			      struct mad_purpose purpose);

void class_client_receive(struct class_client *client, time_ns now,
			  const struct mad_message *message);
unsigned class_client_transmit(struct class_client *client, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[]);
/* 0 when there is something to send or a result to take. */
time_ns class_client_deadline(const struct class_client *client);

/* Call until false, after receive and transmit. */
MUST_USE bool class_client_take_result(struct class_client *client,
				       struct class_client_result *ret_result);

#endif
