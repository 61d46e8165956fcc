/* SPDX-License-Identifier: Apache-2.0 */
/* XRC targets of a domain that several processes share (vol 1, annex A14). */
#include "net/hca/shared_target.h"

#include <errno.h>
#include "net/hca/hca.h"
#include "wire/packet.h"

int shared_target_add(struct xrcd *xrcd, uint32_t qpn, struct qp_object **ret_object)
{
	const struct qp_options options = {.type = QP_XRC_TGT, .xrcd = xrcd, .qpn = qpn};
	struct qp_object *object;
	int error = qp_object_create(xrcd->hca, &options, &object);

	if (error)
		return error;
	/* No consumer of this process uses it yet. */
	xrcd->users--;
	object->is_shared = true;
	object->is_away = true;
	*ret_object = object;
	return 0;
}

void shared_target_adopt(struct qp_object *object, void *context)
{
	assert(!object->context);
	object->context = context;
	object->xrcd->users++;
}

static void arrive(struct qp_object *object)
{
	object->is_away = false;
	if (!list_is_linked(&object->borrowed_link))
		list_append(&object->hca->borrowed, &object->borrowed_link);
}

void shared_target_begin(struct qp_object *object)
{
	object->is_shared = true;
	object->taken_count = 0;
	arrive(object);
}

void shared_target_install(struct qp_object *object, const struct target_state *state)
{
	struct hca *hca = object->hca;
	const struct qp_ports ports = {.views = hca->port_views, .count = hca->port_count};

	if (!state || target_state_install(&object->qp, &ports, state) != 0)
		target_state_lose(&object->qp);
	object->taken_count = 0;
	object->untold_events = 0;
	object->told_events = 0;
	object->is_recalled = false;
	arrive(object);
}

void shared_target_receive(struct qp_object *object, time_ns now, uint8_t port_number,
			   const struct packet *packet)
{
	if (unlikely(object->is_away)) {
		object->untold_events |= object->told_events;
		arrive(object);
	}
	object->taken_count++;
	hca_receive(object->hca, now, port_number, packet);
}

bool shared_target_may_go(const struct qp_object *object)
{
	return !object->pin_count && (object->is_recalled || target_is_idle(&object->qp));
}

void shared_target_part(struct qp_object *object, struct target_parting *ret_parting)
{
	*ret_parting = (struct target_parting){
		.taken_count = object->taken_count,
		.events = object->untold_events,
	};
	target_state_take(&object->qp, &ret_parting->state);
	object->told_events = object->untold_events;
	object->untold_events = 0;
	object->is_away = true;
	object->is_recalled = false;
	list_remove(&object->borrowed_link);
	hca_ready_remove(object->hca, &object->qp);
}

void shared_targets_forget(struct xrcd *xrcd)
{
	list_for_each_safe (link, &xrcd->targets) {
		struct qp_object *object = container_of(link, struct qp_object, xrcd_link);

		if (object->context)
			continue;
		/* qp_object_destroy subtracts a use that was never counted. */
		xrcd->users++;

		int error = qp_object_destroy(object);

		assert(error == 0);
		(void)error;
	}
}
