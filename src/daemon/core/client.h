/* SPDX-License-Identifier: Apache-2.0 */
/* A process at the other end of a control socket, and the rings it has if it is attached to the
 * fabric. */
#ifndef SOFTIB_DAEMON_CORE_CLIENT_H
#define SOFTIB_DAEMON_CORE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/daemon.h"
#include "host/protocol.h"

struct flow_table;

enum client_kind {
	CLIENT_UNKNOWN, /* has not said hello */
	CLIENT_PROGRAM,
	CLIENT_HOLD, /* keeps the fabric alive, nothing else */
	CLIENT_TOOL,
};

struct client {
	struct daemon *daemon;
	struct list link; /* daemon->clients or daemon->ended */
	uint32_t id;	  /* never used again */
	pid_t pid;
	enum client_kind kind;
	int socket;
	struct watch socket_watch;
	struct host *host; /* after hello */
	bool is_ending;
	bool was_cut_off; /* it ends because of what it did, not because it went */
	bool waits_for_active;
	time_ns waits_until;

	bool is_attached; /* what follows is there */
	struct list host_link;
	void *memory;
	int memory_file;   /* -1 once it has been handed over */
	int rkey_export_file; /* for those that get a direct ring with it (host/placement_area.h) */
	int down_doorbell; /* the program sleeps on it */
	int up_doorbell;   /* softibd sleeps on it */
	struct watch doorbell_watch;
	struct ring_consumer up;
	struct ring_producer down;
	const struct ring_record *stalled; /* taken from the up ring, not yet dealt with */
	uint32_t unreleased_count; /* records before it whose room the program does not have yet */
	uint64_t last_packet_end;	   /* place in the down ring behind the last packet */
	time_ns full_since;		   /* the down ring; TIME_NEVER when it has room */
	time_ns active_at;		   /* the up ring had something */
	uint32_t empty_read_count;		   /* at the up ring, since then */
	struct list awake_link;
	struct list unpublished_link;
	uint32_t adapters_used;	  /* bit per adapter whose ports it wants to hear of */
	uint32_t adapters_unsent; /* those of them that changed while the down ring was full */
	uint32_t verb_faults_sent; /* of its host's, so many records */
	struct flow_table *flows;
	struct list rings;   /* struct direct_end */
	bool takes_no_rings; /* it could not keep one */
};

MUST_USE int client_create(struct daemon *daemon, int socket, pid_t pid,
			   struct client **ret_client);
/* Makes rings and doorbells and joins its host. */
MUST_USE int client_attach(struct client *client);

/* Cuts the connection; everything goes at the end of this turn. Says why in the log unless the
 * reason is NULL. */
void client_end(struct client *client, const char *reason);
/* Takes down those that ended. */
void clients_release_ended(struct daemon *daemon);

/* The up ring is looked at from now on, until it has been quiet for a while. */
void client_wake(struct client *client);

/* A record of the down ring, shown to the program at the end of the turn. NULL: no room; the client
 * will ring. */
MUST_USE struct ring_record *client_reserve(struct client *client, uint32_t byte_count);
void client_commit(struct client *client, struct ring_record *record);
/* Shows all that was committed, and rings those that sleep. */
void clients_publish(struct daemon *daemon);

#endif
