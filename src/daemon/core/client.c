/* SPDX-License-Identifier: Apache-2.0 */
/* A process at the other end of a control socket, and the rings it has if it is attached to the
 * fabric. */
#include "daemon/core/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/packets/ingress.h"
#include "daemon/packets/packet_capture.h"
#include "daemon/packets/direct_rings.h"
#include "daemon/packets/flow_resolver.h"
#include "daemon/core/log.h"
#include "daemon/packets/raw_owners.h"
#include "daemon/server.h"
#include "daemon/xrc/xrc_domains.h"
#include "host/doorbell.h"
#include "host/memory_file.h"
#include "host/placement_area.h"

enum { PUBLISH_BYTES = 2048 }; /* a program starts while we go on writing */

int client_create(struct daemon *daemon, int socket, pid_t pid, struct client **ret_client)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->daemon = daemon;
	client->id = ++daemon->next_client_id;
	client->pid = pid;
	client->socket = socket;
	client->socket_watch.ready = server_client_ready;
	client->memory_file = -1;
	client->rkey_export_file = -1;
	client->down_doorbell = -1;
	client->up_doorbell = -1;
	client->full_since = TIME_NEVER;
	list_init(&client->host_link);
	list_init(&client->awake_link);
	list_init(&client->unpublished_link);
	list_init(&client->rings);

	int error = daemon_watch(daemon, socket, &client->socket_watch);

	if (error) {
		free(client);
		return error;
	}
	list_append(&daemon->clients, &client->link);
	daemon->client_count++;
	*ret_client = client;
	return 0;
}

static void doorbell_ready(struct daemon *daemon, struct watch *watch, uint32_t events)
{
	struct client *client = container_of(watch, struct client, doorbell_watch);

	(void)daemon;
	(void)events;
	/* However often it rang, one look at the rings answers it. */
	doorbell_silence(client->up_doorbell);
	if (client->is_ending)
		return;
	client_wake(client);
	ingress_client_has_room(client);
}

static int make_rings(struct client *client)
{
	struct process_layout layout = process_layout();
	uint8_t *memory;
	int error = memory_file_create("softib-process", layout.total_bytes, &client->memory_file,
				       (void **)&memory);

	if (error)
		return error;
	client->memory = memory;
	ring_shared_init(memory + layout.up_offset);
	ring_shared_init(memory + layout.down_offset);
	ring_consumer_init(&client->up, memory + layout.up_offset, PROCESS_RING_BYTES);
	ring_producer_init(&client->down, memory + layout.down_offset, PROCESS_RING_BYTES);
	return flow_table_create((const struct flow_counters *)(memory + layout.flows_offset),
				 &client->flows);
}

/* softibd itself does not look into it. */
static int make_rkey_export(struct client *client)
{
	size_t byte_count = exposure_layout().total_bytes;
	void *memory;
	int error = memory_file_create("softib-exposure", byte_count, &client->rkey_export_file,
				       &memory);

	if (!error)
		munmap(memory, byte_count);
	return error;
}

static int make_doorbells(struct client *client)
{
	client->down_doorbell = doorbell_make();
	if (client->down_doorbell < 0)
		return client->down_doorbell;
	client->up_doorbell = doorbell_make();
	if (client->up_doorbell < 0)
		return client->up_doorbell;
	client->doorbell_watch.ready = doorbell_ready;
	return daemon_watch(client->daemon, client->up_doorbell, &client->doorbell_watch);
}

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

static void release_rings(struct client *client)
{
	flow_table_destroy(client->flows);
	client->flows = NULL;
	if (client->memory)
		munmap(client->memory, process_layout().total_bytes);
	client->memory = NULL;
	/* The program holds the same doorbell, so closing ours would not end the watch. */
	if (client->up_doorbell >= 0)
		daemon_unwatch(client->daemon, client->up_doorbell);
	close_descriptor(&client->memory_file);
	close_descriptor(&client->rkey_export_file);
	close_descriptor(&client->down_doorbell);
	close_descriptor(&client->up_doorbell);
}

/* For all to see: with more of them than processors, who waits does better not to spin. */
static void count_programs(struct daemon *daemon, int change)
{
	__atomic_add_fetch(&daemon->page->program_count, (uint32_t)change, __ATOMIC_RELAXED);
}

int client_attach(struct client *client)
{
	int error = make_rings(client);

	if (!error)
		error = make_rkey_export(client);
	if (!error)
		error = make_doorbells(client);
	if (error) {
		release_rings(client);
		return error;
	}
	client->is_attached = true;
	count_programs(client->daemon, 1);
	list_append(&client->host->programs, &client->host_link);
	client_wake(client);
	return 0;
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
	list_append(&client->daemon->ended, &client->link);
}

static void release(struct client *client)
{
	struct daemon *daemon = client->daemon;

	/* It may still send and ask here, so this comes before it leaves any list. */
	if (client->is_attached)
		ingress_client_gone(client);
	capture_client_gone(client);
	daemon->client_count--;
	if (client->kind == CLIENT_PROGRAM || client->kind == CLIENT_HOLD) {
		daemon->user_count--;
		daemon->unused_since = daemon->now;
	}
	if (client->waits_for_active)
		daemon->waiter_count--;
	list_remove(&client->host_link);
	list_remove(&client->awake_link);
	list_remove(&client->unpublished_link);
	if (client->is_attached) {
		count_programs(daemon, -1);
		direct_rings_close(client);
		flow_table_fold(client->flows);
		xrc_client_gone(client);
		raw_client_gone(client);
		for (uint32_t index = 0; client->host && index < client->host->adapter_count;
		     index++)
			qpn_space_give_back(&client->host->adapters[index]->qpns, client);
	}
	release_rings(client);
	shutdown(client->socket, SHUT_RDWR);
	close(client->socket);
	free(client);
}

void clients_release_ended(struct daemon *daemon)
{
	struct list *link;

	while ((link = list_first(&daemon->ended))) {
		struct client *client = container_of(link, struct client, link);

		list_remove(link);
		release(client);
	}
}

void client_wake(struct client *client)
{
	client->active_at = client->daemon->now;
	client->empty_read_count = 0;
	if (list_is_linked(&client->awake_link))
		return;
	ring_wake(&client->up);
	list_append(&client->daemon->awake, &client->awake_link);
}

struct ring_record *client_reserve(struct client *client, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(&client->down, byte_count);

	if (record)
		return record;
	if (client->down.is_corrupt) {
		client_end(client, "its down ring makes no sense");
		return NULL;
	}
	/* Room may have come while we asked for the doorbell. */
	return ring_wait_for_room(&client->down, byte_count)
		       ? ring_reserve(&client->down, byte_count)
		       : NULL;
}

static void publish(struct client *client)
{
	if (ring_publish(&client->down))
		doorbell_ring(client->down_doorbell);
}

void client_commit(struct client *client, struct ring_record *record)
{
	ring_commit(&client->down, record);
	if (client->down.tail - client->down.published >= PUBLISH_BYTES)
		publish(client);
	else if (!list_is_linked(&client->unpublished_link))
		list_append(&client->daemon->unpublished, &client->unpublished_link);
}

void clients_publish(struct daemon *daemon)
{
	struct list *link;

	while ((link = list_first(&daemon->unpublished))) {
		struct client *client = container_of(link, struct client, unpublished_link);

		list_remove(link);
		publish(client);
	}
}
