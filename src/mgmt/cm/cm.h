/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication management of one host: connections and datagram service lookups as messages
 * between the QP1s of ports (vol 1, chapter 12).
 *
 * Messages and time go in by cm_receive and cm_transmit; what happens to a connection comes out by
 * the owner's callback, always as the last thing of an entry, so the callback may call anything
 * here. A connection belongs to its owner from cm_connect or the event that announced it until
 * cm_release; after that the manager finishes what the peer is still owed.
 */
#ifndef SOFTIB_MGMT_CM_CM_H
#define SOFTIB_MGMT_CM_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/cm_connect.h"
#include "wire/cm_established.h"
#include "wire/cm_sidr.h"

struct cm;
struct cm_connection;
struct cm_listener;

enum cm_state {
	CM_IDLE,
	CM_REQ_SENT,
	CM_REP_WAIT, /* the peer asked for time to answer */
	CM_REP_RCVD,
	CM_MRA_REP_SENT,
	CM_REQ_RCVD,
	CM_MRA_REQ_SENT,
	CM_REP_SENT,
	CM_MRA_REP_RCVD,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RCVD,
	CM_TIMEWAIT,
	CM_SIDR_REQ_SENT,
	CM_SIDR_REQ_RCVD,
	CM_STATES,
};

enum cm_event_kind {
	CM_EVENT_REQUEST,	  /* REQ: a new connection, or a peer-to-peer one turned passive */
	CM_EVENT_REPLY,		  /* REP */
	CM_EVENT_ESTABLISHED,	  /* RTU, or the first packet of the peer */
	CM_EVENT_REJECTED,	  /* REJ: reason */
	CM_EVENT_UNREACHABLE,	  /* no answer to REQ or REP */
	CM_EVENT_DISCONNECTED,	  /* DREQ: cm_disconnect answers it */
	CM_EVENT_DISCONNECT_DONE, /* our DREQ was answered, or never will be */
	CM_EVENT_TIMEWAIT_EXIT,
	CM_EVENT_ALTERNATE_PATH,	/* LAP: cm_answer_alternate answers it */
	CM_EVENT_ALTERNATE_ANSWER,	/* APR */
	CM_EVENT_ALTERNATE_UNREACHABLE, /* no answer to LAP */
	CM_EVENT_SIDR_REQUEST,
	CM_EVENT_SIDR_REPLY,
	CM_EVENT_SIDR_UNREACHABLE,
};

struct cm_private_data {
	const uint8_t *bytes; /* may be NULL if there are none */
	size_t byte_count;
};

struct cm_event {
	enum cm_event_kind kind;
	struct cm_listener *listener; /* of a request */
	const uint8_t *data;	      /* the message's CM_DATA_BYTES; NULL: no message caused it */
	struct cm_private_data private_data; /* all of the message's room, zero padded */
	uint32_t vendor_options;	     /* AttributeModifier, see vendor_id of REQ and REP */
	uint16_t reason;		     /* of a rejection */
	uint32_t port_index;		     /* where the message arrived */
	const struct mad_address *address;   /* whom it came from */
};

/* A message and the port it comes from or goes out by. */
struct cm_message {
	uint32_t port_index;
	struct mad_message mad;
};

struct cm_options {
	uint32_t agent_number;	      /* upper half of the transaction ids */
	uint64_t seed;		      /* where communication ids begin */
	const uint64_t *ca_guids;     /* by port index: of the adapter that the port is on */
	uint32_t port_count;	      /* at most CM_PORTS_MAX */
	uint32_t connections_max;     /* 0: the default */
	time_ns closed_service_grace; /* how long a request for a service that was just closed waits
					 for it to open again */
	void (*event)(void *context, struct cm_connection *connection,
		      const struct cm_event *event);
	void *context;
};

enum { CM_PORTS_MAX = 64, CM_CONNECTIONS_DEFAULT = 1 << 20 };

MUST_USE int cm_create(const struct cm_options *options, struct cm **ret_cm);
void cm_destroy(struct cm *cm);

void cm_receive(struct cm *cm, time_ns now, const struct cm_message *message);
/* Lets timers run, then gives messages to send. */
unsigned cm_transmit(struct cm *cm, time_ns now, unsigned messages_max,
		     struct cm_message ret_messages[]);
time_ns cm_deadline(const struct cm *cm);

/* Requests for service ids that are equal under the mask are the listener's. -EADDRINUSE: another
 * listens for the same; -ENOMEM. */
MUST_USE int cm_listen(struct cm *cm, time_ns now, uint64_t service_id, uint64_t mask,
		       void *context, struct cm_listener **ret_listener);
void cm_unlisten(struct cm *cm, time_ns now, struct cm_listener *listener);
void *cm_listener_context(const struct cm_listener *listener);

/* What does not stand in the REQ itself. Communication id and CA GUID of the REQ are filled in. */
struct cm_call {
	uint32_t port_index;
	struct mad_address address; /* of the peer's QP1 */
	uint8_t packet_life_time;   /* of the path, as a 5-bit time */
	bool is_peer_to_peer;	    /* the peer calls us with the same service id */
	uint32_t vendor_options;    /* AttributeModifier */
	struct cm_request request;
	struct cm_private_data private_data;
};

/* -EINVAL: too much private data, or no such port; -ENOMEM. */
MUST_USE int cm_connect(struct cm *cm, time_ns now, const struct cm_call *call, void *context,
			struct cm_connection **ret_connection);

/* All that follow: -EINVAL in a state where this can't be done or with too much private data. */
/* Answers a request; communication ids and CA GUID of the REP are filled in. */
MUST_USE int cm_accept(struct cm_connection *connection, time_ns now, const struct cm_rep *rep,
		       uint32_t vendor_options, struct cm_private_data private_data);
/* Sends the RTU. */
MUST_USE int cm_establish(struct cm_connection *connection, time_ns now,
			  struct cm_private_data private_data);
/* The first packet of the peer came before its RTU. */
MUST_USE int cm_notify_established(struct cm_connection *connection, time_ns now);
MUST_USE int cm_reject(struct cm_connection *connection, time_ns now, enum cm_reject_reason reason,
		       struct cm_private_data info, struct cm_private_data private_data);
/* Asks the peer for as much time as this 5-bit value says, at once or when it asks again. */
MUST_USE int cm_delay(struct cm_connection *connection, time_ns now, uint8_t service_timeout);
void cm_delay_when_asked(struct cm_connection *connection, uint8_t service_timeout);
/* DREQ, or the DREP where the peer was first. */
MUST_USE int cm_disconnect(struct cm_connection *connection, time_ns now,
			   struct cm_private_data private_data);

/* LAP: ids and QPN are filled in. */
MUST_USE int cm_load_alternate(struct cm_connection *connection, time_ns now,
			       const struct cm_lap *lap, struct cm_private_data private_data);
MUST_USE int cm_answer_alternate(struct cm_connection *connection, time_ns now,
				 enum cm_apr_status status, struct cm_private_data private_data);

/* Service id resolution: SIDR_REQ; the request id is filled in. */
struct cm_sidr_call {
	uint32_t port_index;
	struct mad_address address;
	struct cm_sidr_req request;
	time_ns timeout; /* of one try */
	unsigned retries;
	struct cm_private_data private_data;
};
MUST_USE int cm_sidr_resolve(struct cm *cm, time_ns now, const struct cm_sidr_call *call,
			     void *context, struct cm_connection **ret_connection);
MUST_USE int cm_sidr_answer(struct cm_connection *connection, time_ns now,
			    const struct cm_sidr_rep *rep, uint32_t vendor_options,
			    struct cm_private_data private_data);

/* The owner is done with it: what is open is refused or ended, and no event comes any more. */
void cm_release(struct cm_connection *connection, time_ns now);

void cm_connection_set_context(struct cm_connection *connection, void *context);
void *cm_connection_context(const struct cm_connection *connection);
enum cm_state cm_connection_state(const struct cm_connection *connection);
/* How long it rests once it is over. */
time_ns cm_connection_timewait(const struct cm_connection *connection);

struct cm_counts {
	uint32_t connections; /* of all states */
	uint32_t in_timewait;
	uint32_t orphans; /* released, not yet finished */
	uint32_t held_requests;
	uint32_t listeners;
};
struct cm_counts cm_count(const struct cm *cm);

#endif
