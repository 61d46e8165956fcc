/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP0 and QP1 of every port with an endpoint: dispatching MADs to clients, and clients' MADs to the
 * fabric (vol 1, chapter 13; management 1.7).
 *
 * The node's own agents (mgmt/agents) have seen a request before. A response goes to the client
 * whose agent number is the upper half of its transaction id; any other MAD goes to the client that
 * registered for its class, version and method.
 */
#ifndef SOFTIB_DAEMON_MAD_MAD_DISPATCH_H
#define SOFTIB_DAEMON_MAD_MAD_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"

struct fabric;
struct frame;
struct port;

enum { MAD_REGISTRATIONS_MAX = 4, MAD_METHOD_WORDS = 2 };

/* Unsolicited MADs that a client takes. */
struct mad_registration {
	uint8_t management_class;
	uint8_t class_version;
	uint32_t oui;			    /* vendor classes of range 2 */
	uint64_t methods[MAD_METHOD_WORDS]; /* a bit per method, without R */
};

/* A user of QP0 or QP1 of a port. Lies inside its owner's object, and does not move between add and
 * remove. */
struct mad_client {
	/* Set by the owner before mad_client_add(). */
	struct port *port; /* with an endpoint */
	void (*receive)(struct mad_client *client, const struct mad_message *message, time_ns now);
	struct mad_registration registrations[MAD_REGISTRATIONS_MAX];
	unsigned registration_count;
	/* Set by the dispatcher. */
	uint32_t agent_number; /* the upper half of the transaction ids of its requests */
	struct list port_link; /* endpoint->mad_clients, if it registered for anything */
	uint32_t psn;
};

struct mad_dispatch {
	struct fabric *fabric;
	struct hash_table clients; /* by agent number */
	uint32_t last_agent_number;
};

void mad_dispatch_init(struct mad_dispatch *dispatch, struct fabric *fabric);
void mad_dispatch_release(struct mad_dispatch *dispatch);

/* Gives the client an agent number and activates its registrations. -EBUSY: another client of this
 * port has one of them. */
MUST_USE int mad_client_add(struct mad_dispatch *dispatch, struct mad_client *client);
/* The client receives nothing more; answers to its requests are dropped. */
void mad_client_remove(struct mad_dispatch *dispatch, struct mad_client *client);

/* Sends a MAD: from QP0 on VL15 for the subnet management classes, from QP1 for all others. The
 * transaction id is sent unchanged. false: no room now, the caller keeps the MAD. */
MUST_USE bool mad_client_send(struct mad_dispatch *dispatch, struct mad_client *client,
			      const struct mad_message *message, time_ns now);

/* Sends a MAD of an agent of this port's node, with or without an endpoint, from QP1. Its P_Key is
 * the one of the port's table that matches message->address.pkey. false: no room now. */
MUST_USE bool mad_dispatch_send_as_agent(struct mad_dispatch *dispatch, struct port *port,
					 const struct mad_message *message, time_ns now);

/* Takes a packet that arrived for QP0 or QP1 of this port; the frame stays the caller's. The client
 * gets the source address in a form that an answer can be sent to: its P_Key is the port's own. */
void mad_dispatch_receive(struct mad_dispatch *dispatch, struct port *port,
			  const struct frame *frame, time_ns now);

/* A P_Key that the SA's port has too: of the default partition if the port is in it. */
uint16_t mad_port_pkey(const struct port *port);

/* Whether a MAD is a response, which is dispatched by its transaction id. */
bool mad_is_response(const uint8_t mad[static MAD_BYTES]);
void mad_registration_add_method(struct mad_registration *registration, enum mad_method method);

#endif
