/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternate paths of programs' connections (vol 1, 12.8). The path of a LAP that arrives is loaded
 * into the program's queue pair, and the APR reports the outcome. A program that sets the path of a
 * connected id sends a LAP, and its own queue pair gets the path when the peer accepts.
 */
#ifndef SOFTIB_DAEMON_CM_CM_ALTERNATES_H
#define SOFTIB_DAEMON_CM_CM_ALTERNATES_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

struct client;
struct cm_event;
struct ring_record;
struct sa_client_result;

/* Sends a LAP. -EINVAL: not connected, or another LAP is outstanding; -EADDRNOTAVAIL: the path does
 * not begin at a port of the adapter. */
MUST_USE int cm_id_load_alternate(struct cm_id *id, const struct path_record *path);
/* Asks the SA for the path between these ports, then sends a LAP. An event reports the outcome. */
MUST_USE int cm_id_find_alternate(struct cm_id *id, const struct gid *sgid, const struct gid *dgid);
void cm_alternate_found(struct cm_id *id, const struct sa_client_result *result);
/* Cancels the request to the SA, and no longer waits for the program's process. */
void cm_alternate_forget(struct cm_id *id);

/* The engine's events: a LAP arrived; an APR arrived, or none did in time. */
void cm_alternate_asked(struct cm_id *id, const struct cm_event *event);
void cm_alternate_answered(struct cm_id *id, const struct cm_event *event);

/* Takes a program's RECORD_ALTERNATE_LOADED or RECORD_ALTERNATE_REFUSED. */
void cm_alternate_take_record(const struct client *client, const struct ring_record *record);

#endif
