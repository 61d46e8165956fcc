/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable datagram channels: connections of EE contexts (vol 1, chapter 12).
 *
 * A REQ and its REP for Reliable Datagram name a context, which is what is connected, and a queue
 * pair with its Q_Key, which the service wants to be reached by. Once there is a channel between
 * two nodes, more services may be asked for over it (RDCExists): those connect nothing new.
 */
#ifndef SOFTIB_MGMT_CM_RD_CHANNEL_H
#define SOFTIB_MGMT_CM_RD_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include "mgmt/cm/cm_connection.h"

/* The number of what a connection connects: of a queue pair, or of an EE context. */
uint32_t req_number(const struct cm_req *req);
uint32_t rep_number(const struct cm_connection *connection, const struct cm_rep *rep);

/* What a REQ says about this, of either side. */
void connection_note_channel(struct cm_connection *connection, const struct cm_req *req);

/* A connection that has this peer's queue pair or context; NULL: none. Of a service over a channel
 * that is there already: always NULL, for it has none. */
struct cm_connection *req_find_holder(const struct cm *cm, const struct cm_req *req);
struct cm_connection *rep_find_holder(const struct cm_connection *connection,
				      const struct cm_rep *rep);

/* Why a REQ can't be for any service; 0: it can. */
unsigned req_transport_fault(const struct cm *cm, const struct cm_req *req);

#endif
