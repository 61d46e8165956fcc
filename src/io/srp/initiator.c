/* SPDX-License-Identifier: Apache-2.0 */
/* The initiator's side of an SRP channel (T10 SRP r16a, chapters 4 to 6). */
#include "io/srp/initiator.h"

#include <string.h>

enum {
	SLOT_BITS = 8,
	ABORT_SLOT = SRP_INITIATOR_REQUESTS_MAX, /* no command's */
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
		if (initiator->commands[slot].tag)
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

/* Counts the request, and gives it a tag that no request had before. */
static void issue(struct srp_initiator *initiator, uint32_t slot, uint64_t lun, time_ns deadline,
		  struct srp_outstanding *ret_request)
{
	initiator->request_limit--;
	initiator->generation++;
	*ret_request = (struct srp_outstanding){
		.tag = initiator->generation << SLOT_BITS | slot, .lun = lun, .deadline = deadline};
}

size_t srp_initiator_command(struct srp_initiator *initiator, const struct srp_request *request,
			     time_ns deadline, uint8_t ret_bytes[static SRP_CMD_BYTES_MAX],
			     uint32_t *ret_slot)
{
	uint32_t slot = 0;
	bool is_free = find_slot(initiator, &slot);

	assert(is_free);
	issue(initiator, slot, request->lun, deadline, &initiator->commands[slot]);

	const struct srp_cmd cmd = {
		.opcode = SRP_CMD,
		.tag = initiator->commands[slot].tag,
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

time_ns srp_initiator_deadline(const struct srp_initiator *initiator)
{
	time_ns deadline = TIME_NEVER;

	if (initiator->abort.tag)
		return initiator->abort.deadline;
	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++)
		if (initiator->commands[slot].tag)
			deadline = time_earlier(deadline, initiator->commands[slot].deadline);
	return deadline;
}

static const struct srp_outstanding *find_overdue(const struct srp_initiator *initiator,
						  time_ns now)
{
	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++)
		if (initiator->commands[slot].tag && initiator->commands[slot].deadline <= now)
			return &initiator->commands[slot];
	return NULL;
}

enum srp_expiry srp_initiator_expire(struct srp_initiator *initiator, time_ns now,
				     time_ns timeout_ns,
				     uint8_t ret_unit[static SRP_TSK_MGMT_BYTES])
{
	if (initiator->abort.tag)
		return initiator->abort.deadline <= now ? SRP_EXPIRY_LOST : SRP_EXPIRY_NONE;

	const struct srp_outstanding *command = find_overdue(initiator, now);

	if (!command)
		return SRP_EXPIRY_NONE;
	/* The target took back the request that is kept for this. */
	if (initiator->request_limit < 1)
		return SRP_EXPIRY_LOST;
	issue(initiator, ABORT_SLOT, command->lun, now + timeout_ns, &initiator->abort);
	initiator->aborted_tag = command->tag;

	const struct srp_tsk_mgmt request = {.opcode = SRP_TSK_MGMT,
					     .tag = initiator->abort.tag,
					     .lun = command->lun,
					     .function = SRP_ABORT_TASK,
					     .task_tag = command->tag};

	srp_tsk_mgmt_encode(&request, ret_unit);
	return SRP_EXPIRY_ABORT;
}

static enum srp_arrival_kind end_command(struct srp_initiator *initiator, uint64_t tag,
					 enum srp_arrival_kind kind, uint32_t *ret_slot)
{
	uint32_t slot = tag & ((1u << SLOT_BITS) - 1);

	if (!tag || slot >= SRP_INITIATOR_REQUESTS_MAX || initiator->commands[slot].tag != tag)
		return SRP_ARRIVAL_BAD;
	initiator->commands[slot].tag = 0;
	*ret_slot = slot;
	return kind;
}

/* The target has no such task any more if its response was on the way already, and that response
 * came first. */
static enum srp_arrival_kind end_abort(struct srp_initiator *initiator,
				       const struct srp_response *response, uint32_t *ret_slot)
{
	enum srp_arrival_kind kind =
		end_command(initiator, initiator->aborted_tag, SRP_ARRIVAL_ABORTED, ret_slot);

	initiator->abort.tag = 0;
	if (!response->has_response_code || response->response_code != SRP_RESPONSE_DONE)
		return SRP_ARRIVAL_BAD;
	return kind == SRP_ARRIVAL_BAD ? SRP_ARRIVAL_NOTHING : kind;
}

static void receive_response(struct srp_initiator *initiator, const uint8_t *bytes,
			     size_t byte_count, struct srp_arrival *ret_arrival)
{
	const struct srp_response *response = &ret_arrival->response;

	if (!srp_response_decode(bytes, byte_count, &ret_arrival->response))
		return;
	add_limit(initiator, response->rsp.request_limit_delta);
	if (initiator->abort.tag && response->rsp.tag == initiator->abort.tag)
		ret_arrival->kind = end_abort(initiator, response, &ret_arrival->slot);
	else
		ret_arrival->kind = end_command(initiator, response->rsp.tag, SRP_ARRIVAL_RESPONSE,
						&ret_arrival->slot);
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
