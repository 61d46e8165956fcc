/* SPDX-License-Identifier: Apache-2.0 */
/* EE contexts that CM ids use: ownership, and the transitions to RTS and to Error (vol 1, chapter
 * 12). */
#include <string.h>
#include "api/libibverbs/rd/eec_ids.h"

int cm_context_hold(struct verbs_cm_id *id, struct softib_eec *public, enum context_use use)
{
	struct verbs_eec *eec = eec_of(public);
	bool owns = use == CONTEXT_TO_CONNECT;
	int error = 0;

	adapter_lock(eec->adapter);
	if (!eec->object)
		error = -EINVAL;
	else if (owns && eec->has_connection)
		error = -EBUSY;
	if (!error) {
		eec->id_count++;
		eec->has_connection |= owns;
	}
	adapter_unlock(eec->adapter);
	if (error)
		return error;
	id->owns_context = owns;
	id->id.eec = public;
	return 0;
}

void cm_context_release(struct verbs_cm_id *id)
{
	struct verbs_eec *eec = eec_of(id->id.eec);

	if (!eec)
		return;
	adapter_lock(eec->adapter);
	eec->id_count--;
	if (id->owns_context)
		eec->has_connection = false;
	adapter_unlock(eec->adapter);
	id->id.eec = NULL;
	id->owns_context = false;
}

static struct ibv_ah_attr path_of(const struct cm_terms *terms)
{
	const struct cm_vector *vector = &terms->vector;
	struct ibv_ah_attr path = {.dlid = vector->dlid,
				   .sl = vector->sl,
				   .src_path_bits = vector->path_bits,
				   .static_rate = vector->rate,
				   .is_global = vector->has_grh,
				   .port_num = terms->port_number};

	memcpy(path.grh.dgid.raw, vector->dgid.bytes, sizeof(vector->dgid.bytes));
	path.grh.flow_label = vector->flow_label;
	path.grh.hop_limit = vector->hop_limit;
	path.grh.traffic_class = vector->traffic_class;
	return path;
}

int cm_context_connect(struct verbs_cm_id *id)
{
	const struct cm_terms *terms = &id->terms;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = terms->pkey_index,
		.port_num = terms->port_number,
		.ah_attr = path_of(terms),
		.path_mtu = (enum ibv_mtu)terms->path_mtu,
		.dest_qp_num = terms->remote_qpn,
		.rq_psn = terms->receive_psn,
		.sq_psn = terms->send_psn,
		.timeout = terms->ack_timeout,
		.retry_cnt = terms->retry_count,
		.rnr_retry = terms->rnr_retry_count,
		.max_rd_atomic = terms->initiator_depth,
		.max_dest_rd_atomic = terms->responder_resources,
	};
	int error = terms->remote_qpn ? 0 : EPROTO;

	if (!error)
		error = softib_modify_eec(id->id.eec, &attr,
					  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT);
	attr.qp_state = IBV_QPS_RTR;
	if (!error)
		error = softib_modify_eec(id->id.eec, &attr,
					  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
						  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
						  IBV_QP_MAX_DEST_RD_ATOMIC);
	attr.qp_state = IBV_QPS_RTS;
	if (!error)
		error = softib_modify_eec(id->id.eec, &attr,
					  IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
						  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						  IBV_QP_MAX_QP_RD_ATOMIC);
	id->has_connected = !error;
	if (error) {
		attr.qp_state = IBV_QPS_RESET;
		softib_modify_eec(id->id.eec, &attr, IBV_QP_STATE);
	}
	return error;
}

void cm_context_end(struct verbs_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (!id->has_connected)
		return;
	id->has_connected = false;
	softib_modify_eec(id->id.eec, &attr, IBV_QP_STATE);
}
