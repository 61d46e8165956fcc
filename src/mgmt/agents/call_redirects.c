/* SPDX-License-Identifier: Apache-2.0 */
/* REJ and SIDR_REP of a port whose connection manager does not see the call (management 7.1). */
#include "mgmt/agents/call_redirects.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/io_unit.h"
#include "wire/cm_connect.h"
#include "wire/cm_sidr.h"
#include "wire/smp.h"

bool mad_is_call(const uint8_t mad[static MAD_BYTES])
{
	uint16_t id = get_be16(mad + MAD_ATTRIBUTE_ID_OFFSET);

	return mad[MAD_CLASS_OFFSET] == MAD_CLASS_COMMUNICATION &&
	       mad[MAD_VERSION_OFFSET] == CM_CLASS_VERSION && mad[MAD_METHOD_OFFSET] == MAD_SEND &&
	       (id == CM_REQ || id == CM_SIDR_REQ);
}

/* The header of the answer is that of the call, with another attribute. */
static uint8_t *start_answer(const struct mad_message *call, enum cm_message_id id,
			     struct mad_message *ret_answer)
{
	enum { ATTRIBUTE_MODIFIER_OFFSET = 20 };

	*ret_answer = *call;
	put_be16(ret_answer->bytes + MAD_STATUS_OFFSET, 0);
	put_be16(ret_answer->bytes + MAD_ATTRIBUTE_ID_OFFSET, (uint16_t)id);
	put_be32(ret_answer->bytes + ATTRIBUTE_MODIFIER_OFFSET, 0);
	memset(ret_answer->bytes + CM_DATA_OFFSET, 0, CM_DATA_BYTES);
	return ret_answer->bytes + CM_DATA_OFFSET;
}

static void encode_place(const struct redirect *redirect, uint8_t *ret_bytes)
{
	struct class_port_info place = redirect->place;

	place.class_version = CM_CLASS_VERSION;
	class_port_info_encode(&place, ret_bytes);
}

static bool reject(const struct redirect *redirect, const struct mad_message *call,
		   struct mad_message *ret_answer)
{
	const struct class_port_info *place = &redirect->place;
	bool is_port_only = redirect->scope == REDIRECT_CONNECTIONS;
	struct cm_request request;

	cm_request_decode(call->bytes + CM_DATA_OFFSET, &request);
	if (is_port_only && request.primary.remote_gid_prefix == place->redirect_gid_prefix &&
	    request.primary.remote_gid_guid == place->redirect_gid_guid)
		return false;

	const struct cm_rej rej = {
		.remote_comm_id = request.req.local_comm_id,
		.answered = CM_ANSWERED_REQ,
		.info_bytes = is_port_only ? sizeof(struct gid) : CM_REJ_INFO_BYTES,
		.reason = is_port_only ? CM_REJECT_PORT_REDIRECT : CM_REJECT_PORT_CM_REDIRECT,
	};
	uint8_t *data = start_answer(call, CM_REJ, ret_answer);

	cm_rej_encode(&rej, data);
	if (is_port_only) {
		put_be64(data + CM_REJ_INFO_OFFSET, place->redirect_gid_prefix);
		put_be64(data + CM_REJ_INFO_OFFSET + 8, place->redirect_gid_guid);
	} else {
		encode_place(redirect, data + CM_REJ_INFO_OFFSET);
	}
	return true;
}

/* A datagram service has no port of its own: it is where its connection manager is. */
static bool answer_service(const struct redirect *redirect, const struct mad_message *call,
			   struct mad_message *ret_answer)
{
	struct cm_sidr_req request;

	if (redirect->scope == REDIRECT_CONNECTIONS)
		return false;
	cm_sidr_req_decode(call->bytes + CM_DATA_OFFSET, &request);

	const struct cm_sidr_rep rep = {
		.request_id = request.request_id,
		.status = CM_SIDR_REDIRECT,
		.info_bytes = CM_SIDR_REP_INFO_BYTES,
		.service_id = request.service_id,
	};
	uint8_t *data = start_answer(call, CM_SIDR_REP, ret_answer);

	cm_sidr_rep_encode(&rep, data);
	encode_place(redirect, data + CM_SIDR_REP_INFO_OFFSET);
	return true;
}

bool call_redirect_answer(const struct redirect *redirect, const struct mad_message *call,
			  struct mad_message *ret_answer)
{
	if (get_be16(call->bytes + MAD_ATTRIBUTE_ID_OFFSET) == CM_REQ)
		return reject(redirect, call, ret_answer);
	return answer_service(redirect, call, ret_answer);
}

bool call_finds_controller_off(const struct agent_memory *memory, const struct node *node,
			       const struct mad_message *call, struct mad_message *ret_answer)
{
	const uint8_t *data = call->bytes + CM_DATA_OFFSET;
	bool is_req = get_be16(call->bytes + MAD_ATTRIBUTE_ID_OFFSET) == CM_REQ;
	/* ServiceID has the same place in both. */
	uint64_t service_id = get_be64(data + 8);
	const struct cm_rej rej = {.remote_comm_id = get_be32(data),
				   .answered = CM_ANSWERED_REQ,
				   .reason = CM_REJECT_INVALID_SERVICE_ID};
	const struct cm_sidr_rep rep = {.request_id = get_be32(data),
					.status = CM_SIDR_UNSUPPORTED,
					.service_id = service_id};

	if (!io_unit_lacks_power_for(memory, node, service_id))
		return false;
	if (is_req)
		cm_rej_encode(&rej, start_answer(call, CM_REJ, ret_answer));
	else
		cm_sidr_rep_encode(&rep, start_answer(call, CM_SIDR_REP, ret_answer));
	return true;
}
