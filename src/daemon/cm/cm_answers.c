/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the connection engine, passed on to programs (vol 1, chapter 12; event order as in
 * Linux's rdma_cm). */
#include "daemon/cm/cm_answers.h"

#include <errno.h>
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_datagrams.h"
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/cm_requests.h"

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
		cm_connection_request(host, connection, event);
	else if (event->kind == CM_EVENT_SIDR_REQUEST)
		cm_datagram_request(host, connection, event);
	else if (id)
		tell_event(id, event);
}
