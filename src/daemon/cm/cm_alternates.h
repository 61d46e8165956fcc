/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternate paths of programs' connections (vol 1, 12.8): a LAP that arrives is loaded into the
 * program's queue pair and answered by what came of it; a program that sets the path of a connected
 * id has one sent, and its own queue pair gets the path when the peer agreed.
 */
#ifndef SOFTIB_DAEMON_CM_CM_ALTERNATES_H
#define SOFTIB_DAEMON_CM_CM_ALTERNATES_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

struct client;
struct cm_event;
struct ring_record;
struct sa_client_result;

/* Sends a LAP. -EINVAL: not connected, or another is under way; -EADDRNOTAVAIL: the path does not
 * begin at a port of the adapter. */
MUST_USE int cm_id_load_alternate(struct cm_id *id, const struct path_record *path);
/* The same with the path that the SA knows between these ports. What comes of it is told by an
 * event. */
MUST_USE int cm_id_find_alternate(struct cm_id *id, const struct gid *sgid, const struct gid *dgid);
void cm_alternate_found(struct cm_id *id, const struct sa_client_result *result);
/* Nobody waits for that any more. */
void cm_alternate_forget(struct cm_id *id);

/* The engine's events. */
void cm_alternate_asked(struct cm_id *id, const struct cm_event *event);
void cm_alternate_answered(struct cm_id *id, const struct cm_event *event);

/* A program's RECORD_ALTERNATE_LOADED or RECORD_ALTERNATE_REFUSED. */
void cm_alternate_take_record(struct cm_fabric *fabric, struct client *client,
			      const struct ring_record *record);

#endif
