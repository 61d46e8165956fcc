/* SPDX-License-Identifier: Apache-2.0 */
/* The connection manager of one host: its engine, the QP1s of its ports, the services its programs
 * listen for. */
#ifndef SOFTIB_DAEMON_CM_CM_HOST_H
#define SOFTIB_DAEMON_CM_CM_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/random.h"
#include "base/timer_queue.h"
#include "daemon/cm/cm_fabric.h"
#include "daemon/cm/ipoib_port.h"
#include "daemon/mad/mad_dispatch.h"
#include "host/cm_protocol.h"
#include "mgmt/cm/cm.h"
#include "mgmt/sa/sa_client.h"

struct cm_id;
struct endpoint;

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

MUST_USE int cm_host_create(struct cm_fabric *fabric, struct host *host, struct cm_host **ret_host);
void cm_host_destroy(struct cm_host *host);

/* Something may be there to send, or a deadline changed. */
void cm_host_wake(struct cm_host *host);
/* Sends what can be sent. Returns whether more could be done at once. */
bool cm_host_run(struct cm_host *host, time_ns now);

/* The port of this number on this adapter; the one with this GID; NULL: none of this host. */
struct cm_port *cm_host_find_port(const struct cm_host *host, const struct endpoint *endpoint);
struct cm_port *cm_host_find_gid(const struct cm_host *host, const struct gid *gid);
/* One that is Active if there is any. */
struct cm_port *cm_host_first_port(const struct cm_host *host);

/* The SA as the port knows it now. */
struct sa_client *cm_port_sa(struct cm_port *port);
struct gid cm_port_gid(const struct cm_port *port);
/* The key that connections use: of the default partition if the port is in it. */
uint16_t cm_port_pkey(const struct cm_port *port);
/* The index of the partition's key in the port's table; of the full one if it has both. */
MUST_USE bool cm_port_pkey_index(const struct cm_port *port, uint16_t pkey, uint16_t *ret_index);

time_ns cm_host_now(const struct cm_host *host);

#endif
