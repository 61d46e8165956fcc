/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of programs: hello, attach, rings, ports, queue pair numbers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/client_lifetime.h"
#include "daemon/commands.h"
#include "daemon/daemon.h"
#include "daemon/packets/direct_rings.h"
#include "daemon/packets/port_updates.h"
#include "daemon/packets/verb_fault_injection.h"
#include "daemon/sysfs/sysfs_tree.h"
#include "ipc/doorbell.h"
#include "net/node/node.h"

enum { HOSTS_NAMED_MAX = 12 };

static const struct {
	const char *name;
	enum client_kind kind;
} kinds[] = {{"program", CLIENT_PROGRAM}, {"hold", CLIENT_HOLD}, {"tool", CLIENT_TOOL}};

static enum client_kind kind_from(const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "kind"));

	for (unsigned index = 0; name && index < ARRAY_COUNT(kinds); index++) {
		if (strcmp(kinds[index].name, name) == 0)
			return kinds[index].kind;
	}
	return CLIENT_UNKNOWN;
}

/* "h1, h2, h3, ... (40 in all)" */
static void list_hosts(const struct host_table *table, char *ret_text, size_t text_bytes)
{
	size_t length = 0;

	ret_text[0] = '\0';
	for (uint32_t index = 0; index < table->host_count && index < HOSTS_NAMED_MAX; index++) {
		int written = snprintf(ret_text + length, text_bytes - length, "%s%.24s",
				       index ? ", " : "", table->hosts[index]->name);

		if (written < 0 || (size_t)written >= text_bytes - length)
			return;
		length += (size_t)written;
	}
	if (table->host_count > HOSTS_NAMED_MAX)
		snprintf(ret_text + length, text_bytes - length, ", ... (%u in all)",
			 table->host_count);
}

static json_t *describe_adapters(const struct host *host)
{
	json_t *adapters = json_array();

	for (uint32_t index = 0; index < host->adapter_count; index++) {
		const struct adapter_entry *adapter = host->adapters[index];

		json_array_append_new(adapters,
				      json_pack("{s:s, s:i, s:o, s:o, s:i}", "name", adapter->name,
						"index", (int)index, "node_guid",
						guid_to_json(adapter->node->info.node_guid),
						"system_image_guid",
						guid_to_json(adapter->node->info.system_image_guid),
						"ports", (int)adapter->node->port_count));
	}
	return adapters;
}

/* The host that the client names, or the first one; NULL with an error in the reply. */
static struct host *choose_host(struct client *client, const json_t *request, struct reply *reply)
{
	struct host_table *table = &client->core->hosts;
	const char *name = json_string_value(json_object_get(request, "host"));
	char names[384];

	if (table->host_count == 0) {
		reply_error(reply, ENODEV, "fabric %s has no hosts",
			    client_daemon(client)->options.fabric_name);
		return NULL;
	}

	struct host *host = name && *name ? host_table_find(table, name) : table->hosts[0];

	if (!host)
		host = host_table_device(table, &client->core->fabric, name);
	if (!host) {
		list_hosts(table, names, sizeof(names));
		reply_error(reply, ENOENT, "no host %.64s in fabric %s; its hosts are: %s", name,
			    client_daemon(client)->options.fabric_name, names);
	}
	return host;
}

static void admit(struct client *client, enum client_kind kind)
{
	struct daemon *daemon = client_daemon(client);

	client->kind = kind;
	if (kind == CLIENT_TOOL)
		return;
	daemon->core.clients.user_count++;
	daemon->core.clients.was_used = true;
}

static void run_hello(struct client *client, const json_t *request, struct reply *ret_reply)
{
	json_int_t version = json_integer_value(json_object_get(request, "version"));
	enum client_kind kind = kind_from(request);
	struct daemon *daemon = client_daemon(client);
	char path[SYSFS_PATH_BYTES];

	if (client->kind != CLIENT_UNKNOWN || kind == CLIENT_UNKNOWN) {
		reply_error(ret_reply, EINVAL,
			    "send one hello per connection, of kind program, hold or tool");
		return;
	}
	if (version != PROTOCOL_VERSION) {
		reply_error(ret_reply, EPROTONOSUPPORT,
			    "softibd speaks version %d of its protocol, this program %d: end the "
			    "fabric "
			    "with \"softib down\" and start it again",
			    PROTOCOL_VERSION, (int)version);
		return;
	}
	if (kind == CLIENT_TOOL && !json_object_get(request, "host")) {
		admit(client, kind);
		reply_ok(ret_reply, json_pack("{s:s}", "fabric", daemon->options.fabric_name));
		return;
	}

	struct host *host = choose_host(client, request, ret_reply);
	int error = host ? sysfs_tree_render(&daemon->sysfs, host) : 0;

	if (error)
		reply_error(ret_reply, -error, "can't write the files of host %s to %s: %s",
			    host->name, daemon->folder.path, strerror(-error));
	if (!host || error)
		return;
	client->host = host;
	admit(client, kind);
	sysfs_tree_path(&daemon->sysfs, host, path);
	reply_ok(ret_reply, json_pack("{s:s, s:s, s:s, s:b, s:o}", "fabric",
				      daemon->options.fabric_name, "host", host->name, "tree", path,
				      "privileged", daemon->options.programs_are_privileged,
				      "adapters", describe_adapters(host)));
}

static void run_attach(struct client *client, const json_t *request, struct reply *ret_reply)
{
	(void)request;
	if (client->kind != CLIENT_PROGRAM || client->is_attached) {
		reply_error(ret_reply, EINVAL, "send attach once, after hello as a program");
		return;
	}

	int error = client_attach(client);

	if (error) {
		reply_error(ret_reply, -error, "can't make the rings of this program: %s",
			    strerror(-error));
		return;
	}
	ret_reply->descriptors[0] = client->core->page_file;
	ret_reply->descriptors[1] = client->rings.memory_file;
	ret_reply->descriptors[2] = client->rings.rkey_export_file;
	ret_reply->descriptors[3] = doorbell_copy(client->rings.down_doorbell);
	ret_reply->descriptors[4] = doorbell_copy(client->rings.up_doorbell);
	ret_reply->descriptor_count = 5;
	ret_reply->given_from = 3;
	ret_reply->process_shared = true;
	reply_ok(ret_reply, json_pack("{s:i}", "ring_bytes", PROCESS_RING_BYTES));
}

/* The adapter that an attached program names, or NULL with an error in the reply. */
static struct adapter_entry *named_adapter(const struct client *client, const json_t *request,
					   struct reply *reply)
{
	const json_t *value = json_object_get(request, "adapter");
	json_int_t index = json_integer_value(value);

	if (!client->is_attached) {
		reply_error(reply, EINVAL, "send attach first");
		return NULL;
	}
	if (!json_is_integer(value) || index < 0 || index >= client->host->adapter_count) {
		reply_error(reply, ENODEV, "host %s has %u adapters", client->host->name,
			    client->host->adapter_count);
		return NULL;
	}
	return client->host->adapters[index];
}

static void run_port(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct adapter_entry *adapter = named_adapter(client, request, ret_reply);

	if (!adapter)
		return;
	port_updates_subscribe(client, adapter->index);
	verb_faults_send_active(client);
	/* Published before the reply, so that a program that has the reply finds the ports in its
	 * ring. */
	clients_publish(client->core);
	reply_ok(ret_reply, json_object());
}

static void run_qpns(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct adapter_entry *adapter = named_adapter(client, request, ret_reply);
	json_int_t count = json_integer_value(json_object_get(request, "count"));
	uint32_t first_block;

	if (!adapter)
		return;
	if (count < 1 || count > (json_int_t)QPN_BLOCKS_MAX * QPN_BLOCK) {
		reply_error(ret_reply, EINVAL, "an adapter has 1 to %d queue pair numbers",
			    QPN_BLOCKS_MAX * QPN_BLOCK);
		return;
	}

	uint32_t block_count = (uint32_t)((count + QPN_BLOCK - 1) / QPN_BLOCK);

	if (account_take(client->account, LIMIT_QPN_BLOCKS, block_count) != 0) {
		reply_error(ret_reply, ENOSPC, "no more queue pair numbers");
		return;
	}
	/* A process leaves others as many as it has, so each gets at most half of what is free. */
	if ((uint64_t)client->account->used[LIMIT_QPN_BLOCKS] + block_count >
		    qpn_space_free_count(&adapter->qpns) ||
	    qpn_space_take(&adapter->qpns, client, block_count, &first_block) != 0) {
		account_give(client->account, LIMIT_QPN_BLOCKS, block_count);
		reply_error(ret_reply, ENOSPC, "no more queue pair numbers");
		return;
	}
	client->qpn_block_count += block_count;
	reply_ok(ret_reply, json_pack("{s:i, s:i}", "first", (int)(first_block * QPN_BLOCK),
				      "count", (int)(block_count * QPN_BLOCK)));
}

static void run_ring(struct client *client, const json_t *request, struct reply *ret_reply)
{
	json_int_t id = json_integer_value(json_object_get(request, "id"));
	struct direct_share share;

	if (!client->is_attached || id < 1 || id > UINT32_MAX ||
	    direct_ring_share(client, (uint32_t)id, &share) != 0) {
		reply_error(ret_reply, ENOENT, "no such ring");
		return;
	}
	ret_reply->descriptors[0] = share.memory_file;
	ret_reply->descriptors[1] = doorbell_copy(share.peer_doorbell);
	ret_reply->descriptor_count = 2;
	ret_reply->given_from = 1;
	ret_reply->ring_shared = (uint32_t)id;
	reply_ok(ret_reply, json_pack("{s:i, s:i, s:i, s:i}", "outgoing_bytes", DIRECT_RING_BYTES,
				      "incoming_bytes", DIRECT_RING_BYTES, "outgoing",
				      (int)share.outgoing, "incoming", (int)share.incoming));
}

static void run_exposure(struct client *client, const json_t *request, struct reply *ret_reply)
{
	json_int_t id = json_integer_value(json_object_get(request, "id"));
	int file;

	if (!client->is_attached || id < 1 || id > UINT32_MAX ||
	    direct_ring_exposure(client, (uint32_t)id, &file) != 0) {
		reply_error(ret_reply, ENOENT, "no such ring, or no shared memory with it");
		return;
	}
	ret_reply->descriptors[0] = file;
	ret_reply->descriptor_count = 1;
	reply_ok(ret_reply, json_object());
}

static void run_refuse(struct client *client, const json_t *request, struct reply *ret_reply)
{
	json_int_t id = json_integer_value(json_object_get(request, "id"));

	if (!client->is_attached || id < 1 || id > UINT32_MAX ||
	    direct_ring_refuse(client, (uint32_t)id) != 0)
		reply_error(ret_reply, ENOENT, "no such ring");
	else
		reply_ok(ret_reply, json_object());
}

const struct command program_commands[] = {
	{"hello", run_hello},	    {"attach", run_attach}, {"port", run_port},
	{"qpns", run_qpns},	    {"ring", run_ring},	    {"refuse", run_refuse},
	{"exposure", run_exposure}, {NULL, NULL},
};
