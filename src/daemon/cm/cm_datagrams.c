/* SPDX-License-Identifier: Apache-2.0 */
/* Datagram services of programs: found by service id resolution instead of a connection (vol 1,
 * 12.11). */
#include "daemon/cm/cm_datagrams.h"

#include <errno.h>
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/cm_redirects.h"
#include "wire/cm_ip_header.h"

enum { SIDR_RETRIES = 15 };

/* The timeout of Linux's rdma_cm. */
#define SIDR_TIMEOUT MILLISECONDS(4096)

int cm_id_resolve_service(struct cm_id *id, struct cm_private_data private_data)
{
	struct cm_host *host = id->program->host;
	uint8_t bytes[CM_SIDR_REQ_PRIVATE_BYTES];
	size_t byte_count;

	if (!cm_request_private(id, sizeof(bytes), private_data, bytes, &byte_count))
		return -EINVAL;

	const struct cm_sidr_call call = {
		.port_index = id->port->index,
		.address = cm_path_address(&id->route),
		.request = {.pkey = id->route.pkey,
			    .service_id =
				    id->route.destination.family == CM_ADDRESS_IB
					    ? id->route.destination.service_id
					    : cm_ip_service_id((enum cm_port_space)id->port_space,
							       id->route.destination.port)},
		.timeout = SIDR_TIMEOUT,
		.retries = SIDR_RETRIES,
		.private_data = {bytes, byte_count},
	};
	int error = cm_sidr_resolve(host->cm, cm_host_now(host), &call, id, &id->connection);

	if (error)
		return error;
	id->state = CM_ID_CONNECTING;
	cm_host_wake(host);
	return 0;
}

int cm_id_answer_service(struct cm_id *id, const struct cm_parameters *parameters,
			 enum cm_sidr_status status, struct cm_private_data private_data)
{
	struct cm_host *host = id->program->host;
	const struct cm_sidr_rep rep = {
		.status = (uint8_t)status,
		.qpn = parameters ? parameters->qpn : 0,
		.qkey = parameters && parameters->qkey ? parameters->qkey : id->route.qkey,
	};
	int error = cm_sidr_answer(id->connection, cm_host_now(host), &rep,
				   parameters ? parameters->vendor_options : 0, private_data);

	if (error)
		return error;
	cm_id_leave_backlog(id);
	id->is_accepted = status == CM_SIDR_OK;
	id->state = status == CM_SIDR_OK ? CM_ID_CONNECTED : CM_ID_DISCONNECTED;
	cm_host_wake(host);
	return 0;
}

void cm_datagram_reply(struct cm_id *id, const struct cm_event *event)
{
	struct cm_sidr_rep rep;

	cm_sidr_rep_decode(event->data, &rep);
	if (cm_redirect_follow(id, event))
		return;
	if (rep.status != CM_SIDR_OK) {
		id->state = CM_ID_DISCONNECTED;
		cm_id_tell_message(id, CM_PROGRAM_UNREACHABLE, rep.status, NULL,
				   event->private_data);
		return;
	}

	const struct cm_parameters parameters = {
		.qpn = rep.qpn, .qkey = rep.qkey, .qp_type = CM_QP_UD};

	id->state = CM_ID_CONNECTED;
	id->terms.vector = cm_path_vector(id->port, &id->route.path);
	id->terms.port_number = id->route.port_number;
	id->terms.remote_qpn = rep.qpn;
	id->terms.qkey = rep.qkey;
	cm_id_tell_message(id, CM_PROGRAM_ESTABLISHED, 0, &parameters, event->private_data);
}
