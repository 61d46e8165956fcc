/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable datagram channels (management 7.1). */
#include "mgmt/cm/rd_channel.h"

uint32_t req_number(const struct cm_req *req)
{
	return req->transport == CM_TRANSPORT_RD ? req->local_eecn : req->local_qpn;
}

/* An XRC target has its QPN in the LocalEECN field. */
uint32_t rep_number(const struct cm_connection *connection, const struct cm_rep *rep)
{
	if (connection->is_datagram)
		return rep->local_eecn;
	return rep->local_qpn ? rep->local_qpn : rep->local_eecn;
}

void connection_note_channel(struct cm_connection *connection, const struct cm_req *req)
{
	connection->is_datagram = req->transport == CM_TRANSPORT_RD;
	connection->shares_channel = connection->is_datagram && req->rdc_exists;
}

struct cm_connection *req_find_holder(const struct cm *cm, const struct cm_req *req)
{
	bool is_datagram = req->transport == CM_TRANSPORT_RD;

	if (is_datagram && req->rdc_exists)
		return NULL;
	return connection_find_remote_qpn(cm, remote_number(req_number(req), is_datagram),
					  req->local_ca_guid);
}

struct cm_connection *rep_find_holder(const struct cm_connection *connection,
				      const struct cm_rep *rep)
{
	if (connection->shares_channel)
		return NULL;
	return connection_find_remote_qpn(
		connection->cm, remote_number(rep_number(connection, rep), connection->is_datagram),
		rep->local_ca_guid);
}

/* The channel must be established between these two EE contexts. */
static bool channel_exists(const struct cm *cm, const struct cm_req *req)
{
	const struct cm_connection *channel = connection_find_remote_qpn(
		cm, remote_number(req->local_eecn, true), req->local_ca_guid);

	return channel && channel->state == CM_ESTABLISHED &&
	       channel->local_qpn == req->remote_eecn;
}

unsigned req_transport_fault(const struct cm *cm, const struct cm_req *req)
{
	switch (req->transport) {
	case CM_TRANSPORT_RC:
	case CM_TRANSPORT_UC:
		return 0;
	case CM_TRANSPORT_RD:
		if (!req->local_eecn)
			return CM_REJECT_UNSUPPORTED;
		return !req->rdc_exists || channel_exists(cm, req) ? 0 : CM_REJECT_RDC_NOT_EXIST;
	default:
		return req->extended_transport == CM_EXTENDED_TRANSPORT_XRC
			       ? 0
			       : CM_REJECT_INVALID_TRANSPORT_TYPE;
	}
}
