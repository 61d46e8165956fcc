/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for a management program whose socket is full. Bounded: a message that does not fit is
 * lost, as on a real port that no program reads. */
#ifndef SOFTIB_DAEMON_MAD_MAD_OUTBOX_H
#define SOFTIB_DAEMON_MAD_MAD_OUTBOX_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "ipc/mad_header.h"

enum { MAD_OUTBOX_MESSAGES_MAX = 4096 };

struct account;

struct mad_outbox {
	struct account *account; /* pays for the messages */
	struct list messages;	 /* in order of arrival */
	unsigned message_count;
	size_t byte_count;
	uint64_t lost_count;
};

void mad_outbox_init(struct mad_outbox *outbox, struct account *account);
void mad_outbox_release(struct mad_outbox *outbox);

/* Sends the message, or queues a copy. -ECONNRESET: the program has gone. */
MUST_USE int mad_outbox_put(struct mad_outbox *outbox, int socket, const uint8_t *bytes,
			    size_t byte_count);
/* Sends as many messages as the socket takes. -ECONNRESET as above. */
MUST_USE int mad_outbox_flush(struct mad_outbox *outbox, int socket);

#endif
