/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that management programs have open: their sockets, and what waits for room on either side.
 */
#ifndef SOFTIB_DAEMON_MAD_MAD_FILES_H
#define SOFTIB_DAEMON_MAD_MAD_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "daemon/mad/mad_dispatch.h"
#include "host/mad_port.h"

struct daemon_core;
struct endpoint;
struct mad_agent;
struct mad_file;

/* All open ports of the fabric. */
struct mad_files {
	struct daemon_core *core;
	struct mad_dispatch *dispatch;
	struct list files;
	struct list ended;	    /* to be taken down at the end of the turn */
	struct hash_table by_inode; /* of the program's end of the socket */
	struct hash_table requests; /* that wait for an answer, by transaction id */
	struct timer_queue timers;  /* struct mad_timer */
	uint32_t timer_count;	    /* that there may be */
	struct list stalled;	    /* agents with MADs that found no room */
	uint32_t file_count;
};

void mad_files_init(struct mad_files *files, struct daemon_core *core,
		    struct mad_dispatch *dispatch);
/* Ends every open port. */
void mad_files_release(struct mad_files *files);

/* A new open port; the program's end of its socket is the caller's. -EMFILE, -ENOMEM ... */
MUST_USE int mad_file_open(struct mad_files *files, struct endpoint *endpoint,
			   int *ret_program_end);
/* NULL when no open port has this inode. */
struct mad_file *mad_file_find(const struct mad_files *files, uint64_t inode);
struct endpoint *mad_file_endpoint(const struct mad_file *file);

/* -EINVAL, -EBUSY, -ENOMEM as mad_port_register() says. */
MUST_USE int mad_file_add_agent(struct mad_file *file, const struct mad_agent_options *options,
				struct mad_agent_identity *ret_identity);
MUST_USE int mad_file_remove_agent(struct mad_file *file, uint32_t agent_id);

/* Sends what found no room before, repeats what was not answered in time. Returns whether there is
 * more that can go on at once. */
bool mad_files_run(struct mad_files *files);
time_ns mad_files_deadline(const struct mad_files *files);

/* For daemon/mad/mad_agents.c. */

struct mad_files *mad_file_owner(const struct mad_file *file);
/* To the program. What it does not read in time is lost, as on a real port. */
void mad_file_deliver(struct mad_file *file, const struct mad_port_header *header,
		      const uint8_t *bytes, size_t byte_count);
/* One more or one less request that occupies memory: the program is not read while there are too
 * many. */
void mad_file_count_request(struct mad_file *file, int change);

#endif
