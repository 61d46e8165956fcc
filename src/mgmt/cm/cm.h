/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication management of one host: connections and SIDR, as messages between the QP1s of ports
 * (management 7).
 *
 * Messages and time enter by cm_receive() and cm_transmit(). Events of a connection leave by the
 * owner's callback. The callback is always the last action of an entry, so it may call anything
 * here. The owner has a connection from cm_connect(), or from the event that announced it, until
 * cm_release(). After that the manager finishes the exchange with the peer.
 */
#ifndef SOFTIB_MGMT_CM_CM_H
#define SOFTIB_MGMT_CM_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/class_port_info.h"
#include "wire/cm_connect.h"
#include "wire/cm_established.h"
#include "wire/cm_sidr.h"

struct cm;
struct cm_connection;
struct cm_listener;
struct path_record;

enum cm_state {
	CM_IDLE,
	CM_REQ_SENT,
	CM_REP_WAIT, /* the peer sent an MRA */
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
	CM_EVENT_REQUEST,     /* REQ: a new connection, or a peer-to-peer one that became passive */
	CM_EVENT_REPLY,	      /* REP */
	CM_EVENT_ESTABLISHED, /* RTU, or the peer's first packet */
	CM_EVENT_REJECTED,    /* REJ: reason */
	CM_EVENT_UNREACHABLE, /* no answer to REQ or REP */
	CM_EVENT_DISCONNECTED,	  /* DREQ: answer it with cm_disconnect() */
	CM_EVENT_DISCONNECT_DONE, /* our DREQ was answered, or all tries failed */
	CM_EVENT_TIMEWAIT_EXIT,
	CM_EVENT_ALTERNATE_PATH,	/* LAP: answer it with cm_answer_alternate() */
	CM_EVENT_ALTERNATE_ANSWER,	/* APR */
	CM_EVENT_ALTERNATE_UNREACHABLE, /* no answer to LAP */
	CM_EVENT_SIDR_REQUEST,
	CM_EVENT_SIDR_REPLY,
	CM_EVENT_SIDR_UNREACHABLE,
};

struct cm_private_data {
	const uint8_t *bytes; /* may be NULL if byte_count is 0 */
	size_t byte_count;
};

struct cm_event {
	enum cm_event_kind kind;
	struct cm_listener *listener; /* of a request */
	const uint8_t *data; /* the message's CM_DATA_BYTES; NULL: the event has no message */
	struct cm_private_data private_data; /* the message's whole private data, zero padded */
	uint32_t vendor_options;	     /* AttributeModifier, see vendor_id of REQ and REP */
	uint16_t reason;		     /* of a rejection */
	uint32_t port_index;		     /* where the message arrived */
	const struct mad_address *address;   /* of the sender */
};

/* A message, and the port by which it arrived or leaves. */
struct cm_message {
	uint32_t port_index;
	struct mad_message mad;
};

struct cm_options {
	uint32_t agent_number;	      /* upper half of the transaction ids */
	uint64_t seed;		      /* for the first communication id */
	const uint64_t *ca_guids;     /* by port index: the GUID of the port's adapter */
	uint32_t port_count;	      /* at most CM_PORTS_MAX */
	uint32_t connections_max;     /* 0: the default */
	time_ns closed_service_grace; /* how long a request waits for a service that was just closed
					 to open again */
	void (*event)(void *context, struct cm_connection *connection,
		      const struct cm_event *event);
	void *context;
};

enum { CM_PORTS_MAX = 64, CM_CONNECTIONS_DEFAULT = 1 << 20 };

MUST_USE int cm_create(const struct cm_options *options, struct cm **ret_cm);
void cm_destroy(struct cm *cm);

void cm_receive(struct cm *cm, time_ns now, const struct cm_message *message);
/* Runs the timers, then returns messages to send. */
unsigned cm_transmit(struct cm *cm, time_ns now, unsigned messages_max,
		     struct cm_message ret_messages[]);
time_ns cm_deadline(const struct cm *cm);

/* The listener gets requests whose service id matches under the mask (management 7.4). -EADDRINUSE:
 * there is such a listener already. -ENOMEM. */
MUST_USE int cm_listen(struct cm *cm, time_ns now, uint64_t service_id, uint64_t mask,
		       void *context, struct cm_listener **ret_listener);
void cm_unlisten(struct cm *cm, time_ns now, struct cm_listener *listener);
void *cm_listener_context(const struct cm_listener *listener);

/* Parameters of a call that are not in the REQ. The manager fills in the REQ's communication id and
 * CA GUID. */
struct cm_call {
	uint32_t port_index;
	struct mad_address address; /* of the peer's QP1 */
	uint8_t packet_life_time;   /* of the path, as a 5-bit time */
	bool is_peer_to_peer;	    /* the peer also calls us with the same service id */
	uint32_t vendor_options;    /* AttributeModifier */
	struct cm_request request;
	struct cm_private_data private_data;
};

/* -EINVAL: too much private data, or no such port; -ENOMEM. */
MUST_USE int cm_connect(struct cm *cm, time_ns now, const struct cm_call *call, void *context,
			struct cm_connection **ret_connection);

/* Where a peer redirects a call to (management 7.1). */
struct cm_redirection {
	uint16_t reason;	      /* of the REJ; 0: SIDR_REP */
	struct class_port_info place; /* of REJ 25 a GID alone */
	struct mad_address address;   /* of the connection manager that redirects */
};

/* false: the event of a call is no redirection, or one without a port. */
MUST_USE bool cm_redirection_read(const struct cm_event *event,
				  struct cm_redirection *ret_redirection);
/* The address that takes the redirected call, over this path to the place. After REJ 25 it stays.
 * false: the place has no LID, and the path neither. */
MUST_USE bool cm_redirection_address(const struct cm_redirection *redirection,
				     const struct path_record *path,
				     struct mad_address *ret_address);

struct cm_place {
	struct mad_address address; /* of the QP that takes the messages */
	uint8_t packet_life_time;
	uint8_t path_mtu;
	struct cm_path primary; /* of a connection */
};

/* Sends the call of cm_connect() or cm_sidr_resolve() to another place after REJ or SIDR_REP
 * redirected it, with a new communication id. -EINVAL: the connection is not such a call; -ELOOP:
 * it was redirected too often; -ENOMEM. */
MUST_USE int cm_call_elsewhere(struct cm_connection *connection, time_ns now,
			       const struct cm_place *place);

/* The following functions return -EINVAL in a wrong state or with too much private data. */
/* Answers a request. The manager fills in the REP's communication ids and CA GUID. */
MUST_USE int cm_accept(struct cm_connection *connection, time_ns now, const struct cm_rep *rep,
		       uint32_t vendor_options, struct cm_private_data private_data);
/* Sends the RTU. */
MUST_USE int cm_establish(struct cm_connection *connection, time_ns now,
			  struct cm_private_data private_data);
/* The peer's first packet arrived before its RTU (management 7.2). */
MUST_USE int cm_notify_established(struct cm_connection *connection, time_ns now);
MUST_USE int cm_reject(struct cm_connection *connection, time_ns now, enum cm_reject_reason reason,
		       struct cm_private_data info, struct cm_private_data private_data);
/* Asks the peer to wait for this 5-bit time by an MRA: at once, or when the peer repeats its
 * message. */
MUST_USE int cm_delay(struct cm_connection *connection, time_ns now, uint8_t service_timeout);
void cm_delay_when_asked(struct cm_connection *connection, uint8_t service_timeout);
/* Sends DREQ, or DREP if the peer disconnected first. */
MUST_USE int cm_disconnect(struct cm_connection *connection, time_ns now,
			   struct cm_private_data private_data);

/* Sends LAP. The manager fills in the ids and the QPN. */
MUST_USE int cm_load_alternate(struct cm_connection *connection, time_ns now,
			       const struct cm_lap *lap, struct cm_private_data private_data);
MUST_USE int cm_answer_alternate(struct cm_connection *connection, time_ns now,
				 enum cm_apr_status status, struct cm_private_data private_data);

/* Service id resolution: SIDR_REQ. The manager fills in the request id. */
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

/* The owner gives up the connection. Open messages are refused, an established connection is ended,
 * and no event follows. */
void cm_release(struct cm_connection *connection, time_ns now);

void cm_connection_set_context(struct cm_connection *connection, void *context);
void *cm_connection_context(const struct cm_connection *connection);
enum cm_state cm_connection_state(const struct cm_connection *connection);
/* How long the connection stays in TIMEWAIT (management 7.3). */
time_ns cm_connection_timewait(const struct cm_connection *connection);

struct cm_counts {
	uint32_t connections; /* of all states */
	uint32_t in_timewait;
	uint32_t orphans; /* released, but the exchange with the peer has not ended */
	uint32_t held_requests;
	uint32_t listeners;
};
struct cm_counts cm_count(const struct cm *cm);

#endif
