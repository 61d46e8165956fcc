/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port that follows the multicast groups of its subnet and is a member of those its owner wants,
 * by MADs alone (vol 1, chapter 15): it subscribes to the SA's notices of groups (traps 66 and 67),
 * reads the table of groups when something may have changed, joins and leaves. Routers are such
 * ports.
 *
 * It asks without the subnet's key, so it sees groups, not who is in them. Where it is a full
 * member itself, a group that is there may be there for its sake only; whoever wants to know leaves
 * and reads again.
 *
 *	group_client_set_port(client, &port) whenever the port may have changed
 *	group_client_receive(client, now, &message) for SubnAdm: responses, and Report
 *	count = group_client_transmit(client, now, ...)
 *	if (client->has_news && group_client_is_settled(client)) ...
 */
#ifndef SOFTIB_MGMT_SA_GROUP_CLIENT_H
#define SOFTIB_MGMT_SA_GROUP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/sa/group_memberships.h"
#include "mgmt/sa/sa_client.h"
#include "wire/gid.h"

enum { GROUP_CLIENT_ANSWERS_MAX = 16, GROUP_CLIENT_TRAPS = 2 };

/* What the client has to know of the port. */
struct group_port {
	bool is_active;
	struct gid gid;
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint16_t pkey; /* shared with the SA */
};

struct group_client {
	struct sa_client sa;
	struct group_port port;
	unsigned asked_count; /* requests on their way */
	bool is_subscribed[GROUP_CLIENT_TRAPS];
	bool is_stale;	/* the table has to be read again */
	bool must_read; /* ... before it says anything: we were a full member until now */
	bool is_silent; /* the SA does not answer: what was read last has to do */
	bool has_news;	/* the owner resets it */
	time_ns ask_at; /* nothing is asked before */
	time_ns read_at, refresh_at;
	time_ns memberships_due;	 /* one of them may have something to ask */
	struct mc_member_record *groups; /* by MGID */
	size_t group_count;
	struct group_memberships memberships;
	struct mad_message answers[GROUP_CLIENT_ANSWERS_MAX]; /* to reports */
	unsigned answer_count;
};

MUST_USE int group_client_init(struct group_client *client, uint32_t agent_number);
/* Says nothing to the SA, which forgets a port that is gone. */
void group_client_release(struct group_client *client);

/* Begins anew if it is another subnet, manager or LID. */
void group_client_set_port(struct group_client *client, const struct group_port *port);
/* The manager asked for it (ClientReregister): subscriptions and memberships may be forgotten. */
void group_client_restart(struct group_client *client);

/* Nothing is under way that would change what is known here. */
bool group_client_is_settled(const struct group_client *client);
/* NULL: the subnet has no such group. */
const struct mc_member_record *group_client_find(const struct group_client *client,
						 const struct gid *mgid);
/* NULL: never wanted. It stays while anything is joined or wanted. */
struct group_membership *group_client_membership(const struct group_client *client,
						 const struct gid *mgid);

/* What the port is to be in this group: join states, 0: no member. A full member creates it, as it
 * is described here, where it is not. -ENOMEM. */
MUST_USE int group_client_want(struct group_client *client, const struct mc_member_record *group,
			       uint8_t join_states);

void group_client_receive(struct group_client *client, time_ns now,
			  const struct mad_message *message);
unsigned group_client_transmit(struct group_client *client, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[]);
/* 0 when something can be sent at once. */
time_ns group_client_deadline(const struct group_client *client);

#endif
