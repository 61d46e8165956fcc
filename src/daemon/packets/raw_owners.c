/* SPDX-License-Identifier: Apache-2.0 */
/* Which program has the raw queue pairs of an adapter's port (vol 1, chapter 10). */
#include "daemon/packets/raw_owners.h"

#include <errno.h>
#include "daemon/packets/ingress.h"
#include "daemon/core/client.h"
#include "daemon/commands.h"
#include "net/link/frame.h"
#include "net/node/node.h"
#include "wire/lrh.h"

enum { LNH_MASK = 3 };

/* -EBUSY: somebody has it, or this client already. */
static int raw_claim(struct client *client, struct endpoint *endpoint, enum raw_kind kind)
{
	if (endpoint->raw_owners[kind])
		return -EBUSY;
	endpoint->raw_owners[kind] = client;
	return 0;
}

bool raw_take_record(struct client *client, const struct ring_record *record)
{
	unsigned kind = record->word & 255;
	struct endpoint *endpoint =
		host_endpoint(client->host, record->port >> 8, record->word >> 8);

	if (!endpoint || kind >= RAW_KINDS)
		return false;
	if (endpoint->raw_owners[kind] == client)
		endpoint->raw_owners[kind] = NULL;
	return true;
}

static void leave_port(struct endpoint *endpoint, const struct client *client)
{
	for (unsigned kind = 0; kind < RAW_KINDS; kind++)
		if (endpoint->raw_owners[kind] == client)
			endpoint->raw_owners[kind] = NULL;
}

void raw_client_gone(const struct client *client)
{
	for (uint32_t index = 0; index < client->host->adapter_count; index++) {
		const struct adapter_entry *adapter = client->host->adapters[index];

		for (unsigned number = 1; number <= adapter->node->port_count; number++)
			leave_port(&adapter->endpoints[number], client);
	}
}

struct client *raw_owner(const struct endpoint *endpoint, const struct frame *frame)
{
	bool is_ipv6 = (frame->bytes[1] & LNH_MASK) == LNH_RAW_IPV6;

	return endpoint->raw_owners[is_ipv6 ? RAW_IPV6 : RAW_ETHERTYPE];
}

static bool read_small(const json_t *request, const char *name, json_int_t below,
		       unsigned *ret_number)
{
	const json_t *value = json_object_get(request, name);
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number >= below)
		return false;
	*ret_number = (unsigned)number;
	return true;
}

static void run_raw(struct client *client, const json_t *request, struct reply *ret_reply)
{
	unsigned adapter, port, kind;
	bool is_readable = client->is_attached &&
			   read_small(request, "adapter", ADAPTERS_PER_HOST_MAX, &adapter) &&
			   read_small(request, "port", 256, &port) &&
			   read_small(request, "kind", RAW_KINDS, &kind);
	struct endpoint *endpoint = is_readable ? host_endpoint(client->host, adapter, port) : NULL;

	if (!endpoint) {
		reply_error(ret_reply, EINVAL, "no such port or kind, or not attached");
		return;
	}
	/* It may have given back the very one that it asks for. */
	ingress_catch_up(client);
	if (raw_claim(client, endpoint, (enum raw_kind)kind) != 0)
		reply_error(ret_reply, EBUSY, "the port has a raw queue pair of that kind");
	else
		reply_ok(ret_reply, json_object());
}

const struct command raw_commands[] = {
	{"raw", run_raw},
	{NULL, NULL},
};
