/* SPDX-License-Identifier: Apache-2.0 */
/* A process at the other end of a control socket, and the rings of a program that is attached to
 * the fabric. */
#ifndef SOFTIB_DAEMON_CORE_CLIENT_H
#define SOFTIB_DAEMON_CORE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/core/event_loop.h"
#include "daemon/core/fair_share.h"
#include "ipc/protocol.h"

struct account;
struct daemon_core;
struct flow_table;
struct host;

enum client_kind {
	CLIENT_UNKNOWN, /* has not said hello */
	CLIENT_PROGRAM,
	CLIENT_HOLD, /* keeps the fabric alive, nothing else */
	CLIENT_TOOL,
};

/* The memory that softibd shares with an attached program. */
struct client_rings {
	void *memory;
	int memory_file;      /* -1 once it has been handed over */
	int rkey_export_file; /* for peers that get a direct ring with it (ipc/rma_area.h) */
	int down_doorbell;    /* the program sleeps on it */
	int up_doorbell;      /* softibd sleeps on it */
	struct watch doorbell_watch;
	struct share_hold hold; /* while neither doorbell nor up ring is read */
	struct ring_consumer up;
	struct ring_producer down;
	struct list awake_link;
	struct list unpublished_link;
};

/* How far the up ring has been read (daemon/packets/ingress.h). */
struct client_ingress {
	const struct ring_record *stalled; /* taken from the up ring, not yet processed */
	uint32_t unreleased_count; /* records before it whose room the program does not have yet */
	time_ns active_at;	   /* the last time that the up ring had a record */
	uint32_t empty_read_count; /* reads of the up ring since then */
};

/* The packets in the down ring (daemon/packets/delivery.h). */
struct client_delivery {
	uint64_t last_packet_end; /* place in the down ring behind the last packet */
	time_ns held_since;	  /* TIME_NEVER: no packet waits for room in the down ring */
	time_ns hold_spent;	  /* how long packets waited, less what the program earned since */
};

/* The records about ports and faults in the down ring. */
struct client_updates {
	uint32_t adapters_used;	   /* bit per adapter whose port updates the program gets */
	uint32_t adapters_unsent;  /* those of them that changed while the down ring was full */
	uint32_t verb_faults_sent; /* records of its host's verb faults */
};

struct client {
	struct daemon_core *core;
	struct list link; /* client_table.all or .ended */
	uint32_t id;	  /* unique for the life of softibd */
	pid_t pid;
	struct account *account; /* of its process */
	bool is_operator;	 /* it came by the operators' socket */
	enum client_kind kind;
	int socket;
	struct watch socket_watch;
	struct share_hold hold; /* while its socket is not read */
	struct host *host;	/* after hello */
	int given_descriptor;	/* that came with the present request; -1: none */
	bool is_ending;
	bool was_cut_off; /* softibd ended it for a reason, it did not leave by itself */
	bool waits_for_active;
	time_ns waits_until;
	struct list catch_up_link; /* while it waits until its up ring has been read */
	uint64_t catch_up_to;	   /* place in the up ring */

	bool is_attached; /* the fields below are valid */
	struct list host_link;
	struct client_rings rings;
	struct client_ingress ingress;
	struct client_delivery delivery;
	struct client_updates updates;
	struct flow_table *flows;
	uint32_t qpn_block_count; /* that it was given */
	struct list direct_ends;  /* struct direct_end */
	bool takes_no_rings;	  /* it refused a direct ring: it gets no more */
};

struct client_table {
	struct list all;
	struct list ended;	 /* to be released at the end of the turn */
	struct list awake;	 /* clients whose up rings are read without a doorbell */
	struct list unpublished; /* clients with committed records that are not published yet */
	uint32_t client_count;
	uint32_t user_count; /* clients that keep an ephemeral fabric alive */
	bool was_used;
	time_ns unused_since;
	uint32_t last_client_id;
	uint32_t last_ring_id;
};

void client_table_init(struct client_table *table);

/* Cuts the connection; clients_release_ended() frees it at the end of this turn. The log gets the
 * reason unless it is NULL. */
void client_end(struct client *client, const char *reason);

/* softibd reads the up ring at every turn from now on, until it has been quiet for a while. */
void client_wake(struct client *client);

/* Reserves a record of the down ring, which is published at the end of the turn. NULL: no room; the
 * client will ring. */
MUST_USE struct ring_record *client_reserve(struct client *client, uint32_t byte_count);
void client_commit(struct client *client, struct ring_record *record);
/* Sends a record without packets. false: no room; the client will ring. */
MUST_USE bool client_send_record(struct client *client, enum record_kind kind, unsigned port,
				 uint32_t word, const void *body, uint32_t byte_count);
/* Publishes the committed records of this client, before those of others; and those of all. Rings
 * clients that sleep. */
void client_publish(struct client *client);
void clients_publish(struct daemon_core *core);

#endif
