/* SPDX-License-Identifier: Apache-2.0 */
/* A client's rings while it lives; daemon/client_lifetime.c makes and releases it. */
#include "daemon/core/client.h"

#include <string.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/log.h"
#include "ipc/doorbell.h"

enum {
	PUBLISH_BYTES = 2048
}; /* then the program can start reading while softibd goes on writing */

void client_table_init(struct client_table *table)
{
	*table = (struct client_table){0};
	list_init(&table->all);
	list_init(&table->ended);
	list_init(&table->awake);
	list_init(&table->unpublished);
}

void client_end(struct client *client, const char *reason)
{
	client->was_cut_off |= reason != NULL;
	if (client->is_ending)
		return;
	client->is_ending = true;
	if (reason)
		log_line("client %u (pid %d) is cut off: %s", client->id, (int)client->pid, reason);
	list_remove(&client->link);
	list_append(&client->core->clients.ended, &client->link);
}

void client_wake(struct client *client)
{
	if (list_is_linked(&client->rings.hold.link))
		return;
	client->ingress.active_at = client->core->loop.now;
	client->ingress.empty_read_count = 0;
	if (list_is_linked(&client->rings.awake_link))
		return;
	ring_wake(&client->rings.up);
	list_append(&client->core->clients.awake, &client->rings.awake_link);
}

struct ring_record *client_reserve(struct client *client, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(&client->rings.down, byte_count);

	if (record)
		return record;
	if (client->rings.down.is_corrupt) {
		client_end(client, "its down ring is corrupt");
		return NULL;
	}
	/* The program may have made room before softibd asked it to ring. */
	return ring_wait_for_room(&client->rings.down, byte_count)
		       ? ring_reserve(&client->rings.down, byte_count)
		       : NULL;
}

void client_publish(struct client *client)
{
	if (ring_publish(&client->rings.down))
		doorbell_ring(client->rings.down_doorbell);
}

void client_commit(struct client *client, struct ring_record *record)
{
	ring_commit(&client->rings.down, record);
	if (client->rings.down.tail - client->rings.down.published >= PUBLISH_BYTES)
		client_publish(client);
	else if (!list_is_linked(&client->rings.unpublished_link))
		list_append(&client->core->clients.unpublished, &client->rings.unpublished_link);
}

bool client_send_record(struct client *client, enum record_kind kind, unsigned port, uint32_t word,
			const void *body, uint32_t byte_count)
{
	struct ring_record *record = client_reserve(client, byte_count);

	if (!record)
		return false;
	record->byte_count = byte_count;
	record->kind = (uint16_t)kind;
	record->port = (uint16_t)port;
	record->packet_count = 0;
	record->word = word;
	if (byte_count)
		memcpy(record->body, body, byte_count);
	client_commit(client, record);
	return true;
}

void clients_publish(struct daemon_core *core)
{
	struct list *link;

	while ((link = list_first(&core->clients.unpublished))) {
		struct client *client = container_of(link, struct client, rings.unpublished_link);

		list_remove(link);
		client_publish(client);
	}
}
