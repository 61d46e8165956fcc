/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable datagram channels: connections of EE contexts (management 7.1).
 *
 * A REQ or REP for Reliable Datagram names an EE context, which is connected, and a queue pair with
 * its Q_Key, by which the service is reached. Once there is a channel between two nodes, requests
 * with RDCExists ask for more services over it. They connect nothing new.
 */
#ifndef SOFTIB_MGMT_CM_RD_CHANNEL_H
#define SOFTIB_MGMT_CM_RD_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include "mgmt/cm/cm_connection.h"

/* The number that a connection connects: that of a queue pair, or of an EE context. */
uint32_t req_number(const struct cm_req *req);
uint32_t rep_number(const struct cm_connection *connection, const struct cm_rep *rep);

/* Stores whether the REQ, sent or received, is about a channel, and whether the channel already
 * exists. */
void connection_note_channel(struct cm_connection *connection, const struct cm_req *req);

/* The connection that holds this peer's queue pair or EE context. NULL: none, or the REQ is for a
 * service over an existing channel. */
struct cm_connection *req_find_holder(const struct cm *cm, const struct cm_req *req);
struct cm_connection *rep_find_holder(const struct cm_connection *connection,
				      const struct cm_rep *rep);

/* The reason to reject a REQ whatever its service; 0: none. */
unsigned req_transport_fault(const struct cm *cm, const struct cm_req *req);

#endif
