/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels: a socket per channel that only softibd writes to, so that it is readable when and
 * only when there is an event. */
#ifndef SOFTIB_DAEMON_CM_CM_CHANNEL_H
#define SOFTIB_DAEMON_CM_CM_CHANNEL_H

#include <stdint.h>
#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Gives the program's end, which is the caller's to close. */
MUST_USE int cm_channel_create(struct cm_program *program, struct cm_channel **ret_channel,
			       int *ret_peer_socket);
/* Its ids stay, without a channel. */
void cm_channel_destroy(struct cm_channel *channel);
struct cm_channel *cm_channel_find(const struct cm_program *program, uint32_t number);
/* Written at the end of the turn, so that a program hears of a connection's end after it was shown
 * the packets that came before. */
void cm_channel_write(struct cm_channel *channel, const struct cm_event_message *event);

/* Unread events of this id, and requests to it, move to the end of another channel. peer_socket is
 * the program's end of the channel that they leave; -EINVAL: it is not. -ENOMEM. The program does
 * not read meanwhile. */
MUST_USE int cm_channel_move_events(struct cm_channel *from, int peer_socket, uint32_t id,
				    struct cm_channel *to);
/* The same events are dropped; `refuse` gets the id of each request among them. */
MUST_USE int cm_channel_drop_events(struct cm_channel *from, int peer_socket, uint32_t id,
				    void (*refuse)(struct cm_id *request));
void cm_channels_flush(struct cm_fabric *fabric);

#endif
