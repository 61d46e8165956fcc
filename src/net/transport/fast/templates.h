/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates: what the SENDs of a queue pair have in common, and what the SENDs to it have in
 * common. Each queue pair has one of either kind. The fast path works them out once and uses them
 * for every message, whatever its length, buffer, flags and immediate data.
 *
 * Why a template may be kept: it rests on the type, state and attributes of the queue pair, on
 * LIDs, P_Keys and MTU of its port, on the region of a memory key, and on the owner's table of
 * routes. Each change of these calls invalidate(): qp_modify, qp_error, migration, qp_release,
 * hca_port_update, a memory region that ends, and the owner when it drops or changes routes.
 * invalidate() ends the epoch of the adapter, and the next message makes a template of an earlier
 * epoch anew. Everything else may change between two messages, so every message checks it: the
 * request, its bounds in the region, positions of the queues, PSNs, timers, credits, and the state
 * of the route.
 *
 * A receive template holds for one packet source (net/transport/packet_source.h): the ring of
 * another program, which may bring only the headers that softibd has granted, or the fabric.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_TEMPLATES_H
#define SOFTIB_NET_TRANSPORT_FAST_TEMPLATES_H

#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/packet_source.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"
#include "wire/header_words.h"

/* The header fields that all SENDs to a queue pair from one sender have in common. */
#define RECEIVE_TEMPLATE_LRH                                                                       \
	(LRH_WORD_VERSION | LRH_WORD_SL | LRH_WORD_LNH | LRH_WORD_DLID | LRH_WORD_SLID)
#define RECEIVE_TEMPLATE_BTH                                                                       \
	((BTH_WORD_OPCODE & ~BTH_WORD_IMMEDIATE) | BTH_WORD_VERSION | BTH_WORD_PKEY)

static inline uint64_t send_lrh(const struct qp *qp, const struct address_vector *address)
{
	const struct port_view *port = qp->port;
	const unsigned path_bits = address->source_path_bits & ((1u << port->lmc) - 1);

	return lrh_word((struct lrh){
		.sl = address->sl,
		.lnh = LNH_LOCAL,
		.dlid = address->dlid,
		.slid = (uint16_t)(port->lid | path_bits),
	});
}

/* Datagrams to QPNs that differ only in these bits take one route of the owner. */
#define TEMPLATE_QPN_MASK UINT64_C(0x3ff)

/* The queue pair is released. */
void qp_templates_release(struct qp *qp);

/* Fills the template of a connection. false: the fast path does not cover the connection. */
MUST_USE bool send_template_make(struct qp *qp);
/* Fills it for datagrams to the destination of this request. */
MUST_USE bool send_template_make_datagram(struct qp *qp, const struct send_request *request);

/* Whether the template of a connection is valid, if need be after filling it. */
MUST_USE static inline bool send_template_holds(struct qp *qp)
{
	return likely(qp->templates->send.epoch == qp->environment->epoch) ||
	       send_template_make(qp);
}

/* The same for datagrams to the destination of this request. */
MUST_USE static inline bool send_template_leads_to(struct qp *qp,
						   const struct send_request *request)
{
	struct send_template *template = &qp->templates->send;
	const struct address_vector *address = request->address;

	if (unlikely(!address || request->address_pd != qp->pd || address->is_global))
		return false;
	if (unlikely(template->epoch != qp->environment->epoch ||
		     template->lrh != send_lrh(qp, address) ||
		     (template->bth ^ request->remote_qpn) & BTH_WORD_QPN & ~TEMPLATE_QPN_MASK))
		return send_template_make_datagram(qp, request);
	if ((template->bth ^ request->remote_qpn) & BTH_WORD_QPN) {
		template->bth =
			(template->bth & ~BTH_WORD_QPN) | (request->remote_qpn & BTH_WORD_QPN);
		qp->templates->burst = (struct send_burst){0};
	}
	return true;
}

/* Looks up the region of this SGE, which is not empty, and keeps it. Returns the memory; NULL: the
 * engine has to check the key. */
uint8_t *template_region_find(struct template_region *region, const struct memory *memory,
			      const struct protection_domain *pd, const struct sge *sge,
			      uint32_t byte_count, uint32_t access);

/* The memory of the first byte_count bytes of an SGE: not 0, and at most the SGE's. One template
 * uses one pd and one access. */
static IN_LINE uint8_t *template_place(struct template_region *region, const struct memory *memory,
				       const struct protection_domain *pd, const struct sge *sge,
				       uint32_t byte_count, uint32_t access)
{
	const uint64_t offset = sge->address - region->iova;

	if (likely(region->key == sge->lkey && offset <= region->byte_count &&
		   byte_count <= region->byte_count - offset))
		return region->bytes + offset;
	return template_region_find(region, memory, pd, sge, byte_count, access);
}

/* Fills the template with the headers of a SEND that came by this port from this source. false: the
 * engine has to take the SEND, or to refuse it. */
MUST_USE bool receive_template_make(struct qp *qp, uint8_t port_number,
				    const struct packet_source *source, uint64_t lrh, uint64_t bth);

/* Whether a SEND with these headers is for this queue pair, and the queue pair may receive it. */
MUST_USE static inline bool receive_template_admits(struct qp *qp, uint8_t port_number,
						    const struct packet_source *source,
						    uint64_t lrh, uint64_t bth)
{
	const struct receive_template *template = &qp->templates->receive;

	return likely(template->epoch == qp->environment->epoch && template->source == source &&
		      !((template->lrh ^ lrh) & RECEIVE_TEMPLATE_LRH) &&
		      !((template->bth ^ bth) & RECEIVE_TEMPLATE_BTH) &&
		      template->port_number == port_number) ||
	       receive_template_make(qp, port_number, source, lrh, bth);
}

#endif
