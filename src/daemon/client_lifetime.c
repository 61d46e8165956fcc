/* SPDX-License-Identifier: Apache-2.0 */
/* Making and releasing clients, with everything that the parts of softibd keep for them. */
#include "daemon/client_lifetime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/core/flow_table.h"
#include "daemon/core/limits.h"
#include "daemon/daemon.h"
#include "daemon/packets/direct_rings.h"
#include "daemon/packets/ingress.h"
#include "daemon/packets/packet_capture.h"
#include "daemon/packets/raw_owners.h"
#include "daemon/server.h"
#include "daemon/xrc/xrc_domains.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"
#include "ipc/rma_area.h"
#include "mgmt/agents/io_unit.h"

/* The memory file is closed as soon as the program has it. */
enum { DESCRIPTORS_ATTACHED = 3 };

/* A connection is a descriptor, too. */
static int take_connection(struct account *account)
{
	int error = account_take(account, LIMIT_CONNECTIONS, 1);

	if (error)
		return error;
	error = account_take(account, LIMIT_DESCRIPTORS, 1);
	if (error)
		account_give(account, LIMIT_CONNECTIONS, 1);
	return error;
}

static void give_connection(struct account *account)
{
	account_give(account, LIMIT_DESCRIPTORS, 1);
	account_give(account, LIMIT_CONNECTIONS, 1);
}

int client_create(struct daemon *daemon, int socket, struct account *account, pid_t pid,
		  struct client **ret_client)
{
	int error = take_connection(account);

	if (error)
		return error;

	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		give_connection(account);
		return -ENOMEM;
	}
	client->account = account;
	client->core = &daemon->core;
	client->id = ++daemon->core.clients.last_client_id;
	client->pid = pid;
	client->socket = socket;
	client->socket_watch.ready = server_client_ready;
	client->hold = (struct share_hold){.account = account, .resume = server_resume_client};
	list_init(&client->hold.link);
	client->rings.memory_file = -1;
	client->rings.rkey_export_file = -1;
	client->rings.down_doorbell = -1;
	client->rings.up_doorbell = -1;
	client->delivery.held_since = TIME_NEVER;
	list_init(&client->host_link);
	list_init(&client->catch_up_link);
	client->rings.hold =
		(struct share_hold){.account = account, .resume = ingress_resume_client};
	list_init(&client->rings.hold.link);
	list_init(&client->rings.awake_link);
	list_init(&client->rings.unpublished_link);
	list_init(&client->direct_ends);

	error = event_loop_watch(&daemon->core.loop, socket, &client->socket_watch);
	if (error) {
		free(client);
		give_connection(account);
		return error;
	}
	list_append(&daemon->core.clients.all, &client->link);
	daemon->core.clients.client_count++;
	*ret_client = client;
	return 0;
}

static void doorbell_ready(struct watch *watch, uint32_t events)
{
	struct client *client = container_of(watch, struct client, rings.doorbell_watch);
	struct fair_shares *shares = &client->core->shares;
	time_ns begin = event_loop_clock();

	(void)events;
	if (share_is_used_up(shares, client->account, begin)) {
		ingress_hold_back(client);
		return;
	}
	/* One read of the rings answers any number of rings of the doorbell. */
	doorbell_silence(client->rings.up_doorbell);
	if (!client->is_ending) {
		client_wake(client);
		ingress_client_has_room(&client_daemon(client)->packets, client);
	}
	share_charge(shares, client->account, begin, event_loop_clock());
}

static int make_rings(struct client *client)
{
	struct process_layout layout = process_layout();
	uint8_t *memory;
	int error = memory_file_create("softib-process", layout.total_bytes,
				       &client->rings.memory_file, (void **)&memory);

	if (error)
		return error;
	client->rings.memory = memory;
	ring_shared_init(memory + layout.up_offset);
	ring_shared_init(memory + layout.down_offset);
	ring_consumer_init(&client->rings.up, memory + layout.up_offset, PROCESS_RING_BYTES);
	ring_producer_init(&client->rings.down, memory + layout.down_offset, PROCESS_RING_BYTES);
	return flow_table_create((const struct flow_counters *)(memory + layout.flows_offset),
				 &client->flows);
}

/* softibd maps this memory only to create it: its contents are for the program and its peers. */
static int make_rkey_export(struct client *client)
{
	size_t byte_count = rkey_export_layout().total_bytes;
	void *memory;
	int error = memory_file_create("softib-exposure", byte_count,
				       &client->rings.rkey_export_file, &memory);

	if (!error)
		munmap(memory, byte_count);
	return error;
}

static int make_doorbells(struct client *client)
{
	client->rings.down_doorbell = doorbell_make();
	if (client->rings.down_doorbell < 0)
		return client->rings.down_doorbell;
	client->rings.up_doorbell = doorbell_make();
	if (client->rings.up_doorbell < 0)
		return client->rings.up_doorbell;
	client->rings.doorbell_watch.ready = doorbell_ready;
	return event_loop_watch(&client->core->loop, client->rings.up_doorbell,
				&client->rings.doorbell_watch);
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
	if (client->rings.memory)
		munmap(client->rings.memory, process_layout().total_bytes);
	client->rings.memory = NULL;
	/* The program holds the same eventfd open, so closing our descriptor would not end the
	 * watch. */
	if (client->rings.up_doorbell >= 0)
		event_loop_unwatch(&client->core->loop, client->rings.up_doorbell);
	close_descriptor(&client->rings.memory_file);
	close_descriptor(&client->rings.rkey_export_file);
	close_descriptor(&client->rings.down_doorbell);
	close_descriptor(&client->rings.up_doorbell);
}

/* Programs read the count: with more programs than processors, a waiting program should not spin.
 */
static void count_programs(struct daemon_core *core, int change)
{
	__atomic_add_fetch(&core->page->program_count, (uint32_t)change, __ATOMIC_RELAXED);
}

int client_attach(struct client *client)
{
	int error = account_take(client->account, LIMIT_DESCRIPTORS, DESCRIPTORS_ATTACHED);

	if (error)
		return error;
	error = make_rings(client);
	if (!error)
		error = make_rkey_export(client);
	if (!error)
		error = make_doorbells(client);
	if (error) {
		release_rings(client);
		account_give(client->account, LIMIT_DESCRIPTORS, DESCRIPTORS_ATTACHED);
		return error;
	}
	client->is_attached = true;
	count_programs(client->core, 1);
	list_append(&client->host->programs, &client->host_link);
	client_wake(client);
	return 0;
}

static void release(struct client *client)
{
	struct daemon *daemon = client_daemon(client);

	/* Draining the up ring may still send packets and resolve flows, so the client leaves no
	 * list before. */
	if (client->is_attached)
		ingress_client_gone(&daemon->packets, client);
	capture_client_gone(&daemon->packets, client);
	daemon->core.clients.client_count--;
	if (client->kind == CLIENT_PROGRAM || client->kind == CLIENT_HOLD) {
		daemon->core.clients.user_count--;
		daemon->core.clients.unused_since = daemon->core.loop.now;
	}
	if (client->waits_for_active)
		daemon->server.waiter_count--;
	io_units_pull_owned(&daemon->core.fabric.agents, daemon->core.loop.now, client);
	list_remove(&client->host_link);
	list_remove(&client->catch_up_link);
	list_remove(&client->hold.link);
	list_remove(&client->rings.hold.link);
	list_remove(&client->rings.awake_link);
	list_remove(&client->rings.unpublished_link);
	if (client->is_attached) {
		count_programs(client->core, -1);
		direct_rings_close(client);
		flow_table_fold(client->flows);
		xrc_client_gone(client);
		raw_client_gone(client);
		for (uint32_t index = 0; client->host && index < client->host->adapter_count;
		     index++)
			qpn_space_give_back(&client->host->adapters[index]->qpns, client);
		account_give(client->account, LIMIT_QPN_BLOCKS, client->qpn_block_count);
		account_give(client->account, LIMIT_DESCRIPTORS, DESCRIPTORS_ATTACHED);
	}
	release_rings(client);
	give_connection(client->account);
	socket_close_apart(&daemon->core.closers, client->account, client->socket);
	account_release(client->account);
	free(client);
}

void clients_release_ended(struct daemon *daemon)
{
	time_ns begin;
	struct list *link;

	if (list_is_empty(&daemon->core.clients.ended))
		return;
	begin = event_loop_clock();
	while ((link = list_first(&daemon->core.clients.ended))) {
		struct client *client = container_of(link, struct client, link);

		list_remove(link);
		release(client);
	}
	share_spend(&daemon->server.entrance, begin, event_loop_clock());
}
