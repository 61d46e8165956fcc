/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the queue pair state machine (vol 1, chapters 10 and 11; transport 6.1). */
#include "net/transport/qp_transitions.h"

enum { TYPE_RC, TYPE_UC, TYPE_UD, TYPE_INI, TYPE_TGT, TYPE_RD, TYPE_EEC, TYPE_RAW, TYPE_COUNT };

struct transition {
	bool is_valid;
	struct {
		uint32_t required;
		uint32_t optional;
	} by_type[TYPE_COUNT];
};

enum {
	NOTIFY = QP_HAS_DRAINED_NOTIFY,
	ALTERNATE = QP_HAS_ALTERNATE_PATH,
	MIGRATION = QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION,
	INIT_CONNECTED = QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_ACCESS,
	INIT_DATAGRAM = QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY,
	RTR_UC = QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN,
	RTR_RC = RTR_UC | QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER,
	RTS_RC = QP_HAS_SQ_PSN | QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
		 QP_HAS_INITIATOR_DEPTH,
	RTS_TGT = QP_HAS_SQ_PSN | QP_HAS_TIMEOUT,
	/* The specification has no such attribute, and Linux allows it for raw packets only. Here
	 * every type that sends has it. */
	RATE = QP_HAS_RATE_LIMIT,
	LIVE_UC = QP_HAS_CURRENT_STATE | QP_HAS_ACCESS | MIGRATION,
	LIVE_RC = LIVE_UC | QP_HAS_MIN_RNR_TIMER,
	LIVE_UD = QP_HAS_CURRENT_STATE | QP_HAS_QKEY,
	DRAINED_UC = QP_HAS_ADDRESS | MIGRATION | QP_HAS_ACCESS | QP_HAS_PKEY_INDEX,
	DRAINED_RC = DRAINED_UC | QP_HAS_PORT | QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT |
		     QP_HAS_RNR_RETRY | QP_HAS_INITIATOR_DEPTH | QP_HAS_RESPONDER_RESOURCES |
		     QP_HAS_MIN_RNR_TIMER,
	DRAINED_INI = DRAINED_RC & ~(QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER),
	DRAINED_TGT =
		DRAINED_RC & ~(QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY | QP_HAS_INITIATOR_DEPTH),
	DRAINED_UD = QP_HAS_PKEY_INDEX | QP_HAS_QKEY,
	RTR_ALSO = ALTERNATE | QP_HAS_ACCESS | QP_HAS_PKEY_INDEX,
	/* An EE context has the attributes of a connection, an RD queue pair those of a queue
	 * (transport 9.1, 9.2). */
	INIT_RD = QP_HAS_ACCESS | QP_HAS_QKEY,
	DRAINED_RD = INIT_RD | QP_HAS_MIN_RNR_TIMER,
	LIVE_RD = QP_HAS_CURRENT_STATE | DRAINED_RD,
	INIT_EEC = QP_HAS_PKEY_INDEX | QP_HAS_PORT,
	RTR_EEC = RTR_RC & ~QP_HAS_MIN_RNR_TIMER,
	RTR_EEC_ALSO = ALTERNATE | QP_HAS_PKEY_INDEX,
	LIVE_EEC = QP_HAS_CURRENT_STATE | MIGRATION,
	DRAINED_EEC = DRAINED_RC & ~(QP_HAS_ACCESS | QP_HAS_MIN_RNR_TIMER),
	/* Raw packets have no keys and no PSN. A PSN is accepted as for UD. */
	RTS_RAW_ALSO = QP_HAS_SQ_PSN | QP_HAS_CURRENT_STATE,
	LIVE_RAW = QP_HAS_CURRENT_STATE,
};

enum { STATE_COUNT = QP_ERROR + 1 };

/* clang-format off */
/* Rows: from; columns: to. Required and optional attributes for RC, UC, UD, XRC initiator and
 * target, RD, EE context, and raw. */
static const struct transition transitions[STATE_COUNT][STATE_COUNT] = {
	[QP_RESET] = {
		[QP_RESET] = {true},
		[QP_INIT] = {true, {{INIT_CONNECTED, 0}, {INIT_CONNECTED, 0}, {INIT_DATAGRAM, 0},
				    {INIT_CONNECTED, 0}, {INIT_CONNECTED, 0}, {INIT_RD, 0}, {INIT_EEC, 0},
				    {QP_HAS_PORT, 0}}},
		[QP_ERROR] = {true},
	},
	[QP_INIT] = {
		[QP_RESET] = {true},
		[QP_INIT] = {true, {{0, INIT_CONNECTED}, {0, INIT_CONNECTED}, {0, INIT_DATAGRAM},
				    {0, INIT_CONNECTED}, {0, INIT_CONNECTED}, {0, INIT_RD}, {0, INIT_EEC}}},
		[QP_RTR] = {true, {{RTR_RC, RTR_ALSO}, {RTR_UC, RTR_ALSO}, {0, DRAINED_UD},
				   {RTR_UC, RTR_ALSO}, {RTR_RC, RTR_ALSO},
				   {QP_HAS_MIN_RNR_TIMER, INIT_RD}, {RTR_EEC, RTR_EEC_ALSO}}},
		[QP_ERROR] = {true},
	},
	[QP_RTR] = {
		[QP_RESET] = {true},
		[QP_RTS] = {true, {{RTS_RC, LIVE_RC | RATE}, {QP_HAS_SQ_PSN, LIVE_UC | RATE},
				   {QP_HAS_SQ_PSN, LIVE_UD | RATE}, {RTS_RC, LIVE_UC | RATE},
				   {RTS_TGT, LIVE_RC}, {0, LIVE_RD}, {RTS_RC, LIVE_EEC}, {0, RTS_RAW_ALSO}}},
		[QP_ERROR] = {true},
	},
	[QP_RTS] = {
		[QP_RESET] = {true},
		[QP_RTS] = {true, {{0, LIVE_RC | RATE}, {0, LIVE_UC | RATE}, {0, LIVE_UD | RATE},
				   {0, LIVE_UC | RATE}, {0, LIVE_RC}, {0, LIVE_RD}, {0, LIVE_EEC},
				   {0, LIVE_RAW}}},
		[QP_SQD] = {true, {{0, NOTIFY}, {0, NOTIFY}, {0, NOTIFY}, {0, NOTIFY}, {0, NOTIFY},
				   {0, NOTIFY}, {0, NOTIFY}, {0, NOTIFY}}},
		[QP_ERROR] = {true},
	},
	[QP_SQD] = {
		[QP_RESET] = {true},
		[QP_RTS] = {true, {{0, LIVE_RC}, {0, LIVE_UC}, {0, LIVE_UD}, {0, LIVE_UC}, {0, LIVE_RC},
				   {0, LIVE_RD}, {0, LIVE_EEC}, {0, LIVE_RAW}}},
		[QP_SQD] = {true, {{0, DRAINED_RC}, {0, DRAINED_UC}, {0, DRAINED_UD}, {0, DRAINED_INI},
				   {0, DRAINED_TGT}, {0, DRAINED_RD}, {0, DRAINED_EEC}}},
		[QP_ERROR] = {true},
	},
	[QP_SQE] = {
		[QP_RESET] = {true},
		[QP_RTS] = {true, {{0, 0}, {0, QP_HAS_CURRENT_STATE | QP_HAS_ACCESS}, {0, LIVE_UD},
				   {0, 0}, {0, 0}, {0, LIVE_RD}, {0, 0}, {0, LIVE_RAW}}},
		[QP_ERROR] = {true},
	},
	[QP_ERROR] = {
		[QP_RESET] = {true},
		[QP_ERROR] = {true},
	},
};
/* clang-format on */

static unsigned type_index(enum qp_type type)
{
	static const uint8_t indexes[] = {
		[QP_RC] = TYPE_RC,	 [QP_UC] = TYPE_UC,	   [QP_UD] = TYPE_UD,
		[QP_XRC_INI] = TYPE_INI, [QP_XRC_TGT] = TYPE_TGT,  [QP_RD] = TYPE_RD,
		[QP_EEC] = TYPE_EEC,	 [QP_RAW_IPV6] = TYPE_RAW, [QP_RAW_ETHERTYPE] = TYPE_RAW,
	};

	return indexes[type];
}

bool qp_transitions_allow(const struct qp *qp, enum qp_state to, uint32_t mask)
{
	const struct transition *transition = &transitions[qp->state][to];
	uint32_t required = transition->by_type[type_index(qp->type)].required;
	uint32_t optional = transition->by_type[type_index(qp->type)].optional;

	if (!transition->is_valid)
		return false;
	/* Of the reliable types only RD is ever in SQE (transport 4.8). */
	if (qp->state == QP_SQE && to == QP_RTS && qp_is_reliable(qp) && qp->type != QP_RD)
		return false;
	if ((mask & required) != required)
		return false;
	return !(mask & ~(required | optional | QP_HAS_STATE));
}
