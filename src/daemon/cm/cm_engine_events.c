/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the connection engine: requests of peers, for which a listener's program gets a new id,
 * and what happens to connections of existing ids (vol 1, chapter 12 and annex A11; event order as
 * in Linux's rdma_cm). */
#include "daemon/cm/cm_engine_events.h"

#include <errno.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_channel.h"
#include "daemon/cm/cm_datagrams.h"
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_ids.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/cm_redirects.h"
#include "daemon/core/host_table.h"
#include "wire/cm_ip_header.h"

/* The IP addresses of a request, our own first. false: the request has none. */
static bool read_addresses(const struct cm_event *event, uint64_t service_id,
			   struct cm_address *ret_own, struct cm_address *ret_peer)
{
	struct cm_ip_header header;

	if (!cm_ip_header_decode(event->private_data.bytes, event->private_data.byte_count,
				 &header))
		return false;
	cm_address_from_ip(header.ip_version, &header.destination, (uint16_t)service_id, ret_own);
	cm_address_from_ip(header.ip_version, &header.source, header.source_port, ret_peer);
	return true;
}

static void refuse(struct cm_host *host, struct cm_connection *connection,
		   const struct cm_event *event, enum cm_reject_reason reason)
{
	const struct cm_private_data nothing = {0};
	const struct cm_sidr_rep rep = {
		.status = reason == CM_REJECT_NO_RESOURCES ? CM_SIDR_NO_QP : CM_SIDR_UNSUPPORTED};
	int error = 0;

	if (event->kind == CM_EVENT_REQUEST)
		error = cm_reject(connection, cm_host_now(host), reason, nothing, nothing);
	else
		error = cm_sidr_answer(connection, cm_host_now(host), &rep, 0, nothing);
	assert(error == 0);
	cm_release(connection, cm_host_now(host));
}

static bool takes(const struct cm_id *listener, enum cm_qp_type qp_type)
{
	bool is_datagram =
		listener->port_space == CM_PORT_SPACE_UDP ||
		listener->port_space == CM_PORT_SPACE_IPOIB ||
		(listener->port_space == CM_PORT_SPACE_IB && listener->qp_type == CM_QP_UD);

	return is_datagram == (qp_type == CM_QP_UD);
}

/* A new id for the peer that calls this service, or NULL after refusing it. */
static struct cm_id *admit(struct cm_host *host, const struct cm_event *event,
			   enum cm_qp_type qp_type, struct cm_connection *connection)
{
	const struct cm_service *service = cm_listener_context(event->listener);
	struct cm_address own = {0}, peer = {0};
	bool has_ip = read_addresses(event, service->service_id, &own, &peer);
	struct cm_id *listener =
		cm_service_listener(service, &host->ports[event->port_index], has_ip ? &own : NULL);
	struct cm_id *id;

	/* EE contexts and queue pairs can't connect to each other. Between kinds of queue pairs the
	 * service decides, in takes(). */
	if (listener && (listener->qp_type == CM_QP_RD) != (qp_type == CM_QP_RD)) {
		refuse(host, connection, event, CM_REJECT_INVALID_TRANSPORT_TYPE);
		return NULL;
	}
	if (!listener || !takes(listener, qp_type) ||
	    (!has_ip && listener->route.source.family != CM_ADDRESS_IB)) {
		refuse(host, connection, event, CM_REJECT_INVALID_SERVICE_ID);
		return NULL;
	}
	if (!listener->channel ||
	    listener->backlog.waiting_count >= listener->backlog.request_count_max ||
	    cm_id_create(listener->program, listener->channel, 0, listener->port_space, qp_type,
			 &id) != 0) {
		refuse(host, connection, event, CM_REJECT_NO_RESOURCES);
		return NULL;
	}
	id->is_passive = true;
	id->state = CM_ID_CONNECTING;
	id->connection = connection;
	id->backlog.listener = listener;
	id->options.ack_timeout = listener->options.ack_timeout;
	listener->backlog.waiting_count++;
	list_append(&listener->backlog.requests, &id->backlog.listener_link);
	cm_connection_set_context(connection, id);
	cm_id_use_port(id, &host->ports[event->port_index]);
	if (listener->route.source.family == CM_ADDRESS_IB) {
		id->route.source = listener->route.source;
		memcpy(id->route.source.bytes, id->route.sgid.bytes, 16);
	} else {
		id->route.source = own;
		id->route.destination = peer;
	}
	return id;
}

/* The path of a REQ, reversed. It may lead to another port of the adapter than the REQ (REJ 25). */
static void take_path(struct cm_id *id, const struct cm_request *request,
		      const struct mad_address *from)
{
	const struct cm_path *primary = &request->primary;
	const struct gid named = gid_from(primary->remote_gid_prefix, primary->remote_gid_guid);
	struct cm_port *port = cm_host_find_gid(id->program->host, &named);
	struct cm_route *route = &id->route;

	if (port && port->endpoint->adapter == id->port->endpoint->adapter)
		cm_id_use_port(id, port);
	route->sgid = named;
	route->dgid = gid_from(primary->local_gid_prefix, primary->local_gid_guid);
	if (route->source.family == CM_ADDRESS_IB) {
		route->destination =
			(struct cm_address){.family = CM_ADDRESS_IB, .pkey = request->req.pkey};
		memcpy(route->destination.bytes, route->dgid.bytes, 16);
	}
	/* The peer's membership in the partition may differ from ours. */
	route->pkey = request->req.pkey;
	if (cm_port_pkey_index(id->port, route->pkey, &route->pkey_index))
		route->pkey = id->port->endpoint->port->pkeys[route->pkey_index];
	else
		route->pkey_index = 0;
	route->has_path = 1;
	route->path = (struct path_record){
		.service_id = request->req.service_id,
		.dgid_prefix = primary->local_gid_prefix,
		.dgid_guid = primary->local_gid_guid,
		.sgid_prefix = primary->remote_gid_prefix,
		.sgid_guid = primary->remote_gid_guid,
		.dlid = primary->subnet_local ? primary->local_lid : from->lid,
		.slid = primary->subnet_local ? primary->remote_lid
					      : id->port->endpoint->port->info.lid,
		.flow_label = primary->flow_label,
		.hop_limit = primary->hop_limit,
		.traffic_class = primary->traffic_class,
		.reversible = 1,
		.path_count = 1,
		.pkey = request->req.pkey,
		.sl = primary->sl,
		.mtu_selector = SELECT_EXACTLY,
		.mtu = request->req.path_mtu,
		.rate_selector = SELECT_EXACTLY,
		.rate = primary->packet_rate,
		.packet_life_time_selector = SELECT_EXACTLY,
		.packet_life_time = primary->ack_timeout ? (uint8_t)(primary->ack_timeout - 1) : 0,
	};
}

static enum cm_qp_type requested_type(const struct cm_req *req)
{
	switch (req->transport) {
	case CM_TRANSPORT_UC:
		return CM_QP_UC;
	case CM_TRANSPORT_RD:
		return CM_QP_RD;
	case CM_TRANSPORT_EXTENDED:
		return CM_QP_XRC_RECEIVE;
	default:
		return CM_QP_RC;
	}
}

/* The program's part of the private data: the whole field, padded with zeros. */
static struct cm_private_data without_header(const struct cm_id *id,
					     struct cm_private_data private_data)
{
	size_t skipped = id->route.source.family == CM_ADDRESS_IB ? 0 : CM_IP_HEADER_BYTES;

	return (struct cm_private_data){private_data.bytes + skipped,
					private_data.byte_count - skipped};
}

static void tell_listener(struct cm_id *id, struct cm_event_message *message,
			  struct cm_private_data private_data)
{
	message->private_byte_count = (uint32_t)private_data.byte_count;
	memcpy(message->private_data, private_data.bytes, private_data.byte_count);
	id->backlog.listener->event_count++;
	cm_channel_write(id->channel, message);
}

static void take_connection_request(struct cm_host *host, struct cm_connection *connection,
				    const struct cm_event *event)
{
	struct cm_request request;

	cm_request_decode(event->data, &request);

	enum cm_qp_type qp_type = requested_type(&request.req);
	struct cm_id *id = admit(host, event, qp_type, connection);

	if (!id)
		return;
	take_path(id, &request, event->address);
	id->terms = (struct cm_terms){
		.remote_qpn = qp_type == CM_QP_RD ? request.req.local_eecn : request.req.local_qpn,
		.receive_psn = request.req.starting_psn,
		.send_psn = id->send_psn,
		.pkey_index = id->route.pkey_index,
		.port_number = id->route.port_number,
		.path_mtu = request.req.path_mtu,
		.ack_timeout = id->options.ack_timeout ? id->options.ack_timeout
						       : request.primary.ack_timeout,
		.retry_count = request.req.retry_count,
		.rnr_retry_count = request.req.rnr_retry_count,
		/* Our initiator depth is the peer's responder resources, and the other way round.
		 */
		.initiator_depth = request.req.responder_resources,
		.responder_resources = request.req.initiator_depth,
		.vector = cm_path_vector(id->port, &id->route.path),
	};
	cm_delay_when_asked(connection, CM_MRA_SERVICE_TIMEOUT);

	struct cm_event_message message;
	struct cm_private_data private_data = without_header(id, event->private_data);

	cm_id_event_init(id, CM_PROGRAM_CONNECT_REQUEST, 0, &message);
	message.listener_id = id->backlog.listener->number;
	message.parameters = (struct cm_parameters){
		.qpn = request.req.local_qpn,
		.responder_resources = request.req.initiator_depth,
		.initiator_depth = request.req.responder_resources,
		.flow_control = request.req.flow_control,
		.retry_count = request.req.retry_count,
		.rnr_retry_count = request.req.rnr_retry_count,
		.srq = request.req.srq,
		.qp_type = (uint8_t)qp_type,
		.vendor_id = request.req.vendor_id,
		.vendor_options = event->vendor_options,
	};
	if (qp_type == CM_QP_RD) {
		message.parameters.qkey = request.req.local_qkey;
		message.parameters.eecn = request.req.local_eecn;
		message.parameters.remote_eecn = request.req.remote_eecn;
		message.parameters.rdc_exists = request.req.rdc_exists;
	}
	tell_listener(id, &message, private_data);
}

static void take_datagram_request(struct cm_host *host, struct cm_connection *connection,
				  const struct cm_event *event)
{
	struct cm_id *id = admit(host, event, CM_QP_UD, connection);

	if (!id)
		return;

	struct cm_private_data private_data = without_header(id, event->private_data);
	struct cm_event_message message;

	cm_id_event_init(id, CM_PROGRAM_CONNECT_REQUEST, 0, &message);
	message.listener_id = id->backlog.listener->number;
	message.parameters.qp_type = CM_QP_UD;
	tell_listener(id, &message, private_data);
}

static void take_reply(struct cm_id *id, const struct cm_event *event)
{
	struct cm_rep rep;

	cm_rep_decode(event->data, &rep);

	bool is_rd = id->qp_type == CM_QP_RD;
	const struct cm_parameters parameters = {
		.qpn = is_rd || rep.local_qpn ? rep.local_qpn : rep.local_eecn,
		.qkey = is_rd ? rep.local_qkey : 0,
		.eecn = is_rd ? rep.local_eecn : 0,
		.responder_resources = rep.initiator_depth,
		.initiator_depth = rep.responder_resources,
		.flow_control = rep.flow_control,
		.rnr_retry_count = rep.rnr_retry_count,
		.srq = rep.srq,
		.qp_type = (uint8_t)id->qp_type,
		.vendor_id = (uint32_t)rep.vendor_id_high << 16 |
			     (uint32_t)rep.vendor_id_middle << 8 | rep.vendor_id_low,
		.vendor_options = event->vendor_options,
	};
	id->terms = (struct cm_terms){
		.remote_qpn = is_rd ? parameters.eecn : parameters.qpn,
		.receive_psn = rep.starting_psn,
		.send_psn = id->send_psn,
		.pkey_index = id->route.pkey_index,
		.port_number = id->route.port_number,
		.path_mtu = id->route.path.mtu,
		.ack_timeout = cm_ack_timeout(id, &id->route.path, rep.target_ack_delay),
		.retry_count = id->offered.retry_count,
		.rnr_retry_count = rep.rnr_retry_count,
		.initiator_depth = rep.responder_resources,
		.responder_resources = rep.initiator_depth,
		.vector = cm_path_vector(id->port, &id->route.path),
	};
	cm_delay_when_asked(id->connection, CM_MRA_SERVICE_TIMEOUT);
	cm_id_tell_message(id, CM_PROGRAM_CONNECT_RESPONSE, 0, &parameters, event->private_data);
}

/* A program gets no events about a request that it has not accepted yet; accepting it will fail. */
static bool is_known_to_program(const struct cm_id *id)
{
	return !id->is_passive || id->is_accepted;
}

static void end_connection(struct cm_id *id, enum cm_program_event kind, int status,
			   struct cm_private_data private_data)
{
	bool was_open = id->state == CM_ID_CONNECTING || id->state == CM_ID_CONNECTED;

	id->state = CM_ID_DISCONNECTED;
	if (was_open && is_known_to_program(id))
		cm_id_tell_message(id, kind, status, NULL, private_data);
}

static void tell_event(struct cm_id *id, const struct cm_event *event)
{
	const struct cm_private_data nothing = {0};

	switch (event->kind) {
	case CM_EVENT_REPLY:
		take_reply(id, event);
		break;
	case CM_EVENT_ESTABLISHED:
		id->state = CM_ID_CONNECTED;
		cm_id_tell_message(id, CM_PROGRAM_ESTABLISHED, 0, NULL, event->private_data);
		break;
	case CM_EVENT_REJECTED:
		if (!cm_redirect_follow(id, event))
			end_connection(id, CM_PROGRAM_REJECTED, event->reason, event->private_data);
		break;
	case CM_EVENT_UNREACHABLE:
		end_connection(id, CM_PROGRAM_UNREACHABLE, -ETIMEDOUT, nothing);
		break;
	case CM_EVENT_DISCONNECTED:
	case CM_EVENT_DISCONNECT_DONE:
		end_connection(id, CM_PROGRAM_DISCONNECTED, 0, nothing);
		break;
	case CM_EVENT_TIMEWAIT_EXIT:
		if (is_known_to_program(id))
			cm_id_tell(id, CM_PROGRAM_TIMEWAIT_EXIT, 0);
		break;
	case CM_EVENT_ALTERNATE_PATH:
		cm_alternate_asked(id, event);
		break;
	case CM_EVENT_ALTERNATE_ANSWER:
	case CM_EVENT_ALTERNATE_UNREACHABLE:
		cm_alternate_answered(id, event);
		break;
	case CM_EVENT_SIDR_REPLY:
		cm_datagram_reply(id, event);
		break;
	case CM_EVENT_SIDR_UNREACHABLE:
		end_connection(id, CM_PROGRAM_UNREACHABLE, -ETIMEDOUT, nothing);
		break;
	case CM_EVENT_REQUEST:
	case CM_EVENT_SIDR_REQUEST:
		break;
	}
}

void cm_connection_event(void *context, struct cm_connection *connection,
			 const struct cm_event *event)
{
	struct cm_host *host = context;
	struct cm_id *id = cm_connection_context(connection);

	cm_host_wake(host);
	if (event->kind == CM_EVENT_REQUEST)
		take_connection_request(host, connection, event);
	else if (event->kind == CM_EVENT_SIDR_REQUEST)
		take_datagram_request(host, connection, event);
	else if (id)
		tell_event(id, event);
}
