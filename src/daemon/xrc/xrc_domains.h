/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC domains that programs of a host share by a file, and their targets (vol 1, annex A14).
 *
 * A target of a domain that one program has open is that program's, like any queue pair. When a
 * second one opens the domain, softibd takes its targets into its keeping: for each packet it looks
 * up whose XRC SRQ is named and lends the target, with what its responder knows, to that program.
 * It comes back when there is nothing left to do.
 */
#ifndef SOFTIB_DAEMON_XRC_XRC_DOMAINS_H
#define SOFTIB_DAEMON_XRC_XRC_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"

struct adapter_entry;
struct client;
struct endpoint;
struct frame;
struct ring_record;
struct xrc_domain;

struct xrc_file {
	uint64_t device;
	uint64_t inode;
};

enum xrc_opening { XRC_EXISTING, XRC_CREATE, XRC_CREATE_EXCLUSIVE };

/* -EAGAIN: there is none; -EINVAL: there is one; -ENOMEM. */
MUST_USE int xrc_domain_open(struct client *client, struct adapter_entry *adapter,
			     const struct xrc_file *file, enum xrc_opening opening,
			     uint32_t *ret_id);
/* One that this client has open; NULL: none. */
struct xrc_domain *xrc_domain_find(const struct client *client, const struct adapter_entry *adapter,
				   uint32_t id);

/* A new target, which the client has and has open. -ENOMEM, -ENOSPC. */
MUST_USE int xrc_target_create(struct client *client, struct xrc_domain *domain, uint32_t *ret_qpn,
			       bool *ret_is_shared);
MUST_USE int xrc_target_open(struct client *client, struct xrc_domain *domain, uint32_t qpn);
enum xrc_urgency { XRC_WHEN_IDLE, XRC_NOW };
/* Lends it to the client. -EAGAIN: another one has it still, and was asked for it. */
MUST_USE int xrc_target_acquire(struct client *client, struct xrc_domain *domain, uint32_t qpn,
				enum xrc_urgency patience);

/* Whether packets to this number are for a target that softibd keeps. */
bool xrc_leases_target(const struct adapter_entry *adapter, uint32_t qpn);
/* One of those packets; bth_offset says where its BTH is. */
void xrc_lease_deliver(struct endpoint *endpoint, uint32_t qpn, const struct frame *frame,
		       unsigned bth_offset);

/* A record of the up ring about a target or a domain. Returns false if it makes no sense. */
bool xrc_take_record(struct client *client, const struct ring_record *record);

/* The client's down ring has room again. */
void xrc_client_has_room(struct client *client);
/* Before its queue pair numbers are given back. */
void xrc_client_gone(struct client *client);

#endif
