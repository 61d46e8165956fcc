/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms in which a SEND leaves this process, and the choice among them. WRITEs, READs and
 * atomics have one more: RMA (runtime/rma/rma.h).
 */
#ifndef SOFTIB_RUNTIME_FAST_SEND_FORM_H
#define SOFTIB_RUNTIME_FAST_SEND_FORM_H

#include "net/transport/fast/fast_send.h"
#include "runtime/channel.h"
#include "runtime/fast/burst.h"
#include "runtime/flows.h"
#include "runtime/zcopy/zcopy_send.h"

enum send_form {
	FORM_PACKETS,	   /* the engine makes the packets (runtime/packets/transmit.h) */
	FORM_SHORT,	   /* one record with the whole packet */
	FORM_PAYLOAD_ONLY, /* one record with the payload of a burst's next message */
	FORM_BY_REFERENCE, /* one record that says where the payload lies (runtime/zcopy) */
	FORM_RELAYED,	   /* one packet through softibd (runtime/packets/relay_send.h) */
	FORM_COUNT,
};

/* Sets of forms have a bit for each. */
#define SEND_FORMS_ALL ((1u << FORM_COUNT) - 1)

/* What the choice rests on, beside the request. */
struct send_facts {
	enum qp_type type;
	const struct send_burst *burst;
	struct psn next_psn;
	uint32_t mtu;		 /* of the queue pair's packets */
	const struct flow *flow; /* NULL: not offloaded */
	uint64_t turn;		 /* of the process runtime */
	unsigned forms;		 /* those that the settings allow */
};

/* The form of a SEND that fast_may_post accepted. FORM_BY_REFERENCE may turn out impossible, and
 * FORM_PAYLOAD_ONLY may find no room; the caller then takes FORM_SHORT, if there is one packet. */
static IN_LINE enum send_form send_form_choose(const struct send_facts *facts,
					       const struct send_request *request,
					       uint32_t packet_count)
{
	const struct flow *flow = facts->flow;
	const uint32_t byte_count = request->sges[0].byte_count;

	if (unlikely(!flow))
		return packet_count == 1 && facts->type != QP_UD ? FORM_RELAYED : FORM_PACKETS;
	if (byte_count >= ZCOPY_BYTES_MIN && facts->forms >> FORM_BY_REFERENCE & 1 &&
	    facts->type != QP_UC && !(request->flags & SEND_INLINE) && facts->mtu <= flow->mtu)
		return FORM_BY_REFERENCE;
	if (unlikely(packet_count > 1 || byte_count > flow->mtu ||
		     !(facts->forms >> FORM_SHORT & 1)))
		return FORM_PACKETS;
	return burst_continues(facts->burst, &flow->channel->out, request, facts->turn,
			       facts->next_psn) &&
			       facts->forms >> FORM_PAYLOAD_ONLY & 1
		       ? FORM_PAYLOAD_ONLY
		       : FORM_SHORT;
}

#endif
