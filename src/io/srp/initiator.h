/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initiator's side of one SRP channel: login, request limit, tags, what arrives, and what takes
 * too long.
 *
 * The owner moves the information units. It sends what the functions write, gives each unit that
 * arrives to srp_initiator_receive(), and calls srp_initiator_expire() at srp_initiator_deadline().
 *
 * A command that takes too long is aborted (T10 SRP r16a, 6.7): the target touches its buffers no
 * more once it has answered the ABORT TASK. If it does not answer that either, only the end of the
 * channel takes the buffers back.
 */
#ifndef SOFTIB_IO_SRP_INITIATOR_H
#define SOFTIB_IO_SRP_INITIATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
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

/* A request that the target has not answered. */
struct srp_outstanding {
	uint64_t tag; /* 0: the slot is free */
	uint64_t lun;
	time_ns deadline;
};

struct srp_initiator {
	int64_t request_limit; /* requests that the target still takes */
	uint32_t it_iu_bytes_max;
	uint64_t generation; /* of the last tag */
	struct srp_outstanding commands[SRP_INITIATOR_REQUESTS_MAX];
	/* The ABORT TASK under way, if its tag is not 0, and the tag of the command it is for. */
	struct srp_outstanding abort;
	uint64_t aborted_tag;
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
/* Writes SRP_CMD and returns its bytes. srp_initiator_may_send() holds. The command is aborted if
 * it has no response at the deadline. */
size_t srp_initiator_command(struct srp_initiator *initiator, const struct srp_request *request,
			     time_ns deadline, uint8_t ret_bytes[static SRP_CMD_BYTES_MAX],
			     uint32_t *ret_slot);

enum srp_expiry {
	SRP_EXPIRY_NONE,
	SRP_EXPIRY_ABORT, /* the unit asks the target to abort a command: send it */
	SRP_EXPIRY_LOST,  /* the target does not answer an ABORT TASK: end the channel */
};

/* When srp_initiator_expire() has something to do. */
time_ns srp_initiator_deadline(const struct srp_initiator *initiator);
/* At most one command is aborted at a time; the target has timeout_ns for it. */
enum srp_expiry srp_initiator_expire(struct srp_initiator *initiator, time_ns now,
				     time_ns timeout_ns,
				     uint8_t ret_unit[static SRP_TSK_MGMT_BYTES]);

enum srp_arrival_kind {
	SRP_ARRIVAL_RESPONSE, /* slot, response */
	SRP_ARRIVAL_ABORTED,  /* slot: the command took too long, and the target has aborted it */
	SRP_ARRIVAL_NOTHING,  /* the command was answered before it could be aborted */
	SRP_ARRIVAL_REPLY,    /* reply goes back to the target */
	SRP_ARRIVAL_LOGOUT,   /* the target ends the channel */
	SRP_ARRIVAL_BAD,      /* not SRP, a tag that no request has, or an abort that failed */
};

struct srp_arrival {
	enum srp_arrival_kind kind;
	uint32_t slot;
	struct srp_response response;
	uint8_t reply[SRP_SHORT_BYTES];
};

/* Frees the slot of a response or an aborted command. */
void srp_initiator_receive(struct srp_initiator *initiator, const uint8_t *bytes, size_t byte_count,
			   struct srp_arrival *ret_arrival);

#endif
