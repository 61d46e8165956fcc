/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of connection management and how they refer to each other: a connection manager per
 * host, its ports, its services, the programs that use it, their event channels and ids. Every unit
 * of this folder works on them; there is no cm_objects.c.
 */
#ifndef SOFTIB_DAEMON_CM_CM_OBJECTS_H
#define SOFTIB_DAEMON_CM_CM_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/hash_table.h"
#include "base/list.h"
#include "base/random.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "daemon/core/event_loop.h"
#include "daemon/mad/mad_dispatch.h"
#include "host/cm_protocol.h"
#include "mgmt/cm/cm.h"
#include "mgmt/sa/sa_client.h"

struct cm_event_message;
struct daemon_core;
struct endpoint;
struct host;
struct ifaddrs;

struct cm_fabric {
	struct daemon_core *core;
	struct mad_dispatch *mads;
	bool is_up; /* from the first use on */
	struct list hosts;
	struct list ready; /* hosts with something to send */
	struct timer_queue timers;
	struct list programs;
	struct list ended;	     /* programs to take down at the end of the turn */
	struct list closed_channels; /* to be freed then */
	struct list unwritten;	 /* channels with events that their programs have not been shown */
	struct ifaddrs *machine; /* the addresses of this machine */
	time_ns machine_read_at;
};

/* Of the adapter's special numbers, none of which a program has. */
enum { QPN_IPOIB = 2 };

enum ipoib_state { IPOIB_DOWN, IPOIB_JOINING, IPOIB_JOINED };

enum { IPOIB_PARTITIONS_MAX = 16 };

/* The port in one of its partitions: what Linux has an interface for, ib0 or ib0.8001. */
struct ipoib_partition {
	uint16_t pkey; /* as in the port's table */
	enum ipoib_state state;
	time_ns join_at; /* not before */
	time_ns join_pause;
	struct mc_member_record group; /* the broadcast group, once joined */
};

struct ipoib_port {
	struct cm_port *port;
	/* The first is that of cm_port_pkey(). */
	struct ipoib_partition partitions[IPOIB_PARTITIONS_MAX];
	unsigned partition_count;
	bool partitions_are_stale;    /* the port's P_Key table may have changed */
	struct hash_table neighbours; /* by address */
	struct list asking;	      /* neighbours that have not answered */
	uint32_t psn;
};

/* A port of the host, by the index that the engine knows it by. */
struct cm_port {
	struct cm_host *host;
	uint32_t index;
	struct endpoint *endpoint;
	struct mad_client client; /* of QP1; agent number 0: the port is another's */
	struct sa_client sa;
	bool has_unsent;
	struct mad_message unsent; /* to the SA */
	struct ipoib_port ip;
	struct list groups; /* struct cm_group */
};

/* What was asked of the SA: mad_purpose.detail. */
enum cm_asked {
	CM_ASKED_NOTHING,   /* nobody wants to know */
	CM_ASKED_PATH,	    /* the subject is an id */
	CM_ASKED_BROADCAST, /* a port */
	CM_ASKED_GROUP,	    /* a group */
	CM_ASKED_ALTERNATE, /* an id */
};

/* A service id that ids of the host are bound to. */
struct cm_service {
	uint64_t service_id;
	struct list ids;
	struct cm_listener *listener; /* NULL: nobody listens */
	unsigned listening_count;
};

struct cm_host {
	struct cm_fabric *fabric;
	struct host *host;
	struct list link; /* fabric->hosts */
	struct cm *cm;
	struct cm_port *ports;
	uint32_t port_count;
	struct hash_table services; /* by service id */
	struct random random;
	struct list ready_link;
	struct timer timer;
	bool has_unsent;
	struct cm_message unsent;
};

struct cm_program {
	struct cm_host *host;
	struct list link; /* fabric->programs or fabric->ended */
	int socket;
	struct watch watch;
	bool is_ending;
	struct hash_table ids;
	struct hash_table channels;
	uint32_t last_id;
	uint32_t last_channel;
};

/* A channel that softibd writes events to. */
struct cm_channel {
	struct cm_program *program;
	uint32_t number;
	int socket;
	ino_t peer_inode; /* of the program's end */
	struct watch watch;
	struct list waiting; /* events that have not been written to the socket */
	uint32_t waiting_count;
	bool awaits_room;	    /* in the socket */
	struct list unwritten_link; /* fabric->unwritten */
	struct list closed_link;    /* fabric->closed_channels */
};

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

/* Requests that wait for a listener's program. */
struct cm_backlog {
	uint32_t request_count_max; /* of a listener */
	uint32_t waiting_count;
	struct list requests;	/* of a listener: ids that count */
	struct cm_id *listener; /* of a request that waits: it counts there */
	struct list listener_link;
};

/* An alternate path that is being loaded (vol 1, 12.8). */
struct cm_alternate {
	enum cm_alternate_state state;
	struct cm_port *port;	 /* RESOLVING, ASKED: where the path begins */
	struct path_record path; /* ASKED: what its queue pair gets if the peer agrees */
	uint8_t timeout;
};

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
	struct cm_backlog backlog;

	struct list resolving_link; /* of a neighbour that has not answered */
	time_ns resolve_until;
	struct list groups; /* struct cm_membership */

	struct cm_connection *connection;
	uint32_t send_psn;
	struct cm_terms terms;
	struct cm_parameters offered; /* by this id's program */

	struct cm_alternate alternate;
};

/* Of what our program has connected: a queue pair, or an EE context (which has one of the same
 * numbers). */
static inline uint32_t cm_id_offered_number(const struct cm_id *id)
{
	return id->qp_type == CM_QP_RD ? id->offered.eecn : id->offered.qpn;
}

#endif
