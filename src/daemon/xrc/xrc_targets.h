/* SPDX-License-Identifier: Apache-2.0 */
/* XRC targets, their domains and numbers, the programs that have them open and the one that holds
 * the lease. */
#ifndef SOFTIB_DAEMON_XRC_XRC_TARGETS_H
#define SOFTIB_DAEMON_XRC_XRC_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "daemon/xrc/xrc_domains.h"
#include "ipc/protocol.h"

struct daemon_core;

/* When a holder has to return a target. */
enum xrc_urgency { XRC_WHEN_IDLE, XRC_NOW };

/* A program that has the domain open. */
struct xrc_member {
	struct list link;
	struct client *client;
	unsigned stale_closes; /* "closed" records in the ring that are about an earlier membership
				*/
};

/* Queue pair numbers of the domain's targets. A block belongs to one domain, so that a number leads
 * to its domain. */
struct xrc_block {
	struct list link;
	struct xrc_domain *domain;
	uint32_t number;
	uint32_t next;			       /* where the search for a free number starts */
	struct xrc_target *targets[QPN_BLOCK]; /* NULL: the number is free */
};

struct xrc_domain {
	struct list link; /* in its adapter's xrc_domains */
	struct daemon_core *core;
	struct adapter_entry *adapter;
	uint32_t id;
	struct xrc_file file;
	struct list members;
	struct list targets;
	struct list blocks;
	uint32_t block_count;
	bool is_shared; /* a second program has opened it, and softibd leases out its targets */
};

/* A program that has the target open. */
struct xrc_user {
	struct list link;
	struct client *client;
	/* Opens minus closes: a program may open the target again by the control socket before its
	 * ring has said that it closed it. */
	uint32_t open_count;
	uint32_t unsent_events;
};

struct xrc_target {
	struct list link; /* in its domain's targets */
	struct xrc_domain *domain;
	uint32_t qpn;
	struct list users;
	struct client *holder; /* the program that holds the lease; NULL: softibd has the target */
	uint32_t sent_count;   /* packets sent to the holder since the lease was granted */
	uint8_t *state;	       /* the responder's state as the last holder returned it */
	uint32_t state_bytes;
	bool is_lost; /* the holder died, and the responder's state with it */
	bool recall_is_due;
	enum xrc_urgency recall_urgency;
	struct list waiting; /* struct waiting_packet */
	uint32_t waiting_count;
};

/* Makes a target that the client holds and has open. -ENOMEM, -ENOSPC. */
MUST_USE int xrc_target_create(struct client *client, struct xrc_domain *domain, uint32_t *ret_qpn,
			       bool *ret_is_shared);
MUST_USE int xrc_target_open(struct client *client, struct xrc_domain *domain, uint32_t qpn);
/* Leases the target to the client. -EAGAIN: another client still holds it; with XRC_NOW it is
 * recalled. */
MUST_USE int xrc_target_acquire(struct client *client, struct xrc_domain *domain, uint32_t qpn,
				enum xrc_urgency urgency);

/* Whether packets to this number go to a target that softibd leases out. */
bool xrc_target_is_leased(const struct adapter_entry *adapter, uint32_t qpn);

struct xrc_target *xrc_target_find(const struct adapter_entry *adapter, uint32_t qpn);
void xrc_target_destroy(struct xrc_target *target);

/* The holder returns the target. Returns false if the record is invalid. */
bool xrc_target_return(struct xrc_target *target, struct client *client,
		       const struct ring_record *record);
void xrc_target_close(struct xrc_target *target, struct client *client);

enum xrc_leaving { XRC_CLOSED, XRC_DIED };
/* The client leaves the domain. */
void xrc_target_leave(struct xrc_target *target, const struct client *client,
		      enum xrc_leaving leaving);

#endif
