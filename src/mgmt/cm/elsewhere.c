/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a peer redirects to another port or connection manager (management 7.1). */
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"
#include "mgmt/mad/redirect.h"
#include "mgmt/mad/transactions.h"
#include "wire/sa_records.h"

static bool read_rej(const struct cm_event *event, struct class_port_info *ret_place)
{
	const uint8_t *info = event->data + CM_REJ_INFO_OFFSET;
	struct cm_rej rej;

	cm_rej_decode(event->data, &rej);
	if (rej.reason == CM_REJECT_PORT_REDIRECT) {
		*ret_place = (struct class_port_info){.redirect_gid_prefix = get_be64(info),
						      .redirect_gid_guid = get_be64(info + 8)};
		return rej.info_bytes >= sizeof(struct gid);
	}
	class_port_info_decode(info, ret_place);
	return rej.reason == CM_REJECT_PORT_CM_REDIRECT && rej.info_bytes == CM_REJ_INFO_BYTES;
}

static bool read_sidr_rep(const struct cm_event *event, struct class_port_info *ret_place)
{
	struct cm_sidr_rep rep;

	cm_sidr_rep_decode(event->data, &rep);
	class_port_info_decode(event->data + CM_SIDR_REP_INFO_OFFSET, ret_place);
	return rep.status == CM_SIDR_REDIRECT && rep.info_bytes == CM_SIDR_REP_INFO_BYTES;
}

bool cm_redirection_read(const struct cm_event *event, struct cm_redirection *ret_redirection)
{
	struct class_port_info place;

	if (event->kind != CM_EVENT_REJECTED && event->kind != CM_EVENT_SIDR_REPLY)
		return false;
	if (event->kind == CM_EVENT_REJECTED ? !read_rej(event, &place)
					     : !read_sidr_rep(event, &place))
		return false;
	if (!place.redirect_lid && !place.redirect_gid_guid)
		return false;
	*ret_redirection = (struct cm_redirection){
		.reason = event->reason, .place = place, .address = *event->address};
	return true;
}

bool cm_redirection_address(const struct cm_redirection *redirection,
			    const struct path_record *path, struct mad_address *ret_address)
{
	const struct mad_path found = {
		.lid = path->dlid, .sl = path->sl, .hop_limit = path->hop_limit};
	struct mad_address address = redirection->address;

	if (redirection->reason != CM_REJECT_PORT_REDIRECT &&
	    !mad_redirect_apply(&redirection->place, &address) &&
	    !mad_redirect_apply_path(&redirection->place, &found, &address))
		return false;
	*ret_address = address;
	return true;
}

/* The REQ with the path to the other port. The alternate path led to the port that redirected. */
static void rewrite_req(struct cm_connection *connection, const struct cm_place *place,
			uint8_t *data)
{
	struct cm_request request;

	cm_request_decode(data, &request);
	request.req.local_comm_id = connection->local_comm_id;
	request.req.path_mtu = place->path_mtu;
	request.primary = place->primary;
	request.alternate = (struct cm_path){0};
	cm_request_encode(&request, data);
	connection->peer.gid =
		gid_from(place->primary.remote_gid_prefix, place->primary.remote_gid_guid);
	connection->round_trip = 2 * time_from_code(place->packet_life_time);
	connection->retry.timeout =
		connection->round_trip + time_from_code(request.req.remote_response_timeout);
	connection->timewait = time_from_code(place->primary.ack_timeout);
}

int cm_call_elsewhere(struct cm_connection *connection, time_ns now, const struct cm_place *place)
{
	enum { ATTRIBUTE_OFFSET = 16, MODIFIER_OFFSET = 20 };
	uint8_t *repeated = connection->retry.message;
	uint16_t id = get_be16(repeated + ATTRIBUTE_OFFSET);

	if (connection->state != CM_IDLE || (id != CM_REQ && id != CM_SIDR_REQ))
		return -EINVAL;
	if (connection->redirect_count == MAD_REDIRECTS_MAX)
		return -ELOOP;

	/* A late copy of the REJ must not end the call that follows it. */
	int error = connection_renew_id(connection);

	if (error)
		return error;
	connection->peer.address = place->address;
	connection->transaction_id = transaction_id_of(connection);

	struct cm_message *message =
		outbox_start_for(connection, (enum cm_message_id)id, connection->transaction_id,
				 get_be32(repeated + MODIFIER_OFFSET));

	if (!message)
		return -ENOMEM;
	memcpy(outbox_data(message), repeated + CM_DATA_OFFSET, CM_DATA_BYTES);
	if (id == CM_REQ)
		rewrite_req(connection, place, outbox_data(message));
	else
		put_be32(outbox_data(message), connection->local_comm_id);
	connection->redirect_count++;
	connection_enter(connection, id == CM_REQ ? CM_REQ_SENT : CM_SIDR_REQ_SENT);
	connection_repeat(connection, now, connection->retry.timeout, connection->retry.max,
			  message);
	return 0;
}
