/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between the kernel's structures and the public ones, field by field. */
#include "api/libibverbs/compat/kernel_copies.h"

#include <string.h>

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *ret_attr, struct ib_uverbs_ah_attr *kernel)
{
	memcpy(ret_attr->grh.dgid.raw, kernel->grh.dgid, sizeof(ret_attr->grh.dgid.raw));
	ret_attr->grh.flow_label = kernel->grh.flow_label;
	ret_attr->grh.sgid_index = kernel->grh.sgid_index;
	ret_attr->grh.hop_limit = kernel->grh.hop_limit;
	ret_attr->grh.traffic_class = kernel->grh.traffic_class;
	ret_attr->dlid = kernel->dlid;
	ret_attr->sl = kernel->sl;
	ret_attr->src_path_bits = kernel->src_path_bits;
	ret_attr->static_rate = kernel->static_rate;
	ret_attr->is_global = kernel->is_global;
	ret_attr->port_num = kernel->port_num;
}

void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *ret_attr, struct ib_uverbs_qp_attr *kernel)
{
	ret_attr->cur_qp_state = kernel->cur_qp_state;
	ret_attr->path_mtu = kernel->path_mtu;
	ret_attr->path_mig_state = kernel->path_mig_state;
	ret_attr->qkey = kernel->qkey;
	ret_attr->rq_psn = kernel->rq_psn;
	ret_attr->sq_psn = kernel->sq_psn;
	ret_attr->dest_qp_num = kernel->dest_qp_num;
	ret_attr->qp_access_flags = kernel->qp_access_flags;
	ret_attr->cap.max_send_wr = kernel->max_send_wr;
	ret_attr->cap.max_recv_wr = kernel->max_recv_wr;
	ret_attr->cap.max_send_sge = kernel->max_send_sge;
	ret_attr->cap.max_recv_sge = kernel->max_recv_sge;
	ret_attr->cap.max_inline_data = kernel->max_inline_data;
	ibv_copy_ah_attr_from_kern(&ret_attr->ah_attr, &kernel->ah_attr);
	ibv_copy_ah_attr_from_kern(&ret_attr->alt_ah_attr, &kernel->alt_ah_attr);
	ret_attr->qp_state = kernel->qp_state;
	ret_attr->pkey_index = kernel->pkey_index;
	ret_attr->alt_pkey_index = kernel->alt_pkey_index;
	ret_attr->en_sqd_async_notify = kernel->en_sqd_async_notify;
	ret_attr->sq_draining = kernel->sq_draining;
	ret_attr->max_rd_atomic = kernel->max_rd_atomic;
	ret_attr->max_dest_rd_atomic = kernel->max_dest_rd_atomic;
	ret_attr->min_rnr_timer = kernel->min_rnr_timer;
	ret_attr->port_num = kernel->port_num;
	ret_attr->timeout = kernel->timeout;
	ret_attr->retry_cnt = kernel->retry_cnt;
	ret_attr->rnr_retry = kernel->rnr_retry;
	ret_attr->alt_port_num = kernel->alt_port_num;
	ret_attr->alt_timeout = kernel->alt_timeout;
}

void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *ret_path, struct ib_user_path_rec *kernel)
{
	memcpy(ret_path->dgid.raw, kernel->dgid, sizeof(ret_path->dgid.raw));
	memcpy(ret_path->sgid.raw, kernel->sgid, sizeof(ret_path->sgid.raw));
	ret_path->dlid = kernel->dlid;
	ret_path->slid = kernel->slid;
	ret_path->raw_traffic = (int)kernel->raw_traffic;
	ret_path->flow_label = kernel->flow_label;
	ret_path->hop_limit = kernel->hop_limit;
	ret_path->traffic_class = kernel->traffic_class;
	ret_path->reversible = (int)kernel->reversible;
	ret_path->numb_path = kernel->numb_path;
	ret_path->pkey = kernel->pkey;
	ret_path->sl = kernel->sl;
	ret_path->mtu_selector = kernel->mtu_selector;
	ret_path->mtu = (uint8_t)kernel->mtu;
	ret_path->rate_selector = kernel->rate_selector;
	ret_path->rate = kernel->rate;
	ret_path->packet_life_time_selector = kernel->packet_life_time_selector;
	ret_path->packet_life_time = kernel->packet_life_time;
	ret_path->preference = kernel->preference;
}

void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *ret_kernel, struct ibv_sa_path_rec *path)
{
	memcpy(ret_kernel->dgid, path->dgid.raw, sizeof(ret_kernel->dgid));
	memcpy(ret_kernel->sgid, path->sgid.raw, sizeof(ret_kernel->sgid));
	ret_kernel->dlid = path->dlid;
	ret_kernel->slid = path->slid;
	ret_kernel->raw_traffic = (uint32_t)path->raw_traffic;
	ret_kernel->flow_label = path->flow_label;
	ret_kernel->reversible = (uint32_t)path->reversible;
	ret_kernel->mtu = path->mtu;
	ret_kernel->pkey = path->pkey;
	ret_kernel->hop_limit = path->hop_limit;
	ret_kernel->traffic_class = path->traffic_class;
	ret_kernel->numb_path = path->numb_path;
	ret_kernel->sl = path->sl;
	ret_kernel->mtu_selector = path->mtu_selector;
	ret_kernel->rate_selector = path->rate_selector;
	ret_kernel->rate = path->rate;
	ret_kernel->packet_life_time_selector = path->packet_life_time_selector;
	ret_kernel->packet_life_time = path->packet_life_time;
	ret_kernel->preference = path->preference;
}
