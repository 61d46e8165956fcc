/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of librdmacm: what stands behind the public structures, and what its files do for each
 * other. */
#ifndef SOFTIB_API_LIBRDMACM_IDENTIFIER_H
#define SOFTIB_API_LIBRDMACM_IDENTIFIER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "base/attributes.h"
#include "base/list.h"
#include "host/cm_session.h"

/* What programs know as struct rdma_event_channel. */
struct event_channel {
	struct rdma_event_channel public;
	uint32_t number;
};

/* What a call may take for granted; where it fits, softibd is told and not asked. */
enum identifier_phase {
	PHASE_UNKNOWN, /* softibd knows */
	PHASE_NEW,
	PHASE_ADDRESS_FOUND,
	PHASE_ROUTE_FOUND,
	PHASE_CALLED,	 /* by a peer */
	PHASE_CONNECTED, /* or about to be, or no longer */
};

/* What programs know as struct rdma_cm_id. */
struct identifier {
	struct rdma_cm_id public;
	uint32_t number;
	bool is_announced; /* softibd knows it */
	enum identifier_phase phase;
	uint64_t quiet_until; /* as the last event says; 0 since something was asked for */
	bool writes_events;   /* its own: no event is known to be the last */
	bool is_synchronous;  /* calls wait for their event; the channel is its own */
	bool has_own_cqs;
	bool is_passive;
	uint32_t backlog;
	uint32_t read_count; /* events taken from the channel */

	/* Covers the events of this id that programs hold. */
	pthread_mutex_t mutex;
	pthread_cond_t acknowledged;
	uint32_t held_count;

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

	/* rdma_create_ep: for the ids of requests, and for the call. */
	struct ibv_qp_init_attr *request_qp;
	void *connect_data;
	uint8_t connect_byte_count;
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

/* -1 with errno, 0 for 0; error is 0 or negative. */
int rdma_result(int error);

/* In event_channel.c. */

/* The next event; blocks as the descriptor does. Errors as those of cm_session_read_event, a
 * cancellation point. */
MUST_USE int event_channel_read(const struct event_channel *channel,
				struct cm_event_message *ret_event);
/* A command after which softibd takes unread events back out of this channel. */
MUST_USE int event_channel_take_back(const struct event_channel *channel,
				     const struct cm_command *command);

/* In identifier.c. */

/* An id that softibd made for a request. */
MUST_USE int identifier_adopt(struct rdma_event_channel *channel, void *context,
			      enum rdma_port_space port_space, enum ibv_qp_type qp_type,
			      uint32_t number, struct identifier **ret_identifier);
/* NULL: not ours any more. The caller holds it until identifier_release. */
struct identifier *identifier_hold(uint32_t number);
/* An event that a program held is acknowledged. */
void identifier_release(struct identifier *identifier);
/* An empty question about this id. */
void identifier_command(const struct identifier *identifier, enum cm_command_kind kind,
			struct cm_command *ret_command);
/* As cm_session_ask and cm_session_post; the first of an id makes it there. */
MUST_USE int identifier_ask(struct identifier *identifier, struct cm_command *command,
			    struct cm_answer *ret_answer);
MUST_USE int identifier_post(struct identifier *identifier, struct cm_command *command);
/* Of a synchronous id: waits for the event of what was asked. 0 or -1 with errno. */
int identifier_complete(struct identifier *identifier);
int identifier_create(struct rdma_event_channel *channel, void *context,
		      enum rdma_port_space port_space, enum ibv_qp_type qp_type,
		      struct identifier **ret_identifier);

/* In identifier_route.c. */

/* What softibd knows of the way becomes what programs read. */
void identifier_take_route(struct identifier *identifier, const struct cm_route *route);

/* In devices.c. */

/* The open adapter of this index of the host, and its protection domain for ids; NULL: none. */
struct ibv_context *devices_context(unsigned adapter_index);
struct ibv_pd *devices_pd(unsigned adapter_index);
/* A domain that all ids of the adapter share; NULL with errno. */
struct ibv_xrcd *devices_xrcd(const struct ibv_context *context);
/* RDMA reads and atomics that the adapter can serve and issue at once. */
void devices_depths(struct ibv_context *context, uint8_t *ret_responder_resources,
		    uint8_t *ret_initiator_depth);

/* In socket_address.c. */

/* false: a family that does not exist here. NULL is no address. */
MUST_USE bool address_from_socket(const struct sockaddr *socket, struct cm_address *ret_address);
void address_to_socket(const struct cm_address *address, struct sockaddr_storage *ret_socket);
socklen_t address_length(const struct sockaddr *socket);

/* In queue_pair.c. */

enum cm_qp_type queue_pair_kind(enum ibv_qp_type type);
enum ibv_qp_type queue_pair_type(uint8_t kind);
/* 0 or an errno. depth and resources of RDMA_MAX_*: what the peer offered. */
MUST_USE int queue_pair_to_rtr(struct identifier *identifier, uint8_t responder_resources);
MUST_USE int queue_pair_to_rts(struct identifier *identifier, uint8_t initiator_depth);
void queue_pair_to_error(struct identifier *identifier);

/* In rdma_multicast.c. */

struct membership;
/* A join's event: attaches the queue pair. Returns the program's context. */
void *membership_joined(struct identifier *identifier, struct rdma_cm_event *event,
			const struct cm_event_message *message);
void memberships_forget(struct identifier *identifier);

#endif
