/* SPDX-License-Identifier: Apache-2.0 */
/* XRC targets and the inside of XRC domains: members, numbers, users and holders. */
#ifndef SOFTIB_DAEMON_XRC_XRC_TARGETS_H
#define SOFTIB_DAEMON_XRC_XRC_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "daemon/xrc/xrc_domains.h"
#include "host/protocol.h"

struct daemon_core;

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

struct xrc_member *xrc_domain_member(const struct xrc_domain *domain, const struct client *client);

struct xrc_target *xrc_target_find(const struct adapter_entry *adapter, uint32_t qpn);
void xrc_target_destroy(struct xrc_target *target);

/* Asks the holder to return the target. */
void xrc_target_recall(struct xrc_target *target, enum xrc_urgency urgency);
/* The holder returns the target. Returns false if the record is invalid. */
bool xrc_target_return(struct xrc_target *target, struct client *client,
		       const struct ring_record *record);
void xrc_target_close(struct xrc_target *target, struct client *client);

enum xrc_leaving { XRC_CLOSED, XRC_DIED };
/* The client leaves the domain. */
void xrc_target_leave(struct xrc_target *target, const struct client *client,
		      enum xrc_leaving leaving);

/* In xrc_leases.c: */
/* Grants a program the lease; false: no room in its down ring. */
MUST_USE bool xrc_lease_grant(struct xrc_target *target, struct client *client);
/* Sends these events, bits of enum qp_event, to all programs that have the target open. */
void xrc_lease_raise_events(struct xrc_target *target, uint32_t events);
void xrc_lease_send_waiting(struct xrc_target *target);
void xrc_lease_drop_first(struct xrc_target *target);
/* Sends recalls, events and packets that had to wait for room or for the holder. */
void xrc_target_push(struct xrc_target *target);

#endif
