/* SPDX-License-Identifier: Apache-2.0 */
/* Making the templates of a queue pair: see templates.h. */
#include "net/transport/fast/templates.h"

#include <stdlib.h>
#include "wire/mtu.h"
#include "wire/pkey.h"

struct qp_templates qp_templates_none;

/* Whether the queue pair has templates of its own; makes them if need be. */
static bool has_templates(struct qp *qp)
{
	if (qp->templates == &qp_templates_none) {
		struct qp_templates *templates = calloc(1, sizeof(*templates));

		if (!templates)
			return false;
		qp->templates = templates;
	}
	return true;
}

void qp_templates_release(struct qp *qp)
{
	if (qp->templates != &qp_templates_none)
		free(qp->templates);
	qp->templates = &qp_templates_none;
}

static uint64_t send_bth(const struct qp *qp, uint32_t destination_qpn)
{
	return bth_word((struct bth){
		.opcode = (uint8_t)(qp_transport(qp) | OPCODE_SEND_ONLY),
		.migrated = true,
		.pkey = qp_pkey(qp),
		.destination_qpn = destination_qpn,
	});
}

/* Whether SENDs may be transmitted at once, as far as state and attributes say. */
static bool may_send(const struct qp *qp)
{
	return qp->state == QP_RTS && !qp->attributes.rate_limit && qp->requester.queue.sges_max;
}

bool send_template_make(struct qp *qp)
{
	const struct address_vector *address = &qp->attributes.address;

	/* Two limited members of a partition can't talk to each other (transport 10.3). */
	if ((qp->type != QP_RC && qp->type != QP_UC) || !qp->port || address->is_global ||
	    qp->attributes.path_migration != PATH_MIGRATED ||
	    !pkey_matches(qp_pkey(qp), qp_pkey(qp)) || !has_templates(qp))
		return false;
	qp->templates->send = (struct send_template){
		.epoch = qp->environment->epoch,
		.lrh = send_lrh(qp, address),
		.bth = send_bth(qp, qp->attributes.destination_qpn),
		.mtu = qp->path_mtu,
		.may_send = may_send(qp),
	};
	qp->templates->burst = (struct send_burst){0};
	return true;
}

bool send_template_make_datagram(struct qp *qp, const struct send_request *request)
{
	if (qp->type != QP_UD || !may_send(qp) || !lid_is_unicast(request->address->dlid) ||
	    !has_templates(qp))
		return false;
	qp->templates->send = (struct send_template){
		.epoch = qp->environment->epoch,
		.lrh = send_lrh(qp, request->address),
		.bth = send_bth(qp, request->remote_qpn),
		.mtu = mtu_bytes(qp->port->mtu_code),
		.may_send = true,
	};
	qp->templates->burst = (struct send_burst){0};
	return true;
}

uint8_t *template_region_find(struct template_region *region, const struct memory *memory,
			      const struct protection_domain *pd, const struct sge *sge,
			      uint32_t byte_count, uint32_t access)
{
	const struct region *found = memory_find_plain(memory, sge->lkey);
	uint8_t *bytes = memory_place(memory, pd, sge->lkey, sge->address, byte_count, access);

	if (bytes)
		*region = (struct template_region){found->iova, found->byte_count, found->bytes,
						   found->key};
	return bytes;
}

/* A responder that never sends stays in RTR. Its first packet raises an event, so the engine must
 * receive that one. */
static bool may_receive(const struct qp *qp, uint8_t port_number)
{
	return (qp->type == QP_RC || qp->type == QP_UC || qp->type == QP_UD) &&
	       (qp->state == QP_RTS || (qp->state == QP_RTR && qp->is_established)) &&
	       !qp->receive_queue->matches_tags && qp->port->number == port_number;
}

/* Whether the packet comes from the peer of a connection. */
static bool is_from_peer(const struct qp *qp, uint64_t lrh)
{
	const struct qp_attributes *attributes = &qp->attributes;

	return !attributes->address.is_global && attributes->path_migration == PATH_MIGRATED &&
	       lrh_word_slid(lrh) == attributes->address.dlid;
}

static bool is_granted(const struct qp *qp, uint8_t port_number, const struct packet_source *source,
		       uint64_t lrh, uint64_t bth)
{
	const struct packet_grant wanted = {
		.slid = lrh_word_slid(lrh),
		.dlid = lrh_word_dlid(lrh),
		.pkey = bth_word_pkey(bth),
		.port = (uint16_t)(qp->environment->adapter_index << 8 | port_number),
		.sl = lrh_word_sl(lrh),
	};

	return packet_source_admits(source, &wanted);
}

/* Whether the template is for datagrams that differ from this one only in their sender. */
static bool lacks_only_the_sender(const struct qp *qp, uint8_t port_number, uint64_t lrh,
				  uint64_t bth)
{
	const struct receive_template *template = &qp->templates->receive;
	const uint64_t sender = LRH_WORD_SLID | LRH_WORD_SL;

	return qp->type == QP_UD && template->epoch == qp->environment->epoch &&
	       !((template->lrh ^ lrh) & RECEIVE_TEMPLATE_LRH & ~sender) &&
	       !((template->bth ^ bth) & RECEIVE_TEMPLATE_BTH) &&
	       template->port_number == port_number;
}

/* These checks are sufficient for admission_check to return ADMITTED without side effects
 * (transport 5.1). */
static bool is_receivable(const struct qp *qp, uint8_t port_number, uint64_t lrh, uint64_t bth)
{
	const struct lrh form = {.lnh = LNH_LOCAL};
	const struct bth send = {.opcode = (uint8_t)(qp_transport(qp) | OPCODE_SEND_ONLY)};

	if (!may_receive(qp, port_number) ||
	    (lrh ^ lrh_word(form)) & (LRH_WORD_VERSION | LRH_WORD_LNH) ||
	    (bth ^ bth_word(send)) & RECEIVE_TEMPLATE_BTH & ~BTH_WORD_PKEY ||
	    !pkey_matches(bth_word_pkey(bth), qp_pkey(qp)))
		return false;
	return qp->type == QP_UD ? lid_is_unicast(lrh_word_dlid(lrh)) : is_from_peer(qp, lrh);
}

bool receive_template_make(struct qp *qp, uint8_t port_number, const struct packet_source *source,
			   uint64_t lrh, uint64_t bth)
{
	if (!is_granted(qp, port_number, source, lrh, bth))
		return false;
	if (lacks_only_the_sender(qp, port_number, lrh, bth)) {
		qp->templates->receive.lrh = lrh;
		qp->templates->receive.source = source;
		return true;
	}
	if (!is_receivable(qp, port_number, lrh, bth) || !has_templates(qp))
		return false;
	qp->templates->receive = (struct receive_template){
		.epoch = qp->environment->epoch,
		.lrh = lrh,
		.bth = bth,
		.source = source,
		.mtu = qp->type == QP_UD ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu,
		.port_number = port_number,
	};
	return true;
}
