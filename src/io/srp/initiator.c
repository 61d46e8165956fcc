/* SPDX-License-Identifier: Apache-2.0 */
/* The initiator's side of an SRP channel (T10 SRP r16a, chapters 4 to 6). */
#include "io/srp/initiator.h"

#include <string.h>

enum {
	SLOT_BITS = 8,
	KEPT_FOR_TASK_MANAGEMENT = 1,
	/* Direct descriptors are all that it sends. */
	IU_BYTES = SRP_CMD_BYTES + SRP_DESCRIPTOR_BYTES,
	REQUEST_LIMIT_MAX = 1 << 16,
};

void srp_initiator_login(const struct srp_names *names,
			 uint8_t ret_bytes[static SRP_LOGIN_REQ_BYTES])
{
	const struct srp_login_req req = {
		.opcode = SRP_LOGIN_REQ,
		.it_iu_bytes = IU_BYTES,
		.required_buffer_formats = SRP_BUFFER_FORMAT_DIRECT,
		.flags = SRP_MULTICHANNEL_SINGLE,
		.initiator_extension = names->initiator_extension,
		.initiator_guid = names->initiator_guid,
		.target_extension = names->target_extension,
		.target_guid = names->target_guid,
	};

	srp_login_req_encode(&req, ret_bytes);
}

bool srp_initiator_logged_in(struct srp_initiator *initiator, const uint8_t *bytes,
			     size_t byte_count, uint32_t *ret_reason)
{
	struct srp_login_rsp rsp;
	struct srp_login_rej rej;

	*ret_reason = 0;
	if (byte_count >= SRP_LOGIN_REJ_BYTES && bytes[0] == SRP_LOGIN_REJ) {
		srp_login_rej_decode(bytes, &rej);
		*ret_reason = rej.reason;
		return false;
	}
	if (byte_count < SRP_LOGIN_RSP_BYTES || bytes[0] != SRP_LOGIN_RSP)
		return false;
	srp_login_rsp_decode(bytes, &rsp);
	/* With one request there would be none left for commands. */
	if (rsp.it_iu_bytes_max < IU_BYTES || rsp.request_limit_delta <= KEPT_FOR_TASK_MANAGEMENT ||
	    rsp.request_limit_delta > REQUEST_LIMIT_MAX)
		return false;
	*initiator = (struct srp_initiator){.request_limit = rsp.request_limit_delta,
					    .it_iu_bytes_max = rsp.it_iu_bytes_max};
	return true;
}

static bool find_slot(const struct srp_initiator *initiator, uint32_t *ret_slot)
{
	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++) {
		if (initiator->tags[slot])
			continue;
		*ret_slot = slot;
		return true;
	}
	return false;
}

bool srp_initiator_may_send(const struct srp_initiator *initiator)
{
	uint32_t slot;

	return initiator->request_limit > KEPT_FOR_TASK_MANAGEMENT && find_slot(initiator, &slot);
}

size_t srp_initiator_command(struct srp_initiator *initiator, const struct srp_request *request,
			     uint8_t ret_bytes[static SRP_CMD_BYTES_MAX], uint32_t *ret_slot)
{
	uint32_t slot = 0;
	bool is_free = find_slot(initiator, &slot);

	assert(is_free);
	initiator->request_limit--;
	initiator->generation++;
	initiator->tags[slot] = initiator->generation << SLOT_BITS | slot;

	const struct srp_cmd cmd = {
		.opcode = SRP_CMD,
		.tag = initiator->tags[slot],
		.lun = request->lun,
		.out_format = request->direction == SRP_DATA_OUT ? SRP_BUFFER_DIRECT : 0,
		.in_format = request->direction == SRP_DATA_IN ? SRP_BUFFER_DIRECT : 0,
	};

	srp_cmd_encode(&cmd, ret_bytes);
	memcpy(ret_bytes + SRP_CMD_BYTES - SRP_CDB_BYTES, request->cdb, SRP_CDB_BYTES);
	*ret_slot = slot;
	if (request->direction == SRP_NO_DATA)
		return SRP_CMD_BYTES;
	srp_segment_encode(&request->data, ret_bytes + SRP_CMD_BYTES);
	return SRP_CMD_BYTES + SRP_DESCRIPTOR_BYTES;
}

/* The delta is a signed number: a target may also lower the limit. */
static void add_limit(struct srp_initiator *initiator, uint32_t delta)
{
	initiator->request_limit += (int32_t)delta;
	if (initiator->request_limit > REQUEST_LIMIT_MAX)
		initiator->request_limit = REQUEST_LIMIT_MAX;
}

static void receive_response(struct srp_initiator *initiator, const uint8_t *bytes,
			     size_t byte_count, struct srp_arrival *ret_arrival)
{
	if (!srp_response_decode(bytes, byte_count, &ret_arrival->response))
		return;

	uint64_t tag = ret_arrival->response.rsp.tag;
	uint32_t slot = tag & ((1u << SLOT_BITS) - 1);

	add_limit(initiator, ret_arrival->response.rsp.request_limit_delta);
	if (!tag || slot >= SRP_INITIATOR_REQUESTS_MAX || initiator->tags[slot] != tag)
		return;
	initiator->tags[slot] = 0;
	ret_arrival->slot = slot;
	ret_arrival->kind = SRP_ARRIVAL_RESPONSE;
}

static void reply(uint8_t opcode, uint64_t tag, struct srp_arrival *ret_arrival)
{
	srp_short_encode(&(struct srp_short){.opcode = opcode, .tag = tag}, ret_arrival->reply);
	ret_arrival->kind = SRP_ARRIVAL_REPLY;
}

void srp_initiator_receive(struct srp_initiator *initiator, const uint8_t *bytes, size_t byte_count,
			   struct srp_arrival *ret_arrival)
{
	struct srp_short short_iu;
	struct srp_aer_req aer;

	ret_arrival->kind = SRP_ARRIVAL_BAD;
	if (!byte_count || !srp_iu_bytes_min(bytes[0]) || byte_count < srp_iu_bytes_min(bytes[0]))
		return;
	switch (bytes[0]) {
	case SRP_RSP:
		receive_response(initiator, bytes, byte_count, ret_arrival);
		return;
	case SRP_CRED_REQ:
		srp_short_decode(bytes, &short_iu);
		add_limit(initiator, short_iu.value);
		reply(SRP_CRED_RSP, short_iu.tag, ret_arrival);
		return;
	case SRP_AER_REQ:
		srp_aer_req_decode(bytes, &aer);
		add_limit(initiator, aer.request_limit_delta);
		reply(SRP_AER_RSP, aer.tag, ret_arrival);
		return;
	case SRP_T_LOGOUT:
		ret_arrival->kind = SRP_ARRIVAL_LOGOUT;
		return;
	default:
		return;
	}
}
