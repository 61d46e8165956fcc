/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the calls that connect EE contexts: what stands behind channels and ids, and what the
 * files around them do for each other. softibd is the connection manager (host/cm_protocol.h). */
#ifndef SOFTIB_API_LIBIBVERBS_RD_EEC_IDS_H
#define SOFTIB_API_LIBIBVERBS_RD_EEC_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include "api/libibverbs/objects/rd_objects.h"
#include "base/hash_table.h"
#include "host/cm_session.h"
#include "wire/cm_message.h"

struct verbs_cm_channel {
	struct softib_cm_channel channel; /* first */
	uint32_t number;		  /* softibd's */
	pthread_mutex_t mutex;		  /* covers ids, and who holds them */
	struct hash_table ids;		  /* struct verbs_cm_id by number */
};

struct verbs_cm_id {
	struct softib_cm_id id; /* first */
	uint32_t number;
	uint32_t events_handed_out; /* under the channel's mutex */
	bool is_listener;
	bool is_passive;    /* called by a peer */
	bool is_accepted;   /* and taken */
	bool owns_context;  /* connects it, rather than to use it as it is */
	bool has_connected; /* the context, which is in RTS for all we know */
	struct cm_terms terms;
	struct cm_parameters parameters; /* ours, or what the peer asked for */
	uint32_t private_byte_count;	 /* of the call that is yet to go out */
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

/* Number 0: one of ours, as yet unknown to softibd. Negative errno. */
MUST_USE int cm_id_make(struct softib_cm_channel *channel, uint32_t number, void *id_context,
			struct verbs_cm_id **ret_id);
/* Nobody finds it any more, and who held it is done. */
void cm_id_forget(struct verbs_cm_id *id);
/* After that. */
void cm_id_free(struct verbs_cm_id *id);
/* NULL: gone. Held, it stays until it is acknowledged. */
struct verbs_cm_id *cm_id_hold(struct verbs_cm_channel *channel, uint32_t number);
void cm_id_acknowledge(struct verbs_cm_id *id);

/* A command about an id, to be filled in; and one that nobody waits for. */
struct cm_command cm_id_command(const struct verbs_cm_id *id, enum cm_command_kind kind);
void cm_post(struct cm_command *command);
/* An id that softibd made and nobody here wants. reason 0: it is only forgotten. */
void cm_refuse(uint32_t number, enum cm_reject_reason reason);

/* In eec_contexts.c. */

enum context_use {
	CONTEXT_TO_CONNECT, /* one id's */
	CONTEXT_AS_IT_IS,   /* the way to a service: any number's */
};

/* -EBUSY: another id connects it; -EINVAL: it went with its device. */
MUST_USE int cm_context_hold(struct verbs_cm_id *id, struct softib_eec *public,
			     enum context_use use);
void cm_context_release(struct verbs_cm_id *id);
/* To RTS by what both sides agreed on; a failure leaves it in RESET. An errno value. */
MUST_USE int cm_context_connect(struct verbs_cm_id *id);
/* To Error, if the id has connected it. */
void cm_context_end(struct verbs_cm_id *id);

#endif
