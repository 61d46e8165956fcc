/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for a management program whose socket has no room for them now. */
#include "daemon/mad/mad_outbox.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/limits.h"
#include "ipc/mad_socket.h"

struct waiting_message {
	struct list link;
	size_t byte_count;
	uint8_t bytes[];
};

void mad_outbox_init(struct mad_outbox *outbox, struct account *account)
{
	*outbox = (struct mad_outbox){.account = account};
	list_init(&outbox->messages);
}

void mad_outbox_release(struct mad_outbox *outbox)
{
	struct list *link;

	while ((link = list_pop(&outbox->messages)))
		free(container_of(link, struct waiting_message, link));
	account_give(outbox->account, LIMIT_MAD_BYTES, (uint32_t)outbox->byte_count);
}

/* Errors that pass: no descriptors, no memory, a full socket. */
static bool is_final(int error)
{
	return error == -ECONNRESET || error == -EMSGSIZE;
}

static void keep(struct mad_outbox *outbox, const uint8_t *bytes, size_t byte_count)
{
	struct waiting_message *message = NULL;

	if (outbox->message_count < MAD_OUTBOX_MESSAGES_MAX &&
	    account_take(outbox->account, LIMIT_MAD_BYTES, (uint32_t)byte_count) == 0) {
		message = malloc(sizeof(*message) + byte_count);
		if (!message)
			account_give(outbox->account, LIMIT_MAD_BYTES, (uint32_t)byte_count);
	}
	if (!message) {
		outbox->lost_count++;
		return;
	}
	message->byte_count = byte_count;
	memcpy(message->bytes, bytes, byte_count);
	list_append(&outbox->messages, &message->link);
	outbox->message_count++;
	outbox->byte_count += byte_count;
}

int mad_outbox_put(struct mad_outbox *outbox, int socket, const uint8_t *bytes, size_t byte_count)
{
	int error = outbox->message_count ? -EAGAIN : mad_socket_send(socket, bytes, byte_count);

	if (is_final(error))
		return -ECONNRESET;
	if (error)
		keep(outbox, bytes, byte_count);
	return 0;
}

int mad_outbox_flush(struct mad_outbox *outbox, int socket)
{
	struct list *link;

	while ((link = list_first(&outbox->messages))) {
		struct waiting_message *message = container_of(link, struct waiting_message, link);
		int error = mad_socket_send(socket, message->bytes, message->byte_count);

		if (is_final(error))
			return -ECONNRESET;
		if (error)
			break;
		outbox->message_count--;
		outbox->byte_count -= message->byte_count;
		account_give(outbox->account, LIMIT_MAD_BYTES, (uint32_t)message->byte_count);
		list_remove(link);
		free(message);
	}
	return 0;
}
