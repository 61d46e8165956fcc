/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic path migration: a connection's second path, and the three states of going over to it
 * (vol 1, chapter 17). */
#ifndef SOFTIB_NET_TRANSPORT_MIGRATION_H
#define SOFTIB_NET_TRANSPORT_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct qp;

/* Whether this packet may come in by that port, from 1: that of the queue pair's path, or that of
 * the alternate one if it asks for that. */
bool migration_admits_port(const struct qp *qp, uint8_t port_number, const struct packet *packet);

/* Whether the packet asks a queue pair that is ready for it to go over. */
bool migration_is_asked(const struct qp *qp, const struct packet *packet);

/* Goes over to the alternate path, if the queue pair is armed for it. */
bool migration_switch(struct qp *qp);

/* The peer asked for a path that is not the alternate one: told once per arming. */
void migration_refuse(struct qp *qp);

/* A packet came by the present path: a peer that is not itself migrated arms this side. */
void migration_note(struct qp *qp, const struct packet *packet);

#endif
