/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC domains that programs of a host share by a file, and their targets (vol 1, annex A14).
 *
 * While one program has a domain open, its targets belong to that program, like any queue pair.
 * When a second program opens the domain, softibd takes over the targets: for each packet it finds
 * the owner of the XRC SRQ that the packet names, and leases the target, with its responder's
 * state, to that program. The program returns the target when it has nothing left to do with it.
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
struct ring_record;
struct xrc_domain;
struct xrc_member;

struct xrc_file {
	uint64_t device;
	uint64_t inode;
};

enum xrc_opening { XRC_EXISTING, XRC_CREATE, XRC_CREATE_EXCLUSIVE };

/* -EAGAIN: the domain does not exist; -EINVAL: it exists; -ENOMEM. */
MUST_USE int xrc_domain_open(struct client *client, struct adapter_entry *adapter,
			     const struct xrc_file *file, enum xrc_opening opening,
			     uint32_t *ret_id);
/* The domain with this id if the client has it open; NULL: it does not. */
struct xrc_domain *xrc_domain_find(const struct client *client, const struct adapter_entry *adapter,
				   uint32_t id);

/* The client's membership; NULL: it does not have the domain open. */
struct xrc_member *xrc_domain_member(const struct xrc_domain *domain, const struct client *client);

/* Takes a record of the up ring about a target or a domain. Returns false if the record is invalid.
 */
bool xrc_take_record(struct client *client, const struct ring_record *record);

/* The client's down ring has room again. */
void xrc_client_has_room(struct client *client);
/* The client ended. To be called before its queue pair numbers are released. */
void xrc_client_gone(struct client *client);

#endif
