/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic path migration: the alternate path of a connection, and the three migration states (vol
 * 1, chapter 17; transport 4.9). */
#ifndef SOFTIB_NET_TRANSPORT_MIGRATION_H
#define SOFTIB_NET_TRANSPORT_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct qp;

/* Whether this packet may come in by that port (from 1): the port of the current path, or that of
 * the alternate path if the packet requests migration. */
bool migration_admits_port(const struct qp *qp, uint8_t port_number, const struct packet *packet);

/* Whether the packet requests migration, and the queue pair is armed for it. */
bool migration_is_asked(const struct qp *qp, const struct packet *packet);

/* Migrates to the alternate path, if the queue pair is armed. */
bool migration_switch(struct qp *qp);

/* The peer requested migration to a path that is not the alternate one: raises the event once per
 * arming (transport 4.9). */
void migration_refuse(struct qp *qp);

/* A packet came by the current path. If the peer has not migrated, this arms a queue pair in REARM
 * (transport 4.9). */
void migration_note(struct qp *qp, const struct packet *packet);

#endif
