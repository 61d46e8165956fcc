/* SPDX-License-Identifier: Apache-2.0 */
/* Names of calls, statuses and events for injected verb faults. */
#include "ipc/verb_faults.h"

/* clang-format off */
const char *const verb_call_names[VERB_CALL_COUNT] = {
	[VERB_OPEN_DEVICE]         = "ibv_open_device",
	[VERB_QUERY_DEVICE]        = "ibv_query_device",
	[VERB_QUERY_PORT]          = "ibv_query_port",
	[VERB_QUERY_GID]           = "ibv_query_gid",
	[VERB_ALLOC_PD]            = "ibv_alloc_pd",
	[VERB_REG_MR]              = "ibv_reg_mr",
	[VERB_DEREG_MR]            = "ibv_dereg_mr",
	[VERB_ALLOC_MW]            = "ibv_alloc_mw",
	[VERB_CREATE_COMP_CHANNEL] = "ibv_create_comp_channel",
	[VERB_CREATE_CQ]           = "ibv_create_cq",
	[VERB_REQ_NOTIFY_CQ]       = "ibv_req_notify_cq",
	[VERB_CREATE_SRQ]          = "ibv_create_srq",
	[VERB_CREATE_QP]           = "ibv_create_qp",
	[VERB_MODIFY_QP]           = "ibv_modify_qp",
	[VERB_CREATE_AH]           = "ibv_create_ah",
	[VERB_ATTACH_MCAST]        = "ibv_attach_mcast",
	[VERB_POST_SEND]           = "ibv_post_send",
	[VERB_POST_RECV]           = "ibv_post_recv",
	[VERB_POST_SRQ_RECV]       = "ibv_post_srq_recv",
};

const char *const completion_status_names[COMPLETION_STATUS_COUNT] = {
	"SUCCESS",          "LOC_LEN_ERR",       "LOC_QP_OP_ERR",    "LOC_EEC_OP_ERR",
	"LOC_PROT_ERR",     "WR_FLUSH_ERR",      "MW_BIND_ERR",      "BAD_RESP_ERR",
	"LOC_ACCESS_ERR",   "REM_INV_REQ_ERR",   "REM_ACCESS_ERR",   "REM_OP_ERR",
	"RETRY_EXC_ERR",    "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR",    "INV_EECN_ERR",      "INV_EEC_STATE_ERR", "FATAL_ERR",
	"RESP_TIMEOUT_ERR", "GENERAL_ERR",       "TM_ERR",           "TM_RNDV_INCOMPLETE",
};

const char *const async_event_names[ASYNC_EVENT_COUNT] = {
	"CQ_ERR",       "QP_FATAL",   "QP_REQ_ERR",   "QP_ACCESS_ERR",       "COMM_EST",
	"SQ_DRAINED",   "PATH_MIG",   "PATH_MIG_ERR", "DEVICE_FATAL",        "PORT_ACTIVE",
	"PORT_ERR",     "LID_CHANGE", "PKEY_CHANGE",  "SM_CHANGE",           "SRQ_ERR",
	"SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER", "GID_CHANGE",
};
/* clang-format on */
