/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic path migration (vol 1, chapter 17; transport 4.9). */
#include "net/transport/migration.h"

#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"
#include "wire/packet.h"

bool migration_is_asked(const struct qp *qp, const struct packet *packet)
{
	return qp->attributes.path_migration == PATH_ARMED && packet->bth.migrated;
}

bool migration_admits_port(const struct qp *qp, uint8_t port_number, const struct packet *packet)
{
	if (likely(!qp->port || qp->port->number == port_number))
		return true;
	return migration_is_asked(qp, packet) && qp->alternate_port->number == port_number;
}

bool migration_switch(struct qp *qp)
{
	struct qp_attributes *attributes = &qp->attributes;

	if (attributes->path_migration != PATH_ARMED)
		return false;
	invalidate(qp->environment);
	attributes->path_migration = PATH_MIGRATED;
	attributes->address = attributes->alternate_address;
	attributes->port_number = attributes->alternate_address.port_number;
	attributes->pkey_index = attributes->alternate_pkey_index;
	attributes->timeout = attributes->alternate_timeout;
	qp->port = qp->alternate_port;
	/* The alternate path is used up. To rearm, another one must be loaded. */
	qp->alternate_port = NULL;
	qp->environment->event(qp, QP_EVENT_MIGRATED);
	return true;
}

void migration_refuse(struct qp *qp)
{
	if (qp->has_refused_migration)
		return;
	qp->has_refused_migration = true;
	qp->environment->event(qp, QP_EVENT_MIGRATION_ERROR);
}

void migration_note(struct qp *qp, const struct packet *packet)
{
	if (unlikely(qp->attributes.path_migration == PATH_REARM && !packet->bth.migrated))
		qp->attributes.path_migration = PATH_ARMED;
}
