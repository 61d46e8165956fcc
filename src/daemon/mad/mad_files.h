/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that management programs have open: their sockets, and the MADs that wait for room on
 * either side. */
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
#include "ipc/mad_agent.h"

struct account;
struct daemon_core;
struct endpoint;
struct mad_agent;
struct mad_file;

/* All open ports of the fabric. */
struct mad_files {
	struct daemon_core *core;
	struct mad_dispatch *dispatch;
	struct list files;
	struct list ended;	     /* to be released at the end of the turn */
	struct hash_table by_cookie; /* open ports by socket_cookie() of the program's end */
	struct hash_table requests;  /* requests that wait for an answer, by transaction id */
	struct timer_queue timers;   /* struct mad_timer */
	uint32_t timer_count;	     /* timers that `timers` has room for */
	struct list stalled;	     /* agents with MADs that found no room */
	uint32_t file_count;
};

void mad_files_init(struct mad_files *files, struct daemon_core *core,
		    struct mad_dispatch *dispatch);
/* Ends every open port. */
void mad_files_release(struct mad_files *files);

/* Opens a port for a program; its end of the socket is the caller's to close. -EMFILE, -ENOMEM ...
 */
MUST_USE int mad_file_open(struct mad_files *files, struct account *account,
			   struct endpoint *endpoint, int *ret_program_end);
/* The open port of this socket; NULL: none. */
struct mad_file *mad_file_find(const struct mad_files *files, int program_end);
struct endpoint *mad_file_endpoint(const struct mad_file *file);
/* Of the process that opened the port. */
struct account *mad_file_account(const struct mad_file *file);

/* Errors as mad_port_register() returns them: -EINVAL, -EBUSY, -ENOMEM. */
MUST_USE int mad_file_add_agent(struct mad_file *file, const struct mad_agent_options *options,
				struct mad_agent_identity *ret_identity);
MUST_USE int mad_file_remove_agent(struct mad_file *file, uint32_t agent_id);

/* Sends MADs that found no room before, and retries requests that timed out. Returns whether there
 * is more to do at once. */
bool mad_files_run(struct mad_files *files);
time_ns mad_files_deadline(const struct mad_files *files);

/* For daemon/mad/mad_agents.c. */

struct mad_files *mad_file_owner(const struct mad_file *file);
/* Sends a message to the program. A message that finds no room is lost, as on a real port. */
void mad_file_deliver(struct mad_file *file, const struct mad_port_header *header,
		      const uint8_t *bytes, size_t byte_count);
/* Counts a request that occupies memory (+1 or -1): softibd does not read the program's socket
 * while there are too many. */
void mad_file_count_request(struct mad_file *file, int change);

#endif
