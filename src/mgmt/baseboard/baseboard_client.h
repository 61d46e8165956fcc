/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the baseboard of one node, one after the other: Get, Set and commands, with timeouts
 * and retries (management 6.2). A command that finds a VPD memory busy is repeated.
 *
 * A node may redirect the class. It does not redirect commands, which are Sends, so the first
 * request is a Get(ClassPortInfo): all others go to the place that answered it (management 1.6).
 *
 *	baseboard_client_add_command(client, COMMAND_READ_VPD, parameters, 5) ...
 *	baseboard_client_receive(client, now, &message)
 *	count = baseboard_client_transmit(client, now, ...)
 *	until baseboard_client_is_done(client); then the results, in the order of the requests
 */
#ifndef SOFTIB_MGMT_BASEBOARD_BASEBOARD_CLIENT_H
#define SOFTIB_MGMT_BASEBOARD_BASEBOARD_CLIENT_H

#include "mgmt/sa/class_client.h"
#include "wire/baseboard.h"

enum { BASEBOARD_REQUESTS_MAX = 64, BASEBOARD_BUSY_TRIES = 100 };

enum baseboard_outcome {
	BASEBOARD_WAITING,
	BASEBOARD_ANSWERED,
	BASEBOARD_SILENT,     /* no response: unreachable, or a wrong key */
	BASEBOARD_REDIRECTED, /* to a place that can't be reached, or too many times */
};

struct baseboard_request {
	uint8_t method;
	uint16_t attribute_id;
	uint8_t data[MAD_BYTES - BASEBOARD_DATA_OFFSET];
	enum baseboard_outcome outcome;
	uint16_t status; /* of the MAD; of a command: the first parameter of its answer */
	uint8_t answer[MAD_BYTES -
		       BASEBOARD_DATA_OFFSET]; /* of a command: what follows its status */
	unsigned answer_bytes;
};

struct baseboard_client {
	struct class_client client;
	struct mad_address node; /* or the place that it redirects to */
	bool is_placed;
	uint64_t key; /* the B_Key of the requests */
	struct baseboard_request requests[BASEBOARD_REQUESTS_MAX];
	unsigned request_count;
	unsigned current;
	bool is_sent;
	unsigned busy_count; /* of the current request */
	time_ns not_before;  /* of the current request */
};

/* The caller sets SA and GID of client->client.sa. */
MUST_USE int baseboard_client_init(struct baseboard_client *client,
				   const struct class_client_options *options,
				   const struct mad_address *node, uint64_t key);
void baseboard_client_release(struct baseboard_client *client);

/* At most BASEBOARD_REQUESTS_MAX. data may be NULL. */
void baseboard_client_add(struct baseboard_client *client, enum mad_method method,
			  uint16_t attribute_id, const uint8_t *data, size_t byte_count);
void baseboard_client_add_command(struct baseboard_client *client, enum baseboard_command command,
				  const uint8_t *parameters, unsigned parameter_count);

void baseboard_client_receive(struct baseboard_client *client, time_ns now,
			      const struct mad_message *message);
unsigned baseboard_client_transmit(struct baseboard_client *client, time_ns now,
				   unsigned messages_max, struct mad_message ret_messages[]);
time_ns baseboard_client_deadline(const struct baseboard_client *client);
/* Whether every request has an outcome. A request without a response ends the others too. */
bool baseboard_client_is_done(const struct baseboard_client *client);

/* A MAD of this class. */
void baseboard_mad_make(const struct mad_address *to, uint64_t key, uint8_t method,
			uint16_t attribute_id, struct mad_message *ret_message);

#endif
