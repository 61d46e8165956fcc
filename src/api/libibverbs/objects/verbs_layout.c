/* SPDX-License-Identifier: Apache-2.0 */
/* Compile-time checks of every size and offset that programs compile in from verbs.h (abi 4.1,
 * 4.3). */
#include "api/libibverbs/objects/verbs_layout.h"

#include <assert.h>

#define OBJECT(type, bytes)    static_assert(sizeof(struct type) == (bytes), #type)
#define FIELD(type, field, at) static_assert(offsetof(struct type, field) == (at), #type "." #field)

/* Distance from an operation to the ibv_context behind it, which no release of rdma-core may
 * change. */
#define CONTEXT_OFFSET offsetof(struct softib_context_block, verbs.context)
#define BLOCK_OPERATION(name, distance)                                                            \
	static_assert(CONTEXT_OFFSET - offsetof(struct softib_context_block, name) == (distance),  \
		      #name)
#define OPERATION(name, distance) BLOCK_OPERATION(verbs.name, distance)

#ifndef ABI_HAS_ALLOC_BUF
BLOCK_OPERATION(free_buf, 368);
BLOCK_OPERATION(alloc_buf, 360);
#endif
#ifndef ABI_HAS_DM_EXPORT_DMABUF_FD
BLOCK_OPERATION(dm_export_dmabuf_fd, 352);
#endif
#ifndef ABI_HAS_ALLOC_DMAH
BLOCK_OPERATION(reg_mr_ex, 344);
BLOCK_OPERATION(dealloc_dmah, 336);
BLOCK_OPERATION(alloc_dmah, 328);
#endif
OPERATION(query_port, 320);
OPERATION(advise_mr, 312);
OPERATION(alloc_null_mr, 304);
OPERATION(read_counters, 296);
OPERATION(attach_counters_point_flow, 288);
OPERATION(create_counters, 280);
OPERATION(destroy_counters, 272);
OPERATION(reg_dm_mr, 264);
OPERATION(alloc_dm, 256);
OPERATION(free_dm, 248);
OPERATION(modify_flow_action_esp, 240);
OPERATION(destroy_flow_action, 232);
OPERATION(create_flow_action_esp, 224);
OPERATION(modify_qp_rate_limit, 216);
OPERATION(alloc_parent_domain, 208);
OPERATION(dealloc_td, 200);
OPERATION(alloc_td, 192);
OPERATION(modify_cq, 184);
OPERATION(post_srq_ops, 176);
OPERATION(destroy_rwq_ind_table, 168);
OPERATION(create_rwq_ind_table, 160);
OPERATION(destroy_wq, 152);
OPERATION(modify_wq, 144);
OPERATION(create_wq, 136);
OPERATION(query_rt_values, 128);
OPERATION(create_cq_ex, 120);
OPERATION(priv, 112);
OPERATION(query_device_ex, 104);
OPERATION(ibv_destroy_flow, 96);
OPERATION(ibv_create_flow, 80);
OPERATION(open_qp, 64);
OPERATION(create_qp_ex, 56);
OPERATION(get_srq_num, 48);
OPERATION(create_srq_ex, 40);
OPERATION(open_xrcd, 32);
OPERATION(close_xrcd, 24);
OPERATION(sz, 8);
static_assert(CONTEXT_BLOCK_BYTES == 696, "as rdma-core 64 and 65 lay it out");

OBJECT(ibv_device, 664);
FIELD(ibv_device, node_type, 16);
FIELD(ibv_device, transport_type, 20);
FIELD(ibv_device, name, 24);
FIELD(ibv_device, dev_name, 88);
FIELD(ibv_device, dev_path, 152);
FIELD(ibv_device, ibdev_path, 408);

OBJECT(ibv_context, 328);
FIELD(ibv_context, device, 0);
FIELD(ibv_context, ops, 8);
FIELD(ibv_context, cmd_fd, 264);
FIELD(ibv_context, async_fd, 268);
FIELD(ibv_context, num_comp_vectors, 272);
FIELD(ibv_context, mutex, 280);
FIELD(ibv_context, abi_compat, 320);

OBJECT(ibv_context_ops, 256);
FIELD(ibv_context_ops, _compat_query_device, 0);
FIELD(ibv_context_ops, _compat_query_port, 8);
FIELD(ibv_context_ops, alloc_mw, 56);
FIELD(ibv_context_ops, bind_mw, 64);
FIELD(ibv_context_ops, dealloc_mw, 72);
FIELD(ibv_context_ops, poll_cq, 88);
FIELD(ibv_context_ops, req_notify_cq, 96);
FIELD(ibv_context_ops, post_srq_recv, 160);
FIELD(ibv_context_ops, post_send, 200);
FIELD(ibv_context_ops, post_recv, 208);

OBJECT(ibv_pd, 16);
FIELD(ibv_pd, context, 0);
FIELD(ibv_pd, handle, 8);

OBJECT(ibv_mr, 48);
FIELD(ibv_mr, context, 0);
FIELD(ibv_mr, pd, 8);
FIELD(ibv_mr, addr, 16);
FIELD(ibv_mr, length, 24);
FIELD(ibv_mr, handle, 32);
FIELD(ibv_mr, lkey, 36);
FIELD(ibv_mr, rkey, 40);

OBJECT(ibv_mw, 32);
FIELD(ibv_mw, context, 0);
FIELD(ibv_mw, pd, 8);
FIELD(ibv_mw, rkey, 16);
FIELD(ibv_mw, handle, 20);
FIELD(ibv_mw, type, 24);

OBJECT(ibv_dm, 32);
FIELD(ibv_dm, context, 0);
FIELD(ibv_dm, memcpy_to_dm, 8);
FIELD(ibv_dm, memcpy_from_dm, 16);

OBJECT(ibv_comp_channel, 16);
FIELD(ibv_comp_channel, context, 0);
FIELD(ibv_comp_channel, fd, 8);
FIELD(ibv_comp_channel, refcnt, 12);

OBJECT(ibv_cq, 128);
FIELD(ibv_cq, context, 0);
FIELD(ibv_cq, channel, 8);
FIELD(ibv_cq, cq_context, 16);
FIELD(ibv_cq, handle, 24);
FIELD(ibv_cq, cqe, 28);
FIELD(ibv_cq, mutex, 32);
FIELD(ibv_cq, cond, 72);
FIELD(ibv_cq, comp_events_completed, 120);
FIELD(ibv_cq, async_events_completed, 124);

OBJECT(ibv_cq_ex, 288);
FIELD(ibv_cq_ex, comp_mask, 128);
FIELD(ibv_cq_ex, status, 132);
FIELD(ibv_cq_ex, wr_id, 136);
FIELD(ibv_cq_ex, start_poll, 144);
FIELD(ibv_cq_ex, next_poll, 152);
FIELD(ibv_cq_ex, end_poll, 160);
FIELD(ibv_cq_ex, read_opcode, 168);
FIELD(ibv_cq_ex, read_vendor_err, 176);
FIELD(ibv_cq_ex, read_byte_len, 184);
FIELD(ibv_cq_ex, read_imm_data, 192);
FIELD(ibv_cq_ex, read_qp_num, 200);
FIELD(ibv_cq_ex, read_src_qp, 208);
FIELD(ibv_cq_ex, read_wc_flags, 216);
FIELD(ibv_cq_ex, read_slid, 224);
FIELD(ibv_cq_ex, read_sl, 232);
FIELD(ibv_cq_ex, read_dlid_path_bits, 240);
FIELD(ibv_cq_ex, read_completion_ts, 248);
FIELD(ibv_cq_ex, read_cvlan, 256);
FIELD(ibv_cq_ex, read_flow_tag, 264);
FIELD(ibv_cq_ex, read_tm_info, 272);
FIELD(ibv_cq_ex, read_completion_wallclock_ns, 280);

OBJECT(ibv_srq, 128);
FIELD(ibv_srq, context, 0);
FIELD(ibv_srq, srq_context, 8);
FIELD(ibv_srq, pd, 16);
FIELD(ibv_srq, handle, 24);
FIELD(ibv_srq, mutex, 32);
FIELD(ibv_srq, cond, 72);
FIELD(ibv_srq, events_completed, 120);

OBJECT(ibv_wq, 152);
FIELD(ibv_wq, context, 0);
FIELD(ibv_wq, wq_context, 8);
FIELD(ibv_wq, pd, 16);
FIELD(ibv_wq, cq, 24);
FIELD(ibv_wq, wq_num, 32);
FIELD(ibv_wq, handle, 36);
FIELD(ibv_wq, state, 40);
FIELD(ibv_wq, wq_type, 44);
FIELD(ibv_wq, post_recv, 48);
FIELD(ibv_wq, mutex, 56);
FIELD(ibv_wq, comp_mask, 148);

OBJECT(ibv_qp, 160);
FIELD(ibv_qp, context, 0);
FIELD(ibv_qp, qp_context, 8);
FIELD(ibv_qp, pd, 16);
FIELD(ibv_qp, send_cq, 24);
FIELD(ibv_qp, recv_cq, 32);
FIELD(ibv_qp, srq, 40);
FIELD(ibv_qp, handle, 48);
FIELD(ibv_qp, qp_num, 52);
FIELD(ibv_qp, state, 56);
FIELD(ibv_qp, qp_type, 60);
FIELD(ibv_qp, mutex, 64);
FIELD(ibv_qp, cond, 104);
FIELD(ibv_qp, events_completed, 152);

FIELD(ibv_qp_ex, qp_base, 0);
FIELD(ibv_qp_ex, comp_mask, 160);
FIELD(ibv_qp_ex, wr_id, 168);
FIELD(ibv_qp_ex, wr_flags, 176);
FIELD(ibv_qp_ex, wr_atomic_cmp_swp, 184);
FIELD(ibv_qp_ex, wr_atomic_fetch_add, 192);
FIELD(ibv_qp_ex, wr_bind_mw, 200);
FIELD(ibv_qp_ex, wr_local_inv, 208);
FIELD(ibv_qp_ex, wr_rdma_read, 216);
FIELD(ibv_qp_ex, wr_rdma_write, 224);
FIELD(ibv_qp_ex, wr_rdma_write_imm, 232);
FIELD(ibv_qp_ex, wr_send, 240);
FIELD(ibv_qp_ex, wr_send_imm, 248);
FIELD(ibv_qp_ex, wr_send_inv, 256);
FIELD(ibv_qp_ex, wr_send_tso, 264);
FIELD(ibv_qp_ex, wr_set_ud_addr, 272);
FIELD(ibv_qp_ex, wr_set_xrc_srqn, 280);
FIELD(ibv_qp_ex, wr_set_inline_data, 288);
FIELD(ibv_qp_ex, wr_set_inline_data_list, 296);
FIELD(ibv_qp_ex, wr_set_sge, 304);
FIELD(ibv_qp_ex, wr_set_sge_list, 312);
FIELD(ibv_qp_ex, wr_start, 320);
FIELD(ibv_qp_ex, wr_complete, 328);
FIELD(ibv_qp_ex, wr_abort, 336);
FIELD(ibv_qp_ex, wr_atomic_write, 344);
OBJECT(softib_qp_ex, 360);
#ifndef ABI_HAS_WR_FLUSH
FIELD(softib_qp_ex, wr_flush, 352);
#endif

OBJECT(ibv_ah, 24);
FIELD(ibv_ah, context, 0);
FIELD(ibv_ah, pd, 8);
FIELD(ibv_ah, handle, 16);

OBJECT(ibv_xrcd, 8);
FIELD(ibv_xrcd, context, 0);

OBJECT(ibv_td, 8);
FIELD(ibv_td, context, 0);

OBJECT(ibv_counters, 8);
FIELD(ibv_counters, context, 0);

OBJECT(ibv_flow_action, 8);
FIELD(ibv_flow_action, context, 0);

OBJECT(ibv_flow, 24);
FIELD(ibv_flow, context, 8);

OBJECT(ibv_rwq_ind_table, 24);
FIELD(ibv_rwq_ind_table, context, 0);

OBJECT(ibv_device_attr, 232);
OBJECT(ibv_device_attr_ex, 400);
OBJECT(ibv_gid_entry, 32);
OBJECT(ibv_qp_init_attr, 64);
OBJECT(ibv_qp_init_attr_ex, 136);
OBJECT(ibv_cq_init_attr_ex, 56);
OBJECT(ibv_srq_init_attr_ex, 64);
OBJECT(ibv_wc, 48);
OBJECT(ibv_send_wr, 128);
OBJECT(ibv_recv_wr, 32);
OBJECT(ibv_sge, 16);
OBJECT(ibv_qp_attr, 144);
OBJECT(ibv_ah_attr, 32);
OBJECT(ibv_async_event, 16);

FIELD(ibv_port_attr, flags, 47);
FIELD(ibv_port_attr, port_cap_flags2, 48);
static_assert(sizeof(struct ibv_port_attr) >= EXPORTED_PORT_ATTR_BYTES, "ibv_port_attr");
