/* SPDX-License-Identifier: Apache-2.0 */
/* The header checks that every packet for a queue pair passes first, in the specified order
 * (transport 5.1). */
#include "net/transport/admission.h"

#include "net/transport/addressing.h"
#include "net/transport/migration.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { VIOLATIONS_MAX = 0xffff };

void admission_violation(struct qp *qp, const struct packet *packet, enum violated_key key)
{
	uint32_t *counter =
		key == VIOLATED_QKEY ? &qp->port->qkey_violations : &qp->port->pkey_violations;

	if (*counter < VIOLATIONS_MAX)
		++*counter;
	if (qp->environment->key_violation)
		qp->environment->key_violation(qp, packet, key);
}

static enum admission check_transport(const struct qp *qp, const struct packet *packet)
{
	if (opcode_transport(packet->bth.opcode) != qp_transport(qp))
		return DROP_WRONG_TRANSPORT;
	return opcode_info(packet->bth.opcode)->name ? ADMITTED : DROP_RESERVED_OPCODE;
}

/* An XRC initiator has no responder, an XRC target no requester. */
static enum admission check_half(const struct qp *qp, const struct packet *packet)
{
	enum qp_type lacking =
		opcode_info(packet->bth.opcode)->is_response ? QP_XRC_TGT : QP_XRC_INI;

	/* Packets for an RD queue pair come by an EE context. */
	if (unlikely(qp->type == QP_RD))
		return DROP_NO_SUCH_HALF;
	return qp->type == lacking ? DROP_NO_SUCH_HALF : ADMITTED;
}

/* Which states take requests and which take responses (transport 6.2). */
static enum admission check_state(const struct qp *qp, const struct packet *packet)
{
	static const struct {
		bool takes_requests, takes_responses;
	} states[] = {
		[QP_RESET] = {false, false}, [QP_INIT] = {false, false}, [QP_RTR] = {true, false},
		[QP_RTS] = {true, true},     [QP_SQD] = {true, true},	 [QP_SQE] = {true, false},
		[QP_ERROR] = {false, false},
	};
	bool takes = opcode_info(packet->bth.opcode)->is_response
			     ? states[qp->state].takes_responses
			     : states[qp->state].takes_requests;

	return takes ? ADMITTED : DROP_WRONG_STATE;
}

static enum admission check_pkey(struct qp *qp, const struct packet *packet)
{
	if (likely(pkey_matches(packet->bth.pkey, qp_pkey(qp))))
		return ADMITTED;
	admission_violation(qp, packet, VIOLATED_PKEY);
	return DROP_BAD_PKEY;
}

static enum admission check_qkey(struct qp *qp, const struct packet *packet)
{
	if (likely(packet->deth.qkey == qp->attributes.qkey))
		return ADMITTED;
	admission_violation(qp, packet, VIOLATED_QKEY);
	return DROP_BAD_QKEY;
}

/* A port answers to the link-local prefix as well as to its subnet's. */
static bool is_own_gid(const struct port_view *port, const struct gid *own, const struct gid *gid)
{
	if (gid_equal(own, gid))
		return true;
	return gid_guid(own) == gid_guid(gid) &&
	       (gid_prefix(gid) == GID_PREFIX_LINK_LOCAL || gid_prefix(gid) == port->gid_prefix);
}

static enum admission check_source(const struct port_view *port,
				   const struct address_vector *address,
				   const struct packet *packet)
{
	if (packet->has_grh != address->is_global)
		return DROP_WRONG_SOURCE;
	/* A packet from another subnet may have the LID of any router: the GID identifies the
	 * sender. */
	if (packet->lrh.slid != address->dlid && !address_leaves_subnet(port, address))
		return DROP_WRONG_SOURCE;
	if (likely(!packet->has_grh))
		return ADMITTED;
	if (!gid_equal(&packet->grh.sgid, &address->dgid))
		return DROP_WRONG_SOURCE;
	if (!is_own_gid(port, &port->gids[address->sgid_index % PORT_GIDS_MAX], &packet->grh.dgid))
		return DROP_WRONG_SOURCE;
	return ADMITTED;
}

/* One of the LIDs that the port has by its LMC. */
static bool is_own_lid(const struct port_view *port, uint16_t lid)
{
	return (lid & ~((1u << port->lmc) - 1)) == port->lid;
}

/* The peer has migrated to its alternate path. This side follows if the packet matches its own
 * alternate path: source, port and P_Key (transport 4.9). */
static enum admission check_migration(struct qp *qp, const struct packet *packet)
{
	const struct port_view *port = qp->alternate_port;
	const struct qp_attributes *attributes = &qp->attributes;

	if (check_source(port, &attributes->alternate_address, packet) != ADMITTED ||
	    !is_own_lid(port, packet->lrh.dlid) ||
	    !pkey_matches(packet->bth.pkey, port->pkeys[attributes->alternate_pkey_index])) {
		migration_refuse(qp);
		return DROP_WRONG_PATH;
	}
	(void)migration_switch(qp);
	return ADMITTED;
}

enum admission admission_check(struct qp *qp, const struct packet *packet)
{
	enum admission admission = check_transport(qp, packet);

	if (admission == ADMITTED)
		admission = check_half(qp, packet);
	if (admission == ADMITTED)
		admission = check_state(qp, packet);
	if (admission == ADMITTED && unlikely(migration_is_asked(qp, packet)))
		return check_migration(qp, packet);
	if (admission == ADMITTED)
		admission = check_pkey(qp, packet);
	if (admission == ADMITTED && qp->type == QP_UD)
		return check_qkey(qp, packet);
	if (admission == ADMITTED)
		admission = check_source(qp->port, &qp->attributes.address, packet);
	if (admission == ADMITTED)
		migration_note(qp, packet);
	return admission;
}
