/* SPDX-License-Identifier: Apache-2.0 */
/* Enhanced connection establishment: two adapters of one vendor agree on options beyond the
 * architecture while they connect. softib has one option, which the architecture leaves to the
 * responder: whether ACKs carry end-to-end credits (vol 1, chapter 9). */
#include "api/libibverbs/ece.h"

#include <stdlib.h>
#include <string.h>
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/objects/objects.h"

enum {
	VENDOR = 0x025f1b,  /* the OUI, as in ibv_query_device */
	OPTION_CREDITS = 1, /* without credits a sender waits instead of provoking RNR NAKs */
};

static uint32_t supported_options(const struct qp *qp)
{
	return qp->type == QP_RC && !qp_is_shared(qp) ? OPTION_CREDITS : 0;
}

/* SOFTIB_CREDITS=1: ACKs carry credits on every connection that has its own receive queue, as if
 * both ends had chosen the option. */
static bool credits_are_wanted(void)
{
	static int known = -1;
	int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (unlikely(answer < 0)) {
		const char *value = getenv("SOFTIB_CREDITS");

		answer = value && strcmp(value, "1") == 0;
		__atomic_store_n(&known, answer, __ATOMIC_RELAXED);
	}
	return answer;
}

void ece_set_default(struct qp *qp)
{
	qp->promises_receives = credits_are_wanted() && supported_options(qp) & OPTION_CREDITS;
}

/* Reports the supported options until ibv_set_ece has chosen some. */
int ibv_query_ece(struct ibv_qp *public, struct ibv_ece *ret_ece)
{
	if (!handle_is_live(HANDLE_QP, public) || !ret_ece)
		return verbs_result(-EINVAL);

	const struct verbs_qp *qp = qp_of(public);

	adapter_lock(qp->adapter);

	uint32_t options = qp->has_ece ? (qp->object->qp.promises_receives ? OPTION_CREDITS : 0)
				       : supported_options(&qp->object->qp);

	adapter_unlock(qp->adapter);
	*ret_ece = (struct ibv_ece){.vendor_id = VENDOR, .options = options};
	return 0;
}

/* Takes those of the requested options that are supported; ibv_query_ece reports which. Must come
 * before the connection, because the peer relies on the options from the first packet. */
int ibv_set_ece(struct ibv_qp *public, struct ibv_ece *ece)
{
	if (!handle_is_live(HANDLE_QP, public) || !ece)
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	int error = 0;

	/* The peer's adapter does not support ECE. */
	if (!ece->vendor_id)
		return verbs_result(-EOPNOTSUPP);
	if (ece->vendor_id != VENDOR || ece->comp_mask)
		return verbs_result(-EINVAL);
	adapter_lock(qp->adapter);

	struct qp *engine = &qp->object->qp;

	if (engine->state != QP_RESET && engine->state != QP_INIT) {
		error = -EINVAL;
	} else {
		engine->promises_receives =
			ece->options & supported_options(engine) & OPTION_CREDITS;
		qp->has_ece = true;
	}
	adapter_unlock(qp->adapter);
	return verbs_result(error);
}
