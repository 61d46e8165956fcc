/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initiator's side of one SRP channel: login, request limit, tags, and what arrives.
 *
 * The owner moves the information units. It sends what the functions write, and gives each unit
 * that arrives to srp_initiator_receive().
 */
#ifndef SOFTIB_IO_SRP_INITIATOR_H
#define SOFTIB_IO_SRP_INITIATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "io/srp/data_buffers.h"
#include "io/srp/responses.h"

enum { SRP_INITIATOR_REQUESTS_MAX = 64 };

/* Who logs in, and to which target port. */
struct srp_names {
	uint64_t initiator_extension;
	uint64_t initiator_guid;
	uint64_t target_extension;
	uint64_t target_guid;
};

struct srp_initiator {
	int64_t request_limit; /* requests that the target still takes */
	uint32_t it_iu_bytes_max;
	uint64_t generation;			   /* of the last tag */
	uint64_t tags[SRP_INITIATOR_REQUESTS_MAX]; /* by slot; 0: free */
};

struct srp_request {
	uint64_t lun;
	uint8_t cdb[SRP_CDB_BYTES];
	enum { SRP_NO_DATA, SRP_DATA_IN, SRP_DATA_OUT } direction;
	struct srp_segment data; /* one segment, by a direct descriptor */
};

/* The private data of the connection request. */
void srp_initiator_login(const struct srp_names *names,
			 uint8_t ret_bytes[static SRP_LOGIN_REQ_BYTES]);
/* The private data of the reply or the rejection. False: no channel; *ret_reason is the target's,
 * 0: the bytes are not SRP's. */
MUST_USE bool srp_initiator_logged_in(struct srp_initiator *initiator, const uint8_t *bytes,
				      size_t byte_count, uint32_t *ret_reason);

/* Whether a request may be sent now. One is kept for task management. */
bool srp_initiator_may_send(const struct srp_initiator *initiator);
/* Writes SRP_CMD and returns its bytes. srp_initiator_may_send() holds. */
size_t srp_initiator_command(struct srp_initiator *initiator, const struct srp_request *request,
			     uint8_t ret_bytes[static SRP_CMD_BYTES_MAX], uint32_t *ret_slot);

enum srp_arrival_kind {
	SRP_ARRIVAL_RESPONSE, /* slot, response */
	SRP_ARRIVAL_REPLY,    /* reply goes back to the target */
	SRP_ARRIVAL_LOGOUT,   /* the target ends the channel */
	SRP_ARRIVAL_BAD,      /* not SRP, or a tag that no request has */
};

struct srp_arrival {
	enum srp_arrival_kind kind;
	uint32_t slot;
	struct srp_response response;
	uint8_t reply[SRP_SHORT_BYTES];
};

/* Frees the slot of a response. */
void srp_initiator_receive(struct srp_initiator *initiator, const uint8_t *bytes, size_t byte_count,
			   struct srp_arrival *ret_arrival);

#endif
