/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of librdmacm: the structs behind the public ones, and the functions that its files
 * share. */
#ifndef SOFTIB_API_LIBRDMACM_IDENTIFIER_H
#define SOFTIB_API_LIBRDMACM_IDENTIFIER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "base/attributes.h"
#include "base/list.h"
#include "runtime/cm_session.h"

/* Behind struct rdma_event_channel. */
struct event_channel {
	struct rdma_event_channel public;
	uint32_t number;
};

/* What is known of the id's state without asking softibd. In the right phase a command is posted
 * without waiting for the answer. */
enum identifier_phase {
	PHASE_UNKNOWN, /* only softibd knows */
	PHASE_NEW,
	PHASE_ADDRESS_FOUND,
	PHASE_ROUTE_FOUND,
	PHASE_CALLED,	 /* a peer requested a connection */
	PHASE_CONNECTED, /* also while connecting, and after the end */
};

/* The id's events: how many the program has read, and how many of these it still holds. */
struct identifier_events {
	uint32_t read_count; /* from the channel */
	uint32_t held_count; /* not acknowledged */
	pthread_cond_t acknowledged;
};

/* From rdma_create_ep: QP attributes for incoming requests, private data for rdma_connect. */
struct identifier_endpoint {
	struct ibv_qp_init_attr *request_qp;
	void *connect_data;
	uint8_t connect_byte_count;
};

/* Behind struct rdma_cm_id. */
struct identifier {
	struct rdma_cm_id public;
	uint32_t number;
	bool is_announced; /* softibd knows the id */
	enum identifier_phase phase;
	uint64_t quiet_until; /* from the last event: no event comes before this time; 0 after a
			       * command */
	bool writes_events;   /* the program called rdma_write_cm_event, so an event can come at
			       * any time */
	bool is_synchronous;  /* calls wait for their event; the id owns its channel */
	bool has_own_cqs;
	bool is_passive;
	uint32_t backlog;
	/* Covers events.held_count and memberships; held while softibd learns of the id. */
	pthread_mutex_t mutex;
	struct identifier_events events;

	struct ibv_pd *default_pd;
	struct ibv_sa_path_rec path;
	struct cm_terms terms;
	uint32_t qkey;
	uint16_t pkey_index;
	uint8_t initiator_depth;
	uint8_t responder_resources;
	struct ibv_ece local_ece;
	struct ibv_ece remote_ece;
	struct list memberships;
	uint32_t last_token;

	struct identifier_endpoint endpoint;
	struct rdma_addrinfo *found_addresses; /* rdma_resolve_addrinfo */
};

static inline struct identifier *identifier_of(struct rdma_cm_id *id)
{
	return container_of(id, struct identifier, public);
}

static inline struct event_channel *event_channel_of(struct rdma_event_channel *channel)
{
	return container_of(channel, struct event_channel, public);
}

/* Returns 0 for 0, else -1 with errno. error is 0 or negative. */
int rdma_result(int error);

/* In event_channel.c. */

/* Reads the next event; blocks unless the descriptor is non-blocking. A cancellation point. Errors
 * as of cm_session_read_event. */
MUST_USE int event_channel_read(const struct event_channel *channel,
				struct cm_event_message *ret_event);
/* Sends a command by which softibd removes unread events from this channel. */
MUST_USE int event_channel_take_back(const struct event_channel *channel,
				     const struct cm_command *command);

/* In identifier.c. */

/* Creates the identifier of an id that softibd made for a connection request. */
MUST_USE int identifier_adopt(struct rdma_event_channel *channel, void *context,
			      enum rdma_port_space port_space, enum ibv_qp_type qp_type,
			      uint32_t number, struct identifier **ret_identifier);
/* NULL: destroyed. The caller holds the id until identifier_release(). */
struct identifier *identifier_hold(uint32_t number);
/* The program acknowledged an event. */
void identifier_release(struct identifier *identifier);
/* Those that the program has not destroyed. */
unsigned identifier_count(void);
/* An empty command for this id. */
void identifier_command(const struct identifier *identifier, enum cm_command_kind kind,
			struct cm_command *ret_command);
/* Like cm_session_ask and cm_session_post. softibd creates the id at its first command. */
MUST_USE int identifier_ask(struct identifier *identifier, struct cm_command *command,
			    struct cm_answer *ret_answer);
MUST_USE int identifier_post(struct identifier *identifier, struct cm_command *command);
/* For a synchronous id: waits for the event that the command causes. 0 or -1 with errno. */
int identifier_complete(struct identifier *identifier);
int identifier_create(struct rdma_event_channel *channel, void *context,
		      enum rdma_port_space port_space, enum ibv_qp_type qp_type,
		      struct identifier **ret_identifier);

/* In identifier_route.c. */

/* Copies softibd's route to the public fields of the id. */
void identifier_take_route(struct identifier *identifier, const struct cm_route *route);

/* In devices.c. */

/* The host's open adapter of this index, and the PD that ids use on it; NULL: none. */
struct ibv_context *devices_context(unsigned adapter_index);
/* Closes the adapters of a softibd that has ended, if nothing of the program uses them any more:
 * the next softibd's are opened then. */
void devices_close_lost(void);
struct ibv_pd *devices_pd(unsigned adapter_index);
/* The XRC domain that all ids of the adapter share; NULL with errno. */
struct ibv_xrcd *devices_xrcd(const struct ibv_context *context);
/* RDMA reads and atomics that the adapter can serve and issue at once. */
void devices_depths(struct ibv_context *context, uint8_t *ret_responder_resources,
		    uint8_t *ret_initiator_depth);

/* In socket_address.c. */

/* false: unsupported address family. socket NULL: no address. */
MUST_USE bool address_from_socket(const struct sockaddr *socket, struct cm_address *ret_address);
void address_to_socket(const struct cm_address *address, struct sockaddr_storage *ret_socket);
socklen_t address_length(const struct sockaddr *socket);

/* In queue_pair.c. */

enum cm_qp_type queue_pair_kind(enum ibv_qp_type type);
enum ibv_qp_type queue_pair_type(uint8_t kind);
/* Return 0 or an errno value. RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH stand for what the peer
 * offered. */
MUST_USE int queue_pair_to_rtr(struct identifier *identifier, uint8_t responder_resources);
MUST_USE int queue_pair_to_rts(struct identifier *identifier, uint8_t initiator_depth);
void queue_pair_to_error(struct identifier *identifier);

/* In rdma_multicast.c. */

struct membership;
/* Handles the event of a join: attaches the QP. Returns the program's context. */
void *membership_joined(struct identifier *identifier, struct rdma_cm_event *event,
			const struct cm_event_message *message);
void memberships_forget(struct identifier *identifier);

#endif
