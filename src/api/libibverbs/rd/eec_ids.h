/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the calls that connect EE contexts: the structs behind channels and ids, and the
 * functions that these files share. softibd is the connection manager (ipc/cm_protocol.h). */
#ifndef SOFTIB_API_LIBIBVERBS_RD_EEC_IDS_H
#define SOFTIB_API_LIBIBVERBS_RD_EEC_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include "api/libibverbs/objects/rd_objects.h"
#include "base/hash_table.h"
#include "runtime/cm_session.h"
#include "wire/cm_message.h"

struct verbs_cm_channel {
	struct softib_cm_channel channel; /* first */
	uint32_t number;		  /* softibd's */
	pthread_mutex_t mutex;		  /* covers ids and their events_handed_out */
	struct hash_table ids;		  /* struct verbs_cm_id by number */
};

struct verbs_cm_id {
	struct softib_cm_id id; /* first */
	uint32_t number;
	uint32_t events_handed_out; /* under the channel's mutex */
	bool is_listener;
	bool is_passive;    /* a peer requested the connection */
	bool is_accepted;   /* the program accepted it */
	bool owns_context;  /* this id connects the context; false: uses one that is in RTS */
	bool has_connected; /* the context went to RTS by this id */
	struct cm_terms terms;
	struct cm_parameters parameters; /* ours, or the peer's from its REQ */
	uint32_t private_byte_count;	 /* of the REQ that is not sent yet */
	uint8_t private_data[CM_REQ_PRIVATE_BYTES];
};

static inline struct verbs_cm_channel *cm_channel_of(struct softib_cm_channel *channel)
{
	return (struct verbs_cm_channel *)channel;
}

static inline struct verbs_cm_id *cm_id_of(struct softib_cm_id *id)
{
	return (struct verbs_cm_id *)id;
}

/* In eec_ids.c. */

/* Number 0: takes a new number; softibd does not know the id yet. Negative errno. */
MUST_USE int cm_id_make(struct softib_cm_channel *channel, uint32_t number, void *id_context,
			struct verbs_cm_id **ret_id);
/* Removes the id from its channel and waits until the program has acknowledged its events. */
void cm_id_forget(struct verbs_cm_id *id);
/* After cm_id_forget(). */
void cm_id_free(struct verbs_cm_id *id);
/* NULL: no such id. A held id stays until it is acknowledged. */
struct verbs_cm_id *cm_id_hold(struct verbs_cm_channel *channel, uint32_t number);
void cm_id_acknowledge(struct verbs_cm_id *id);

/* A command for an id, to be filled in; and sending one without waiting for the answer. */
struct cm_command cm_id_command(const struct verbs_cm_id *id, enum cm_command_kind kind);
void cm_post(struct cm_command *command);
/* Drops an id that softibd made for a request that this process does not take. reason 0: without a
 * reject message. */
void cm_refuse(uint32_t number, enum cm_reject_reason reason);

/* In eec_contexts.c. */

enum context_use {
	CONTEXT_TO_CONNECT, /* by one id only */
	CONTEXT_AS_IT_IS,   /* any number of ids may use it to reach a service */
};

/* -EBUSY: another id connects the context; -EINVAL: its device was closed. */
MUST_USE int cm_context_hold(struct verbs_cm_id *id, struct softib_eec *public,
			     enum context_use use);
void cm_context_release(struct verbs_cm_id *id);
/* Moves the context to RTS with the agreed parameters. If that fails, the context is in RESET.
 * Returns an errno value. */
MUST_USE int cm_context_connect(struct verbs_cm_id *id);
/* Moves the context to Error if this id connected it. */
void cm_context_end(struct verbs_cm_id *id);

#endif
