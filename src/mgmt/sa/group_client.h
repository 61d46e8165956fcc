/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port that follows the multicast groups of its subnet and joins those that its owner wants, by
 * MADs only (management 4.7, 4.8). It subscribes to traps 66 and 67, reads the table of groups when
 * something may have changed, joins and leaves. Router ports use it.
 *
 * Its requests are not trusted, so it sees groups but not their members. If the port is a full
 * member, a group may exist only because of it. To find out, the owner leaves the group and reads
 * the table again.
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

/* The properties of the port that the client needs. */
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
	unsigned asked_count; /* requests under way */
	bool is_subscribed[GROUP_CLIENT_TRAPS];
	bool is_stale;	/* the table must be read again */
	bool must_read; /* the table must be read before it is used: the port was a full member
			   until now */
	bool is_silent; /* the SA does not answer: the last table stays in use */
	bool has_news;	/* the owner resets it */
	time_ns ask_at; /* no request before this time */
	time_ns read_at, refresh_at;
	time_ns memberships_due;	 /* when a membership may have a request to send */
	struct mc_member_record *groups; /* by MGID */
	size_t group_count;
	struct group_memberships memberships;
	struct mad_message answers[GROUP_CLIENT_ANSWERS_MAX]; /* acknowledgements of reports */
	unsigned answer_count;
};

MUST_USE int group_client_init(struct group_client *client, uint32_t agent_number);
/* Sends nothing to the SA, which drops a port that is gone. */
void group_client_release(struct group_client *client);

/* Starts again if subnet, manager or LID changed. */
void group_client_set_port(struct group_client *client, const struct group_port *port);
/* The manager set ClientReregister: the SA may have lost subscriptions and memberships. */
void group_client_restart(struct group_client *client);

/* No request is under way that would change the known groups. */
bool group_client_is_settled(const struct group_client *client);
/* NULL: the subnet has no such group. */
const struct mc_member_record *group_client_find(const struct group_client *client,
						 const struct gid *mgid);
/* NULL: there is none. A membership exists while it is joined or wanted. */
struct group_membership *group_client_membership(const struct group_client *client,
						 const struct gid *mgid);

/* Sets the join states that the port should have in this group; 0: none. A full member creates a
 * missing group as described here. -ENOMEM. */
MUST_USE int group_client_want(struct group_client *client, const struct mc_member_record *group,
			       uint8_t join_states);

void group_client_receive(struct group_client *client, time_ns now,
			  const struct mad_message *message);
unsigned group_client_transmit(struct group_client *client, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[]);
/* 0 when there is something to send. */
time_ns group_client_deadline(const struct group_client *client);

#endif
