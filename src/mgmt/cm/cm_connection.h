/* SPDX-License-Identifier: Apache-2.0 */
/* Inside communication management: the state of a connection, and the functions that the files of
 * this folder share. There is no cm_connection.c: each group of functions names its file. */
#ifndef SOFTIB_MGMT_CM_CM_CONNECTION_H
#define SOFTIB_MGMT_CM_CM_CONNECTION_H

#include "base/hash_chain.h"
#include "base/list.h"
#include "base/random.h"
#include "base/timer_queue.h"
#include "mgmt/cm/cm.h"
#include "wire/gid.h"

enum lap_state {
	LAP_NONE,
	LAP_SENT,
	LAP_DELAYED, /* the peer sent an MRA */
	LAP_RCVD,
	LAP_DELAY_SENT,
};

/* The other side of a connection. */
struct cm_peer {
	struct mad_address address; /* of the peer's QP1 */
	uint32_t comm_id;	    /* SIDR: the peer's request id */
	uint64_t ca_guid;
	struct gid gid;
	uint32_t qpn; /* or EECN */
};

/* The message that the timer repeats: REQ, REP, LAP or DREQ (management 7.3). */
struct cm_retry {
	time_ns timeout;
	uint8_t max;
	uint8_t left;
	uint8_t message[MAD_BYTES];
};

struct cm_lap_exchange {
	enum lap_state state;
	uint64_t transaction_id;
	uint16_t sent_count; /* LAPs that we sent */
};

struct cm_connection {
	struct cm *cm;
	void *context;
	bool is_released;     /* has no owner any more */
	bool is_by_remote_id; /* in the table by remote id */
	bool is_by_remote_qpn;
	bool is_datagram;    /* its numbers are those of EE contexts (rd_channel.h) */
	bool shares_channel; /* another connection holds the EE context */
	enum cm_state state;
	struct timer timer;
	struct list link;	   /* cm->connections */
	struct list peer_link;	   /* cm->peer_calls, if the peer may call us too */
	struct hash_link id_link;  /* cm->by_remote_id */
	struct hash_link qpn_link; /* cm->by_remote_qpn */

	uint32_t port_index;
	struct cm_peer peer;
	uint32_t local_comm_id; /* SIDR: our request id */
	uint32_t local_qpn;	/* or EECN */
	uint64_t service_id;
	uint64_t transaction_id; /* of the message to answer */
	struct cm_lap_exchange lap;
	struct cm_retry retry;
	time_ns round_trip; /* twice the packet life time */
	time_ns timewait;
	uint8_t redirect_count;
	uint8_t delay; /* service timeout of the MRA that answers a repeated message; 0: none */
	uint32_t sidr_vendor_options;
};

/* A REQ for a service that was just closed. */
struct held_request {
	struct list link;
	time_ns deadline;
	struct cm_message message;
};

struct cm_listener {
	struct list link;
	uint64_t service_id;
	uint64_t mask;
	void *context;
};

struct closed_service {
	uint64_t service_id;
	uint64_t mask;
	time_ns until;
};

enum { CLOSED_SERVICES = 64, HELD_REQUESTS_MAX = 512, OUTBOX_MESSAGES_MAX = 1 << 16 };

struct cm {
	struct cm_options options;
	uint64_t ca_guids[CM_PORTS_MAX];
	struct list connections;
	struct list peer_calls;
	uint32_t connection_count;
	uint32_t timewait_count;
	uint32_t released_count;
	uint32_t next_id;
	uint32_t id_mask;
	struct hash_table by_local_id;
	struct hash_table by_remote_id;	 /* (peer's id, CA GUID), chained */
	struct hash_table by_remote_qpn; /* (peer's QPN, CA GUID), chained */
	struct timer_queue timers;
	struct hash_table exact_listeners; /* by service id */
	struct list masked_listeners;
	uint32_t listener_count;
	struct list held;
	uint32_t held_count;
	struct closed_service closed[CLOSED_SERVICES];
	unsigned next_closed;
	struct cm_message *outbox; /* a ring buffer that grows */
	uint32_t outbox_capacity;
	uint32_t outbox_head;
	uint32_t outbox_count;
};

/* connection_index.c: finding connections. */

MUST_USE int connection_create(struct cm *cm, uint32_t port_index, void *context,
			       struct cm_connection **ret_connection);
void connection_free(struct cm_connection *connection);
/* Messages with the old communication id do not find the connection any more. -ENOMEM. */
MUST_USE int connection_renew_id(struct cm_connection *connection);
struct cm_connection *connection_find(const struct cm *cm, uint32_t local_comm_id,
				      uint32_t remote_comm_id);
struct cm_connection *connection_find_remote_id(const struct cm *cm, uint32_t remote_comm_id,
						uint64_t remote_ca_guid);
/* Queue pairs and EE contexts have separate number spaces. */
static inline uint32_t remote_number(uint32_t number, bool is_eecn)
{
	return number | (uint32_t)is_eecn << 24;
}
struct cm_connection *connection_find_remote_qpn(const struct cm *cm, uint32_t number,
						 uint64_t remote_ca_guid);
MUST_USE int connection_index_remote_id(struct cm_connection *connection);
MUST_USE int connection_index_remote_qpn(struct cm_connection *connection);
void connection_unindex_remote_qpn(struct cm_connection *connection);
void connection_unindex_remote_id(struct cm_connection *connection);

/* outbox.c: sending. */

/* A message to be sent; its data are zero until the caller writes them. NULL: no memory. The peer
 * or a timer will repeat the exchange. */
struct cm_message *outbox_start(struct cm *cm, uint32_t port_index,
				const struct mad_address *address, enum cm_message_id id,
				uint64_t transaction_id, uint32_t attribute_modifier);
/* A message for the peer of this connection. */
struct cm_message *outbox_start_for(const struct cm_connection *connection, enum cm_message_id id,
				    uint64_t transaction_id, uint32_t attribute_modifier);
static inline uint8_t *outbox_data(struct cm_message *message)
{
	return message->mad.bytes + CM_DATA_OFFSET;
}
/* Whether a message with this much room can carry the private data. */
static inline bool private_fits(struct cm_private_data private_data, size_t room)
{
	return private_data.byte_count <= room && (private_data.bytes || !private_data.byte_count);
}
void put_private(uint8_t *ret_bytes, struct cm_private_data private_data);
unsigned outbox_take(struct cm *cm, unsigned messages_max, struct cm_message ret_messages[]);

/* The timer repeats the message until it is cancelled. */
void connection_repeat(struct cm_connection *connection, time_ns now, time_ns timeout,
		       unsigned retries, const struct cm_message *message);
/* Sends the repeated message once more. */
void connection_resend(struct cm_connection *connection);
uint64_t transaction_id_of(const struct cm_connection *connection);

/* passive.c: a REJ that belongs to no connection. */

void send_rej_to(struct cm *cm, const struct cm_message *request, uint32_t remote_comm_id,
		 uint32_t local_comm_id, enum cm_answered answered, enum cm_reject_reason reason);

/* states.c: states and events. */

/* The only place where a state changes. */
void connection_enter(struct cm_connection *connection, enum cm_state state);
void connection_enter_timewait(struct cm_connection *connection, time_ns now);
/* The connection becomes idle. It is freed if it has no owner. */
void connection_enter_idle(struct cm_connection *connection);
void connection_send_mra(struct cm_connection *connection, enum cm_answered answered,
			 uint8_t service_timeout);
void connection_cancel(struct cm_connection *connection);

/* Calls the owner, who may call anything: the last action of an entry. */
void connection_tell(struct cm_connection *connection, enum cm_event_kind kind,
		     const struct cm_message *message, size_t private_offset, size_t private_bytes);
void connection_tell_event(struct cm_connection *connection, const struct cm_event *event);

/* One function per received message. */

void req_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void mra_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void rej_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void rep_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void rtu_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void dreq_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void drep_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void lap_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void apr_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void sidr_req_receive(struct cm *cm, time_ns now, const struct cm_message *message);
void sidr_rep_receive(struct cm *cm, time_ns now, const struct cm_message *message);

/* The connection's timer is due: repeat, give up, or leave TIMEWAIT. */
void connection_expire(struct cm_connection *connection, time_ns now);

/* listeners.c. */

struct cm_listener *listener_find(const struct cm *cm, uint64_t service_id);
/* Whether the REQ is kept until its service opens again. */
MUST_USE bool listeners_hold(struct cm *cm, time_ns now, uint64_t service_id,
			     const struct cm_message *message);
void listeners_expire(struct cm *cm, time_ns now);
time_ns listeners_deadline(const struct cm *cm);
void listeners_release(struct cm *cm);

/* Rejects a REQ that has no listener. */
void req_refuse(struct cm *cm, const struct cm_message *message, enum cm_reject_reason reason);

#endif
