/* SPDX-License-Identifier: Apache-2.0 */
/* A program that connects: its command socket, its event channels, its ids. */
#ifndef SOFTIB_DAEMON_CM_CM_PROGRAM_H
#define SOFTIB_DAEMON_CM_CM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "daemon/cm/cm_host.h"
#include "daemon/daemon.h"
#include "host/cm_protocol.h"

struct cm_program {
	struct cm_host *host;
	struct list link; /* fabric->programs or fabric->ended */
	int socket;
	struct watch watch;
	bool is_ending;
	struct hash_table ids;
	struct hash_table channels;
	uint32_t last_id;
	uint32_t last_channel;
};

/* Makes the program and gives its end of the command socket, which is the caller's to close. */
MUST_USE int cm_program_create(struct cm_host *host, struct cm_program **ret_program,
			       int *ret_peer_socket);
/* Everything it had goes, in order, at the end of this turn. */
void cm_program_end(struct cm_program *program, const char *reason);
void cm_programs_release_ended(struct cm_fabric *fabric);

struct cm_id *cm_program_find_id(const struct cm_program *program, uint32_t number);

/* A channel that softibd writes events to. */
struct cm_channel {
	struct cm_program *program;
	uint32_t number;
	int socket;
	ino_t peer_inode; /* of the program's end */
	struct watch watch;
	struct list waiting; /* events that have not been written to the socket */
	uint32_t waiting_count;
	bool awaits_room;	    /* in the socket */
	struct list unwritten_link; /* fabric->unwritten */
	struct list closed_link;    /* fabric->closed_channels */
};

/* Gives the program's end, which is the caller's to close. */
MUST_USE int cm_channel_create(struct cm_program *program, struct cm_channel **ret_channel,
			       int *ret_peer_socket);
/* Its ids stay, mute. */
void cm_channel_destroy(struct cm_channel *channel);
struct cm_channel *cm_channel_find(const struct cm_program *program, uint32_t number);
/* At the end of the turn: a program hears of a connection's end after it was shown the packets that
 * came before it. */
void cm_channel_write(struct cm_channel *channel, const struct cm_event_message *event);
/* Unread events of this id, and requests to it, leave a channel: for another, behind what waits
 * there, or for good (NULL), and requests are refused then. peer_socket is the program's end of the
 * channel that they leave; -EINVAL: it is not. -ENOMEM. The program does not read meanwhile. */
MUST_USE int cm_channel_move_events(struct cm_channel *from, int peer_socket, uint32_t id,
				    struct cm_channel *to);
void cm_channels_flush(struct cm_fabric *fabric);

#endif
