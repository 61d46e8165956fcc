/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of connection management and how they refer to each other: a connection manager per
 * host, its ports, its services, the programs that use it, their event channels and ids. Every unit
 * of this folder works on them.
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
#include "daemon/core/fair_share.h"
#include "daemon/mad/mad_dispatch.h"
#include "ipc/cm_protocol.h"
#include "mgmt/cm/cm.h"
#include "mgmt/sa/sa_client.h"

struct account;
struct cm_event_message;
struct daemon_core;
struct endpoint;
struct host;
struct ifaddrs;

struct cm_fabric {
	struct daemon_core *core;
	struct mad_dispatch *mads;
	bool is_up; /* set at the first use */
	struct list hosts;
	struct list ready; /* hosts with something to send */
	struct timer_queue timers;
	struct list programs;
	struct list ended;	     /* programs to release at the end of the turn */
	struct list closed_channels; /* channels to free at the end of the turn */
	struct list unwritten;	     /* channels with events to write at the end of the turn */
	struct ifaddrs *machine;     /* the addresses of this machine */
	time_ns machine_read_at;
};

/* A special QPN that no program gets. */
enum { QPN_IPOIB = 2 };

enum ipoib_state { IPOIB_DOWN, IPOIB_JOINING, IPOIB_JOINED };

enum { IPOIB_PARTITIONS_MAX = 16 };

/* A port in one of its partitions: in Linux this is an interface, ib0 or ib0.8001. */
struct ipoib_partition {
	uint16_t pkey; /* from the port's P_Key table */
	enum ipoib_state state;
	time_ns join_at; /* the earliest time of the next join */
	time_ns join_pause;
	struct mc_member_record group; /* the broadcast group, once joined */
};

struct ipoib_port {
	struct cm_port *port;
	/* The first is the partition of cm_port_pkey(). */
	struct ipoib_partition partitions[IPOIB_PARTITIONS_MAX];
	unsigned partition_count;
	bool partitions_are_stale;    /* the port's P_Key table may have changed */
	struct hash_table neighbours; /* by address */
	struct list asking;	      /* neighbours that have not answered */
	uint32_t psn;
};

/* A port of the host; `index` is its number in the connection engine. */
struct cm_port {
	struct cm_host *host;
	uint32_t index;
	struct endpoint *endpoint;
	struct mad_client client; /* of QP1; agent number 0: a program's own connection manager has
				     the port */
	struct sa_client sa;
	bool has_unsent;
	struct mad_message unsent; /* to the SA */
	struct ipoib_port ip;
	struct list groups; /* struct cm_group */
};

/* Kinds of requests to the SA (mad_purpose.detail); beside each, the type of its subject. */
enum cm_sa_request {
	CM_SA_REQUEST_NONE,	 /* the answer is dropped */
	CM_SA_REQUEST_PATH,	 /* an id */
	CM_SA_REQUEST_BROADCAST, /* a port */
	CM_SA_REQUEST_GROUP,	 /* a group */
	CM_SA_REQUEST_ALTERNATE, /* an id */
	CM_SA_REQUEST_REDIRECT,	 /* an id */
};

/* A service id that ids of the host are bound to. */
struct cm_service {
	uint64_t service_id;
	struct list ids;
	struct cm_listener *listener; /* NULL: no id listens */
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
	struct hash_table
		loading; /* ids whose alternate paths processes load, by adapter and QPN */
	struct random random;
	struct list ready_link;
	struct timer timer;
	bool has_unsent;
	struct cm_message unsent;
};

struct cm_program {
	struct cm_host *host;
	struct list link;	 /* fabric->programs or fabric->ended */
	struct account *account; /* of its process */
	int socket;
	struct watch watch;
	struct share_hold hold; /* while its socket is not read */
	bool is_ending;
	struct hash_table ids;
	struct hash_table channels;
	uint32_t last_id;
	uint32_t last_channel;
};

/* An event channel: a socket that softibd writes events to. */
struct cm_channel {
	struct cm_program *program;
	uint32_t number;
	int socket;
	uint64_t peer_cookie; /* socket_cookie() of the program's end */
	struct watch watch;
	struct list waiting; /* events that have not been written to the socket */
	uint32_t waiting_count;
	bool awaits_room;	    /* the socket is full, and epoll watches for room */
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
	CM_ID_CONNECTING, /* a REQ was sent or has arrived */
	CM_ID_CONNECTED,
	CM_ID_DISCONNECTED,
	CM_ID_LISTENING,
};

enum cm_alternate_state {
	CM_ALTERNATE_NONE,
	CM_ALTERNATE_RESOLVING, /* the SA was asked for the path */
	CM_ALTERNATE_ASKED,	/* a LAP was sent */
	CM_ALTERNATE_GRANTED,	/* the peer accepted; the program's process has not loaded the path
				   yet */
	CM_ALTERNATE_LOADING, /* a LAP arrived; the program's process has not loaded the path yet */
};

/* A listener's requests that wait for its program, or a request's place among them. */
struct cm_backlog {
	uint32_t request_count_max; /* of a listener */
	uint32_t waiting_count;
	struct list requests;	/* of a listener: ids of the requests */
	struct cm_id *listener; /* of a request: the listener that it waits for */
	struct list listener_link;
};

/* An alternate path that is being loaded (vol 1, 12.8). */
struct cm_alternate {
	enum cm_alternate_state state;
	struct cm_port *port;	 /* RESOLVING, ASKED: the path's first port */
	struct path_record path; /* ASKED: loaded into the queue pair if the peer accepts */
	uint8_t timeout;
	/* LOADING, GRANTED: the key in cm_host.loading; 0: none. */
	uint64_t loading_key;
};

/* Options that the program set (rdma_set_option). */
struct cm_id_options {
	uint8_t ack_timeout; /* 0: computed from the path */
	uint8_t traffic_class;
	bool reuses_address;
	bool is_one_family; /* an IPv6 address does not take IPv4 */
};

struct cm_id {
	uint32_t number;
	struct cm_program *program;
	struct cm_channel *channel; /* NULL: its events are dropped */
	enum cm_id_state state;
	uint32_t port_space;
	enum cm_qp_type qp_type;
	struct cm_port *port; /* NULL: any port of the host */
	struct cm_route route;
	struct cm_id_options options;
	bool is_accepted; /* a request that the program accepted */
	bool is_passive;
	uint32_t event_count; /* events written so far, including requests to a listener */

	struct cm_service *service; /* the service id that it is bound to */
	struct list service_link;
	struct cm_backlog backlog;

	struct list resolving_link; /* in the list of a neighbour that has not answered yet */
	time_ns resolve_until;
	struct list groups; /* struct cm_membership */

	struct cm_connection *connection;
	uint32_t send_psn;
	struct cm_terms terms;
	struct cm_parameters offered; /* by this id's program */

	struct cm_alternate alternate;
	bool is_redirected; /* the SA is asked for a path to the place below */
	struct cm_redirection redirection;
};

/* The number of the queue pair or EE context that our program offered (both share one number
 * space). */
static inline uint32_t cm_id_offered_number(const struct cm_id *id)
{
	return id->qp_type == CM_QP_RD ? id->offered.eecn : id->offered.qpn;
}

/* Everything that the program has is released at the end of this turn. The log gets the reason
 * unless it is NULL. */
void cm_program_end(struct cm_program *program, const char *reason);

struct cm_id *cm_program_find_id(const struct cm_program *program, uint32_t number);

#endif
