/* SPDX-License-Identifier: Apache-2.0 */
/* Communication ids of programs: what a socket is to TCP (the states of Linux's rdma_cm). */
#ifndef SOFTIB_DAEMON_CM_CM_IDS_H
#define SOFTIB_DAEMON_CM_CM_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "daemon/cm/cm_program.h"

enum cm_id_state {
	CM_ID_IDLE,
	CM_ID_BOUND,
	CM_ID_RESOLVING_ADDRESS,
	CM_ID_ADDRESS_RESOLVED,
	CM_ID_RESOLVING_ROUTE,
	CM_ID_ROUTE_RESOLVED,
	CM_ID_CONNECTING, /* called, or called by a peer */
	CM_ID_CONNECTED,
	CM_ID_DISCONNECTED,
	CM_ID_LISTENING,
};

enum cm_alternate_state {
	CM_ALTERNATE_NONE,
	CM_ALTERNATE_RESOLVING, /* the SA looks for the path */
	CM_ALTERNATE_ASKED,	/* the peer, by LAP */
	CM_ALTERNATE_GRANTED,	/* by the peer; the program's process has not answered */
	CM_ALTERNATE_LOADING,	/* the peer asked; the program's process has not answered */
};

struct cm_event_message;

struct cm_id {
	uint32_t number;
	struct cm_program *program;
	struct cm_channel *channel; /* NULL: nobody hears of it */
	enum cm_id_state state;
	uint32_t port_space;
	enum cm_qp_type qp_type;
	struct cm_port *port; /* NULL: of any */
	struct cm_route route;
	uint8_t ack_timeout; /* asked for; 0: from the path */
	uint8_t traffic_class;
	bool reuses_address;
	bool is_one_family;
	bool is_accepted; /* called by a peer: its program took it */
	bool is_passive;
	uint32_t event_count; /* written so far, with requests to it */

	struct cm_service *service; /* that it is bound to */
	struct list service_link;
	uint32_t backlog; /* listening: requests that may wait */
	uint32_t waiting_count;
	struct cm_id *listener; /* a request that waits counts there */
	struct list listener_link;
	struct list requests; /* of a listener: ids that count */

	struct list resolving_link; /* of a neighbour that has not answered */
	time_ns resolve_until;
	struct list groups; /* struct cm_membership */

	struct cm_connection *connection;
	uint32_t send_psn;
	struct cm_terms terms;
	struct cm_parameters offered; /* by our program */

	enum cm_alternate_state alternate_state;
	struct cm_port *alternate_port;	   /* RESOLVING, ASKED: where the path begins */
	struct path_record alternate_path; /* ASKED: what its queue pair gets if the peer agrees */
	uint8_t alternate_timeout;
};

/* Of what our program has connected: a queue pair, or an EE context (which has one of the same
 * numbers). */
static inline uint32_t cm_id_offered_number(const struct cm_id *id)
{
	return id->qp_type == CM_QP_RD ? id->offered.eecn : id->offered.qpn;
}

/* Number 0: one of softibd's own. -EEXIST: the program has an id of this number; -ENOMEM, -EMFILE.
 */
MUST_USE int cm_id_create(struct cm_program *program, struct cm_channel *channel, uint32_t number,
			  uint32_t port_space, enum cm_qp_type qp_type, struct cm_id **ret_id);
/* Ends what it has under way. */
void cm_id_destroy(struct cm_id *id);
void cm_ids_leave_channel(struct cm_channel *channel);

/* Starts an event about an id with what the id knows. */
void cm_id_event_init(const struct cm_id *id, enum cm_program_event kind, int status,
		      struct cm_event_message *ret_event);
/* Events come by this channel from now on, also those that the program has not read yet
 * (read_count: how many it has; peer_socket: as for cm_channel_move_events). */
MUST_USE int cm_id_migrate(struct cm_id *id, struct cm_channel *channel, int peer_socket,
			   uint32_t read_count);
void cm_id_write(struct cm_id *id, const struct cm_event_message *event);
/* Both at once, for events with nothing to add. */
void cm_id_tell(struct cm_id *id, enum cm_program_event kind, int status);

/* The id works with this port from now on. */
void cm_id_use_port(struct cm_id *id, struct cm_port *port);
/* A request stops counting against its listener's backlog. */
void cm_id_leave_backlog(struct cm_id *id);

#endif
